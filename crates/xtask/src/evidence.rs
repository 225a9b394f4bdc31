//! The book of evidence: its page of the manual, and what runs of the virtual lab came to.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::Path;

use miette::{IntoDiagnostic, Result, WrapErr, miette};
use sha2::{Digest, Sha256};
use ssdlab_advice::{Analysis, analyse};
use ssdlab_flash::figures::FigureKind;
use ssdlab_flash::grounded::grounded;
use ssdlab_flash::presets::{self, Preset};
use ssdlab_kernel as kernel;
use ssdlab_plan::{Model, Schedule, find_host};
use ssdlab_report::figures::{
    self as book, Figure, FigurePlace, STORED_RESULTS, StoredResults, StoredRun,
};
use ssdlab_report::{Book, inline};
use ssdlab_results::{RunContents, RunFolder};

use super::source;

/// The page of the manual.
const PAGE: &str = "docs/evidence.md";

/// Writes the page; with a folder of runs, first stores what these came to.
pub fn write(runs: Option<&Path>) -> Result<()> {
    let mut kept = StoredResults::parse(STORED_RESULTS).expect("a test reads what is kept");
    if let Some(folder) = runs {
        let wrong = || format!("cannot read {}", folder.display());
        for run in fs::read_dir(folder).into_diagnostic().wrap_err_with(wrong)? {
            let run = run.into_diagnostic().wrap_err_with(wrong)?.path();
            if run.join("records.jsonl").is_file() {
                keep(&mut kept, &run)?;
            }
        }
        let text = toml::to_string(&kept).expect("strings and numbers are TOML");
        let says = "# What runs of the virtual lab came to. `make evidence` writes this file.\n\n";
        source::write("crates/report/kept.toml", &(says.to_owned() + &text))?;
    }
    source::write(PAGE, &page(&figures(&kept)))
}

/// Every figure, given what runs came to.
fn figures(kept: &StoredResults) -> Vec<Figure> {
    let of_drives = presets::ALL.into_iter().flat_map(book::of_drive);
    of_drives.chain(book::of_plans(kept)).chain(book::cross_checks()).collect()
}

fn page(figures: &[Figure]) -> String {
    let book = Book::new(figures);
    let mut page = format!(
        "# The book of evidence\n\nEvery published number that ssdlab knows, and what its models \
         make of it: `ssdlab evidence` prints the same. A number is *fitted* if values of a model \
         were chosen so that it comes out, or if it is itself the evidence for a value: agreement \
         says nothing but that the fit succeeded. Nothing was fitted to a number that is \
         *predicted*, nor, of a number that is *held out*, to any other of its publication; those \
         that fail stay here. Of several sources of one kind of figure, the first that measured \
         the drive itself is fitted, and the later ones are held out, whatever the model says of \
         them. What is counted are independent tests: the figures of one run or one \
         sentence are one, which is as accurate as its worst figure. The \
         figures of *cross-check* are not published: [the same simulated drive in real \
         time](virtual-lab.md#the-same-drive-in-real-time) stands in their place. This page is \
         made by `make evidence` and `make cross-check`.\n\n{}\n",
        book.summary
    );
    let group = |id: &str| inline(id.split('/').next().unwrap_or_default());
    for entries in book.figures.chunk_by(|one, other| group(one.id) == group(other.id)) {
        let _ = write!(
            page,
            "\n## {}\n\n| figure | source; how ours is found | basis | published | ours | error |\n\
             | --- | --- | --- | ---: | ---: | ---: |\n",
            group(entries[0].id)
        );
        for entry in entries {
            let [what, source, how] = [entry.what, entry.source, entry.how].map(inline);
            let (basis, published) = (entry.basis, inline(&entry.published));
            let ours = entry.ours.as_deref().map(inline).unwrap_or_default();
            let error = entry.error.map(|error| format!("{:+.0} %", 100.0 * error));
            let error = error.unwrap_or_default();
            let _ = writeln!(
                page,
                "| {what} | {source}; {how} | {basis} | {published} | {ours} | {error} |"
            );
        }
    }
    page + &missing()
}

/// What a preset should be compared with, by the column of the table.
const KINDS: [(FigureKind, &str); FigureKind::ALL.len()] = [
    (FigureKind::SyncedWrite, "synced write"),
    (FigureKind::Discard, "discard"),
    (FigureKind::PageAlone, "4 KiB alone"),
    (FigureKind::LoadedTail, "99th percentile under load"),
];

/// Independent sources of each kind of figure that a preset should have.
const WANTED: usize = 2;

/// What was searched for in vain, and what was found but is no figure of the drive alone.
const SEARCHED: &str = "\
- How long an eMMC takes to flush: neither the patches about FUA and the cache of eMMC \
(linux-mmc, 2022 and 2023) nor threads of benchmarks say it. That of `emmc` is a guess.
- A synced write of an SD card alone: what is published goes through FAT on a microcontroller.
- Discards of NVMe drives: but for the P4510's, in 18 s, figures are of unknown ranges (a boot of \
macOS) or of unknown drives.
- A percentile under load of a SATA drive, of a consumer NVMe drive other than a PM981a of 256 GB \
and the 990 PRO, of one with QLC, or of a drive with capacitors that is newer than the P3700.
- 4 KiB one at a time of a 660p or a T500, and of an SN570 or a 970 EVO a read of what was not \
written just before: such files are in the SLC cache.
- Of drives of 2023 or later with capacitors only StorageReview was found to publish more than \
rates in order, and no 4 KiB one at a time; of synced writes there is nothing.
- A second source of the synced writes of a 970 PRO, a 660p, a T500 or a 990 PRO with O_DSYNC.
";

/// Which kinds of figures a preset lacks.
fn missing() -> String {
    let mut text = format!(
        "\n## What is missing\n\nIndependent sources of measured figures that a drive is compared \
         with; data sheets do not count. Two of each are wanted: where there are fewer, the number \
         is in bold.\n\n| drive |{} |\n| --- |{}\n",
        KINDS.map(|(_, name)| format!(" {name}")).join(" |"),
        " ---: |".repeat(KINDS.len())
    );
    for preset in presets::ALL.into_iter().filter(|preset| preset.name != "ideal") {
        let measured = book::measured_by(preset);
        let cells = KINDS.map(|(kind, _)| match measured.get(&kind).copied().unwrap_or(0) {
            few if few < WANTED => format!(" **{few}** |"),
            enough => format!(" {enough} |"),
        });
        let _ = writeln!(text, "| {} |{}", preset.name, cells.concat());
    }
    text + "\n" + SEARCHED
}

/// Stores a run's results for the published numbers of its plan.
fn keep(kept: &mut StoredResults, folder: &Path) -> Result<()> {
    let RunContents { schedule, records, ending, .. } = RunFolder::read(folder)?;
    // A record of a treatment that could not run has no release.
    let releases = records.iter().map(|record| &record.environment.ssdlab);
    let release =
        releases.max().ok_or_else(|| miette!("{}: no records", folder.display()))?.clone();
    let analysis = analyse("kept", &schedule, records, ending);
    let today = book::schedules().find(|today| today.plan == schedule.plan);
    let today =
        today.ok_or_else(|| miette!("{}: not a run of a shipped plan", folder.display()))?;
    let ours = book::places(&today)
        .filter_map(|place| Some((place.id(), ours(&today, &analysis, place)?)))
        .collect();
    let run = format!("ssdlab run {}", schedule.plan);
    let command: Vec<String> = [run].into_iter().chain(schedule.overrides.clone()).collect();
    let from = depends_on(&today, &kernel::recipe());
    let command = command.join(" ");
    kept.runs.insert(schedule.plan.clone(), StoredRun { release, command, from, ours });
    Ok(())
}

fn ours(schedule: &Schedule, analysis: &Analysis, place: FigurePlace<'_>) -> Option<f64> {
    match place {
        FigurePlace::Phase { levels, phase, .. } => {
            let mut treatments = analysis.treatments.iter();
            let treatment = treatments.find(|treatment| treatment.levels.matches(levels))?;
            let summary = treatment.summary.iter().find(|summary| summary.name == phase)?;
            Some(summary.metrics.get(&schedule.metric)?.mean)
        }
        // Of several cases, the one that is farthest from what was published.
        FigurePlace::Claim(claim, published) => {
            let cases = analysis.claims.iter().filter(|own| own.claim.id == claim.id);
            let ratios = cases.filter_map(|own| own.outcome.ratio());
            let distance = |ratio: &f64| (ratio / published).ln().abs();
            ratios.max_by(|a, b| distance(a).total_cmp(&distance(b)))
        }
    }
}

/// What the results of a plan depend on, each by its name, so that a change to it shows: the values
/// of the models that the plan names, the recipe of the lab kernel, and the treatments and their
/// workload. What does not show is a change to the code of the models.
fn depends_on(schedule: &Schedule, recipe: &str) -> BTreeMap<String, String> {
    let mut from = BTreeMap::from([("kernel".to_owned(), recipe.to_owned())]);
    let mut work = serde_json::to_string(&schedule.workload).expect("it is plain data");
    work.extend(schedule.treatments.iter().map(|treatment| treatment.levels.to_string()));
    from.insert("work".to_owned(), digest(&work));
    let models: BTreeSet<Model> =
        schedule.setups().flat_map(|setup| setup.simulated.models()).collect();
    for model in models {
        let (of, values) = match &model {
            Model::Drive(level) => ("drive", presets::find(level).map(drive_values)),
            Model::Host(level) => ("host", find_host(level).map(|of| format!("{} ns", of.costs))),
        };
        from.extend(values.map(|values| (format!("{of} {}", model.level()), values)));
    }
    from
}

fn drive_values(preset: Preset) -> String {
    let values = grounded(preset.text).expect("a test reads every preset");
    let values = values.iter().map(|of| format!("{} = {}\n", of.key, of.value));
    digest(&values.collect::<String>())
}

fn digest(text: &str) -> String {
    let hash = Sha256::digest(text);
    format!("{:016x}", u64::from_be_bytes(*hash.first_chunk().expect("it has 32 bytes")))
}

#[cfg(test)]
mod tests;

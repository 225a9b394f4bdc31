//! docs/evidence.md says what `ssdlab evidence` does. `make evidence` runs the plans whose numbers
//! are stored, and writes these numbers and the page; `make cross-check` writes the page.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use ssdlab_advice::{Analysis, analyse};
use ssdlab_flash::presets;
use ssdlab_kernel as kernel;
use ssdlab_plan::{LabKind, Schedule};
use ssdlab_report::book_markdown;
use ssdlab_report::figures::{self as book, Figure, KEPT, Kept, KeptRun, Place};
use ssdlab_results::{Contents, Run};

fn path(parts: &[&str]) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR")].iter().chain(parts).collect()
}

#[test]
fn the_page_shows_the_book() {
    let update = std::env::var("UPDATE_EVIDENCE").ok();
    let has_run = match update.as_deref() {
        Some("runs") => true,
        Some("page") | None => false,
        Some(other) => panic!("UPDATE_EVIDENCE={other}: runs or page"),
    };
    let mut kept = Kept::parse(KEPT).unwrap();
    if has_run {
        for run in fs::read_dir(path(&["target", "evidence"])).unwrap().flatten() {
            if run.path().join("records.jsonl").is_file() {
                keep(&mut kept, &run.path());
            }
        }
        fs::write(path(&["crates", "book", "kept.toml"]), kept.text()).unwrap();
    }
    let mut figures: Vec<Figure> = presets::ALL.into_iter().flat_map(book::of_drive).collect();
    figures.extend(book::of_plans(&kept));
    figures.extend(book::cross_checks());
    let page = path(&["docs", "evidence.md"]);
    if update.is_some() {
        fs::write(page, book_markdown(&figures)).unwrap();
        return;
    }
    let written = fs::read_to_string(page).unwrap();
    assert_eq!(written, book_markdown(&figures), "`make evidence` writes what the models give");
}

/// Plans whose runs take minutes to an hour, and whose kept numbers are of earlier lab kernels:
/// `small-files` of that before FUA and the tick of 1000 Hz, the others of that which charged a
/// guest's boot. `make evidence` runs them again.
const EARLIER: [&str; 1] = ["small-files"];

/// Every published number that the virtual lab can be compared with is, and by a run of the models,
/// the kernel and the plan as they are.
#[test]
fn kept_numbers_are_of_what_is_shipped() {
    let kept = Kept::parse(KEPT).unwrap();
    for schedule in book::schedules() {
        let plan = &schedule.plan;
        let is_tested = |place: &Place<'_>| match place {
            Place::Phase { .. } => true,
            Place::Claim(claim, _) => !claim.not_testable.contains_key(&LabKind::Virtual),
        };
        let places: BTreeSet<String> =
            book::places(&schedule).filter(is_tested).map(|place| place.id()).collect();
        let Some(run) = kept.of(plan) else {
            assert!(places.is_empty(), "{plan} has published numbers: add it to `make evidence`");
            continue;
        };
        let from = book::depends_on(&schedule, &kernel::recipe());
        if EARLIER.contains(&plan.as_str()) {
            assert_ne!(run.from, from, "{plan} is as it is shipped: take it out of `EARLIER`");
            continue;
        }
        assert_eq!(run.from, from, "{plan} was kept from others: `make evidence` runs it again");
        let found: BTreeSet<String> = run.ours.keys().cloned().collect();
        let missing: Vec<&String> = places.difference(&found).collect();
        assert!(missing.is_empty(), "{plan} has nothing for {missing:?}");
    }
}

/// Stores a run's results for the published numbers of its plan.
fn keep(kept: &mut Kept, folder: &Path) {
    let Contents { schedule, records, ending, .. } = Run::read(folder).unwrap();
    // A record of a treatment that could not run has no release.
    let releases = records.iter().map(|record| &record.environment.ssdlab);
    let release = releases.max().expect("a run has records").clone();
    let analysis = analyse("kept", &schedule, records, ending);
    let today = book::schedules().find(|today| today.plan == schedule.plan).unwrap();
    let ours = book::places(&today)
        .filter_map(|place| Some((place.id(), ours(&today, &analysis, place)?)))
        .collect();
    let run = format!("ssdlab run {}", schedule.plan);
    let command: Vec<String> = [run].into_iter().chain(schedule.overrides).collect();
    let from = book::depends_on(&today, &kernel::recipe());
    let command = command.join(" ");
    kept.keep(schedule.plan, KeptRun { release, command, from, ours });
}

fn ours(schedule: &Schedule, analysis: &Analysis, place: Place<'_>) -> Option<f64> {
    match place {
        Place::Phase { levels, phase, .. } => {
            let mut treatments = analysis.treatments.iter();
            let treatment = treatments.find(|treatment| treatment.levels.matches(levels))?;
            let summary = treatment.summary.iter().find(|summary| summary.name == phase)?;
            Some(summary.metrics.get(&schedule.metric)?.mean)
        }
        // Of several cases, the one that is farthest from what was published.
        Place::Claim(claim, published) => {
            let cases = analysis.claims.iter().filter(|own| own.claim.id == claim.id);
            let ratios = cases.filter_map(|own| own.outcome.ratio());
            let distance = |ratio: &f64| (ratio / published).ln().abs();
            ratios.max_by(|a, b| distance(a).total_cmp(&distance(b)))
        }
    }
}

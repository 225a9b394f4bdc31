//! The manual's pages of answers: one for each shipped plan, and a table of all.
//!
//! They follow from records that the source keeps, so that an answer can be worded anew without
//! running its plan again, which may take hours.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Write as _};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use flate2::{Compression, GzBuilder};
use miette::{IntoDiagnostic, Result, WrapErr, miette};
use ssdlab_advice::{Analysis, analyse};
use ssdlab_flash::presets;
use ssdlab_plan::shipped::{self, QuestionEra, ShippedPlan};
use ssdlab_plan::{Factor, LabKind, Origin, Overrides, Schedule, schedule};
use ssdlab_report::{AnsweredQuestion, answer, answer_markdown, how, inline, number_word};
use ssdlab_results::{Ending, Record, RunFolder};

use super::source;

const INDEX: &str = "docs/answers.md";

/// What readers of a page may ask next.
const NEXT: [(&str, &[&str]); 18] = [
    ("discard", &["trim-today"]),
    ("filesystems", &["power-loss"]),
    ("fsync", &["etcd", "database"]),
    ("journal", &["power-loss"]),
    ("schedulers", &["schedulers-today", "filesystems"]),
    ("wear", &["overprovision", "raspberry"]),
    ("power-loss", &["filesystems"]),
    ("btrfs-small-writes", &["database"]),
    ("etcd", &["database", "sqlite"]),
    ("sqlite", &["database", "power-loss"]),
    ("database", &["btrfs-small-writes", "etcd"]),
    ("raspberry", &["container-host", "power-loss"]),
    ("trim-today", &["discard"]),
    ("overprovision", &["discard"]),
    ("schedulers-today", &["schedulers"]),
    ("luks", &["overprovision", "trim-today"]),
    ("proxmox", &["btrfs-small-writes"]),
    ("container-host", &["raspberry", "btrfs-small-writes"]),
];

/// Where the records of a plan's run are kept: how it ended, and a line for each record.
fn records_file(plan: &str) -> String {
    format!("tests/data/answers/{plan}.jsonl.gz")
}

/// Writes a page for each shipped plan whose records are kept, and the index of all, where the
/// others keep the row that they have. The runs in a folder are kept first.
pub fn write(runs: Option<&Path>) -> Result<()> {
    if let Some(runs) = runs {
        for plan in shipped::ALL {
            if let Some(run) = last_run(runs, plan.name)? {
                keep(plan, &run)?;
            }
        }
    }
    pages()?.into_iter().try_for_each(|(file, text)| source::write(&file, &text))
}

/// The pages that follow from the records, and the index, by their files.
fn pages() -> Result<Vec<(String, String)>> {
    let before = fs::read_to_string(source::path(INDEX))
        .into_diagnostic()
        .wrap_err_with(|| format!("cannot read {INDEX}"))?;
    let (mut pages, mut rows) = (Vec::new(), Vec::new());
    for plan in shipped::ALL {
        let schedule = of(plan)?;
        let run = kept(plan.name)?;
        let planned = |record: &Record| schedule.trials.contains(&record.trial);
        if run.as_ref().is_some_and(|(_, records)| !records.iter().all(planned)) {
            return Err(miette!(
                "{} has records of another version of the plan: run it again",
                records_file(plan.name)
            ));
        }
        let answer = run.map(|run| {
            let (text, answer) = page(plan, &schedule, run);
            pages.push((format!("docs/answers/{}.md", plan.name), text));
            answer
        });
        rows.push(IndexRow { plan, question: schedule.question.clone(), answer });
    }
    pages.push((INDEX.to_owned(), index(&rows, &before)));
    Ok(pages)
}

fn of(plan: ShippedPlan) -> Result<Schedule> {
    Ok(schedule(plan.name, plan.text, &Overrides::default(), Path::new("/"))?)
}

/// The newest run of a plan in a folder; `None` if there is none.
fn last_run(runs: &Path, plan: &str) -> Result<Option<PathBuf>> {
    let wrong = || format!("cannot read {}", runs.display());
    let mut found: Vec<PathBuf> = Vec::new();
    for run in fs::read_dir(runs).into_diagnostic().wrap_err_with(wrong)? {
        let run = run.into_diagnostic().wrap_err_with(wrong)?.path();
        let name = run.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_own = name.strip_prefix(plan).is_some_and(|rest| rest.starts_with("-2"));
        if is_own && run.join("records.jsonl").is_file() {
            found.push(run);
        }
    }
    found.sort();
    Ok(found.pop())
}

/// How a run ended, and its records.
type KeptRun = (Ending, Vec<Record>);

/// Keeps the records of a run of the plan as it is.
fn keep(plan: ShippedPlan, run: &Path) -> Result<()> {
    let contents = RunFolder::read(run)?;
    if contents.schedule.trials != of(plan)?.trials {
        return Err(miette!("{} is a run of another version of the plan", run.display()));
    }
    let file = records_file(plan.name);
    let write = || -> io::Result<()> {
        let file = File::create(source::path(&file))?;
        // Without the time of day, the same records give the same file.
        let mut out = GzBuilder::new().mtime(0).write(file, Compression::best());
        serde_json::to_writer(&mut out, &contents.ending)?;
        for record in &contents.records {
            out.write_all(b"\n")?;
            serde_json::to_writer(&mut out, record)?;
        }
        out.finish()?.sync_all()
    };
    write().into_diagnostic().wrap_err_with(|| format!("cannot write {file}"))
}

/// The records that are kept of a plan's run, if there are any.
fn kept(plan: &str) -> Result<Option<KeptRun>> {
    let path = records_file(plan);
    let read = || -> io::Result<Option<KeptRun>> {
        let file = match File::open(source::path(&path)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file?,
        };
        let mut lines = BufReader::new(GzDecoder::new(file)).lines();
        let ending = serde_json::from_str(&lines.next().transpose()?.unwrap_or_default())?;
        let records = lines.map(|line| Ok(serde_json::from_str(&line?)?));
        Ok(Some((ending, records.collect::<io::Result<_>>()?)))
    };
    read().into_diagnostic().wrap_err_with(|| format!("cannot read {path}"))
}

/// A question in the index.
struct IndexRow {
    plan: ShippedPlan,
    question: String,
    /// The answer, if records of the plan are kept.
    answer: Option<AnsweredQuestion>,
}

/// The page of a plan, and its answer. The plan of today says how the records answer.
fn page(
    plan: ShippedPlan,
    schedule: &Schedule,
    (ending, records): KeptRun,
) -> (String, AnsweredQuestion) {
    let analysis = analyse(plan.name, schedule, records, ending);
    let mut page = format!("# {}\n\n", inline(&analysis.question));
    let _ = writeln!(page, "{}", answer_markdown(schedule, &analysis));
    let _ = writeln!(page, "{}\n", inline(&format!("It holds for {}.", holds_for(&analysis))));
    if let Some(source) = &schedule.source {
        let _ = writeln!(page, "The question is from {}.\n", inline(source));
    }
    let _ = writeln!(
        page,
        "```console minutes\n$ ssdlab run {name}\n$ ssdlab report {name} --why\n```",
        name = plan.name
    );
    page += &next(plan.name);
    if plan.asked == QuestionEra::Founding {
        let name = plan.name;
        let _ = writeln!(
            page,
            "\n![The first chart of the report](../gallery/{name}.svg)\n\n[The whole \
             report](../gallery/{name}.html)"
        );
    }
    (page, answer(schedule, &analysis))
}

/// Links to the pages that readers of a page may want next; empty if there are none.
fn next(name: &str) -> String {
    let next = NEXT.iter().find(|(own, _)| *own == name).map_or(&[][..], |(_, next)| next);
    let link = |name: &&str| {
        let schedule = of(shipped::find(name)?).ok()?;
        Some(format!("[{}]({name}.md)", inline(&schedule.question)))
    };
    let links: Vec<String> = next.iter().filter_map(link).collect();
    if links.is_empty() { String::new() } else { format!("\nNext: {}\n", links.join("; ")) }
}

/// What an answer holds for, as people say it.
fn holds_for(analysis: &Analysis) -> String {
    if analysis.lab != Origin::Lab(LabKind::Virtual) {
        return how(analysis);
    }
    let capacities = analysis.capacities_bytes.iter();
    let mut capacities: Vec<String> =
        capacities.map(|bytes| format!("{:.0} GB", *bytes as f64 / 1e9)).collect();
    capacities.dedup();
    let drives = analysis.treatments.iter().filter_map(|own| own.levels.0.get(&Factor::Drive));
    let drives: BTreeSet<&String> = drives.collect();
    let is_larger = |name: &&String| {
        let whole = presets::find(name).map_or(0, presets::Preset::capacity_bytes);
        analysis.capacities_bytes.iter().any(|own| whole > own + own / 10)
    };
    let drive = if drives.len() > 1 { "simulated drives" } else { "a simulated drive" };
    let of = match (capacities.is_empty(), drives.iter().any(is_larger)) {
        (true, _) => "",
        (_, true) => " scaled down to ",
        (_, false) => " of ",
    };
    let conditions: Vec<&str> = analysis.conditions.iter().map(|name| condition(name)).collect();
    let were = if conditions.is_empty() { "" } else { ", " };
    let before = if conditions.is_empty() { "" } else { " before each run" };
    let trials = analysis.treatments.iter().map(|own| own.trials.len()).max().unwrap_or(0);
    let runs = match (analysis.plausible_drives, trials) {
        (0, 1) => "one run of each setting".to_owned(),
        (0, several) => format!("{} runs of each setting", number_word(several)),
        (variants, _) => {
            let variants = number_word(variants);
            format!(
                "each setting once on the published drive, and once on {variants} variants of it"
            )
        }
    };
    let (capacities, conditions) = (capacities.join(" and "), conditions.join(" or "));
    format!("{drive}{of}{capacities}{were}{conditions}{before}: {runs}")
}

/// The state of a drive before a run, as people say it.
fn condition(name: &str) -> &str {
    match name {
        "purged" => "empty",
        "filled" => "written once from end to end",
        "steady" => "overwritten at random up to a steady pace",
        other => other,
    }
}

fn index(rows: &[IndexRow], before: &str) -> String {
    let mut page = "# Answers\n\nEach question is a plan; its page has the numbers, what they are \
                    worth, and the command that repeats them. `make answers` runs all of them.\n\n\
                    All drives here are simulated. An answer is *predicted* by a model that was \
                    not fitted to it, *reproduced* by one that was, or *assumed*: it follows from \
                    an assumption. Only your own machine or drive is *measured*; [how \
                    sure](how-sure.md) has more.\n"
        .to_owned();
    let row_before = |name: &str| before.lines().find(|row| row.contains(&page_link(name)));
    let mut unanswered = Vec::new();
    for (era, heading) in [
        (QuestionEra::Founding, "From the posts that ssdlab was made for"),
        (QuestionEra::Today, "What people ask today"),
    ] {
        let _ = write!(
            page,
            "\n## {heading}\n\n| question | answer | how sure |\n| --- | --- | --- |\n"
        );
        for row in rows.iter().filter(|row| row.plan.asked == era) {
            let (name, question) = (row.plan.name, inline(&row.question));
            let link = page_link(name);
            let _ = match (&row.answer, row_before(name)) {
                (Some(found), _) => {
                    let (sentence, sure) = (inline(&found.sentence), found.sure.name());
                    writeln!(page, "| [{question}]{link} | {sentence} | {sure} |")
                }
                (None, Some(row)) => writeln!(page, "{row}"),
                (None, None) => {
                    unanswered.push(format!("{question} (`ssdlab run {name}`)"));
                    Ok(())
                }
            };
        }
    }
    if !unanswered.is_empty() {
        let _ = write!(
            page,
            "\nWithout a page, but with a report of an earlier version in [the \
             gallery](gallery.md):\n\n- {}\n",
            unanswered.join("\n- ")
        );
    }
    page
}

/// Where the index links to the page of a plan.
fn page_link(name: &str) -> String {
    format!("(answers/{name}.md)")
}

#[cfg(test)]
mod tests;

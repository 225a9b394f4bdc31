//! docs/evidence.md says what `ssdlab evidence` does. `make evidence` runs the plans whose numbers
//! are stored, and writes these numbers and the page.

use std::fs;
use std::path::{Path, PathBuf};

use ssdlab_advice::{Analysis, analyse};
use ssdlab_book::{self as book, DriveFigures, Figure, KEPT, Kept, KeptRun, Place};
use ssdlab_plan::Schedule;
use ssdlab_report::book_markdown;
use ssdlab_results::{Contents, Run};

fn path(parts: &[&str]) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR")].iter().chain(parts).collect()
}

#[test]
fn the_page_shows_the_book() {
    let is_made = std::env::var_os("UPDATE_EVIDENCE").is_some();
    let mut kept = Kept::parse(KEPT).unwrap();
    if is_made {
        for run in fs::read_dir(path(&["target", "evidence"])).unwrap().flatten() {
            if run.path().join("records.jsonl").is_file() {
                keep(&mut kept, &run.path());
            }
        }
        fs::write(path(&["crates", "book", "kept.toml"]), kept.text()).unwrap();
    }
    let mut figures: Vec<Figure> = book::drives().flat_map(DriveFigures::compute).collect();
    figures.extend(book::of_plans(&kept));
    figures.extend(book::cross_checks());
    let page = path(&["docs", "evidence.md"]);
    if is_made {
        fs::write(page, book_markdown(&figures)).unwrap();
        return;
    }
    let written = fs::read_to_string(page).unwrap();
    assert_eq!(written, book_markdown(&figures), "`make evidence` writes what the models give");
}

/// Stores a run's results for the published numbers of its plan.
fn keep(kept: &mut Kept, folder: &Path) {
    let Contents { schedule, records, ending, .. } = Run::read(folder).unwrap();
    let release = records[0].environment.ssdlab.clone();
    let analysis = analyse("kept", &schedule, records, ending);
    let today = book::schedules().find(|today| today.plan == schedule.plan).unwrap();
    let ours = book::places(&today)
        .filter_map(|place| Some((place.id(), ours(&today, &analysis, place)?)))
        .collect();
    let run = format!("ssdlab run {}", schedule.plan);
    let command: Vec<String> = [run].into_iter().chain(schedule.overrides).collect();
    kept.keep(schedule.plan, KeptRun { release, command: command.join(" "), ours });
}

fn ours(schedule: &Schedule, analysis: &Analysis, place: Place<'_>) -> Option<f64> {
    match place {
        Place::Phase { levels, phase, .. } => {
            let mut treatments = analysis.treatments.iter();
            let treatment = treatments.find(|treatment| treatment.levels.matches(levels))?;
            let summary = treatment.summary.iter().find(|summary| summary.name == phase)?;
            Some(summary.metrics.get(&schedule.metric)?.mean)
        }
        Place::Claim(claim, _) => analysis.claims.iter().find(|own| own.id == claim.id)?.ratio,
    }
}

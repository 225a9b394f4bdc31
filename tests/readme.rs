//! The README's numbers and its chart are those of the run stored here. `make readme` repeats the
//! run and updates both; a test of the virtual lab performs two of its trials.

use std::fs;
use std::path::{Path, PathBuf};

use ssdlab_advice::analyse;
use ssdlab_plan::{self as plan, Overrides, shipped};
use ssdlab_report::{Style, brief, charts};
use ssdlab_results::{Ending, Record};

/// The records of `ssdlab run discard`, as shipped.
const RECORDS: &str = include_str!("data/discard.jsonl");

/// What precedes the report in the README, and what ends it.
const COMMAND: &str = "$ ssdlab run discard\n";
const END: &str = "```\n";

/// The width of the README.
const WIDTH: u16 = 116;

/// The chart in the README: the first one, which shows the answer.
const PICTURE: &str = "docs/answer.svg";

/// The run's report for a screen, and its first chart as SVG.
fn shown(width: u16) -> (String, String) {
    let plan = shipped::find("discard").unwrap().text;
    let schedule = plan::schedule("discard", plan, &Overrides::default(), Path::new("/")).unwrap();
    let records: Vec<Record> =
        RECORDS.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(records.len(), schedule.trials.len());
    let analysis = analyse("discard", &schedule, records, Ending::AllBlocks);
    let report = brief(&schedule, &analysis, Style { is_coloured: false, width: Some(width) });
    (report, charts(&schedule, &analysis).swap_remove(0).svg)
}

#[test]
fn the_end_of_the_run_fits_on_a_screen() {
    let (report, _) = shown(100);
    let lines: Vec<&str> = report.lines().collect();
    assert!(lines.len() <= 40, "{} lines:\n{report}", lines.len());
    assert!(lines.iter().all(|line| line.chars().count() <= 100), "{report}");
    // The answer comes first, and no row is there that has no number.
    assert!(lines[1].starts_with("Yes: "), "{report}");
    assert!(!report.contains("excluded"), "{report}");
}

#[test]
fn the_readme_shows_what_the_run_gives() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let (path, picture) = (root.join("README.md"), root.join(PICTURE));
    let readme = fs::read_to_string(&path).unwrap();
    let from = readme.find(COMMAND).unwrap() + COMMAND.len();
    let to = from + readme[from..].find(END).unwrap();
    let (report, chart) = shown(WIDTH);
    // The README shows the answer, how it was measured, and the claims.
    let report = report.split("\n\n").take(3).collect::<Vec<_>>().join("\n\n") + "\n";
    if std::env::var_os("UPDATE_README").is_some() {
        fs::write(&path, format!("{}{report}{}", &readme[..from], &readme[to..])).unwrap();
        fs::write(&picture, chart).unwrap();
        return;
    }
    assert_eq!(&readme[from..to], report, "`make readme` writes what the run gives");
    let is_current = fs::read_to_string(&picture).is_ok_and(|kept| kept == chart);
    assert!(is_current, "{PICTURE}: `make readme` draws what the run gives");
}

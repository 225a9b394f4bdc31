//! The README's numbers and its chart are those of the run stored here. `make readme` repeats the
//! run and updates both; a test of the virtual lab performs two of its trials.

use std::fs;
use std::path::{Path, PathBuf};

use ssdlab_advice::analyse;
use ssdlab_plan::{self as plan, Overrides, shipped};
use ssdlab_report::{Style, charts, screen};
use ssdlab_results::{Ending, Record};

/// The plan that the README shows, and the records of its run.
const PLAN: &str = "sqlite";
const RECORDS: &str = include_str!("data/readme.jsonl");

/// What precedes the report in the README, and what ends it.
const COMMAND: &str = "$ ssdlab run sqlite\n";
const END: &str = "```\n";

/// The chart in the README: the first one, which shows the answer.
const PICTURE: &str = "docs/answer.svg";

/// The run's report for a screen, and its first chart as SVG.
fn shown() -> (String, String) {
    let plan = shipped::find(PLAN).unwrap().text;
    let schedule = plan::schedule(PLAN, plan, &Overrides::default(), Path::new("/")).unwrap();
    let records: Vec<Record> =
        RECORDS.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(records.len(), schedule.trials.len());
    let analysis = analyse(PLAN, &schedule, records, Ending::AllBlocks);
    let report = screen(&schedule, &analysis, Style::default());
    (report, charts(&schedule, &analysis).swap_remove(0).svg)
}

#[test]
fn the_readme_shows_what_the_run_gives() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let (path, picture) = (root.join("README.md"), root.join(PICTURE));
    let readme = fs::read_to_string(&path).unwrap();
    let from = readme.find(COMMAND).unwrap() + COMMAND.len();
    let to = from + readme[from..].find(END).unwrap();
    let (report, chart) = shown();
    if std::env::var_os("UPDATE_README").is_some() {
        fs::write(&path, format!("{}{report}{}", &readme[..from], &readme[to..])).unwrap();
        fs::write(&picture, chart).unwrap();
        return;
    }
    assert_eq!(&readme[from..to], report, "`make readme` writes what the run gives");
    let is_current = fs::read_to_string(&picture).is_ok_and(|kept| kept == chart);
    assert!(is_current, "{PICTURE}: `make readme` draws what the run gives");
}

//! The README's screen is that of the run stored here. `make readme` repeats the run and updates
//! it; a test of the virtual lab performs two of its trials.

#[path = "common/readme_run.rs"]
mod readme_run;

use std::fs;
use std::path::Path;

use ssdlab_advice::analyse;
use ssdlab_plan::{self as plan, Overrides, shipped};
use ssdlab_report::{Style, screen};
use ssdlab_results::{Ending, Record};

/// The plan that the README shows.
const PLAN: &str = "sqlite";

/// What precedes the report in the README, and what ends it.
const COMMAND: &str = "$ ssdlab run sqlite\n";
const END: &str = "```\n";

/// The first screen of the run's report.
fn shown() -> String {
    let plan = shipped::find(PLAN).unwrap().text;
    let schedule = plan::schedule(PLAN, plan, &Overrides::default(), Path::new("/")).unwrap();
    let records: Vec<Record> =
        readme_run::records().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(records.len(), schedule.trials.len());
    let analysis = analyse(PLAN, &schedule, records, Ending::AllBlocks);
    screen(&schedule, &analysis, Style::default())
}

#[test]
fn the_readme_shows_what_the_run_gives() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = fs::read_to_string(&path).unwrap();
    let from = readme.find(COMMAND).unwrap() + COMMAND.len();
    let to = from + readme[from..].find(END).unwrap();
    let report = shown();
    if std::env::var_os("UPDATE_README").is_some() {
        fs::write(&path, format!("{}{report}{}", &readme[..from], &readme[to..])).unwrap();
        return;
    }
    assert_eq!(&readme[from..to], report, "`make readme` writes what the run gives");
}

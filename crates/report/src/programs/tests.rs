use std::path::Path;

use ssdlab_advice::summarise;
use ssdlab_plan::{Overrides, schedule};
use ssdlab_results::{ByProgram, Ending, Ledger, PhaseRecord, Record};

use super::*;

const PLAN: &str = r#"
name = "here"
question = "Does it write less?"
lab = "live"
[factors]
mount = ["commit=5", "commit=30"]
[baseline]
mount = "commit=5"
"#;

const STYLE: Style = Style { is_coloured: false, width: None };

fn live() -> Schedule {
    let overrides = Overrides { mount: Some("/".into()), ..Overrides::default() };
    schedule("here.toml", PLAN, &overrides, Path::new("/")).unwrap()
}

/// The tables of stretches whose programs are given by treatment and block.
fn shown(of: impl Fn(usize, u32) -> Option<Vec<(&'static str, u64)>>) -> Vec<ReportTable> {
    let schedule = live();
    let record = |trial: &ssdlab_plan::schedule::Trial| {
        let by_program = of(trial.treatment, trial.block).map(|rows| {
            let rows = rows.into_iter().map(|(name, bytes)| {
                let (program, service) = name.split_once('@').unwrap_or((name, ""));
                (program.to_owned(), service.to_owned(), bytes)
            });
            ByProgram::new(rows, 0)
        });
        let ledger = Some(Ledger { by_program, ..Ledger::default() });
        let phase = PhaseRecord { name: "stretch".into(), ledger, ..PhaseRecord::default() };
        Record { phases: vec![phase], ..Record::new(&schedule, *trial, 0) }
    };
    let records: Vec<Record> = schedule.trials.iter().take(4).map(record).collect();
    tables(&schedule, &summarise("here", &schedule, &records, Ending::AllBlocks), STYLE)
}

#[test]
fn each_program_has_its_mean_and_its_ratio_and_the_largest_is_first() {
    let tables = shown(|treatment, block| {
        let syncs = 100_000 + 20_000 * u64::from(block);
        let once = ("apt", if treatment == 0 { 90_000 } else { 0 });
        Some(vec![("sqlite3@mail", syncs), once, ("cp", 4_000_000 >> (2 * treatment))])
    });
    let [table] = &tables[..] else { panic!("{}", tables.len()) };
    assert_eq!(table.header, ["program", "mount commit=5", "mount commit=30"]);
    assert_eq!(table.rows[0], ["cp", "4.00 MB", "1.00 MB\nx0.250"]);
    assert_eq!(table.rows[1], ["sqlite3 (mail)", "110 kB", "110 kB\nx1.000"]);
    assert_eq!(table.rows[2], ["apt", "90.0 kB", "0 B"]);
    assert_eq!(table.rows[3], ["all others", "0 B", "0 B"]);
}

#[test]
fn the_rows_add_up_however_many_programs_there_are() {
    const NAMES: [&str; 30] = [
        "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r",
        "s", "t", "u", "v", "w", "x", "y", "z", "A", "B", "C", "D",
    ];
    let tables = shown(|_, _| Some(NAMES.iter().zip(1..).map(|(name, n)| (*name, n)).collect()));
    let cells: Vec<&str> = tables[0].rows.iter().map(|row| &*row[1]).collect();
    // The last is 1 + 2 + ... + 22.
    assert_eq!(cells, ["30 B", "29 B", "28 B", "27 B", "26 B", "25 B", "24 B", "23 B", "253 B"]);
}

#[test]
fn a_treatment_of_which_it_is_not_known_has_no_column() {
    let tables = shown(|treatment, _| (treatment == 1).then(|| vec![("cp", 4096)]));
    assert_eq!(tables[0].header, ["program", "mount commit=30"]);
    assert_eq!(tables[0].rows[0], ["cp", "4.10 kB"]);
    assert!(shown(|_, _| None).is_empty());
}

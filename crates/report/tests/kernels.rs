//! A verdict that differs between kernels is told as such.

use std::path::Path;

use ssdlab_advice::{Verdict, analyse};
use ssdlab_host::meter::block::Counters;
use ssdlab_plan::{Factor, Overrides, schedule};
use ssdlab_report::{Style, answer, html, markdown, text};
use ssdlab_results::{Ending, PhaseRecord, Record};

const PLAN: &str = r#"
    name = "kernels"
    question = "Does a journal cost flushes?"
    [factors]
    filesystem = "ext4"
    journal = ["off", "on"]
    [virtual]
    seeds = 8
    [virtual.factors]
    kernel = ["6.1", "6.12"]
    [baseline]
    journal = "off"
    [workload]
    phases = [{ do = "unpack" }]
    [[claims]]
    id = "costs"
    says = "A journal doubles the flushes"
    metric = "flushes"
    phases = ["unpack"]
    compare = { journal = "on" }
    at_least = 2
"#;

/// The report of a run in which a journal multiplies flushes by `of_newer` under 6.12.
fn reports(of_newer: u64) -> (Vec<Verdict>, String, [String; 3]) {
    let schedule = schedule("kernels.toml", PLAN, &Overrides::default(), Path::new("/")).unwrap();
    let record = |trial: &ssdlab_plan::schedule::Trial| {
        let levels = &schedule.treatments[trial.treatment].levels.0;
        let is = |factor, level| levels[&factor] == level;
        let times = match (is(Factor::Journal, "on"), is(Factor::Kernel, "6.12")) {
            (false, _) => 1,
            (true, false) => 3,
            (true, true) => of_newer,
        };
        let flushes = times * (1_000 + u64::from(trial.block));
        let device = Some(Counters { flushes, ..Counters::default() });
        let phase = PhaseRecord { name: "unpack".to_owned(), device, ..PhaseRecord::default() };
        Record { phases: vec![phase], ..Record::new(&schedule, *trial, 0) }
    };
    let records: Vec<Record> = schedule.trials.iter().map(record).collect();
    let analysis = analyse("run", &schedule, records, Ending::AllBlocks);
    let verdicts = analysis.claims.iter().map(|claim| claim.outcome.verdict()).collect();
    let pages = [
        text(&schedule, &analysis, Style { is_coloured: false, width: None }),
        markdown(&schedule, &analysis),
        html(&schedule, &analysis, ""),
    ];
    (verdicts, answer(&schedule, &analysis).sentence, pages)
}

#[test]
fn a_verdict_that_differs_between_kernels_is_told() {
    let (verdicts, sentence, pages) = reports(1);
    assert_eq!(verdicts, [Verdict::Holds, Verdict::Refuted]);
    let says = "the verdict differs between kernels: holds on Linux 6.1, refuted on Linux 6.12";
    for page in pages {
        assert!(page.contains(says), "{page}");
    }
    assert!(sentence.contains("Linux 6.1") && sentence.contains("Linux 6.12"), "{sentence}");
}

#[test]
fn a_verdict_that_does_not_differ_is_not() {
    let (verdicts, _, pages) = reports(4);
    assert_eq!(verdicts, [Verdict::Holds, Verdict::Holds]);
    assert!(pages.iter().all(|page| !page.contains("differs between kernels")));
}

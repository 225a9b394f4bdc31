//! Golden reports from fixed records: exact, and independent of clock and machine.

#[path = "reports/pairing.rs"]
mod pairing;
mod records;
#[path = "reports/units.rs"]
mod units;

use std::path::Path;

use serde_json::json;
use ssdlab_advice::{self as advice, Verdict};
use ssdlab_plan::metric::Source;
use ssdlab_plan::{self as plan, LabKind, Overrides, metric, shipped};
use ssdlab_report::{Style, markdown, screen, tables, text, why};
use ssdlab_results::{Ending, Record, TrialStatus};

use self::records::{chain, edited, fleet, phase, post_1, record, schedule, work};

#[test]
fn founding_post_1_as_it_was_measured() {
    let schedule = schedule("discard", 8);
    let records = post_1(&schedule);
    let analysis = advice::analyse("discard-2011", &schedule, &records, Ending::AllBlocks);
    // (0.48 + 40.41) / (0.47 + 0.17) = 63.9
    let claim = &analysis.claims[0];
    assert_eq!(claim.outcome.verdict(), Verdict::Holds);
    let ratio = claim.outcome.ratio().unwrap();
    assert!((63.0..65.0).contains(&ratio), "{ratio}");
    insta::assert_snapshot!(text(&schedule, &analysis, Style::default()));
}

/// Not counted is not the same as none: ext2 has no journal, xfs one that is not counted.
#[test]
fn commits_are_compared_where_there_are_none_or_they_are_counted() {
    const PLAN: &str = r#"
        name = "commits"
        question = "What stands behind it?"
        [factors]
        filesystem = ["ext2", "ext3", "xfs"]
        [baseline]
        filesystem = "ext2"
        [workload]
        phases = [{ do = "unpack", sync = true }, { do = "delete", sync = true }]
        [[claims]]
        id = "ext2"
        says = "slower than ext2"
        phases = ["unpack"]
        compare = { filesystem = "ext3" }
        at_least = 1.1
        [[claims]]
        id = "both"
        says = "... also when it deletes"
        phases = ["unpack", "delete"]
        compare = { filesystem = "ext3" }
        at_least = 1.1
        [[claims]]
        id = "xfs"
        says = "slower than xfs"
        phases = ["unpack"]
        compare = { filesystem = "ext3" }
        against = { filesystem = "xfs" }
        at_least = 1.1
    "#;
    let overrides = Overrides { lab: Some(LabKind::Image), runs: Some(2), ..Overrides::default() };
    let schedule = plan::schedule("p.toml", PLAN, &overrides, Path::new("/")).unwrap();
    let of = |trial| {
        let phases = ["unpack", "delete"].map(|name| phase(name, 1000, 1_000_000, 0));
        record(&schedule, trial, phases.to_vec())
    };
    let mut records: Vec<Record> = schedule.trials.iter().map(of).collect();
    for record in &mut records {
        if record.levels.to_string().contains("ext3") {
            // Commits of a phase whose end was not seen are unknown, so only one phase has them.
            record.phases[0].commits = Some(150);
        }
    }
    let analysis = advice::analyse("x", &schedule, &records, Ending::AllBlocks);
    let report = markdown(&schedule, &analysis);
    let claim = |says: &str| report.lines().find(|line| line.contains(says)).unwrap();
    assert!(claim("slower than ext2").contains("150 journal commits against 0"), "{report}");
    assert!(!claim("also when it deletes").contains("commits"), "{report}");
    assert!(!claim("slower than xfs").contains("commits"), "{report}");
}

#[test]
fn markdown_has_the_verdicts_first() {
    let schedule = schedule("discard", 8);
    let records = post_1(&schedule);
    let analysis = advice::analyse("discard-2011", &schedule, &records, Ending::AllBlocks);
    insta::assert_snapshot!(markdown(&schedule, &analysis));
}

#[test]
fn markdown_of_a_chain_has_its_rankings() {
    let (schedule, records) = chain();
    let analysis = advice::analyse("chain", &schedule, &records, Ending::AllBlocks);
    insta::assert_snapshot!(markdown(&schedule, &analysis));
}

/// The part of a report from one line up to, but excluding, another.
fn part<'a>(report: &'a str, first: &str, next: &str) -> &'a str {
    let rest = &report[report.find(first).unwrap()..];
    &rest[..rest.find(next).unwrap()]
}

#[test]
fn hosts_stand_beside_each_other_and_one_disagrees() {
    let (schedule, records) = fleet();
    let analysis = advice::analyse("fleet", &schedule, &records, Ending::AllBlocks);
    let report = text(&schedule, &analysis, Style { is_coloured: false, width: Some(120) });
    let caveats = &report[report.find("\nCaveats").unwrap()..];
    let by_host = part(&report, "By host", "\nCaveats");
    insta::assert_snapshot!(format!("{by_host}{caveats}"));
    insta::assert_snapshot!(part(&report, "\nClaims", "\n\n"));
    let report = markdown(&schedule, &analysis);
    insta::assert_snapshot!(part(&report, "time_ns with", "Caveats:"));
}

#[test]
fn a_narrow_terminal_wraps_instead_of_cutting() {
    let schedule = schedule("discard", 8);
    let analysis = advice::analyse("discard-2011", &schedule, post_1(&schedule), Ending::AllBlocks);
    let style = Style { is_coloured: false, width: Some(60) };
    let report = text(&schedule, &analysis, style);
    assert!(report.lines().all(|line| line.chars().count() <= 60), "{report}");
    insta::assert_snapshot!(report);
}

#[test]
fn the_reasons_are_the_claims_in_words() {
    let schedule = schedule("discard", 2);
    let analysis = advice::analyse("discard-2011", &schedule, post_1(&schedule), Ending::AllBlocks);
    let words =
        |text: &str, most: usize| text.split_whitespace().take(most).collect::<Vec<_>>().join(" ");
    let report = |width| why(&schedule, &analysis, Style { is_coloured: false, width });
    let [narrow, report] = [40, 80].map(|width| words(&report(Some(width)), usize::MAX));
    for advice::Judgement { claim, .. } in &analysis.claims {
        assert!(report.contains(&format!("{}: ", claim.says)), "{}: {report}", claim.says);
        assert!(narrow.contains(&words(&claim.says, 8)), "{}: {narrow}", claim.says);
    }
    assert!(report.contains("2 runs, and a verdict takes 6"), "{report}");
}

#[test]
fn every_report_says_on_what_and_how_often_it_measured() {
    let schedule = schedule("discard", 8);
    let mut records = post_1(&schedule);
    records.retain(|record| record.trial.block < 2 || record.trial.treatment == 0);
    for record in &mut records {
        let named = [("drive", "vertex-le"), ("host", "modern-2020s")];
        record.applied = named.map(|(what, name)| (what.to_owned(), name.to_owned())).into();
    }
    let analysis = advice::analyse("small-1", &schedule, &records, Ending::Interrupted);
    let expected = "small-1: image lab, drive vertex-le, host modern-2020s, 2 to 8 trials a \
                    treatment, seed 1, scale 1, capacity 4.0 GiB; interrupted, so partial: \
                    `ssdlab run --resume small-1` continues it";
    let reports =
        [why(&schedule, &analysis, Style::default()), text(&schedule, &analysis, Style::default())];
    for report in reports {
        assert!(report.lines().any(|line| line == expected), "{report}");
    }
    let (schedule, records) = fleet();
    let analysis = advice::analyse("fleet", &schedule, &records, Ending::AllBlocks);
    let report = why(&schedule, &analysis, Style::default());
    let models = "image lab, drive INTEL SSDSA2M080G2GC and OCZ VERTEX-LE, 12 trials a treatment";
    assert!(report.contains(models), "{report}");
}

/// The tutorial's plan for a directory.
const ALONE: &str = r#"
    name = "alone"
    question = "How long does a tree of small files take here?"
    [workload]
    phases = [{ do = "unpack", sync = true }, { do = "delete", sync = true }]
"#;

#[test]
fn a_treatment_alone_is_answered_by_what_it_takes() {
    let overrides = Overrides { lab: Some(LabKind::Image), runs: Some(2), ..Overrides::default() };
    let schedule = plan::schedule("p.toml", ALONE, &overrides, Path::new("/")).unwrap();
    let of = |trial| {
        record(&schedule, trial, vec![phase("unpack", 586, 0, 0), phase("delete", 1_970, 0, 0)])
    };
    let mut records: Vec<Record> = schedule.trials.iter().map(of).collect();
    let analysed = |records: &[Record]| {
        let analysis = advice::analyse("alone", &schedule, records, Ending::AllBlocks);
        tables(&schedule, &analysis, Style::default())
    };
    let report = analysed(&records);
    let analysis = advice::analyse("alone", &schedule, &records, Ending::AllBlocks);
    let answer = "  The time is 586 ms in unpack and 1.97 s in delete (2 runs).";
    assert_eq!(screen(&schedule, &analysis, Style::default()).lines().nth(2), Some(answer));
    assert!(!report.contains("ratio") && !report.contains("interval"), "{report}");
    let row = |report: &str, phase: &str| {
        let row = report.lines().find(|line| line.starts_with(&format!("│ {phase}")));
        row.unwrap_or_default().split(['│', '┆']).nth(2).unwrap_or_default().trim().to_owned()
    };
    // A failure is in its own phase, whatever went well before it.
    for status in [TrialStatus::Failed, TrialStatus::Void] {
        for record in &mut records {
            record.status = status;
            record.reason = Some("in phase `delete`: `rm` ended with exit code 1".to_owned());
            record.phases.truncate(1);
        }
        let report = analysed(&records);
        assert_eq!(
            (row(&report, "unpack"), row(&report, "delete")),
            ("completed".into(), "failed".into())
        );
    }
}

/// fio-numjobs-lost: "No: with , the fio c read iops in fio is 500/s".
#[test]
fn case_fio_numjobs_lost_a_claim_about_the_only_treatment_reads_as_a_sentence() {
    let plan = r#"
        name = "alone"
        question = "Do four readers get 2,000 reads a second?"
        answer = ["rate", "time"]
        [workload]
        phases = [{ do = "command", name = "reads", run = "true" }]
        [[claims]]
        id = "rate"
        says = "They do"
        metric = "fio.c.read_iops"
        phases = ["reads"]
        at_least = "1900"
        [[claims]]
        id = "time"
        says = "They take no second"
        phases = ["reads"]
        at_most = "1 s"
    "#;
    let overrides = Overrides { lab: Some(LabKind::Image), runs: Some(6), ..Overrides::default() };
    let schedule = plan::schedule("p.toml", plan, &overrides, Path::new("/")).unwrap();
    let of = |trial| {
        let mut reads = phase("reads", 500, 0, 0);
        reads.reported.insert(metric::of("fio.c.read_iops"), 2000.0);
        record(&schedule, trial, vec![reads])
    };
    let records: Vec<Record> = schedule.trials.iter().map(of).collect();
    let analysis = advice::analyse("alone", &schedule, &records, Ending::AllBlocks);
    let report = screen(&schedule, &analysis, Style::default());
    let rate = "The rate of reads of the job c in reads is 2,000 a second.";
    assert!(report.contains(rate) && report.contains("reads is 0.50 s"), "{report}");
    assert!(!report.contains("with ,") && !report.contains("with  "), "{report}");
}

#[test]
fn a_plan_cannot_steer_the_terminal() {
    let schedule = edited(&schedule("discard", 1), |stored| {
        stored["question"] = json!("What?\u{1b}[2J\u{7}");
    });
    let analysis = advice::analyse("x", &schedule, post_1(&schedule), Ending::AllBlocks);
    let report = text(&schedule, &analysis, Style::default());
    assert!(!report.chars().any(|c| c.is_control() && c != '\n'));
}

#[test]
fn too_few_runs_decide_nothing() {
    let schedule = schedule("discard", 1);
    let analysis = advice::analyse("once", &schedule, post_1(&schedule), Ending::AllBlocks);
    assert!(analysis.claims.iter().all(|claim| claim.outcome.verdict() == Verdict::Undecided));
    assert!(analysis.claims.iter().all(|claim| claim.outcome.interval().is_none()));
    assert!(analysis.settings.is_empty());
}

#[test]
fn failures_keep_their_row_and_their_reason() {
    let schedule = schedule("discard", 8);
    let mut records = post_1(&schedule);
    for record in &mut records {
        if record.levels.to_string().contains("discard = on") {
            record.status = TrialStatus::Failed;
            record.reason = Some("cannot write x: No space left on device".to_owned());
            record.phases.truncate(1);
        }
    }
    let analysis = advice::analyse("failed", &schedule, &records, Ending::AllBlocks);
    insta::assert_snapshot!(text(&schedule, &analysis, Style::default()));
}

/// Several claims at once: a p-value that suffices alone must not suffice among eleven.
#[test]
fn verdicts_are_corrected_for_their_number() {
    let alone = schedule("discard", 8);
    let analysis = advice::analyse("x", &alone, post_1(&alone), Ending::AllBlocks);
    let raw: Vec<f64> = analysis.claims.iter().filter_map(|claim| claim.outcome.p()).collect();
    assert_eq!(raw.len(), 4);
    let one = edited(&alone, |stored| stored["claims"].as_array_mut().unwrap().truncate(1));
    let single =
        advice::analyse("x", &one, post_1(&one), Ending::AllBlocks).claims[0].outcome.p().unwrap();
    assert!(raw[0] >= single);
}

#[test]
fn an_amount_is_judged_by_itself() {
    let overrides = Overrides { plausible: Some(0), ..Overrides::default() };
    let text = shipped::find("discard").unwrap().text;
    let schedule = plan::schedule("plan.toml", text, &overrides, Path::new("/")).unwrap();
    let judge = |fstrim_ms: u64| {
        let mut records = post_1(&schedule);
        for (index, record) in records.iter_mut().enumerate() {
            for phase in record.phases.iter_mut().filter(|phase| phase.name == "fstrim") {
                phase.time_ns = Some((fstrim_ms + index as u64) * 1_000_000);
            }
        }
        let analysis = advice::analyse("run", &schedule, &records, Ending::AllBlocks);
        let mut claims = analysis.claims.into_iter();
        claims.find(|claim| claim.id == "fstrim-six-minutes").unwrap()
    };
    let six_minutes = judge(360_000);
    assert_eq!(
        (six_minutes.outcome.verdict(), six_minutes.outcome.estimate().unwrap().n),
        (Verdict::Holds, 6)
    );
    assert!(six_minutes.claim.is_absolute() && six_minutes.baseline.is_none());
    let found = six_minutes.outcome.ratio().unwrap();
    assert!((3.6e11..3.61e11).contains(&found), "{found}");
    assert_eq!(judge(9_000).outcome.verdict(), Verdict::Refuted);
}

#[test]
fn a_chain_of_steps_ends_with_the_best_tandem() {
    let (schedule, records) = chain();
    // 6 x 5, then 6 x 2 x 2, then 6 x 2.
    assert_eq!(records.len(), 30 + 24 + 12);
    let analysis = advice::analyse("chain", &schedule, &records, Ending::AllBlocks);
    let first = analysis.rankings[0].places.iter().map(|place| place.goes_on);
    assert_eq!(first.collect::<Vec<_>>(), [Some(true), Some(true), Some(false), Some(false)]);
    // Indistinguishable treatments share places, whichever of them was kept.
    let place = |step: usize, index: usize| {
        let place = &analysis.rankings[step].places[index];
        (place.first, place.last)
    };
    assert_eq!((place(0, 1), place(0, 2)), ((2, 3), (2, 3)));
    assert_eq!((place(2, 0), place(2, 1)), ((1, 1), (2, 2)));
    let verdicts: Vec<Verdict> =
        analysis.claims.iter().map(|claim| claim.outcome.verdict()).collect();
    assert_eq!(verdicts, [Verdict::Holds, Verdict::Refuted]);
    assert_eq!(analysis.claims[0].not_measured, ["filesystem = jfs, scheduler = none"]);
    let style = Style { is_coloured: false, width: Some(80) };
    insta::assert_snapshot!(text(&schedule, &analysis, style));
}

/// The trials that selected a treatment do not count for it: only those of the last step do.
#[test]
fn a_lucky_choice_is_not_flattered_by_its_luck() {
    let (schedule, mut records) = chain();
    let is_xfs = |record: &Record| record.levels.to_string().contains("= xfs, scheduler = bfq");
    for record in records.iter_mut().filter(|r| is_xfs(r) && schedule.step_of(r.trial.block) < 2) {
        for phase in &mut record.phases {
            phase.work = Some(work(1e6));
        }
    }
    let analysis = advice::analyse("chain", &schedule, &records, Ending::AllBlocks);
    let of =
        analysis.treatments.iter().find(|t| t.levels.to_string().contains("xfs, scheduler = bfq"));
    let mean = of.unwrap().summary[0].metrics[&Source::OpsRate.into()].mean;
    assert!((130.0..135.0).contains(&mean), "{mean}");
    let last = analysis.rankings.last().unwrap();
    assert!(last.places[1].ratio > 0.5, "{:?}", last.places);
}

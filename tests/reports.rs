//! Golden reports from fixed records: exact to the letter, no clock and no machine in them.

use std::collections::BTreeMap;
use std::path::Path;

use ssdlab::advice::{self, Verdict};
use ssdlab::meter::block::Counters;
use ssdlab::meter::environment::Environment;
use ssdlab::plan::{self, LabKind, Overrides, Schedule, shipped};
use ssdlab::report::{Style, text};
use ssdlab::results::{Ending, Phase, RECORD_SCHEMA, Record, Status};

fn schedule(plan: &str, runs: u32) -> Schedule {
    let overrides =
        Overrides { lab: Some(LabKind::Image), runs: Some(runs), ..Overrides::default() };
    let text = shipped::find(plan).unwrap().text;
    plan::schedule("plan.toml", text, &overrides, Path::new("/")).unwrap()
}

fn phase(name: &str, time_ms: u64, written: u64, discards: u64) -> Phase {
    let counters = Counters {
        written_bytes: written,
        write_requests: written / 100_000,
        discard_requests: discards,
        discarded_bytes: discards * 50_000_000,
        ..Counters::default()
    };
    Phase {
        name: name.to_owned(),
        time_ns: time_ms * 1_000_000,
        settled_ns: time_ms * 1_000_000,
        is_quiet: true,
        cpu_ns: 1_000,
        application_bytes: Some(if name == "unpack" { 493_000_000 } else { 0 }),
        device: Some(counters),
        at_return: Some(counters),
        flash: None,
        lifetime_kib: None,
        work: None,
        reported: BTreeMap::new(),
    }
}

/// Founding post 1's numbers as records: its three tries, with a spread of a few per cent.
fn post_1(schedule: &Schedule) -> Vec<Record> {
    schedule
        .trials
        .iter()
        .map(|trial| {
            let levels = schedule.treatments[trial.treatment].levels.clone();
            let jitter = |ms: u64| ms * (100 + (u64::from(trial.position) * 7) % 5) / 100;
            let discard = levels.to_string();
            let sync = if discard.contains("discard = on") { 40_410 } else { 170 };
            let mut phases = vec![
                phase("unpack", jitter(1_210), 0, 0),
                phase("sync_unpacked", jitter(1_660), 520_000_000, 0),
                phase("delete", jitter(470), 0, 0),
                phase("sync_deleted", jitter(sync), 20_000_000, u64::from(sync > 1000) * 12),
            ];
            if discard.contains("discard = fstrim") {
                phases.push(phase("fstrim", 9_000, 0, 30));
            }
            Record {
                schema: RECORD_SCHEMA,
                trial: *trial,
                levels,
                lab: schedule.target.lab,
                status: Status::Ok,
                reason: None,
                fingerprint: None,
                started_s: 1_310_000_000,
                took_ns: 1,
                written_bytes: 0,
                background_written_bytes: 0,
                phases,
                teardown: None,
                applied: BTreeMap::new(),
                environment: Environment::default(),
                smart: None,
            }
        })
        .collect()
}

#[test]
fn founding_post_1_as_it_was_measured() {
    let schedule = schedule("discard", 3);
    let records = post_1(&schedule);
    let analysis = advice::analyse("discard-2011", &schedule, &records, Ending::AllBlocks);
    // (0.48 + 40.41) / (0.47 + 0.17) = 63.9
    let claim = &analysis.claims[0];
    assert_eq!(claim.verdict, Verdict::Holds);
    let ratio = claim.ratio.unwrap();
    assert!((63.0..65.0).contains(&ratio), "{ratio}");
    insta::assert_snapshot!(text(&schedule, &analysis, Style::default()));
}

#[test]
fn a_narrow_terminal_wraps_instead_of_cutting() {
    let schedule = schedule("discard", 3);
    let analysis =
        advice::analyse("discard-2011", &schedule, &post_1(&schedule), Ending::AllBlocks);
    let style = Style { is_coloured: false, width: Some(60) };
    let report = text(&schedule, &analysis, style);
    assert!(report.lines().all(|line| line.chars().count() <= 60), "{report}");
    insta::assert_snapshot!(report);
}

#[test]
fn a_plan_cannot_steer_the_terminal() {
    let mut schedule = schedule("discard", 1);
    schedule.question = "What?\u{1b}[2J\u{7}".to_owned();
    let analysis = advice::analyse("x", &schedule, &post_1(&schedule), Ending::AllBlocks);
    let report = text(&schedule, &analysis, Style::default());
    assert!(!report.chars().any(|c| c.is_control() && c != '\n'));
}

#[test]
fn too_few_runs_decide_nothing() {
    let schedule = schedule("discard", 1);
    let analysis = advice::analyse("once", &schedule, &post_1(&schedule), Ending::AllBlocks);
    assert!(analysis.claims.iter().all(|claim| claim.verdict == Verdict::Undecided));
    assert!(analysis.claims.iter().all(|claim| claim.interval.is_none()));
    assert!(analysis.settings.is_empty());
}

#[test]
fn failures_keep_their_row_and_their_reason() {
    let schedule = schedule("discard", 3);
    let mut records = post_1(&schedule);
    for record in &mut records {
        if record.levels.to_string().contains("discard = on") {
            record.status = Status::Failed;
            record.reason = Some("cannot write x: No space left on device".to_owned());
            record.phases.truncate(1);
        }
    }
    let analysis = advice::analyse("failed", &schedule, &records, Ending::AllBlocks);
    insta::assert_snapshot!(text(&schedule, &analysis, Style::default()));
}

/// Several claims at once: a p-value that would do alone must not do among eleven.
#[test]
fn verdicts_are_corrected_for_their_number() {
    let alone = schedule("discard", 3);
    let analysis = advice::analyse("x", &alone, &post_1(&alone), Ending::AllBlocks);
    let raw: Vec<f64> = analysis.claims.iter().filter_map(|claim| claim.p).collect();
    assert_eq!(raw.len(), 4);
    let mut one = alone.clone();
    one.claims.truncate(1);
    let single = advice::analyse("x", &one, &post_1(&one), Ending::AllBlocks).claims[0].p.unwrap();
    assert!(raw[0] >= single);
}

#[test]
fn an_amount_is_judged_by_itself() {
    let overrides = Overrides { lab: Some(LabKind::Virtual), ..Overrides::default() };
    let text = shipped::find("discard").unwrap().text;
    let schedule = plan::schedule("plan.toml", text, &overrides, Path::new("/")).unwrap();
    let judge = |fstrim_ms: u64| {
        let mut records = post_1(&schedule);
        for (index, record) in records.iter_mut().enumerate() {
            for phase in record.phases.iter_mut().filter(|phase| phase.name == "fstrim") {
                phase.time_ns = (fstrim_ms + index as u64) * 1_000_000;
            }
        }
        let analysis = advice::analyse("run", &schedule, &records, Ending::AllBlocks);
        let mut claims = analysis.claims.into_iter();
        claims.find(|claim| claim.id == "fstrim-six-minutes").unwrap()
    };
    let six_minutes = judge(360_000);
    assert_eq!((six_minutes.verdict, six_minutes.n), (Verdict::Holds, 3));
    assert!(six_minutes.is_absolute && six_minutes.baseline.is_none());
    let found = six_minutes.ratio.unwrap();
    assert!((3.6e11..3.61e11).contains(&found), "{found}");
    assert_eq!(judge(9_000).verdict, Verdict::Refuted);
}

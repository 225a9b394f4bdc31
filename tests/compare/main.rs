//! Several runs side by side: golden comparisons from fixed records, and refusals.

mod command_line;

use std::collections::BTreeMap;
use std::path::Path;

use ssdlab_advice::{self as advice, Candidate, Comparison, ComparisonMethod, Incomparable};
use ssdlab_flash::Draw;
use ssdlab_host::meter::block::Counters;
use ssdlab_host::meter::environment::Environment;
use ssdlab_plan::metric::{self, Metric};
use ssdlab_plan::{self as plan, LabKind, Overrides, Schedule};
use ssdlab_report::{Style, comparison, comparison_markdown};
use ssdlab_results::{Ending, PhaseRecord, Record, TrialStatus};

const PLAN: &str = r#"
name = "delete"
question = "Does discard make deleting slow?"
[factors]
discard = ["off", "on"]
[workload]
tree = { files = 1000, size = "10 MB" }
phases = [{ do = "unpack" }, { do = "delete", sync = true }]
[repetitions]
least = 4
most = 4
[[claims]]
id = "slower"
says = "discard makes deleting slower"
phases = ["delete"]
compare = { discard = "on" }
at_least = 2
"#;

fn schedule(lab: LabKind, change: impl Fn(&mut Overrides)) -> Schedule {
    let mut overrides = Overrides { lab: Some(lab), ..Overrides::default() };
    change(&mut overrides);
    plan::schedule("plan.toml", PLAN, &overrides, Path::new("/")).unwrap()
}

fn phase(name: &str, time_ns: u64, written_bytes: u64) -> PhaseRecord {
    let counters = Counters { written_bytes, ..Counters::default() };
    PhaseRecord {
        name: name.to_owned(),
        time_ns: Some(time_ns),
        settled_ns: Some(time_ns),
        is_quiet: Some(true),
        cpu_ns: Some(1_000),
        application_bytes: Some(0),
        device: Some(counters),
        at_return: Some(counters),
        ..PhaseRecord::default()
    }
}

/// Records in which deleting takes `slower` times as long with discard, with a scatter of a few per
/// cent that depends on the seed, the trial and `slower`.
fn records(schedule: &Schedule, kernel: &str, slower: u64) -> Vec<Record> {
    let environment = Environment {
        ssdlab: "0.1.0 abcdef0".to_owned(),
        kernel: kernel.to_owned(),
        tools: vec!["mkfs.ext4: mke2fs 1.47.0 (5-Feb-2023)".to_owned()],
        ..Environment::default()
    };
    let record = |trial: &plan::schedule::Trial| {
        let levels = schedule.treatments[trial.treatment].levels.clone();
        let percent = 100 + trial.seed % 7 * 3 + u64::from(trial.position) % 2;
        let percent = percent + (trial.seed / 7 + slower) % 3;
        let times = if levels.to_string().contains("discard = on") { slower } else { 1 };
        let uuid = format!("{:08x}-0000-4000-8000-{:012x}", trial.seed % 9999, trial.seed % 777);
        Record {
            phases: vec![
                phase("unpack", 12_000_000 * percent, 10_500_000),
                phase("delete", 4_000_000 * percent * times, 0),
            ],
            applied: BTreeMap::from([
                ("mkfs".to_owned(), format!("mkfs.ext4 -q -U {uuid} -E hash_seed={uuid}")),
                ("mkfs_ns".to_owned(), trial.seed.to_string()),
            ]),
            environment: environment.clone(),
            levels,
            ..Record::new(schedule, *trial, 1_310_000_000 + u64::from(trial.position))
        }
    };
    schedule.trials.iter().map(record).collect()
}

fn candidate(run: &str, schedule: &Schedule, records: &[Record], metric: &str) -> Candidate {
    Candidate::new(run, schedule.clone(), records, Ending::AllBlocks, metric::of(metric))
}

/// Two kernels in the virtual lab: the same seeds.
fn two_kernels() -> Comparison {
    let schedule = schedule(LabKind::Virtual, |_| {});
    let before = records(&schedule, "6.1.0", 80);
    let after = records(&schedule, "6.12.0", 10);
    let of = |run: &str, records: &[Record]| candidate(run, &schedule, records, "time_ns");
    advice::compare(&[of("delete-before", &before), of("delete-after", &after)]).unwrap()
}

#[test]
fn two_kernels_in_virtual_time_are_paired_by_seed() {
    let found = two_kernels();
    let effects = found.rows.iter().filter_map(|row| row.cells[1].effect);
    assert!(effects.clone().all(|effect| effect.method == ComparisonMethod::PairedBySeed));
    // Two treatments with two phases and both together; one phase of one treatment has changed.
    assert_eq!((found.tests, effects.filter(|effect| effect.is_different).count()), (6, 2));
    insta::assert_snapshot!(comparison(&found, Style::default()));
}

/// NEWCOMER.md, B9: "corrected for 0 comparisons".
#[test]
fn with_one_trial_each_nothing_is_tested_or_corrected() {
    let schedule = schedule(LabKind::Virtual, |overrides| overrides.runs = Some(1));
    let of = |run: &str, slower: u64| {
        candidate(run, &schedule, &records(&schedule, "6.1.0", slower), "time_ns")
    };
    let found = advice::compare(&[of("before", 80), of("after", 10)]).unwrap();
    assert_eq!(found.tests, 0);
    assert!(found.rows.iter().all(|row| row.cells[1].effect.unwrap().interval.is_none()));
    for text in [comparison(&found, Style::default()), comparison_markdown(&found)] {
        assert!(text.contains("no ratio has an interval, so that none is tested"), "{text}");
        for word in ["corrected for", "0 comparisons", "95 %", "if shown"] {
            assert!(!text.contains(word), "{word}: {text}");
        }
    }
}

#[test]
fn what_has_no_pair_is_in_means_and_not_in_ratios_which_is_said() {
    let schedule = schedule(LabKind::Virtual, |_| {});
    let before = records(&schedule, "6.1.0", 80);
    let mut after = records(&schedule, "6.12.0", 80);
    let last = after.iter().map(|record| record.trial.block).max().unwrap();
    after.retain(|record| record.trial.block < last);
    let of = |run: &str, records: &[Record]| candidate(run, &schedule, records, "time_ns");
    let says = |after: &[Record]| {
        let found = advice::compare(&[of("before", &before), of("after", after)]).unwrap();
        assert!(found.rows.iter().all(|row| row.cells[1].effect.is_some()));
        found.notes.iter().any(|note| note.contains("not every seed is in both runs"))
    };
    assert!(says(&after));
    assert!(!says(&records(&schedule, "6.12.0", 10)));
}

#[test]
fn a_comparison_can_be_pasted() {
    insta::assert_snapshot!(comparison_markdown(&two_kernels()));
}

#[test]
fn a_narrow_terminal_wraps_instead_of_cutting() {
    let style = Style { is_coloured: false, width: Some(60) };
    let text = comparison(&two_kernels(), style);
    assert!(text.lines().all(|line| line.chars().count() <= 60), "{text}");
}

/// In real time a seed does not determine a trial: there are no pairs, and no interval includes the
/// differences between days.
#[test]
fn two_months_on_one_machine_are_not_paired() {
    let schedule = schedule(LabKind::Image, |_| {});
    let july = records(&schedule, "6.1.0", 80);
    let mut august = records(&schedule, "6.1.0", 80);
    for record in &mut august {
        record.started_s += 31 * 86_400;
    }
    august.truncate(5);
    august[4].status = TrialStatus::Failed;
    august[4].reason = Some("cannot write: No space left on device".to_owned());
    let july = candidate("july", &schedule, &july, "time_ns");
    let august =
        Candidate::new("august", schedule.clone(), &august, Ending::Interrupted, Metric::default());
    let found = advice::compare(&[july, august]).unwrap();
    let mut effects = found.rows.iter().filter_map(|row| row.cells[1].effect);
    assert!(
        effects.all(|effect| effect.method == ComparisonMethod::Unpaired && !effect.is_different)
    );
    insta::assert_snapshot!(comparison(&found, Style::default()));
}

/// Three runs on two drives, one run with only one treatment: the drives differ, not the
/// treatments.
#[test]
fn other_drives_are_other_runs_of_the_same_treatments() {
    let of = |run: &str, drive: &str, set: &[&str]| {
        let schedule = schedule(LabKind::Virtual, |overrides| {
            overrides.drive = Some(drive.to_owned());
            overrides.set = set.iter().map(|set| (*set).to_owned()).collect();
        });
        let mut records = records(&schedule, "6.1.0", 20);
        for record in &mut records {
            let applied = [("drive", drive.to_owned()), ("drive_identity", format!("{drive}-1"))];
            record.applied.extend(applied.map(|(name, value)| (name.to_owned(), value)));
        }
        candidate(run, &schedule, &records, "written_bytes")
    };
    let runs = [
        of("one", "vertex-le", &[]),
        of("two", "x25m-g1", &[]),
        of("three", "x25m-g1", &["discard=on"]),
    ];
    let found = advice::compare(&runs).unwrap();
    let drive = found.differences.iter().find(|difference| difference.what == "drive").unwrap();
    let named = ["vertex-le", "x25m-g1", "x25m-g1"].map(|drive| Some(drive.to_owned()));
    assert_eq!(drive.values, named);
    // What was applied follows from the level.
    assert!(found.differences.iter().all(|own| !own.what.starts_with("applied drive")));
    assert_eq!((found.unshared.len(), &found.unshared[0].runs[..]), (1, &[0, 1][..]));
    // Equal counts are a point at 1, and counts of nothing have no ratio.
    let cell = &found.rows[0].cells[1];
    assert_eq!(cell.effect.unwrap().interval, Some([1.0, 1.0]));
    assert!(found.rows[1].cells[1].reason.as_ref().unwrap().contains("not above 0"));
    insta::assert_snapshot!(comparison(&found, Style::default()));
}

#[test]
fn what_is_not_comparable_is_refused() {
    let same = schedule(LabKind::Virtual, |_| {});
    let first = || candidate("first", &same, &records(&same, "6.1.0", 20), "time_ns");
    let refusal = |schedule: &Schedule, metric: &str| {
        let second = candidate("second", schedule, &records(schedule, "6.1.0", 20), metric);
        advice::compare(&[first(), second]).unwrap_err()
    };
    let larger = schedule(LabKind::Virtual, |overrides| overrides.scale = Some(0.5));
    let said = refusal(&larger, "time_ns").to_string();
    assert!(said.contains("a tree of 500 files, 5.0 MB against 1000 files, 10.0 MB"), "{said}");

    let mut workload = same.workload.clone();
    workload.phases[1].sync = false;
    let other = same.clone().with_workload(workload.clone());
    let said = refusal(&other, "time_ns").to_string();
    assert!(said.contains("`delete`") && said.contains("did not do the same"), "{said}");
    workload.phases[1].name = "remove".to_owned();
    let other = other.with_workload(workload);
    let said = refusal(&other, "time_ns").to_string();
    assert!(said.contains("phases unpack; remove against unpack; delete"), "{said}");

    let wall_clock = schedule(LabKind::Image, |_| {});
    let said = refusal(&wall_clock, "time_ns").to_string();
    assert!(said.contains("image lab") && said.contains("virtual lab"), "{said}");

    let filesystem = schedule(LabKind::Virtual, |o| o.set = vec!["filesystem=xfs".to_owned()]);
    let error = refusal(&filesystem, "time_ns");
    assert!(matches!(error, Incomparable::Treatments { .. }), "{error}");
    assert!(error.to_string().contains("no treatment in common"), "{error}");

    let mut failed = records(&same, "6.1.0", 20);
    for record in &mut failed {
        record.status = TrialStatus::Failed;
        record.reason = Some("cannot mount".to_owned());
    }
    let refused = |failed: &[Record]| {
        let failed = candidate("failed", &same, failed, "time_ns");
        let said = advice::compare(&[first(), failed]).unwrap_err().to_string();
        assert!(said.contains("no trial that went well: cannot mount"), "{said}");
    };
    refused(&failed);
    // Trials on plausible drives are not compared.
    let drawn = failed.last_mut().unwrap();
    drawn.status = TrialStatus::Ok;
    drawn.draw = Some(Draw { values: BTreeMap::new(), redrawn: 0 });
    refused(&failed);

    let of = |run: &str| candidate(run, &same, &records(&same, "6.1.0", 20), "reader.p99_ns");
    let error = advice::compare(&[of("first"), of("second")]).unwrap_err();
    assert!(error.to_string().contains("has the metric reader.p99_ns"), "{error}");
}

/// The bytes that a filesystem writes may be compared even if its times may not.
#[test]
fn bytes_of_two_labs_are_of_the_same_thing() {
    let of = |lab: LabKind| {
        let schedule = schedule(lab, |_| {});
        candidate(&lab.to_string(), &schedule, &records(&schedule, "6.1.0", 20), "written_bytes")
    };
    let found = advice::compare(&[of(LabKind::Virtual), of(LabKind::Image)]).unwrap();
    assert_eq!(found.rows[0].cells[1].effect.unwrap().method, ComparisonMethod::Unpaired);
    assert!(found.differences.iter().any(|difference| difference.what == "lab"));
}

#[test]
fn a_run_cannot_steer_the_terminal_or_the_table() {
    let schedule = schedule(LabKind::Virtual, |_| {});
    let hostile = records(&schedule, "6.1.0\u{1b}[2J|<br>", 20);
    let first = candidate("first", &schedule, &records(&schedule, "6.1.0", 20), "time_ns");
    let second = candidate("sec|ond\u{7}", &schedule, &hostile, "time_ns");
    let found = advice::compare(&[first, second]).unwrap();
    for text in [comparison(&found, Style::default()), comparison_markdown(&found)] {
        assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
    }
    assert!(comparison_markdown(&found).contains("6.1.0 [2J\\|\\<br\\>"));
}

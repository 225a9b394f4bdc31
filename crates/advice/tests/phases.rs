//! Claims that compare two phases of each trial: the pair, the interval, and drives that disagree.

use std::collections::BTreeMap;
use std::path::Path;

use ssdlab_advice::{Analysis, Verdict, analyse, precision, standings, subjects};
use ssdlab_flash::Draw;
use ssdlab_plan::schedule::Trial;
use ssdlab_plan::{Levels, Overrides, Schedule, schedule};
use ssdlab_results::{Ending, PhaseRecord, Record};

/// What each write of both phases is.
const SYNCED: &str = "size = \"4 MiB\", sync = \"every 1 write\", operations = 10";

/// tursodatabase/turso#1864, June 2025: 1969 against 722 transactions a second.
fn plan(claim: &str, overrides: &Overrides) -> Schedule {
    let text = format!(
        r#"
name = "turso"
question = "Is fdatasync faster?"
[factors]
filesystem = ["ext4", "xfs"]
[virtual]
seeds = 8
[baseline]
filesystem = "ext4"
[workload]
phases = [
    {{ do = "io", name = "fdatasync", io = {{ {SYNCED} }} }},
    {{ do = "io", name = "fsync", io = {{ {SYNCED}, sync_by = "fsync" }} }},
]
[[claims]]
id = "twice"
says = "fsync takes at least twice as long"
{claim}
"#
    );
    schedule("p.toml", &text, overrides, Path::new("/")).unwrap()
}

const TWICE: &str =
    "compare = { phase = \"fsync\" }\nagainst = { phase = \"fdatasync\" }\nat_least = 2";

/// Records of trials that take `ms` milliseconds for `fdatasync` and for `fsync`.
fn records(schedule: &Schedule, ms: impl Fn(&Trial, &Levels) -> [f64; 2]) -> Vec<Record> {
    let of = |trial: &Trial| {
        let levels = &schedule.treatments[trial.treatment].levels;
        let phase = |(name, ms): (&str, f64)| {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            let time_ns = Some((ms * 1e6) as u64);
            PhaseRecord { name: name.to_owned(), time_ns, ..PhaseRecord::default() }
        };
        let phases = ["fdatasync", "fsync"].into_iter().zip(ms(trial, levels)).map(phase);
        let drawn = |_| Draw { values: BTreeMap::new(), redrawn: 0 };
        let draw = schedule.draw_of(trial.block).map(drawn);
        Record { phases: phases.collect(), draw, ..Record::new(schedule, *trial, 0) }
    };
    schedule.trials.iter().map(of).collect()
}

fn analysed(schedule: &Schedule, records: &[Record]) -> Analysis {
    analyse("r", schedule, records, Ending::AllBlocks)
}

fn is_xfs(levels: &Levels) -> bool {
    levels.to_string().contains("xfs")
}

/// Trials differ tenfold, and what one trial says of its two phases hardly: only their being paired
/// within the trial can show it.
#[test]
fn case_phases_cannot_be_compared_turso_1864_phases_of_one_trial_are_the_pair() {
    let schedule = plan(TWICE, &Overrides::default());
    let records = records(&schedule, |trial, levels| {
        let of_trial = f64::from(1 + trial.block) * if is_xfs(levels) { 10.0 } else { 1.0 };
        let ratio = if is_xfs(levels) { 1.2 } else { 2.7 + 0.01 * f64::from(trial.block % 3) };
        [of_trial, of_trial * ratio]
    });
    let analysis = analysed(&schedule, &records);
    let [ext4, xfs] = &analysis.claims[..] else { panic!("{:?}", analysis.claims) };
    assert_eq!((ext4.outcome.verdict(), xfs.outcome.verdict()), (Verdict::Holds, Verdict::Refuted));
    assert_eq!(
        (ext4.id.as_str(), ext4.outcome.estimate().unwrap().n),
        ("twice[filesystem = ext4]", 8)
    );
    assert_eq!(
        (&ext4.claim.phases[..], ext4.claim.other_phases()),
        (&["fsync".into()][..], &["fdatasync".into()][..])
    );
    assert_eq!(ext4.levels, ext4.baseline);
    let [low, high] = ext4.outcome.interval().unwrap();
    assert!(2.6 < low && low < high && high < 2.8, "{low} to {high}");
    assert!((xfs.outcome.ratio().unwrap() - 1.2).abs() < 1e-6, "{:?}", xfs.outcome.ratio());
    // A run stops when the interval of the claim is narrow.
    assert!(precision(&schedule, &records).is_reached);
}

/// The sides may be phases of different treatments; the pair is then within the block.
#[test]
fn a_phase_of_one_treatment_is_compared_with_another_phase_of_another() {
    let claim = "compare = { phase = \"fsync\", filesystem = \"xfs\" }\n\
                 against = { phase = \"fdatasync\", filesystem = \"ext4\" }\nat_least = 2";
    let schedule = plan(claim, &Overrides::default());
    let records = records(&schedule, |trial, levels| {
        let fsync = if is_xfs(levels) { 300.0 } else { 900.0 };
        [100.0, fsync + f64::from(trial.block)]
    });
    let [claim] = &analysed(&schedule, &records).claims[..] else { panic!() };
    assert_eq!(claim.outcome.verdict(), Verdict::Holds);
    assert!((claim.outcome.ratio().unwrap() - 3.035).abs() < 0.01, "{:?}", claim.outcome.ratio());
}

/// Two phases that take the same time are two measurements, not one computation.
#[test]
fn equal_phases_are_compared() {
    let schedule = plan(TWICE, &Overrides::default());
    let mut records = records(&schedule, |_, _| [5.0, 5.0]);
    for record in &mut records {
        record.fingerprint = Some("of a virtual drive".to_owned());
    }
    let analysis = analysed(&schedule, &records);
    assert!(analysis.claims.iter().all(|claim| claim.outcome.verdict() != Verdict::Identical));
    assert_eq!(analysis.claims[0].outcome.ratio(), Some(1.0));
}

#[test]
fn plausible_drives_decide_claims_about_phases_and_flips_see_them() {
    let schedule = plan(TWICE, &Overrides { plausible: Some(9), ..Overrides::default() });
    let records = records(&schedule, |trial, _| [10.0, if trial.block > 6 { 15.0 } else { 30.0 }]);
    let analysis = analysed(&schedule, &records);
    let over = analysis.claims[0].plausible.as_ref().unwrap();
    assert_eq!(
        (analysis.claims[0].outcome.verdict(), over.holds, over.of),
        (Verdict::Depends, 6, 9)
    );
    assert_eq!(subjects(&schedule).len(), 2);
    let standing = &standings(&schedule, &records)[0];
    assert_eq!(standing.subject.treatments, [0].into());
    assert_eq!((standing.holds[&0], standing.holds[&9]), (true, false));
    assert_eq!(standing.values.get(&9), Some(&1.5));
}

/// A trial that performed both phases and lacks one of the values is not left out silently.
#[test]
fn what_a_trial_lacks_of_one_phase_is_said() {
    let schedule = plan(TWICE, &Overrides::default());
    let mut records = records(&schedule, |trial, _| [10.0, 30.0 + f64::from(trial.block)]);
    records[0].phases[0].time_ns = None;
    let analysis = analysed(&schedule, &records);
    let reasons = analysis.claims.iter().filter_map(|claim| claim.outcome.why()?.reason());
    let reasons: Vec<&str> = reasons.collect();
    assert!(reasons[..] == ["1 of 8 blocks lack time_ns, and the others may not be like them"]);
}

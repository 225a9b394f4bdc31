use rand_core::Rng;
use ssdlab_results::Record;

use super::*;
use crate::effects;
use crate::simulated::{SLOWER, records, rng, schedule};

/// A run is repeated, with twice the blocks each time, until its claim is decided, at most five
/// times. The true ratio is exactly at the bound, so that any verdict is wrong. See docs/method.md.
#[test]
fn looking_again_is_wrong_as_rarely_as_promised() {
    const RUNS: usize = 1000;
    const LOOKS: u32 = 5;
    let mut rng = rng();
    // With the error shared among looks, and without.
    let schedules: Vec<[Schedule; 2]> = (0..LOOKS)
        .map(|look| {
            [look, 0].map(|left_open| {
                let mut schedule = schedule(4 << look, SLOWER);
                schedule.claims[0].left_open = left_open;
                schedule
            })
        })
        .collect();
    for pools in [true, false] {
        // Runs in which a verdict has been given by each look.
        let mut decided = [[0; LOOKS as usize]; 2];
        for _ in 0..RUNS {
            let mut known: Vec<Record> = Vec::new();
            let mut is_decided = [false; 2];
            for (look, both) in schedules.iter().enumerate() {
                // In virtual time a longer run begins with the trials of the shorter one; elsewhere
                // all of its trials are new.
                let new = records(&both[0], 1, &mut rng, |_, _| 1.1);
                let from = if pools { known.len() } else { 0 };
                known.truncate(from);
                known.extend_from_slice(&new[from..]);
                for (way, schedule) in both.iter().enumerate() {
                    let judged = judge_all(schedule, &Blocks::of(schedule, &known), None).remove(0);
                    is_decided[way] |= judged.verdict != Verdict::Undecided;
                    decided[way][look] += usize::from(is_decided[way]);
                }
            }
        }
        let which = if pools { "all trials so far" } else { "new trials" };
        for (way, decided) in ["shared", "not shared"].into_iter().zip(decided) {
            let percent = decided.map(|runs| format!("{:.1} %", 100.0 * runs as f64 / RUNS as f64));
            println!("| {which}, error {way} | {} |", percent.join(" | "));
        }
        // 5 % and three standard errors of a thousand runs.
        assert!(decided[0].iter().all(|runs| *runs <= 70), "{decided:?}");
        // It could be otherwise: without sharing the error it is.
        assert!(decided[1][4] > 100, "{decided:?}");
    }
}

/// A claim that was open before needs more of the same evidence.
#[test]
fn earlier_runs_that_left_a_claim_open_raise_its_p_value() {
    let mut schedule = schedule(8, SLOWER);
    let found = records(&schedule, 1, &mut rng(), |_, _| 1.3);
    let mut p = |left_open| {
        schedule.claims[0].left_open = left_open;
        judge_all(&schedule, &Blocks::of(&schedule, &found), None)[0].p.unwrap()
    };
    let [first, second, third] = [0, 1, 2].map(&mut p);
    assert!((second / first - 18.0).abs() < 1e-9 && (third / second - 2.0).abs() < 1e-9);
    assert!(p(u32::MAX) <= 1.0);
}

/// If all runs are equal, a verdict comes with the share of runs that may still differ. The true
/// share is exactly that, or more, so that what is said is wrong. See docs/method.md.
#[test]
fn equal_values_are_trusted_too_far_as_rarely_as_promised() {
    const RUNS: usize = 1000;
    let mut rng = rng();
    for blocks in [3, 5, 10] {
        let schedule = schedule(blocks, SLOWER);
        let said = 1.0 - 0.05_f64.powf(1.0 / f64::from(blocks));
        // Of what is said to be the most: all of it, half as much again, and half.
        let wrong = [1.0, 1.5, 0.5].map(|times| {
            let mut trusted = || {
                let mut found = records(&schedule, 1, &mut rng, |_, _| 1.3);
                let mut differs = false;
                for record in &mut found {
                    // Both treatments of a block are next to each other.
                    if record.trial.position.is_multiple_of(2) {
                        differs = f64::from(rng.next_u32()) < 2.0_f64.powi(32) * said * times;
                    }
                    let discards = schedule.treatments[record.trial.treatment].baseline.is_some();
                    for phase in record.phases.iter_mut().filter(|_| !differs) {
                        phase.time_ns = Some(if discards { 2_000 } else { 1_000 });
                    }
                }
                let judged = judge_all(&schedule, &Blocks::of(&schedule, &found), None).remove(0);
                judged.may_differ().is_some_and(|share| (share - said).abs() < 1e-9)
            };
            (0..RUNS).filter(|_| trusted()).count()
        });
        let percent = wrong.map(|runs| format!("{:.1} %", 100.0 * runs as f64 / RUNS as f64));
        println!("| {blocks} | {:.0} % | {} |", 100.0 * said, percent.join(" | "));
        // 5 % and three standard errors of a thousand runs.
        assert!(wrong[0] <= 70 && wrong[1] <= wrong[0], "{wrong:?}");
        // It could be otherwise.
        assert!(wrong[2] > 100, "{wrong:?}");
    }
}

/// Student's t would take two equal values for certainty, whatever they are of.
#[test]
fn two_equal_values_decide_nothing() {
    let best = "best = { discard = \"off\" }";
    for (blocks, nodes, claim, what) in [
        (2, 1, SLOWER, "runs"),
        (2, 1, best, "runs"),
        (4, 2, SLOWER, "hosts"),
        (4, 2, best, "hosts"),
    ] {
        let schedule = schedule(blocks, claim);
        let mut found = records(&schedule, nodes, &mut rng(), |_, _| 1.0);
        for record in &mut found {
            let discards = schedule.treatments[record.trial.treatment].baseline.is_some();
            for phase in &mut record.phases {
                phase.time_ns = Some(if discards { 2_000 } else { 1_000 });
            }
        }
        let blocks = Blocks::of(&schedule, &found);
        let judged = judge_all(&schedule, &blocks, None).remove(0);
        assert_eq!(judged.verdict, Verdict::Undecided, "{claim} on {nodes}");
        for effect in effects::all(&schedule, &blocks).iter().filter(|effect| effect.n < 3) {
            assert_eq!((effect.interval, effect.p), (None, None), "{effect:?}");
        }
        let reason = judged.reason.unwrap();
        assert!(reason.starts_with(&format!("two equal {what}")), "{claim}: {reason}");
    }
}

/// The trials that have a metric are a biased sample if others lack it.
#[test]
fn what_some_trials_lack_decides_nothing() {
    let schedule = schedule(5, SLOWER);
    let mut found = records(&schedule, 1, &mut rng(), |_, _| 2.0);
    let judge =
        |found: &[Record]| judge_all(&schedule, &Blocks::of(&schedule, found), None).remove(0);
    assert_eq!(judge(&found).verdict, Verdict::Holds);
    let is_baseline =
        |record: &&mut Record| schedule.treatments[record.trial.treatment].baseline.is_none();
    for record in found.iter_mut().filter(is_baseline).take(2) {
        record.phases[0].time_ns = None;
    }
    let judged = judge(&found);
    assert_eq!((judged.verdict, judged.ratio), (Verdict::Undecided, None));
    assert!(
        judged.reason.as_ref().unwrap().starts_with("2 of 5 blocks lack time_ns"),
        "{judged:?}"
    );
    assert!(
        effects::all(&schedule, &Blocks::of(&schedule, &found))
            .iter()
            .all(|effect| { !effect.phases.contains(&"unpack".to_owned()) })
    );
}

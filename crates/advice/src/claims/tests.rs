use ssdlab_results::Record;

use super::*;
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
        let judged = judge_all(&schedule, &Blocks::of(&schedule, &found), None).remove(0);
        assert_eq!(judged.verdict, Verdict::Undecided, "{claim} on {nodes}");
        let reason = judged.reason.unwrap();
        assert!(reason.starts_with(&format!("two equal {what}")), "{claim}: {reason}");
    }
}

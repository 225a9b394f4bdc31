use ssdlab_plan::Schedule;
use ssdlab_results::Record;

use super::*;
use crate::claims::judge_all;
use crate::effects;
use crate::judgement::{EstimatedValue, Judgement, OpenReason, Verdict};
use crate::pairs::Blocks;
use crate::simulated::{SLOWER, records, rng, schedule};

/// Six blocks in which the phases take these times without and with discards.
fn found(schedule: &Schedule, [off, on]: [u64; 2]) -> Vec<Record> {
    let mut records = records(schedule, 1, &mut rng(), |_, _| 1.0);
    for record in &mut records {
        let discards = schedule.treatments[record.trial.treatment].baseline.is_some();
        for phase in &mut record.phases {
            phase.time_ns = Some(if discards { on } else { off });
        }
    }
    records
}

fn judged(blocks: u32, claim: &str, times: [u64; 2]) -> Judgement {
    let schedule = schedule(blocks, claim);
    let records = found(&schedule, times);
    judge_all(&schedule, &Blocks::of(&schedule, &records), None, None).remove(0)
}

#[test]
fn something_against_nothing_decides_claims_in_six_of_six_runs() {
    let at_most = "compare = { discard = \"on\" }\nat_most = 0.5";
    let between = "compare = { discard = \"on\" }\nat_least = 0.5\nat_most = 2";
    let best = "best = { discard = \"off\" }\nat_least = 1.1";
    let amount = "compare = { discard = \"on\" }\nat_most = \"1 ms\"";
    for (claim, times, verdict) in [
        (SLOWER, [0, 9], Verdict::Holds),
        (SLOWER, [9, 0], Verdict::Refuted),
        (at_most, [0, 9], Verdict::Refuted),
        (at_most, [9, 0], Verdict::Holds),
        (between, [0, 9], Verdict::Refuted),
        (between, [9, 0], Verdict::Refuted),
        (best, [0, 9], Verdict::Holds),
        (best, [9, 0], Verdict::Refuted),
        (amount, [9, 0], Verdict::Holds),
        (SLOWER, [0, 0], Verdict::Undecided),
        (best, [0, 0], Verdict::Undecided),
    ] {
        let judged = judged(6, claim, times);
        assert_eq!(judged.outcome.verdict(), verdict, "{claim}, {times:?}: {judged:?}");
        let told = judged.outcome.estimate().map(|estimate| match estimate.found {
            EstimatedValue::AgainstNothing(found) => (found.in_runs, found.of),
            EstimatedValue::Ratio { .. } => panic!("{claim}, {times:?}"),
        });
        let is_told = verdict != Verdict::Undecided;
        assert_eq!(told, is_told.then_some((6, 6)), "{claim}, {times:?}");
    }
    let few = judged(5, SLOWER, [0, 9]);
    assert_eq!(few.outcome.why().and_then(OpenReason::more_runs), Some(1));
    let neither = judged(6, SLOWER, [0, 0]);
    let neither = neither.outcome.why().unwrap().reason().unwrap();
    assert!(neither.contains("is 0 on both sides in 6 of 6 blocks"), "{neither}");
}

/// One run of six with something is no rule.
#[test]
fn something_in_one_of_six_runs_decides_nothing() {
    let schedule = schedule(6, SLOWER);
    let mut records = found(&schedule, [9, 0]);
    for record in records.iter_mut().filter(|record| record.trial.block == 3) {
        for phase in &mut record.phases {
            phase.time_ns = Some(9 - phase.time_ns.unwrap());
        }
    }
    let judged = judge_all(&schedule, &Blocks::of(&schedule, &records), None, None).remove(0);
    assert_eq!(judged.outcome.why(), Some(&OpenReason::Runs(None)), "{judged:?}");
}

#[test]
fn a_metric_that_is_zero_on_one_side_is_a_difference_without_a_ratio() {
    let schedule = schedule(6, SLOWER);
    let records = found(&schedule, [0, 9]);
    let different = effects::without_ratio(&schedule, &Blocks::of(&schedule, &records));
    let shown: Vec<(&str, ZeroComparison)> =
        different.iter().map(|own| (&*own.phase, own.found)).collect();
    let nothing = ZeroComparison { own: 9.0, other: Some(0.0), in_runs: 6, of: 6 };
    assert_eq!(shown, [("unpack", nothing), ("delete", nothing)]);
}

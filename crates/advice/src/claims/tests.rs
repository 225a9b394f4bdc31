use rand_core::Rng;
use ssdlab_results::Record;

use super::*;
use crate::judgement::Verdict;
use crate::simulated::{SLOWER, records, rng, schedule};
use crate::{effects, may_stop, precision};

/// As if so many earlier runs had left its claim open.
fn left_open_by(runs: u32, schedule: Schedule) -> Schedule {
    schedule.with_left_open(&[("claim".to_owned(), runs)].into())
}

/// A run is repeated, with twice the blocks each time, until its claim is decided, at most five
/// times. The true ratio is exactly at the bound, so that any verdict is wrong. See docs/method.md.
#[test]
fn looking_again_is_wrong_as_rarely_as_promised() {
    const RUNS: usize = 1000;
    const LOOKS: u32 = 5;
    let mut rng = rng();
    // With the error shared among looks, and without.
    let schedules: Vec<[Schedule; 2]> = (0..LOOKS)
        .map(|look| [look, 0].map(|left_open| left_open_by(left_open, schedule(6 << look, SLOWER))))
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
                    let judged =
                        judge_all(schedule, &Blocks::of(schedule, &known), None, None).remove(0);
                    is_decided[way] |= judged.outcome.verdict() != Verdict::Undecided;
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
    let schedule = schedule(8, SLOWER);
    let found = records(&schedule, 1, &mut rng(), |_, _| 1.3);
    let p = |left_open| {
        let schedule = left_open_by(left_open, schedule.clone());
        judge_all(&schedule, &Blocks::of(&schedule, &found), None, None)[0].outcome.p().unwrap()
    };
    let [first, second, third] = [0, 1, 2].map(p);
    assert!((second / first - 18.0).abs() < 1e-9 && (third / second - 2.0).abs() < 1e-9);
    assert!(p(u32::MAX) <= 1.0);
}

/// If all runs are equal, a verdict comes with the share of runs that may still differ. The true
/// share is exactly that, or more, so that what is said is wrong. See docs/method.md.
#[test]
fn equal_values_are_trusted_too_far_as_rarely_as_promised() {
    const RUNS: usize = 1000;
    let mut rng = rng();
    for blocks in [6, 8, 10] {
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
                    if !differs {
                        set_time(&schedule, record, [1_000, 2_000]);
                    }
                }
                let judged =
                    judge_all(&schedule, &Blocks::of(&schedule, &found), None, None).remove(0);
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

/// Student's t would take a few equal values for certainty, whatever they are of.
#[test]
fn fewer_than_six_runs_decide_nothing() {
    let best = "best = { discard = \"off\" }";
    let amount = "compare = { discard = \"on\" }\nat_least = \"1 us\"";
    for (blocks, nodes, claim, is_equal, why) in [
        (1, 1, SLOWER, false, Some("one run has no interval")),
        (3, 1, SLOWER, true, Some("equal in 3 of 3 runs: up to 63 % of others may differ")),
        (5, 1, best, true, Some("equal in 5 of 5 runs: up to 45 %")),
        (5, 1, amount, true, Some("equal in 5 of 5 runs: up to 45 %")),
        (5, 1, SLOWER, false, Some("5 runs, and a verdict takes 6")),
        (5, 1, best, false, Some("5 runs, and a verdict takes 6")),
        (6, 1, SLOWER, true, None),
        (6, 1, SLOWER, false, None),
        (4, 2, SLOWER, false, Some("4 runs, and a verdict takes 6")),
        (20, 5, SLOWER, true, Some("equal in 5 of 5 hosts: up to 45 %")),
        (24, 6, SLOWER, true, None),
    ] {
        let schedule = schedule(blocks, claim);
        let mut found = records(&schedule, nodes, &mut rng(), |_, _| 30.0);
        for record in found.iter_mut().filter(|_| is_equal) {
            set_time(&schedule, record, [1_000, 30_000]);
        }
        let judged = judge_all(&schedule, &Blocks::of(&schedule, &found), None, None).remove(0);
        let what = format!("{blocks} blocks on {nodes} nodes: {judged:?}");
        match (why, judged.outcome.why().and_then(OpenReason::reason)) {
            (None, None) => assert_ne!(judged.outcome.verdict(), Verdict::Undecided, "{what}"),
            (Some(why), Some(reason)) => assert!(reason.starts_with(why), "{what}"),
            _ => panic!("{what}"),
        }
        assert_eq!(judged.outcome.verdict() == Verdict::Undecided, why.is_some(), "{what}");
        let missing = (blocks < 6).then(|| 6 - blocks);
        assert_eq!(
            judged.outcome.why().and_then(OpenReason::more_runs).filter(|_| why.is_some()),
            missing,
            "{what}"
        );
    }
}

/// Every equal run halves the p-value, so that several claims take more of them.
#[test]
fn equal_values_are_never_certain() {
    let p = |blocks: u32| {
        let schedule = schedule(blocks, SLOWER);
        let mut found = records(&schedule, 1, &mut rng(), |_, _| 1.0);
        for record in &mut found {
            set_time(&schedule, record, [1_000, 2_000]);
        }
        judge_all(&schedule, &Blocks::of(&schedule, &found), None, None).remove(0)
    };
    let [six, seven] = [6, 7].map(p);
    assert!((six.outcome.p().unwrap() - 2.0_f64.powi(-5) / 0.9).abs() < 1e-12, "{six:?}");
    assert!((seven.outcome.p().unwrap() - 2.0_f64.powi(-6) / 0.9).abs() < 1e-12, "{seven:?}");
    assert_eq!(
        (six.outcome.verdict(), six.may_differ().map(|of| (100.0 * of).round())),
        (Verdict::Holds, Some(39.0))
    );
    assert_eq!([0.05, 0.025, 0.0025].map(equal_runs), [6, 7, 10]);
}

/// Sets the times of both phases, by whether the trial discards.
fn set_time(schedule: &Schedule, record: &mut Record, times: [u64; 2]) {
    let discards = schedule.treatments[record.trial.treatment].baseline.is_some();
    for phase in &mut record.phases {
        phase.time_ns = Some(times[usize::from(discards)]);
    }
}

/// One run in ten with discard takes three times as long, or all are equal but one in ten, which
/// takes twice as long. A claim at the mean, or at the typical run, is judged wrongly by any
/// verdict. See docs/method.md.
#[test]
fn runs_that_jump_are_judged_wrongly_as_rarely_as_promised() {
    const RUNS: usize = 1000;
    let mut rng = rng();
    // What any verdict by Student's t would be wrong in, where fewer runs decide nothing.
    let mut by_t = Vec::new();
    for (what, jump, is_equal) in [("stall", 3.0_f64, false), ("equal", 2.0, true)] {
        for (at, jumps) in [("mean", jump.powf(0.1)), ("typical", 1.0)] {
            for number in [3, 5, 6, 8, 20] {
                let schedule = schedule(number, SLOWER);
                let (mut wrong, mut wrong_by_t) = (0, 0);
                for _ in 0..RUNS {
                    let mut found = records(&schedule, 1, &mut rng, |_, _| 1.1);
                    for record in &mut found {
                        if is_equal {
                            set_time(&schedule, record, [1_000_000_000, 1_100_000_000]);
                        }
                        let discards =
                            schedule.treatments[record.trial.treatment].baseline.is_some();
                        let jumps_now = rng.next_u32() < u32::MAX / 10;
                        let times = if jumps_now { jump } else { 1.0 } / jumps;
                        for phase in record.phases.iter_mut().filter(|_| discards) {
                            let time = phase.time_ns.map(|ns| (ns as f64 * times).round());
                            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
                            let time = time.map(|time| time as u64);
                            phase.time_ns = time;
                        }
                    }
                    let blocks = Blocks::of(&schedule, &found);
                    let judged = judge_all(&schedule, &blocks, None, None).remove(0);
                    wrong += usize::from(judged.outcome.verdict() != Verdict::Undecided);
                    wrong_by_t += usize::from(is_decided_by_t(&schedule, &blocks));
                }
                let percent = [wrong, wrong_by_t].map(|runs| 100.0 * runs as f64 / RUNS as f64);
                println!(
                    "| {what} | {at} | {number} | {:.1} % | {:.1} % |",
                    percent[0], percent[1]
                );
                // 5 % and three standard errors of a thousand runs. Of twenty runs two jump, so
                // that their mean is not that of the typical run any more.
                let most = if number < 20 { 70 } else { 170 };
                if number < 6 || at == "typical" {
                    assert!(wrong <= most, "{what}, {at}, {number}: {wrong}");
                }
                by_t.push(wrong_by_t);
            }
        }
    }
    // It could be otherwise: if three runs decided.
    assert!(by_t[0] > 200 && by_t[10] > 600, "{by_t:?}");
}

/// Whether Student's t alone decides the claim, as if any spread, or none, were what it seems.
fn is_decided_by_t(schedule: &Schedule, blocks: &Blocks<'_>) -> bool {
    let ratio = cases(schedule, &schedule.claims[0])[0].measured(blocks).unwrap();
    let p = ratio.p_above(1.1).zip(ratio.p_below(1.1)).map(|(above, below)| above.min(below));
    let is_equal = ratio.sd_log().is_some_and(|sd| sd < 1e-8);
    let differs = (ratio.ratio() / 1.1 - 1.0).abs() > 1e-8;
    if is_equal { differs } else { p.is_some_and(|p| 2.0 * p / 0.9 < 0.05) }
}

/// A run ends when it may, and its claim is exactly at the bound, so that any verdict is wrong. See
/// docs/method.md.
#[test]
fn stopping_on_width_is_wrong_as_rarely_as_promised() {
    const RUNS: usize = 1000;
    const MOST: u32 = 20;
    let mut rng = rng();
    let mut early = Vec::new();
    // The scatter of a ratio is 5 %; what is asked for makes it more, or less.
    for asked in [0.1, 0.05, 0.035, 0.025] {
        let repetitions = format!("[repetitions]\nprecision = \"{} %\"", 100.0 * asked);
        let schedule = schedule(MOST, &format!("{SLOWER}\n{repetitions}"));
        let (mut wrong, mut wrong_if_early, mut blocks) = (0, 0, 0);
        for _ in 0..RUNS {
            let all = records(&schedule, 1, &mut rng, |_, _| 1.1);
            let is_wrong = |stops: &dyn Fn(&[Record]) -> bool| {
                let ended = (3..=MOST).find(|ran| *ran == MOST || stops(first(&all, *ran)));
                let ran = ended.unwrap_or(MOST);
                let blocks = Blocks::of(&schedule, first(&all, ran));
                (is_decided_by_t(&schedule, &blocks), ran)
            };
            let (is_now, ran) = is_wrong(&|ran| may_stop(&schedule, ran));
            wrong += usize::from(is_now);
            blocks += ran;
            let at_once = |ran: &[Record]| precision(&schedule, ran).is_reached;
            wrong_if_early += usize::from(is_wrong(&at_once).0);
        }
        let mean = f64::from(blocks) / RUNS as f64;
        let percent = [wrong, wrong_if_early].map(|runs| 100.0 * runs as f64 / RUNS as f64);
        println!("| {asked} | {mean:.0} | {:.1} % | {:.1} % |", percent[0], percent[1]);
        // 5 % and three standard errors of a thousand runs.
        assert!(wrong <= 70, "{asked}: {wrong}");
        early.push(wrong_if_early);
    }
    // It could be otherwise: if a run ended as soon as an interval is narrow.
    assert!(early.iter().any(|wrong| *wrong > 70), "{early:?}");
}

fn first(records: &[Record], blocks: u32) -> &[Record] {
    let end = records.iter().position(|record| record.trial.block == blocks);
    &records[..end.unwrap_or(records.len())]
}

/// The trials that have a metric are a biased sample if others lack it.
#[test]
fn what_some_trials_lack_decides_nothing() {
    let schedule = schedule(7, SLOWER);
    let mut found = records(&schedule, 1, &mut rng(), |_, _| 2.0);
    let judge = |found: &[Record]| {
        judge_all(&schedule, &Blocks::of(&schedule, found), None, None).remove(0)
    };
    assert_eq!(judge(&found).outcome.verdict(), Verdict::Holds);
    let is_baseline =
        |record: &&mut Record| schedule.treatments[record.trial.treatment].baseline.is_none();
    for record in found.iter_mut().filter(is_baseline).take(2) {
        record.phases[0].time_ns = None;
    }
    let judged = judge(&found);
    assert_eq!((judged.outcome.verdict(), judged.outcome.ratio()), (Verdict::Undecided, None));
    assert!(
        judged.outcome.why().unwrap().reason().unwrap().starts_with("2 of 7 blocks lack time_ns"),
        "{judged:?}"
    );
    assert!(
        effects::all(&schedule, &Blocks::of(&schedule, &found))
            .iter()
            .all(|effect| { !effect.phases.contains(&"unpack".to_owned()) })
    );
}

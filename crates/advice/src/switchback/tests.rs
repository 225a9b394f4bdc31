//! Tests of runs of the live lab on simulated machines: their error, their looks, and what they say
//! where the load is too uneven.

use std::path::Path;

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;
use ssdlab_host::meter::block::Counters;
use ssdlab_plan::{self as plan, Overrides, Schedule, metric};
use ssdlab_results::{PhaseRecord, Record};

use super::*;
use crate::judgement::Verdict;
use crate::simulated::{normal, rng};
use crate::{judge, may_stop};

const PLAN: &str = r#"
    name = "live"
    question = "Does it write less?"
    lab = "live"
    metric = "written_bytes"
    [live]
    stretch = "600 s"
    [factors]
    mount = ["commit=5", "commit=60"]
    [baseline]
    mount = "commit=5"
    [[claims]]
    id = "less"
    says = "?"
    phases = ["stretch"]
    compare = { mount = "commit=60" }
    at_most = 1
"#;

fn schedule() -> Schedule {
    let overrides = Overrides { mount: Some("/".into()), ..Overrides::default() };
    plan::schedule("live.toml", PLAN, &overrides, Path::new("/")).unwrap()
}

/// A load: what a stretch is asked, given its number.
type Load = fn(u32, &mut Xoshiro256PlusPlus) -> f64;

fn steady(_: u32, rng: &mut Xoshiro256PlusPlus) -> f64 {
    50e6 * (0.3 * normal(rng)).exp()
}

/// Every fourth stretch has a job of cron, and the night has little else.
fn cron(position: u32, rng: &mut Xoshiro256PlusPlus) -> f64 {
    let day = f64::from(position % 144) / 144.0 * std::f64::consts::TAU;
    let job = if position.is_multiple_of(4) { 60e6 } else { 0.0 };
    (20e6 * day.sin().exp() + job) * (0.3 * normal(rng)).exp()
}

/// One stretch in fifty has nine tenths of all.
fn rare(_: u32, rng: &mut Xoshiro256PlusPlus) -> f64 {
    let is_event = rng.next_u32() < u32::MAX / 50;
    (if is_event { 5e9 } else { 10e6 }) * (0.3 * normal(rng)).exp()
}

/// The records of a run up to a block; the second treatment multiplies what is written.
fn records(
    schedule: &Schedule,
    blocks: u32,
    effect: f64,
    load: Load,
    rng: &mut Xoshiro256PlusPlus,
) -> Vec<Record> {
    let mut of = |trial: &plan::schedule::Trial| {
        let asked = load(trial.position, rng);
        let factor = if trial.treatment == 1 { effect } else { 1.0 };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bytes")]
        let written_bytes = (asked * factor * (1.2 + 0.1 * normal(rng)).max(0.1)) as u64;
        let phase = PhaseRecord {
            name: "stretch".to_owned(),
            device: Some(Counters { written_bytes, ..Counters::default() }),
            reported: metric::parsed([("dirtied_bytes".to_owned(), asked)]),
            ..PhaseRecord::default()
        };
        Record { phases: vec![phase], ..Record::new(schedule, *trial, 0) }
    };
    schedule.trials.iter().filter(|trial| trial.block < blocks).map(&mut of).collect()
}

/// A schedule in an order of its own.
fn drawn(seed: u64) -> Schedule {
    let overrides = Overrides { mount: Some("/".into()), seed: Some(seed), ..Overrides::default() };
    plan::schedule("live.toml", PLAN, &overrides, Path::new("/")).unwrap()
}

/// The verdict of a run, and how many blocks it took: it ends at a look that decides the claim.
fn run(seed: u64, effect: f64, load: Load, rng: &mut Xoshiro256PlusPlus) -> (Verdict, u32) {
    let schedule = drawn(seed);
    let all = records(&schedule, 48, effect, load, rng);
    for look in LOOKS {
        let until: Vec<Record> =
            all.iter().filter(|record| record.trial.block < look).cloned().collect();
        if look == 48 || may_stop(&schedule, &until) {
            return (judge(&schedule, &until)[0].outcome.verdict(), look);
        }
    }
    unreachable!("the last look ends every run")
}

#[test]
fn where_nothing_differs_95_of_100_runs_say_nothing() {
    let mut rng = rng();
    for load in [steady as Load, cron, rare] {
        let mut is_wrong = |seed| run(seed, 1.0, load, &mut rng).0 != Verdict::Undecided;
        let wrong = (0..100).filter(|seed| is_wrong(*seed)).count();
        assert!(wrong <= 5, "{wrong} of 100");
    }
}

#[test]
fn an_effect_is_found_at_an_early_look_and_covered() {
    let mut rng = rng();
    for load in [steady as Load, cron] {
        let (mut found, mut early, mut covered) = (0, 0, 0);
        for seed in 0..40 {
            let (verdict, blocks) = run(seed, 0.6, load, &mut rng);
            found += usize::from(verdict == Verdict::Holds);
            early += usize::from(blocks < 48);
            let schedule = drawn(seed);
            let all = records(&schedule, 24, 0.6, load, &mut rng);
            let interval = judge(&schedule, &all)[0].outcome.interval().unwrap();
            covered += usize::from(interval[0] <= 0.6 && 0.6 <= interval[1]);
        }
        assert!(found >= 38 && early >= 30 && covered >= 37, "{found}, {early}, {covered}");
    }
}

#[test]
fn nothing_is_said_before_the_first_look_or_between_looks() {
    let (schedule, mut rng) = (schedule(), rng());
    assert_eq!((schedule.repetitions.least, schedule.repetitions.most), (12, 48));
    let all = records(&schedule, 20, 0.5, steady, &mut rng);
    let until = |blocks: u32| -> Vec<Record> {
        all.iter().filter(|record| record.trial.block < blocks).cloned().collect()
    };
    let few = judge(&schedule, &until(11)).remove(0).outcome;
    assert_eq!(few.verdict(), Verdict::Undecided);
    assert_eq!(few.why().unwrap().more_runs(), Some(1));
    assert!(!may_stop(&schedule, &until(11)) && may_stop(&schedule, &until(12)));
    assert!(!may_stop(&schedule, &until(13)));
    let estimate = |blocks| *judge(&schedule, &until(blocks))[0].outcome.estimate().unwrap();
    assert_eq!(estimate(20), estimate(12));
}

#[test]
fn a_machine_with_one_great_burst_cannot_tell_about_the_total() {
    let (schedule, mut rng) = (schedule(), rng());
    let burst = |position: u32, rng: &mut Xoshiro256PlusPlus| {
        if position == 7 { 5e9 } else { steady(position, rng) }
    };
    let all = records(&schedule, 12, 0.5, burst, &mut rng);
    let outcome = judge(&schedule, &all).remove(0).outcome;
    assert_eq!(outcome.verdict(), Verdict::Undecided);
    let why = outcome.why().unwrap().reason().unwrap();
    assert!(why.starts_with("cannot tell about the total: 1 of 12 blocks have"), "{why}");
}

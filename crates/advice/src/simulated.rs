//! Runs whose true effects are known, for tests of what is concluded from them.

use std::path::Path;
use std::time::Duration;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use ssdlab_plan::schedule::Trial;
use ssdlab_plan::{self as plan, LabKind, Overrides, Schedule};
use ssdlab_results::{Attempt, AttemptId, PhaseRecord, Record};

const PLAN: &str = r#"
        name = "simulated"
        question = "Is it so on every SSD?"
        [factors]
        filesystem = "ext4"
        discard = ["off", "on"]
        [baseline]
        discard = "off"
        [workload]
        phases = [{ do = "unpack", sync = true }, { do = "delete", sync = true }]
    "#;

/// What is claimed of discarding: that it is slower than not discarding.
pub const SLOWER: &str = "compare = { discard = \"on\" }\nat_least = 1.1";

/// A schedule of so many blocks that makes one claim.
pub fn schedule(blocks: u32, claim: &str) -> Schedule {
    let overrides =
        Overrides { lab: Some(LabKind::Image), runs: Some(blocks), ..Overrides::default() };
    let claim = format!(
        "[[claims]]\nid = \"claim\"\nsays = \"?\"\nphases = [\"unpack\", \"delete\"]\n{claim}\n"
    );
    plan::schedule("plan.toml", &format!("{PLAN}{claim}"), &overrides, Path::new("/")).unwrap()
}

/// A roughly normal number with a standard deviation of 1.
pub fn normal(rng: &mut Xoshiro256PlusPlus) -> f64 {
    (0..12).map(|_| f64::from(rng.next_u32()) / 2.0_f64.powi(32)).sum::<f64>() - 6.0
}

/// Blocks assigned to nodes in turn, each node faster than the one before; discarding multiplies
/// the time of a phase by `effect`.
pub fn records(
    schedule: &Schedule,
    nodes: u32,
    rng: &mut Xoshiro256PlusPlus,
    effect: impl Fn(u32, &str) -> f64,
) -> Vec<Record> {
    records_of(schedule, nodes, rng, |node, discards, phase| {
        let effect = if discards { effect(node, phase) } else { 1.0 };
        effect / f64::from(node + 1)
    })
}

/// Blocks assigned to nodes in turn; a phase takes so many seconds, with a scatter of 5 %,
/// depending on the node and on whether it discards.
pub fn records_of(
    schedule: &Schedule,
    nodes: u32,
    rng: &mut Xoshiro256PlusPlus,
    seconds: impl Fn(u32, bool, &str) -> f64,
) -> Vec<Record> {
    let of = |trial: &Trial| {
        let node = trial.block % nodes;
        let discards = schedule.treatments[trial.treatment].baseline.is_some();
        let mut phase = |name: &str| {
            let s = seconds(node, discards, name) * (0.05 * normal(rng)).exp();
            let name = name.to_owned();
            let time_ns = u64::try_from(Duration::from_secs_f64(s).as_nanos()).ok();
            PhaseRecord { name, time_ns, ..PhaseRecord::default() }
        };
        let phases = ["unpack", "delete"].map(&mut phase).to_vec();
        let id = AttemptId::read(&format!("7_{}", trial.block)).unwrap();
        let attempt = Some(Attempt { id, node: format!("node{node}") });
        Record { attempt, phases, ..Record::new(schedule, *trial, 0) }
    };
    schedule.trials.iter().map(of).collect()
}

/// The random numbers of a test.
pub fn rng() -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(2011)
}

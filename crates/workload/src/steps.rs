//! Phases that are a series of short scripts, some of which are operations to be timed.

use std::time::{Duration, Instant};

use crate::engine::OperationTally;

use super::player::Player;
use super::script::Script;
use super::transactions::wait_until;
use super::{PhaseContext, PhaseOutcome, WorkloadError};

/// A script in a series. It finds open what the one before it has left open.
#[derive(Debug)]
pub struct ScriptStep {
    /// What is done.
    pub script: Script,
    /// Whether it is an operation of the workload, or what keeps the workload going.
    pub is_operation: bool,
}

impl ScriptStep {
    /// An operation of the workload, which is counted and timed.
    pub fn operation(script: Script) -> Self {
        Self { script, is_operation: true }
    }

    /// What others do between two operations.
    pub fn between(script: Script) -> Self {
        Self { script, is_operation: false }
    }
}

/// Performs a series, with a pause after each operation.
pub(super) fn run(
    steps: impl Iterator<Item = ScriptStep>,
    think_ns: u64,
    mut player: Player<'_>,
    place: PhaseContext<'_>,
) -> Result<PhaseOutcome, WorkloadError> {
    let mut counted = OperationTally::new();
    let started = Instant::now();
    let mut due = Duration::ZERO;
    for ScriptStep { script, is_operation } in steps {
        wait_until(due, started, place.rules)?;
        let since = started.elapsed();
        player.go_on(&script)?;
        if is_operation {
            let now = started.elapsed();
            counted.count(now, now.saturating_sub(since));
            counted.bytes += script.written_bytes();
            due = now + Duration::from_nanos(think_ns);
        }
    }
    counted.took = started.elapsed();
    Ok(PhaseOutcome { counted: Some(counted), ..PhaseOutcome::wrote(player.written_bytes()) })
}

#[cfg(test)]
mod tests;

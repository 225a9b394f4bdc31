//! Waiting for Slurm's controller, which serves others too and may be restarted.

use std::collections::BTreeSet;
use std::thread::sleep;
use std::time::{Duration, Instant};

use ssdlab_host::interrupt::Interrupt;
use ssdlab_slurm::{Slurm, SlurmError};

use super::error::FleetError;

/// The intervals at which attempts are read, and at which the queue is, whose controller serves
/// others too.
pub(super) const LOOK: Duration = Duration::from_millis(250);
pub(super) const ASK: Duration = Duration::from_secs(3);

/// How long the controller may be silent; a restart takes seconds.
pub(super) const PATIENCE: Duration = Duration::from_mins(10);

/// Asks Slurm until its controller answers, is silent for too long, or the run is interrupted. The
/// run's folder has all records, so interrupting this loses nothing.
pub(super) fn patiently<T>(
    interrupt: Option<&Interrupt>,
    ask: impl Fn() -> Result<T, SlurmError>,
) -> Result<T, FleetError> {
    let started = Instant::now();
    let is_to_stop = || interrupt.is_some_and(Interrupt::is_set);
    loop {
        match ask() {
            Err(SlurmError::Unreachable { .. })
                if started.elapsed() < PATIENCE && !is_to_stop() =>
            {
                sleep(ASK);
            }
            Err(cause @ SlurmError::Unreachable { .. }) => {
                return Err(FleetError::Silent { cause });
            }
            other => return Ok(other?),
        }
    }
}

/// Waits until no element of some arrays is left; false if some still are after a time.
pub(super) fn wait_until_gone(
    slurm: &Slurm,
    arrays: &BTreeSet<String>,
    within: Duration,
) -> Result<bool, SlurmError> {
    let started = Instant::now();
    loop {
        let is_over = started.elapsed() >= within;
        match slurm.queue(arrays) {
            Ok(queue) if queue.elements.is_empty() => return Ok(true),
            Err(SlurmError::Unreachable { .. }) if !is_over => {}
            Err(error) => return Err(error),
            Ok(_) if is_over => return Ok(false),
            Ok(_) => {}
        }
        sleep(LOOK);
    }
}

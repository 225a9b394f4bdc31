//! The events by which a run reports its progress.

use ssdlab_plan::Levels;
use ssdlab_results::Record;

/// Something that happened.
#[derive(Debug, Clone, Copy)]
pub enum RunEvent<'a> {
    /// A trial begins.
    TrialStarted {
        /// The levels by which it differs from others.
        levels: &'a Levels,
        /// The number of records so far.
        done: usize,
        /// The minimum number of records at the end.
        planned: usize,
    },
    /// Shares are submitted to Slurm.
    Submitted {
        shares: usize,
        /// The name of their job.
        name: &'a str,
    },
    /// A phase of it begins.
    PhaseStarted {
        /// The phase.
        name: &'a str,
        /// The levels by which its trial differs from others.
        levels: &'a Levels,
    },
    /// Something that no record can hold.
    Trouble { text: &'a str },
    /// A trial has ended and its record is stored.
    TrialEnded {
        record: &'a Record,
        /// The levels by which it differs from others.
        levels: &'a Levels,
        /// All records there are now; its own is the last.
        records: &'a [Record],
    },
}

/// A receiver of events.
pub trait Observer {
    /// Called for every event, between phases, never within one; trials that run at the same time
    /// take turns.
    fn notice(&mut self, event: RunEvent<'_>);
}

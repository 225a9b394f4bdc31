//! The ends of the phases of an experiment, among the events of its device.

use std::collections::BTreeMap;

use ssdlab_causes::{Causer, CauserRole, CounterBalance, Watch};

/// The place of the only device of an experiment.
pub const DEVICE: usize = 0;

/// What somebody caused to be written in a phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CauserBytes {
    pub role: CauserRole,
    /// The program as the kernel names it, or a line in brackets.
    pub program: String,
    /// What people call its cgroup, if that was looked up.
    pub service: String,
    pub bytes: u64,
}

/// The ends of phases, by readings of the device's counter.
#[derive(Debug, Default)]
pub struct MarkedPhases {
    /// When the last was read, until all events up to it have been taken.
    pub open_since_ns: Option<u64>,
    /// What the counter and the rows grew by up to each, and the rows then.
    pub settled: Vec<(CounterBalance, BTreeMap<Causer, u64>)>,
}

impl MarkedPhases {
    /// Takes the rows up to the last end, once all events up to it have been taken.
    pub fn settle(&mut self, watch: &mut Watch, taken_until_ns: u64) {
        if self.open_since_ns.is_some_and(|since_ns| taken_until_ns > since_ns)
            && let Some(balance) = watch.settle(DEVICE)
        {
            self.settled.push((balance, watch.bytes_by_causer(DEVICE)));
            watch.resume(DEVICE);
            self.open_since_ns = None;
        }
    }
}

//! The operation logs that a workload performs.

use super::recordings::Recording;
use super::schedule::{Action, Workload};

impl Workload {
    /// The operation logs that phases perform, in order.
    pub fn recordings(&self) -> impl Iterator<Item = &Recording> {
        self.phases.iter().filter_map(|phase| match &phase.action {
            Action::Replay { log } => Some(log),
            _ => None,
        })
    }

    /// The same, to be changed.
    pub fn recordings_mut(&mut self) -> impl Iterator<Item = &mut Recording> {
        self.phases.iter_mut().filter_map(|phase| match &mut phase.action {
            Action::Replay { log } => Some(log),
            _ => None,
        })
    }
}

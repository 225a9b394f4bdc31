//! Replays recorded programs: their operation logs are read and checked before the clock starts.
//!
//! Every operation of a log must be valid in the state left by those before it. A log starts with
//! the directory left by the previous one; the initial directory of the first is created
//! beforehand.

use ssdlab_host::interrupt::Interrupt;
use ssdlab_operations::Tree;
use ssdlab_plan::recordings::Recording;
use ssdlab_plan::schedule::{Action, FileHashes, Phase};

use super::bounds::Budget;
use super::script::Script;
use super::{WorkloadError, log};

/// The logs of a workload, in the order of its phases.
#[derive(Debug, Default)]
pub struct Replay {
    /// Makes the initial directory of the first log.
    pub before: Script,
    logs: Vec<(Recording, Script)>,
}

impl Replay {
    /// Reads the logs that phases perform.
    pub fn read(
        phases: &[Phase],
        hashes: &FileHashes,
        interrupt: &Interrupt,
    ) -> Result<Self, WorkloadError> {
        let mut replay = Self::default();
        // All logs are in memory together.
        let mut budget = Budget::default();
        let mut tree: Option<Tree> = None;
        for phase in phases {
            let recording = match &phase.action {
                Action::Replay { log } => log,
                Action::Delete => {
                    tree = Some(Tree::default());
                    continue;
                }
                _ => continue,
            };
            let wrong =
                |what: String| WorkloadError::Recording { log: recording.to_string(), what };
            let text = log::text(recording, hashes, interrupt)?;
            let (before, operations) =
                log::read(text, &mut budget).map_err(|error| wrong(error.to_string()))?;
            let mut left = Tree::new(&before)
                .map_err(|_| wrong("its entries do not form a directory".to_owned()))?;
            match &tree {
                None => replay.before = Script::before(&before),
                Some(tree) if tree.entries().eq(left.entries()) => {}
                Some(_) => {
                    let what = "its initial directory is not the one that earlier phases leave";
                    return Err(wrong(what.to_owned()));
                }
            }
            for (number, operation) in operations.iter().enumerate() {
                left.apply(operation).map_err(|_| {
                    let (number, name) = (number + 1, operation.name());
                    wrong(format!("operation {number}, {name}, is impossible at that point"))
                })?;
            }
            tree = Some(left);
            replay.logs.push((recording.clone(), Script::recorded(operations)));
        }
        Ok(replay)
    }

    pub fn script(&self, log: &Recording) -> &Script {
        let found = self.logs.iter().find(|(recording, _)| recording == log);
        &found.expect("the logs of all phases were read").1
    }
}

#[cfg(test)]
mod tests;

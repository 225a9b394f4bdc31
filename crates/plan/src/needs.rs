//! A plan's requirements on the machines that a batch scheduler chooses for it.

use std::collections::BTreeSet;

use super::error::PlanFault;
use super::factor::{Factor, Levels};
use super::node_feature::{self, DRIVE};
use super::schedule::Schedule;
use super::written::Plan;

/// The features that every treatment needs.
pub(super) fn resolve(plan: &Plan) -> Result<Vec<String>, PlanFault> {
    let needs = &plan.needs;
    let drive =
        needs.drive.iter().map(|drive| (drive.span(), format!("{DRIVE}{}", drive.get_ref())));
    let others = needs.features.iter().map(|one| (one.span(), one.get_ref().clone()));
    let mut features = BTreeSet::new();
    for (at, feature) in drive.chain(others) {
        node_feature::read(&feature)
            .map_err(|error| PlanFault::at(at, error.message, error.help))?;
        features.insert(feature);
    }
    Ok(features.into_iter().collect())
}

/// Checks that every treatment names the drive it needs at most once, and exactly once where that
/// decides which drive is wiped.
pub(super) fn check(schedule: &Schedule) -> Result<(), PlanFault> {
    for (index, treatment) in schedule.treatments.iter().enumerate() {
        let drives: Vec<String> =
            schedule.features(index).into_iter().filter(|one| one.starts_with(DRIVE)).collect();
        if drives.len() > 1 {
            return Err(PlanFault::nowhere(
                format!("{} needs several drives: {}", treatment.levels, drives.join(", ")),
                "name the drive once, in [needs] or with the factor `node_feature`",
            ));
        }
        if drives.is_empty() && schedule.is_without_device() {
            return Err(PlanFault::nowhere(
                "the device lab needs a block device",
                "name it with --device PATH, or, for other machines, its kind: [needs] drive",
            ));
        }
    }
    Ok(())
}

impl Schedule {
    /// The features that a node must have to run a treatment.
    pub fn features(&self, treatment: usize) -> BTreeSet<String> {
        let own = self.treatments[treatment].levels.0.get(&Factor::NodeFeature);
        self.needs.iter().chain(own).cloned().collect()
    }

    /// The kind of drive that a treatment needs, if it says so.
    pub fn needed_drive(&self, treatment: usize) -> Option<String> {
        let mut features = self.features(treatment).into_iter();
        features.find_map(|feature| feature.strip_prefix(DRIVE).map(str::to_owned))
    }
}

/// Whether two treatments are to run on different machines.
pub fn differ_in_machine(one: &Levels, other: &Levels) -> bool {
    one.0.get(&Factor::NodeFeature) != other.0.get(&Factor::NodeFeature)
}

#[cfg(test)]
mod tests;

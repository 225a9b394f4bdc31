//! Guests on other drives and hosts than the published ones: drawn by the schedule's blocks, or
//! changed in one value to see what depends on it.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};
use ssdlab_flash::{Draw, DrawnDrive, DriveFileError, Plausible, Specification};
use ssdlab_plan::schedule::Trial;
use ssdlab_plan::{HostModel, Model, SimulatedMachine};
use ssdlab_results::Record;

use super::failure::Failure;
use super::guests::{Guests, ModelChange, WorkerMessage};

impl Guests<'_> {
    /// Provides the plausible drives of the drive files, by the levels that name them.
    pub fn provide(&mut self, plausible: BTreeMap<String, Plausible>) {
        self.plausible = plausible;
    }

    /// Measures trials on changed drives and hosts, by block, and returns their records, which are
    /// not stored.
    pub fn measure(
        &mut self,
        changes: BTreeMap<u32, ModelChange>,
        trials: Vec<Trial>,
        ended: &mut dyn FnMut(&Record),
    ) -> Vec<Record> {
        self.changes = changes;
        let mut records = Vec::new();
        self.each(trials.into(), |news| {
            if let WorkerMessage::Ended(trial, performed) = news {
                let record = performed.record(self.schedule, trial);
                ended(&record);
                records.push(record);
            }
        });
        records
    }

    /// The drive and the host of a trial, and their drawn values: those of the files, or as its
    /// block draws or changes them.
    pub(super) fn simulation(
        &self,
        simulated: &SimulatedMachine,
        trial: Trial,
    ) -> Result<(Specification, HostModel, Option<Draw>), Failure> {
        let level = &simulated.drive;
        let missing = || Failure::Failed(format!("there is no drive {level}"));
        let published = self.drives.get(level).ok_or_else(missing)?;
        let plausible = || self.plausible.get(level).ok_or_else(missing);
        let host = self.hosts.get(&simulated.host);
        let host =
            host.ok_or_else(|| Failure::Failed(format!("there is no host {}", simulated.host)))?;
        match self.changes.get(&trial.block) {
            Some(ModelChange { model: Model::Drive(changed), values }) if changed == level => {
                let drive = plausible()?.drive(values).map_err(|error| no_drive(&error))?;
                return Ok((drive, host.clone(), None));
            }
            Some(ModelChange { model: Model::Host(changed), values })
                if *changed == simulated.host =>
            {
                return Ok((published.clone(), host.with(values), None));
            }
            _ => {}
        }
        let Some(number) = self.schedule.draw_of(trial.block) else {
            return Ok((published.clone(), host.clone(), None));
        };
        // Uncertain values of different models are independent. The path of a drive file does not
        // matter.
        let seed = |name: &str| seed_of(self.schedule.seed, &self.schedule.plan, name);
        let DrawnDrive { drive, mut draw } =
            plausible()?.draw(seed(&published.name), number).map_err(|error| no_drive(&error))?;
        let (host, of_host) = host.drawn(seed(&host.name), number).map_err(Failure::Failed)?;
        draw.values.extend(of_host);
        Ok((drive, host, Some(draw)))
    }
}

/// The seed of a run's draws for a model of this name. Those of another plan are others: else all
/// plans would judge by the same few drives, and be wrong together.
fn seed_of(seed: u64, plan: &str, name: &str) -> u64 {
    let hash = Sha256::digest(format!("{seed} {plan} {name}"));
    u64::from_be_bytes(hash.first_chunk().copied().unwrap_or_default())
}

fn no_drive(error: &DriveFileError) -> Failure {
    Failure::Failed(format!("{}; {}", error.message, error.help))
}

#[cfg(test)]
mod tests;

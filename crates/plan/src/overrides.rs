//! What the command line changes in a plan.

use std::path::PathBuf;

use ssdlab_quantity::Span;

use super::fio_job::ReadJob;
use super::lab_kind::LabKind;

/// What the command line changes in a plan.
#[derive(Debug, Clone, Default)]
pub struct Overrides {
    /// `--lab`.
    pub lab: Option<LabKind>,
    /// `--device`.
    pub device: Option<PathBuf>,
    /// `--dir`.
    pub directory: Option<PathBuf>,
    /// `--mount`.
    pub mount: Option<PathBuf>,
    /// `--for`.
    pub budget: Option<Span>,
    /// `--drive`: the levels of the factor `drive`.
    pub drive: Option<String>,
    /// `--capacity`, in bytes.
    pub capacity: Option<u64>,
    /// `--source`: an archive or a repository.
    pub source: Option<PathBuf>,
    /// `--set`, in order: `FACTOR=L1,L2`.
    pub set: Vec<String>,
    /// `--scale`: multiplies the workload's size.
    pub scale: Option<f64>,
    /// `--runs`: exactly this many blocks.
    pub runs: Option<u32>,
    /// `--plausible`: the number of plausible drives.
    pub plausible: Option<u32>,
    /// `--seed`.
    pub seed: Option<u64>,
    /// Not an option: reads the fio job files that the plan names; `None` leaves them unread.
    pub read_job: Option<ReadJob>,
}

impl Overrides {
    /// The command-line arguments that make these changes.
    pub fn arguments(&self) -> Vec<String> {
        let Self {
            lab,
            device,
            directory,
            mount,
            budget,
            drive,
            capacity,
            source,
            set,
            scale,
            runs,
            plausible,
            seed,
            read_job: _,
        } = self;
        let path = |path: &PathBuf| path.display().to_string();
        let one = [
            ("--lab", lab.map(|lab| lab.to_string())),
            ("--device", device.as_ref().map(path)),
            ("--dir", directory.as_ref().map(path)),
            ("--mount", mount.as_ref().map(path)),
            ("--for", budget.map(|budget| budget.to_string())),
            ("--drive", drive.clone()),
            ("--capacity", capacity.map(|bytes| bytes.to_string())),
            ("--source", source.as_ref().map(path)),
            ("--scale", scale.map(|scale| scale.to_string())),
            ("--runs", runs.map(|runs| runs.to_string())),
            ("--plausible", plausible.map(|drives| drives.to_string())),
            ("--seed", seed.map(|seed| seed.to_string())),
        ];
        let given = one.into_iter().filter_map(|(name, value)| Some((name, value?)));
        let sets = set.iter().map(|set| ("--set", set.clone()));
        given.chain(sets).flat_map(|(name, value)| [name.to_owned(), value]).collect()
    }
}

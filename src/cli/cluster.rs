//! `ssdlab run --on slurm`: what its arguments mean, and what does not go with them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::ValueEnum;
use miette::Report;

use super::exit::Wrong;
use crate::conductor::{self, Expected, Submission};
use crate::host::checksum::checksum;
use crate::kernel;
use crate::meter::environment;
use crate::plan::schedule::Hashes;
use crate::plan::{LabKind, Schedule, Target, differ_in_machine, is_drive_file};
use crate::undo;

/// Where other machines are had from.
#[derive(Debug, Clone)]
pub struct On {
    /// The partition of Slurm; its default one where none is named.
    pub partition: Option<String>,
}

/// How records get to where a run was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Collect {
    /// By rsync over ssh, or what `RSYNC_RSH` names.
    Rsync,
}

impl FromStr for On {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (scheduler, partition) = match text.split_once(':') {
            Some((scheduler, partition)) => (scheduler, Some(partition)),
            None => (text, None),
        };
        if scheduler != "slurm" || partition.is_some_and(str::is_empty) {
            return Err("expected slurm or slurm:PARTITION".to_owned());
        }
        Ok(Self { partition: partition.map(str::to_owned) })
    }
}

/// What this machine has, and every node must have too, so that trials are the same there.
pub fn expected(schedule: &Schedule) -> Result<Expected, Report> {
    let (program, inputs) = (environment::program(), inputs(schedule)?);
    let (mut kernel, mut tools) = (None, None);
    if schedule.is_in(LabKind::Virtual) {
        kernel = Some(kernel::find(None)?.identity);
        tools = Some(conductor::tools(schedule));
    }
    Ok(Expected { program, kernel, tools, inputs })
}

/// The files that a plan names, with the SHA-256 of their contents: on nodes they go by the same
/// names.
pub fn inputs(schedule: &Schedule) -> Result<Hashes, Report> {
    let drives = schedule.setups().map(|setup| &setup.simulated.drive);
    let drives = drives.filter(|drive| is_drive_file(drive)).map(PathBuf::from);
    let drives = drives.filter(|_| schedule.is_in(LabKind::Virtual));
    let hashed = |path: PathBuf| {
        let hash = checksum(&path).map_err(|error| {
            let says = format!("the plan names {}: {error}", path.display());
            Wrong::report(says, "it must be there, and on every node under the same name")
        })?;
        Ok((path, hash))
    };
    schedule.workload.inputs().map(Path::to_owned).chain(drives).map(hashed).collect()
}

/// Where nodes that do not see the folder for results have folders of their own: beside the undo
/// journals, which every user has in a place that is there on all machines.
pub fn staging() -> PathBuf {
    let journals = undo::folders().into_iter().next().unwrap_or_default();
    journals.with_file_name("fleet")
}

/// Refuses what would not mean on nodes what it means here.
pub fn check_submitted(schedule: &Schedule) -> Result<(), Report> {
    if let Some(Target::Device { path: Some(_) }) = schedule.target {
        return Err(Wrong::report(
            "--device names a drive of this machine, and every node has its own",
            "name the kind of drive in the plan's [needs]; which one that is, each node's own \
             /etc/ssdlab/drives.toml says (docs/fleet.md)",
        ));
    }
    Ok(())
}

/// Refuses what only other machines can do, and what they are doing already.
pub fn check_local(
    submitted: &BTreeMap<String, Submission>,
    schedule: &Schedule,
) -> Result<(), Report> {
    if !submitted.is_empty() {
        return Err(Wrong::report(
            "this run was submitted to Slurm, whose nodes may still be at it",
            "go on with it there: ssdlab run --resume RUN --on slurm",
        ));
    }
    let mut all = schedule.treatments.iter().map(|treatment| &treatment.levels);
    let first = all.next();
    if all.any(|levels| first.is_some_and(|first| differ_in_machine(first, levels))) {
        return Err(Wrong::report(
            "the plan varies `node_feature`, and this machine is one",
            "say --on slurm, or choose one level: --set node_feature=FEATURE",
        ));
    }
    if schedule.is_without_device() { Err(no_device()) } else { Ok(()) }
}

/// Only a node knows its drives.
pub fn no_device() -> Report {
    Wrong::report(
        "the device lab needs a block device",
        "name it with --device PATH, or say --on slurm: the plan names the kind it needs",
    )
}

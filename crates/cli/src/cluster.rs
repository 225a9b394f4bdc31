//! `ssdlab run --on slurm`: its arguments, and the options that cannot be combined with them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::ValueEnum;
use miette::Report;
use ssdlab_conductor::{self as conductor, Expected, Submission};
use ssdlab_host::checksum::checksum;
use ssdlab_host::meter::environment;
use ssdlab_host::undo;
use ssdlab_kernel as kernel;
use ssdlab_plan::schedule::Hashes;
use ssdlab_plan::{KernelLevel, LabKind, Schedule, Target, differ_in_machine};

use super::exit::Wrong;

/// The scheduler that provides other machines.
#[derive(Debug, Clone)]
pub struct On {
    /// The Slurm partition; `None` means the default one.
    pub partition: Option<String>,
}

/// How records get back to the submitting machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Collect {
    /// By rsync over ssh, or over the program named by `RSYNC_RSH`.
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

/// The properties of this machine that every node must share, so that trials are the same there.
pub fn expected(schedule: &Schedule) -> Result<Expected, Report> {
    let (program, inputs) = (environment::program(), inputs(schedule)?);
    let (mut kernel, mut tools) = (None, None);
    if schedule.is_in(LabKind::Virtual) {
        kernel = Some(kernel::find(None)?.identity);
        tools = Some(conductor::tools(schedule));
    }
    Ok(Expected { program, kernel, tools, inputs })
}

/// The files that a plan names, with the SHA-256 of their contents: they have the same paths on
/// nodes.
pub fn inputs(schedule: &Schedule) -> Result<Hashes, Report> {
    let simulated = schedule.setups().flat_map(|setup| setup.simulated.files());
    let simulated = simulated.filter(|_| schedule.is_in(LabKind::Virtual)).map(Path::to_owned);
    let hashed = |path: PathBuf| {
        let hash = checksum(&path).map_err(|error| {
            let says = format!("the plan names {}: {error}", path.display());
            Wrong::report(says, "it must exist here and at the same path on every node")
        })?;
        Ok((path, hash))
    };
    schedule.workload.inputs().map(Path::to_owned).chain(simulated).map(hashed).collect()
}

/// Where nodes without access to the results folder keep their own: beside the undo journals, whose
/// location exists on all machines for every user.
pub fn staging() -> PathBuf {
    let journals = undo::folders().into_iter().next().unwrap_or_default();
    journals.with_file_name("fleet")
}

/// Refuses settings that would mean something else on nodes.
pub fn check_submitted(schedule: &Schedule) -> Result<(), Report> {
    if let Some(setup) =
        schedule.setups().find(|setup| setup.simulated.kernel != KernelLevel::Default)
        && schedule.is_in(LabKind::Virtual)
    {
        return Err(Wrong::report(
            format!(
                "{}: nodes only use the default lab kernel, which all must share",
                setup.levels
            ),
            "omit the factor `kernel`, or run the plan on one machine",
        ));
    }
    if let Some(Target::Device { path: Some(_) }) = schedule.target {
        return Err(Wrong::report(
            "--device names a drive of this machine, and every node has its own",
            "name the kind of drive in the plan's [needs]; each node's /etc/ssdlab/drives.toml \
             maps it to a drive (docs/fleet.md)",
        ));
    }
    Ok(())
}

/// Refuses plans that only other machines can run, and runs that they may still be running.
pub fn check_local(
    submitted: &BTreeMap<String, Submission>,
    schedule: &Schedule,
) -> Result<(), Report> {
    if !submitted.is_empty() {
        return Err(Wrong::report(
            "this run was submitted to Slurm, and its nodes may still be running trials",
            "resume it there: ssdlab run --resume RUN --on slurm",
        ));
    }
    let mut all = schedule.treatments.iter().map(|treatment| &treatment.levels);
    let first = all.next();
    if all.any(|levels| first.is_some_and(|first| differ_in_machine(first, levels))) {
        return Err(Wrong::report(
            "the plan varies `node_feature`, but this is a single machine",
            "add --on slurm, or choose one level: --set node_feature=FEATURE",
        ));
    }
    if schedule.is_without_device() { Err(no_device()) } else { Ok(()) }
}

/// Only a node knows its drives.
pub fn no_device() -> Report {
    Wrong::report(
        "the device lab needs a block device",
        "name it with --device PATH, or add --on slurm: the plan names the kind of drive it needs",
    )
}

//! `ssdlab run --on slurm`: what its arguments mean, and what does not go with them.

use std::path::Path;
use std::str::FromStr;

use clap::ValueEnum;
use miette::{IntoDiagnostic, Report};

use super::exit::Wrong;
use crate::conductor::{self, Expected, Submission};
use crate::kernel;
use crate::meter::environment;
use crate::plan::{LabKind, Schedule, differ_in_machine};

/// Where other machines are had from.
#[derive(Debug, Clone)]
pub struct On {
    /// The partition of Slurm; its default one where none is named.
    pub partition: Option<String>,
}

/// How records get to where a run was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Collect {
    /// By rsync over ssh, or what RSYNC_RSH names.
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
pub fn expected(schedule: &Schedule, no_trace: bool) -> Result<Expected, Report> {
    let program = environment::program();
    if schedule.target.lab != LabKind::Virtual {
        return Ok(Expected { program, kernel: None, tools: None, no_trace });
    }
    let kernel = Some(kernel::find(None)?.identity);
    let tools = Some(conductor::tools(schedule));
    Ok(Expected { program, kernel, tools, no_trace })
}

/// Refuses what would not mean on nodes what it means here.
pub fn check_submitted(schedule: &Schedule) -> Result<(), Report> {
    if schedule.target.device.is_some() {
        return Err(Wrong::report(
            "--device names a drive of this machine, and every node has its own",
            "name the kind of drive in the plan's [needs]; which one that is, each node's own \
             /etc/ssdlab/drives.toml says (docs/fleet.md)",
        ));
    }
    Ok(())
}

/// Refuses what only other machines can do, and what they are doing already.
pub fn check_local(run: Option<&Path>, schedule: &Schedule) -> Result<(), Report> {
    let submitted = run.map(Submission::all).transpose().into_diagnostic()?;
    if submitted.is_some_and(|submitted| !submitted.is_empty()) {
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
    if schedule.target.lab == LabKind::Device && schedule.target.device.is_none() {
        return Err(Wrong::report(
            "the device lab needs a block device",
            "name it with --device PATH, or say --on slurm: the plan names the kind it needs",
        ));
    }
    Ok(())
}

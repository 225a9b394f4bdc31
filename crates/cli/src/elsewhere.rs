//! `ssdlab run --shares` and `--on slurm`: a run in shares for other machines, what these must have
//! in common, and the options that mean something else there.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use miette::Report;
use serde::{Deserialize, Serialize};
use ssdlab_conductor::{self as conductor, Division, MOST_TASKS, RunShare};
use ssdlab_host::files::checksum;
use ssdlab_host::meter::environment;
use ssdlab_host::missing::if_there;
use ssdlab_host::{regular_file, whole_file};
use ssdlab_kernel as kernel;
use ssdlab_lab::LabError;
use ssdlab_plan::schedule::FileHashes;
use ssdlab_plan::{self as plan, KernelLevel, LabKind, Schedule, Target, differ_in_machine};
use ssdlab_results::{ATTEMPTS, StoreError};

use super::exit::UsageError;
use super::output;

/// How long the trials of a share in the virtual lab take at least, if more than one has some:
/// starting a share takes a second.
const WORTH_A_SHARE: Duration = Duration::from_mins(1);

/// The assumed time of a trial if there is no estimate.
const USUAL_TRIAL: Duration = Duration::from_secs(10);

/// The scheduler that provides other machines.
#[derive(Debug, Clone)]
pub struct ClusterArguments {
    /// The Slurm partition; `None` means the default one.
    pub partition: Option<String>,
}

impl FromStr for ClusterArguments {
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

/// What the shares of a run have in common, in `attempts/shares.json`. The files that the plan
/// names are in the schedule.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShareRequirements {
    /// How many there are.
    shares: u32,
    /// The version of the program, as records have it.
    program: String,
    /// The lab kernel's identity (virtual lab).
    kernel: Option<String>,
    /// The versions of the programs that trials use (virtual lab: they are part of its results).
    tools: Vec<String>,
}

impl ShareRequirements {
    /// This machine.
    pub fn here(schedule: &Schedule, kernel: Option<&Path>, shares: u32) -> Result<Self, Report> {
        let (mut identity, mut tools) = (None, Vec::new());
        if schedule.is_in(LabKind::Virtual) {
            identity = Some(kernel::find(kernel)?.identity);
            tools = conductor::tools(schedule, &conductor::of_guests(schedule));
        }
        Ok(Self { shares, program: environment::program(), kernel: identity, tools })
    }

    fn path(run: &Path) -> PathBuf {
        run.join(ATTEMPTS).join("shares.json")
    }

    fn read(run: &Path) -> Result<Option<Self>, Report> {
        let path = Self::path(run);
        let read = || -> io::Result<Option<Self>> {
            let text = if_there(regular_file::read_own(&path))?;
            Ok(text.map(|text| serde_json::from_slice(&text)).transpose()?)
        };
        read().map_err(|cause| StoreError::Io { step: "read", path: path.clone(), cause }.into())
    }

    /// Writes it to a run's folder, for those that perform its shares.
    pub fn write(&self, run: &Path) -> Result<(), Report> {
        let path = Self::path(run);
        let text = serde_json::to_vec(self).expect("it is plain data");
        let written = std::fs::create_dir_all(run.join(ATTEMPTS))
            .and_then(|()| whole_file::write(&path, |out| out.write_all(&text)));
        written.map_err(|cause| StoreError::Io { step: "write", path, cause }.into())
    }

    /// Refuses a share on a machine where its trials would not be the intended ones.
    pub fn check(run: &Path, schedule: &Schedule, kernel: Option<&Path>) -> Result<(), Report> {
        let Some(there) = Self::read(run)? else { return Ok(()) };
        let here = Self::here(schedule, kernel, there.shares)?;
        let of_kernel = |of: &Self| of.kernel.clone().unwrap_or_else(|| "none".to_owned());
        let pairs = [
            ("ssdlab", here.program.clone(), there.program.clone()),
            ("the lab kernel", of_kernel(&here), of_kernel(&there)),
            ("the programs that trials use", here.tools.join("; "), there.tools.join("; ")),
        ];
        let differs = pairs.into_iter().find(|(_, here, there)| here != there);
        differs.map_or(Ok(()), |(what, here, there)| {
            let reason = format!("{what} differs: here {here}, where the run was divided {there}");
            Err(LabError::Unavailable { reason }.into())
        })
    }
}

/// The number of shares of a run: as named, or else as before, or by the time that trials take.
pub fn count(schedule: &Schedule, named: Option<u32>, run: Option<&Path>) -> Result<u32, Report> {
    if let Some(count) = named {
        return Ok(count);
    }
    if let Some(requirements) = run.map(ShareRequirements::read).transpose()?.flatten() {
        return Ok(requirements.shares);
    }
    let trials = u32::try_from(schedule.expected_trials()).unwrap_or(u32::MAX);
    let count = if schedule.is_in(LabKind::Virtual) {
        let time = plan::estimate(schedule)
            .map_or(USUAL_TRIAL.saturating_mul(trials), |estimate| estimate.time);
        u32::try_from(time.as_secs() / WORTH_A_SHARE.as_secs()).unwrap_or(u32::MAX).min(trials)
    } else {
        // One for each block, on each kind of machine.
        schedule.repetitions.least.saturating_mul(Division::new(schedule, 1).count)
    };
    Ok(count.clamp(1, MOST_TASKS))
}

/// Divides a run into shares.
pub fn divide(schedule: &Schedule, count: u32) -> Result<Division, Report> {
    let division = Division::new(schedule, count);
    if division.count == count {
        return Ok(division);
    }
    Err(UsageError::report(
        format!(
            "the trials need {} kinds of machines, too many for {count} shares",
            division.count
        ),
        "use more shares, or choose one kind: --set node_feature=FEATURE",
    ))
}

/// Says which shares are to be performed, by a command that resumes the run.
pub fn tell_open(division: &Division, open: &BTreeSet<u32>, command: &str) {
    let count = division.count;
    let mut lines = vec![format!(
        "{} of {count} shares are to be performed, on machines that see this folder:",
        open.len()
    )];
    for (features, shares) in division.by_features(open) {
        if !features.is_empty() {
            let all: Vec<&str> = features.iter().map(String::as_str).collect();
            lines.push(format!("with {}:", all.join(" and ")));
        }
        let line = |number| format!("  {command} --share {}", RunShare { number, count });
        lines.extend(shares.into_iter().map(line));
    }
    lines.push(format!("to merge their records: {command} --shares {count}"));
    output::tell(&lines.join("\n"));
}

/// The files that a plan names, with the SHA-256 of their contents: they have the same paths on
/// other machines.
pub fn inputs(schedule: &Schedule) -> Result<FileHashes, Report> {
    let simulated = schedule.setups().flat_map(|setup| setup.simulated.files());
    let simulated = simulated.filter(|_| schedule.is_in(LabKind::Virtual)).map(Path::to_owned);
    let hashed = |path: PathBuf| {
        let hash = checksum(&path).map_err(|error| {
            let says = format!("the plan names {}: {error}", path.display());
            UsageError::report(says, "it must exist here and at the same path on every node")
        })?;
        Ok((path, hash))
    };
    schedule.workload.inputs().map(Path::to_owned).chain(simulated).map(hashed).collect()
}

/// Refuses settings that would mean something else on other machines.
pub fn check_divided(schedule: &Schedule, has_wipe: bool) -> Result<(), Report> {
    let is_kernel_varied =
        schedule.setups().any(|setup| setup.simulated.kernel != KernelLevel::Default);
    let (message, help) = if is_kernel_varied && schedule.is_in(LabKind::Virtual) {
        ("the factor `kernel` names lab kernels of this machine", "run the plan on one machine")
    } else if schedule.is_in(LabKind::Live) {
        ("the live lab is about this machine", "run the plan on one machine")
    } else if has_wipe || matches!(schedule.target, Some(Target::Device { path: Some(_) })) {
        (
            "--device and --wipe name a drive of this machine, and every other has its own",
            "name the kind of drive in the plan's [needs]; each machine's /etc/ssdlab/drives.toml \
             maps it to a drive (docs/fleet.md)",
        )
    } else {
        return Ok(());
    };
    Err(UsageError::report(message, help))
}

/// Refuses plans that only other machines can run.
pub fn check_local(schedule: &Schedule) -> Result<(), Report> {
    let mut all = schedule.treatments.iter().map(|treatment| &treatment.levels);
    let first = all.next();
    if all.any(|levels| first.is_some_and(|first| differ_in_machine(first, levels))) {
        return Err(UsageError::report(
            "the plan varies `node_feature`, but this is a single machine",
            "add --on slurm or --shares, or choose one level: --set node_feature=FEATURE",
        ));
    }
    if schedule.is_without_device() { Err(no_device()) } else { Ok(()) }
}

/// Only the machine that has it can name it.
pub fn no_device() -> Report {
    UsageError::report(
        "the device lab needs a block device",
        "name it with --device PATH, or add --on slurm or --shares: the plan names the kind of \
         drive it needs",
    )
}

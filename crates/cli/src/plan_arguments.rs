//! The arguments that name a plan, change it, and name the kernel of its guests.

use std::env;
use std::path::{Path, PathBuf};

use clap::Args;
use miette::{IntoDiagnostic, Report};
use ssdlab_host::regular_file;
use ssdlab_plan::schedule::Build;
use ssdlab_plan::{self as plan, Bytes, Factor, LabKind, Overrides, Schedule, Span, shipped};

use super::exit::UsageError;
use super::input;

/// A plan and its overrides on the command line.
#[derive(Debug, Args)]
pub struct PlanArguments {
    /// A plan: a TOML file, or the name of a shipped plan (`ssdlab list plans`).
    pub plan: Option<String>,
    #[command(flatten)]
    changes: PlanOverrides,
}

/// What the command line changes in a plan.
#[derive(Debug, Args)]
pub struct PlanOverrides {
    /// Where trials run.
    #[arg(long, value_enum)]
    lab: Option<LabKind>,
    /// The device to wipe and measure (device lab).
    #[arg(long, value_name = "PATH")]
    device: Option<PathBuf>,
    /// The directory to measure in (directory lab), or to keep the image in (image lab; default
    /// /var/tmp).
    #[arg(long, value_name = "PATH")]
    dir: Option<PathBuf>,
    /// A folder in the filesystem to experiment on while the machine works (live lab).
    #[arg(long, value_name = "DIR")]
    mount: Option<PathBuf>,
    /// The longest that all stretches of the machine's time may take together: 12, 24 or 48 blocks,
    /// as many as fit (live lab).
    #[arg(long = "for", value_name = "TIME", conflicts_with = "runs")]
    budget: Option<Span>,
    #[command(flatten)]
    variation: Variation,
    /// Run exactly this many blocks, each with one trial of every treatment.
    #[arg(long, value_name = "N")]
    runs: Option<u32>,
    /// Run on the published drive and on this many plausible drives, drawn from what its evidence
    /// allows, one block each; 0 repeats the published drive alone (virtual lab).
    #[arg(long, value_name = "N")]
    plausible: Option<u32>,
}

/// What one trial of each treatment does, instead of what the plan says.
#[derive(Debug, Args)]
pub struct Variation {
    /// The simulated drive: a drive file, or a name from `ssdlab drive list`; several, separated by
    /// commas, are compared (virtual lab).
    #[arg(long, value_name = "NAME|FILE")]
    drive: Option<String>,
    /// Override the capacity of every simulated drive; spare space scales with it, caches do not.
    #[arg(long, value_name = "SIZE")]
    capacity: Option<Bytes>,
    /// Unpack this archive, or clone and build this repository, instead of using the synthetic
    /// tree.
    #[arg(long, value_name = "PATH")]
    source: Option<PathBuf>,
    /// Replace a factor's levels. Repeat the option for other factors, and for further levels of
    /// `mkfs` and `mount`, whose options contain commas.
    #[arg(long, value_name = "FACTOR=LEVEL,LEVEL")]
    set: Vec<String>,
    /// Multiply the workload's size.
    #[arg(long, value_name = "F")]
    scale: Option<f64>,
    /// The seed of all randomness: order, tree, content (default 1).
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
}

/// The argument that names the kernel of guests.
#[derive(Debug, Args)]
pub struct KernelArgument {
    /// The lab kernel (default: the one built by `ssdlab kernel build`).
    #[arg(long, value_name = "FILE")]
    kernel: Option<PathBuf>,
}

impl KernelArgument {
    pub fn path(&self) -> Option<&Path> {
        self.kernel.as_deref()
    }
}

/// A plan's text and its schedule.
pub struct ResolvedPlan {
    /// The text, as it is stored with the run.
    pub text: String,
    pub schedule: Schedule,
}

impl PlanArguments {
    /// Whether any argument is given that would change a plan.
    pub fn changes_anything(&self) -> bool {
        // A path that no schedule can store is a change, too.
        let changes = self.changes.overrides(Path::new("/"));
        self.plan.is_some() || changes.map_or(true, |changes| !changes.arguments().is_empty())
    }

    /// Reads the plan and resolves it.
    pub fn resolve(&self) -> Result<ResolvedPlan, Report> {
        let Some(named) = &self.plan else {
            return Err(no_plan("", "no plan was named"));
        };
        let here = env::current_dir().into_diagnostic()?;
        resolve_named(named, &self.changes.overrides(&here)?, &here)
    }

    /// Resolves another text as if it were in the plan's place.
    pub fn resolve_in_its_place(
        &self,
        text: String,
        overrides: &Overrides,
    ) -> Result<ResolvedPlan, Report> {
        let here = env::current_dir().into_diagnostic()?;
        let (file, _, base) = read(self.plan.as_deref().unwrap_or_default(), &here)?;
        resolve_at(&file, text, overrides, &base)
    }
}

impl PlanOverrides {
    /// The simulated drives that are named, none by default; files from the root.
    pub fn drives(&self) -> Result<Vec<String>, Report> {
        let here = env::current_dir().into_diagnostic()?;
        let Some(named) = &self.variation.drive else { return Ok(Vec::new()) };
        let drives = absolute_files(Factor::Drive, named, &here);
        Ok(drives.split(',').map(str::to_owned).collect())
    }

    /// Resolves a plan that is in no file, as if it were in this folder.
    pub fn resolve(&self, name: &str, text: String) -> Result<ResolvedPlan, Report> {
        let here = env::current_dir().into_diagnostic()?;
        resolve_at(name, text, &self.overrides(&here)?, &here)
    }

    fn overrides(&self, here: &Path) -> Result<Overrides, Report> {
        let Self { lab, device, dir, mount, budget, variation, runs, plausible } = self;
        let others = Overrides {
            lab: *lab,
            device: absolute("--device", device.as_deref(), here)?,
            directory: absolute("--dir", dir.as_deref(), here)?,
            mount: absolute("--mount", mount.as_deref(), here)?,
            budget: *budget,
            runs: *runs,
            plausible: *plausible,
            ..Overrides::default()
        };
        variation.overrides(here, others)
    }
}

impl Variation {
    /// Reads a plan and resolves it; `others` are the overrides besides these.
    pub fn resolve(&self, named: &str, others: Overrides) -> Result<ResolvedPlan, Report> {
        let here = env::current_dir().into_diagnostic()?;
        resolve_named(named, &self.overrides(&here, others)?, &here)
    }

    fn overrides(&self, here: &Path, others: Overrides) -> Result<Overrides, Report> {
        let Self { drive, capacity, source, set, scale, seed } = self;
        let drive = drive.as_ref();
        Ok(Overrides {
            drive: drive.map(|drives| absolute_files(Factor::Drive, drives, here)),
            capacity: capacity.map(|capacity| capacity.0),
            source: absolute("--source", source.as_deref(), here)?,
            set: set.iter().map(|set| absolute_set(set, here)).collect(),
            scale: *scale,
            seed: *seed,
            ..others
        })
    }
}

/// Reads a plan and resolves it.
fn resolve_named(named: &str, overrides: &Overrides, here: &Path) -> Result<ResolvedPlan, Report> {
    let (file, text, base) = read(named, here)?;
    resolve_at(&file, text, overrides, &base)
}

/// Resolves a plan that a command has made, as if it were in this folder.
pub fn resolve_generated(
    name: &str,
    text: String,
    overrides: &Overrides,
) -> Result<ResolvedPlan, Report> {
    let here = env::current_dir().into_diagnostic()?;
    resolve_at(name, text, overrides, &here)
}

/// Resolves a plan as if it were in a folder.
pub fn resolve_at(
    name: &str,
    text: String,
    overrides: &Overrides,
    base: &Path,
) -> Result<ResolvedPlan, Report> {
    let overrides = Overrides { read_job: Some(read_job), ..overrides.clone() };
    let schedule = plan::schedule(name, &text, &overrides, base)?;
    check_files(&schedule)?;
    Ok(ResolvedPlan { text, schedule })
}

/// An option's path, from the root. Schedules are stored as text.
fn absolute(option: &str, path: Option<&Path>, here: &Path) -> Result<Option<PathBuf>, Report> {
    match path.map(|path| here.join(path)) {
        Some(odd) if odd.to_str().is_none() => Err(UsageError::report(
            format!("{option} {}: the name is not UTF-8", odd.display()),
            "use a symbolic link with a UTF-8 name",
        )),
        plain => Ok(plain),
    }
}

/// Refuses paths that can never be read as the file that the plan expects. A missing file may exist
/// where the plan will run.
fn check_files(schedule: &Schedule) -> Result<(), Report> {
    let simulated = schedule.setups().flat_map(|setup| setup.simulated.files());
    for path in schedule.workload.inputs().chain(simulated) {
        if let Some(kind) = regular_file::other_kind(path) {
            return Err(UsageError::report(
                format!("{}: it is {kind}, not a regular file", path.display()),
                "name a file: it is read again in every session of the run",
            ));
        }
    }
    if let Some(Build::Git { repository, .. }) = &schedule.workload.build
        && repository.exists()
        && !repository.is_dir()
    {
        let kind = regular_file::other_kind(repository).unwrap_or("a regular file");
        return Err(UsageError::report(
            format!("{}: it is {kind}, not the folder of a git repository", repository.display()),
            "name a repository with --source, or omit it for the synthetic build",
        ));
    }
    Ok(())
}

/// The text of a fio job file. What is no file is refused later, as of any input.
fn read_job(job: &Path) -> Result<Option<String>, String> {
    if !job.is_file() {
        return Ok(None);
    }
    ssdlab_workload::check_job(job).map(Some).map_err(|error| error.to_string())
}

/// Makes paths of files absolute; names of what is shipped or cached stay unchanged.
fn absolute_files(factor: Factor, levels: &str, here: &Path) -> String {
    let absolute = |level: &str| plan::level_from(here, factor, level.trim());
    levels.split(',').map(absolute).collect::<Vec<_>>().join(",")
}

/// The same for `--set drive=FILE` and the like.
fn absolute_set(set: &str, here: &Path) -> String {
    let of_files = set.split_once('=').and_then(|(name, levels)| {
        let factor = Factor::OF_FILES.into_iter().find(|factor| factor.name() == name)?;
        Some(format!("{name}={}", absolute_files(factor, levels, here)))
    });
    of_files.unwrap_or_else(|| set.to_owned())
}

/// The name, the text and the folder of a plan. A name without a slash or an extension means a
/// shipped one, unless a file has that name.
pub fn read(named: &str, here: &Path) -> Result<(String, String, PathBuf), Report> {
    let path = here.join(named);
    if !path.is_file()
        && let Some(plan) = shipped::find(named)
    {
        return Ok((format!("{named}.toml"), plan.text.to_owned(), here.to_owned()));
    }
    if named.is_empty() {
        return Err(no_plan(named, "the name of the plan is empty"));
    }
    let text = input::read(&path)
        .map_err(|error| no_plan(named, &format!("the plan `{named}`: {error}")))?;
    let base = path.parent().unwrap_or(here).to_owned();
    Ok((named.to_owned(), text, base))
}

fn no_plan(named: &str, message: &str) -> Report {
    let known: Vec<_> = shipped::all().map(|plan| plan.name).collect();
    let meant = plan::did_you_mean(named, known.iter().copied());
    let help = format!("{meant}name a TOML file or a shipped plan: {}", known.join(", "));
    UsageError::report(message, help)
}

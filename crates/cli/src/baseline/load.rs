//! The load of a baseline: a plan with all that it names, and one trial of each of its treatments.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::path::{Path, PathBuf};

use miette::{IntoDiagnostic, Report};
use ssdlab_conductor::{self as conductor, Executor, TaskError};
use ssdlab_host::files::checksum;
use ssdlab_host::interrupt::Interrupt;
use ssdlab_host::meter::environment;
use ssdlab_host::ptrace;
use ssdlab_lab::LabError;
use ssdlab_plan::{
    DRIVE_IDENTITY, Factor, KernelLevel, LAB_KERNEL, LabKind, Overrides, Schedule, level_from,
    names_file,
};
use ssdlab_report::counted;
use ssdlab_results::{Baseline, Record, TreatmentCost, TrialStatus};

use crate::executors::{self, RunOptions};
use crate::exit::UsageError;
use crate::{input, output, plan_arguments};

/// A plan whose costs are measured.
pub struct PlannedLoad {
    /// Its name in messages.
    name: String,
    pub text: String,
    /// The folder that relative paths in it start from.
    pub base: PathBuf,
    /// The texts of drive files that it names, by their paths from that folder.
    pub drives: BTreeMap<String, String>,
}

/// What a load costs, and what it was measured with.
pub struct MeasuredLoad {
    pub treatments: Vec<TreatmentCost>,
    pub made_with: BTreeMap<String, String>,
}

impl PlannedLoad {
    /// That of a plan, or again that of a baseline, with the drive files as they are now.
    pub fn named(named: &str) -> Result<Self, Report> {
        let here = env::current_dir().into_diagnostic()?;
        let (name, text, base) = plan_arguments::read(named, &here)?;
        let mut load = if Baseline::is_meant(&text) {
            let file = Path::new(named);
            Self::of(&parse(file, &text)?, file, &folder_of(file)?)?
        } else {
            let base = base.canonicalize().into_diagnostic()?;
            Self { name, text, base, drives: BTreeMap::new() }
        };
        for level in levels(&load.schedule()?, |setup| &setup.simulated.drive) {
            let known = relative(&load.base, Path::new(&level));
            match input::read(Path::new(&level)) {
                Ok(text) => _ = load.drives.insert(known, text),
                Err(_) if load.drives.contains_key(&known) => {}
                Err(error) => {
                    return Err(UsageError::report(
                        format!("the drive file {level} cannot be read: {error}"),
                        "name a drive file, or one of `ssdlab drive list`",
                    ));
                }
            }
        }
        Ok(load)
    }

    pub fn of(baseline: &Baseline, file: &Path, folder: &Path) -> Result<Self, Report> {
        let base = folder.join(&baseline.folder).canonicalize().map_err(|error| {
            UsageError::report(
                format!("{}: its plan's folder {}: {error}", file.display(), baseline.folder),
                "keep the file where it was recorded, in a checkout with that folder",
            )
        })?;
        Ok(Self {
            name: format!("the plan in {}", file.display()),
            text: baseline.plan.clone(),
            base,
            drives: baseline.drives.clone(),
        })
    }

    /// One trial of each treatment, without power cuts and on published drives.
    fn schedule(&self) -> Result<Schedule, Report> {
        // Commands of a stranger's plan run in guests, and nowhere else.
        let lab = Some(LabKind::Virtual);
        let overrides = Overrides { lab, runs: Some(1), ..Overrides::default() };
        let text = self.text.clone();
        let schedule =
            plan_arguments::resolve_at(&self.name, text, &overrides, &self.base)?.schedule;
        if schedule.setups().any(|setup| setup.simulated.kernel != KernelLevel::Default) {
            return Err(UsageError::report(
                format!("{} names a lab kernel, and a baseline is of one only", self.name),
                "remove `kernel` from the plan's factors",
            ));
        }
        if let Some(host) = levels(&schedule, |setup| &setup.simulated.host).first() {
            return Err(UsageError::report(
                format!("{} names the host file {host}, which a baseline does not hold", self.name),
                "name one of `ssdlab host list`",
            ));
        }
        let all: BTreeSet<usize> = (0..schedule.treatments.len()).collect();
        Ok(schedule.once_each(&all).uncut().undrawn())
    }

    pub fn measure(
        &self,
        kernel: Option<&Path>,
        interrupt: &Interrupt,
    ) -> Result<MeasuredLoad, Report> {
        let schedule = self.schedule()?;
        // As the plan names them.
        let level = |name: &String| level_from(&self.base, Factor::Drive, &format!("./{name}"));
        let drives: BTreeMap<String, String> =
            self.drives.iter().map(|(name, text)| (level(name), text.clone())).collect();
        let run_options = RunOptions { kernel, drives: Some(&drives), ..RunOptions::default() };
        if !ptrace::can_fix_addresses() {
            output::tell(
                "this container forbids personality(2), so that costs may differ a little each \
                 time; allow it, with docker by --security-opt seccomp=unconfined",
            );
        }
        let trials = counted(schedule.trials.len(), "trial");
        output::tell(&format!("{trials} in the {} lab", schedule.origin()));
        let (mut records, libraries) =
            executors::in_guests(&schedule, run_options, interrupt, |mut guests| {
                let missing = |setup| guests.missing(setup);
                if let Some(reason) = schedule.setups().find_map(missing) {
                    return Err(LabError::Unavailable { reason }.into());
                }
                guests.log_briefly()?;
                let records = guests.measure(BTreeMap::new(), schedule.trials.clone(), &mut |_| ());
                let libraries = guests.libraries(&records)?;
                Ok((records, libraries))
            })?;
        if interrupt.is_set() {
            return Err(TaskError::Interrupted.into());
        }
        records.sort_by_key(|record| record.trial.treatment);
        let mut made_with = self.inputs(&schedule)?;
        made_with.extend(
            libraries.into_iter().map(|(name, digest)| (format!("library {name}"), digest)),
        );
        made_with.insert("ssdlab".to_owned(), environment::program());
        for tool in conductor::tools(&schedule, &conductor::of_guests(&schedule)) {
            let name = tool.split([' ', ',', ':']).next().unwrap_or_default().to_owned();
            made_with.insert(name, tool);
        }
        let distinct = records.iter().zip(schedule.each_distinct());
        let mut treatments = Vec::new();
        for (record, levels) in distinct {
            let base = format!("{}/", self.base.display());
            let levels = levels.to_string().replace(&base, "");
            check(record, &levels)?;
            let applied = |key: &str| record.applied.get(key).cloned().unwrap_or_default();
            made_with.insert("lab kernel".to_owned(), applied(LAB_KERNEL));
            made_with.insert(format!("drive {}", applied("drive")), applied(DRIVE_IDENTITY));
            treatments.push(TreatmentCost::of(record, levels));
        }
        Ok(MeasuredLoad { treatments, made_with })
    }

    /// The other files that the plan names, with the digests of their contents.
    fn inputs(&self, schedule: &Schedule) -> Result<BTreeMap<String, String>, Report> {
        let of = |path: &Path| {
            let name = format!("file {}", relative(&self.base, path));
            checksum(path).map(|digest| (name, digest)).map_err(|error| {
                UsageError::report(
                    format!("the plan names {}: {error}", path.display()),
                    "have it at the place that it had when the baseline was recorded",
                )
            })
        };
        schedule.workload.inputs().map(of).collect()
    }
}

/// Refuses a trial that measured nothing.
fn check(record: &Record, levels: &str) -> Result<(), Report> {
    if record.status == TrialStatus::Ok {
        return Ok(());
    }
    let reason = record.reason.as_deref().unwrap_or("no reason is recorded");
    Err(UsageError::report(
        format!("the trial of {levels} is {}, so its costs are unknown: {reason}", record.status),
        "run the load itself first: `ssdlab run PLAN --runs 1`",
    ))
}

/// The files that setups name as a level.
fn levels(schedule: &Schedule, of: impl Fn(&ssdlab_plan::Setup) -> &String) -> Vec<String> {
    let all: BTreeSet<&String> = schedule.setups().map(of).collect();
    all.into_iter().filter(|level| names_file(level)).cloned().collect()
}

pub fn parse(file: &Path, text: &str) -> Result<Baseline, Report> {
    Baseline::parse(text).map_err(|why| {
        UsageError::report(
            format!("{} is no intact baseline: {why}", file.display()),
            "restore it from version control, or record it: ssdlab baseline record PLAN --out FILE",
        )
    })
}

/// The folder that a file is in, or will be.
pub fn folder_of(file: &Path) -> Result<PathBuf, Report> {
    let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new(".")).canonicalize().into_diagnostic()
}

/// A path as seen from a folder; both are absolute.
pub fn relative(folder: &Path, path: &Path) -> String {
    let mut rest = path.components().peekable();
    let mut from = folder.components().peekable();
    while rest.peek().is_some() && rest.peek() == from.peek() {
        rest.next();
        from.next();
    }
    let up = from.map(|_| PathBuf::from(".."));
    let path: PathBuf = up.chain(rest.map(|part| PathBuf::from(part.as_os_str()))).collect();
    if path.as_os_str().is_empty() { ".".to_owned() } else { path.display().to_string() }
}

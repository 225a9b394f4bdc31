//! The executors that run trials on this machine: the machine itself, or guests.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use miette::{IntoDiagnostic, Report};
use ssdlab_conductor::{
    self as conductor, Executor, Guests, GuestsInput, LocalExecutor, StretchHistory, WriteLedger,
};
use ssdlab_flash::{Condition, Plausible, Specification};
use ssdlab_host::interrupt::Interrupt;
use ssdlab_host::memory;
use ssdlab_host::program::{ProgramError, Rules};
use ssdlab_host::toolbox::Toolbox;
use ssdlab_host::undo::Journal;
use ssdlab_kernel::aged::Store;
use ssdlab_kernel::{self as kernel, LabKernel};
use ssdlab_lab::{self as lab, Lab, LabError, Tools, Tweak};
use ssdlab_plan::schedule::{Claim, Treatment};
use ssdlab_plan::{
    Bytes, HostModel, KernelLevel, Schedule, Setup, TWEAK, TWEAK_UNDO, Target, names_file,
};
use ssdlab_results::Record;
use ssdlab_workload::{self as workload, PreparedWorkload, WorkloadError};

use super::exit::UsageError;
use super::{drive, elsewhere, host, output, restore};

/// The bytes kept of a guest's writes, as a rule of thumb.
const WRITTEN_BYTES: u64 = 1 << 30;

/// Options for trials on this machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct RunOptions<'a> {
    /// The proof that the device may be wiped (device lab).
    pub wipe: Option<&'a str>,
    /// The lab kernel (virtual lab); `None` means the cached one.
    pub kernel: Option<&'a Path>,
    /// Trials to run in parallel (virtual lab); `None` means as many as fit.
    pub jobs: Option<usize>,
    /// The user's own change and what takes it back (live lab).
    pub tweak: Option<Tweak<'a>>,
    /// Whether recording of block requests is off.
    pub no_trace: bool,
    /// The texts of drive files by the levels that name them, instead of the files.
    pub drives: Option<&'a BTreeMap<String, String>>,
    /// Whether only the write caches of drives matter, so that they may be of any size.
    pub any_size: bool,
}

pub enum ReadyExecutor<'a> {
    /// This machine, and whether requests are recorded.
    Here(Box<LocalExecutor<'a>>, bool),
    Guests(Box<Guests<'a>>),
}

impl ReadyExecutor<'_> {
    /// Trials that run in parallel.
    pub fn jobs(&self) -> usize {
        match self {
            Self::Here(..) => 1,
            Self::Guests(guests) => guests.jobs(),
        }
    }

    /// Refuses to continue the trials of these records on another drive.
    pub fn check_drive(&self, records: &[Record]) -> Result<(), Report> {
        let Self::Here(here, _) = self else { return Ok(()) };
        let Some(drive) = here.lab.drive() else { return Ok(()) };
        Ok(records.iter().try_for_each(|record| drive.check(&record.applied))?)
    }

    /// Sends request logs to a folder, if they are kept.
    pub fn log_to(&mut self, folder: &Path) -> Result<(), Report> {
        match self {
            Self::Here(here, true) => here.write_ledger = WriteLedger::in_folder(folder),
            Self::Here(_, false) => {}
            Self::Guests(guests) => guests.log_to(folder)?,
        }
        Ok(())
    }

    pub fn executor(&mut self) -> &mut dyn Executor {
        match self {
            Self::Here(here, _) => &mut **here,
            Self::Guests(guests) => &mut **guests,
        }
    }
}

/// The target of a schedule's trials; an imported run has none.
pub fn target(schedule: &Schedule) -> Result<&Target, Report> {
    schedule.target.as_ref().ok_or_else(|| {
        UsageError::report(
            format!("{} was imported and cannot be run", schedule.plan),
            "import it again with additional files: ssdlab import FILE...",
        )
    })
}

/// Prepares the executor of a schedule's trials, and calls a function with it.
pub fn with_executor<T>(
    schedule: &Schedule,
    run_options: RunOptions<'_>,
    journal: &mut Journal,
    interrupt: &Interrupt,
    act: impl FnOnce(ReadyExecutor<'_>) -> Result<T, Report>,
) -> Result<T, Report> {
    let target = target(schedule)?;
    let mut workload =
        PreparedWorkload::new(&schedule.workload, &schedule.inputs, schedule.seed, interrupt)?;
    let marker = journal.marker().to_owned();
    let rules = Rules { marker: &marker, limit: lab::SURVEY_TIMEOUT, interrupt };
    let mut tools = Tools { journal, rules };
    let mut lab = match target {
        Target::Virtual { .. } => {
            let guests = guests(schedule, run_options, journal, interrupt)?;
            return act(ReadyExecutor::Guests(guests));
        }
        Target::Image { size_bytes, folder } => {
            check_fits(&workload, *size_bytes)?;
            lab::open_image(*size_bytes, folder.as_deref(), &mut tools)?
        }
        Target::Device { path } => {
            let node = path.as_ref().ok_or_else(elsewhere::no_device)?;
            lab::open_device(node, run_options.wipe, &mut tools)?
        }
        Target::Directory { path } => open_directory(path, schedule)?,
        Target::Live { mount } => open_live(mount.as_deref(), schedule, run_options.tweak)?,
    };
    let here = LocalExecutor {
        target,
        lab: &mut *lab,
        workload: &mut workload,
        journal,
        interrupt,
        write_ledger: WriteLedger::default(),
        stretches: StretchHistory::default(),
        aged: &Store::of_user(),
        tools: conductor::tools(schedule, &Toolbox::Machine),
    };
    act(ReadyExecutor::Here(Box::new(here), !run_options.no_trace))
}

/// Refuses what `run` would refuse before its first trial for the plan's own sake, as far as the
/// files that it names are here.
pub fn check(schedule: &Schedule) -> Result<(), Report> {
    let target = target(schedule)?;
    let mut inputs = schedule.workload.inputs().peekable();
    if inputs.peek().is_some() && inputs.all(Path::exists) {
        let interrupt = Interrupt::default();
        let (of, seed) = (&schedule.workload, schedule.seed);
        match (PreparedWorkload::new(of, &schedule.inputs, seed, &interrupt), target) {
            // It may be where the plan will run.
            (Err(WorkloadError::Program(ProgramError::Missing { .. })), _) => {}
            (Err(error), _) => return Err(error.into()),
            (Ok(workload), Target::Image { size_bytes, .. }) => {
                check_fits(&workload, *size_bytes)?;
            }
            (Ok(_), _) => {}
        }
    }
    match target {
        Target::Virtual { .. } => check_models(schedule),
        Target::Directory { path } if path.exists() => open_directory(path, schedule).map(drop),
        Target::Live { mount: Some(path) }
            if path.exists() && rustix::process::geteuid().is_root() =>
        {
            open_live(Some(path), schedule, None).map(drop)
        }
        _ => Ok(()),
    }
}

/// Opens a directory, unless so few treatments can run in it that nothing would be compared.
fn open_directory(path: &Path, schedule: &Schedule) -> Result<Box<dyn Lab>, Report> {
    let lab = lab::open_directory(path)?;
    check_comparable(&*lab, path, schedule).map(|()| lab)
}

/// Opens the filesystem of the machine that a folder is in, unless so few treatments can be put in
/// force there that nothing would be compared.
fn open_live<'a>(
    path: Option<&Path>,
    schedule: &Schedule,
    tweak: Option<Tweak<'a>>,
) -> Result<Box<dyn Lab + 'a>, Report> {
    let path = path.ok_or_else(|| {
        UsageError::report(
            "the live lab needs a filesystem of this machine",
            "name a folder in it: --mount DIR",
        )
    })?;
    let has_workload = schedule.workload.phases.iter().any(|phase| !phase.action.is_stretch());
    let lab = lab::open_live(path, has_workload, tweak)?;
    check_comparable(&*lab, path, schedule).map(|()| lab)
}

/// Refuses to continue the trials of these records with other commands than they had.
pub fn check_same_tweak(records: &[Record], tweak: Option<Tweak<'_>>) -> Result<(), Report> {
    let Some(Tweak { command, undo }) = tweak else { return Ok(()) };
    let is_another = |(record, name, line): &(&Record, &str, &str)| {
        record.applied.get(*name).is_some_and(|had| had != line)
    };
    let lines = |record| [(record, TWEAK, command), (record, TWEAK_UNDO, undo)];
    match records.iter().flat_map(lines).find(is_another) {
        None => Ok(()),
        Some((record, name, _)) => Err(UsageError::report(
            format!("the run was begun with another command: `{}`", record.applied[name]),
            "give it the same commands, or begin another run",
        )),
    }
}

/// Refuses a schedule whose treatments need commands that are not given, or the other way round.
pub fn check_tweak(schedule: &Schedule, tweak: Option<Tweak<'_>>) -> Result<(), Report> {
    let is_asked = schedule.setups().any(|setup| setup.tweak.is_some());
    match (is_asked, tweak) {
        (true, None) => Err(UsageError::report(
            format!("{} tries a change of your own, which no plan may name", schedule.plan),
            "name the command that makes it, and the one that takes it back: --tweak 'systemctl \
             stop log2ram' --undo 'systemctl start log2ram'",
        )),
        (false, Some(_)) => Err(UsageError::report(
            format!(
                "--tweak is for plans with the factor `tweak`, which {} has not",
                schedule.plan
            ),
            "run the plan live-tweak, or write [factors] tweak = [\"off\", \"on\"] in yours",
        )),
        _ => Ok(()),
    }
}

/// Refuses a schedule of which so few treatments can run that nothing would be compared.
fn check_comparable(lab: &dyn Lab, path: &Path, schedule: &Schedule) -> Result<(), Report> {
    let why = |treatment: &Treatment| match &treatment.setup {
        Ok(setup) => lab.missing(setup),
        Err(error) => Some(error.message.clone()),
    };
    let missing: Vec<Option<String>> = schedule.treatments.iter().map(why).collect();
    let is_able = |treatment: usize| missing[treatment].is_none();
    let is_judged = |claim: &Claim| {
        let pairs = claim.pairs(schedule);
        let is_measured =
            |(own, other): (usize, Option<usize>)| is_able(own) && other.is_none_or(is_able);
        !claim.is_best() && pairs.into_iter().any(is_measured)
    };
    let count = missing.len();
    let able = (0..count).filter(|treatment| is_able(*treatment)).count();
    if count < 2 || able > 1 || schedule.claims.iter().any(is_judged) {
        return Ok(());
    }
    let reasons = schedule.each_distinct().zip(missing);
    let reasons = reasons.filter_map(|(levels, why)| Some(format!("{levels}: {}", why?)));
    let reasons = reasons.collect::<Vec<_>>().join("\n");
    Err(UsageError::report(
        format!(
            "{} of {count} treatments cannot run in {}, so that nothing would be compared:\n\
             {reasons}",
            count - able,
            path.display()
        ),
        "choose other levels with --set, or run the plan in a lab that makes filesystems: \
         --lab virtual or --lab image",
    ))
}

/// The guests of a schedule of the virtual lab.
fn guests<'a>(
    schedule: &'a Schedule,
    run_options: RunOptions<'_>,
    journal: &mut Journal,
    interrupt: &'a Interrupt,
) -> Result<Box<Guests<'a>>, Report> {
    if !conductor::are_guests_confined() {
        output::tell(
            "this machine's kernel has no Landlock (Linux 5.13, `landlock` in its `lsm=`), so that \
             only the lab kernel keeps guests from this user's files. Run no strangers' plans",
        );
    }
    let load = if run_options.any_size { drive::load_of_any_size } else { drive::load };
    let load = |name: &str, capacity| match run_options.drives.and_then(|all| all.get(name)) {
        Some(text) => drive::load_text(name, text, capacity),
        None => check_unchanged(name, schedule, interrupt).and_then(|()| load(name, capacity)),
    };
    // The plan's own faults are told before what this machine lacks.
    let Models { drives, plausible, hosts } = models(schedule, &load, interrupt)?;
    let kernels = kernels(schedule, run_options.kernel)?;
    let maps_bytes = maps_bytes(schedule, &drives);
    check_memory(maps_bytes)?;
    let jobs = run_options.jobs.unwrap_or_else(|| fitting_jobs(&hosts, maps_bytes));
    let provided = GuestsInput { schedule, kernels, drives, hosts, plausible, jobs, interrupt };
    Ok(Box::new(Guests::open(provided, journal)?))
}

/// Has guests do something with a schedule of the virtual lab, and undoes what they left.
pub fn in_guests<T>(
    schedule: &Schedule,
    run_options: RunOptions<'_>,
    interrupt: &Interrupt,
    act: impl FnOnce(Guests<'_>) -> Result<T, Report>,
) -> Result<T, Report> {
    if !matches!(target(schedule)?, Target::Virtual { .. }) {
        return Err(UsageError::report(
            format!("{} is for the {} lab, where no guests run", schedule.plan, schedule.origin()),
            "name a run of the virtual lab",
        ));
    }
    // Each guest prepares its own. What of its input is missing or has changed is said before.
    PreparedWorkload::new(&schedule.workload, &schedule.inputs, schedule.seed, interrupt)?;
    let mut journal = restore::journal()?;
    let guests = guests(schedule, run_options, &mut journal, interrupt)?;
    let done = act(*guests)?;
    journal.finish().into_diagnostic()?;
    Ok(done)
}

/// What the levels `drive` and `host` of a schedule's treatments name.
struct Models {
    drives: BTreeMap<String, Specification>,
    /// What the evidence of the drives leaves possible; empty if none are drawn.
    plausible: BTreeMap<String, Plausible>,
    hosts: BTreeMap<String, HostModel>,
}

/// Reads a drive at a capacity.
type Load<'a> = &'a dyn Fn(&str, Option<Bytes>) -> Result<Specification, Report>;

fn models(schedule: &Schedule, load: Load<'_>, interrupt: &Interrupt) -> Result<Models, Report> {
    Ok(Models {
        drives: drives(schedule, load)?,
        plausible: if schedule.plausible > 0 {
            let plausible = plausible(schedule)?;
            plausible
                .iter()
                .try_for_each(|(drive, of)| check_uncertain(drive, of, schedule.plausible))?;
            plausible
        } else {
            BTreeMap::new()
        },
        hosts: hosts(schedule, interrupt)?,
    })
}

/// Refuses plausible drives of a file that leaves only one possible: a verdict on all of them would
/// seem to count drives.
fn check_uncertain(drive: &str, of: &Plausible, drives: u32) -> Result<(), Report> {
    if !of.uncertain().is_empty() {
        return Ok(());
    }
    Err(UsageError::report(
        format!(
            "no value of {drive} is uncertain, so that all {drives} plausible drives would be the \
             same"
        ),
        "give values a `range` or `choices` in its [evidence], as `ssdlab drive show vertex-le` \
         has them; or run the drive alone: --plausible 0",
    ))
}

/// Refuses drives, hosts and kernels of a schedule that cannot be used. The kernel of treatments
/// that name none need not exist yet.
pub fn check_models(schedule: &Schedule) -> Result<(), Report> {
    models(schedule, &drive::load, &Interrupt::default())?;
    let mut levels = kernel_levels(schedule);
    levels.remove(&KernelLevel::Default);
    levels.into_iter().try_for_each(|level| kernel_of(level, None).map(drop))
}

/// The kernels that a schedule's treatments name; `default` is that of treatments that name none,
/// instead of the one in the cache.
fn kernels(
    schedule: &Schedule,
    default: Option<&Path>,
) -> Result<BTreeMap<KernelLevel, LabKernel>, Report> {
    let levels = kernel_levels(schedule);
    if default.is_some() && !levels.contains(&KernelLevel::Default) {
        return Err(UsageError::report(
            "--kernel is for plans that name no kernel, but this one has the factor `kernel`",
            "omit it, or name the kernel's path as a level: --set kernel=PATH",
        ));
    }
    levels.into_iter().map(|level| Ok((level.clone(), kernel_of(level, default)?))).collect()
}

fn kernel_levels(schedule: &Schedule) -> BTreeSet<&KernelLevel> {
    schedule.setups().map(|setup| &setup.simulated.kernel).collect()
}

fn kernel_of(level: &KernelLevel, default: Option<&Path>) -> Result<LabKernel, Report> {
    Ok(match level {
        KernelLevel::Default => kernel::find(default)?,
        KernelLevel::Version(version) => kernel::find_version(version)?,
        KernelLevel::File(path) => kernel::find(Some(path))?,
    })
}

/// The drives that a schedule's treatments name.
fn drives(schedule: &Schedule, load: Load<'_>) -> Result<BTreeMap<String, Specification>, Report> {
    let mut drives = BTreeMap::new();
    for setup in schedule.setups() {
        let name = setup.simulated.drive.clone();
        if let Entry::Vacant(place) = drives.entry(name) {
            let capacity = target(schedule)?.size_bytes().map(Bytes);
            let drive = load(place.key(), capacity)?;
            place.insert(drive);
        }
    }
    Ok(drives)
}

/// The hosts that a schedule's treatments name.
pub fn hosts(
    schedule: &Schedule,
    interrupt: &Interrupt,
) -> Result<BTreeMap<String, HostModel>, Report> {
    let names: BTreeSet<&String> = schedule.setups().map(|setup| &setup.simulated.host).collect();
    let of = |name: &String| {
        check_unchanged(name, schedule, interrupt)?;
        Ok((name.clone(), host::load(name)?))
    };
    names.into_iter().map(of).collect()
}

/// Refuses a file that a level names if it is not the one that was submitted.
fn check_unchanged(level: &str, schedule: &Schedule, interrupt: &Interrupt) -> Result<(), Report> {
    if names_file(level) {
        workload::private(Path::new(level), &schedule.inputs, interrupt)
            .map_err(WorkloadError::from)?;
    }
    Ok(())
}

/// The drives that the evidence of a schedule's drives leaves possible.
pub fn plausible(schedule: &Schedule) -> Result<BTreeMap<String, Plausible>, Report> {
    let capacity = target(schedule)?.size_bytes().map(Bytes);
    let names: BTreeSet<&String> = schedule.setups().map(|setup| &setup.simulated.drive).collect();
    let of = |name: &String| Ok((name.clone(), drive::plausible(name, capacity)?));
    names.into_iter().map(of).collect()
}

/// As many guests as there are processors, as far as memory for them and their drives allows.
fn fitting_jobs(hosts: &BTreeMap<String, HostModel>, maps_bytes: u64) -> usize {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let guests = memory::available_bytes() / memory_of_guest(hosts, maps_bytes);
    processors.min(usize::try_from(guests).unwrap_or(usize::MAX)).max(1)
}

/// The approximate peak memory of a trial in a guest, in bytes.
fn memory_of_guest(hosts: &BTreeMap<String, HostModel>, maps_bytes: u64) -> u64 {
    let guest = hosts.values().map(|host| host.memory_bytes).max().unwrap_or(0);
    guest + maps_bytes + WRITTEN_BYTES
}

/// The most memory that the maps of a trial's simulated drive take before the trial, in bytes. A
/// map takes memory where pages were written, 9 bytes each as measured; a purged drive has none,
/// and what a trial writes belongs to [`WRITTEN_BYTES`].
fn maps_bytes(schedule: &Schedule, drives: &BTreeMap<String, Specification>) -> u64 {
    let of = |setup: &Setup| {
        let drive = drives.get(&setup.simulated.drive)?;
        let is_empty = setup.simulated.condition == Condition::Purged;
        Some(if is_empty { 0 } else { 9 * u64::from(drive.logical_pages) })
    };
    schedule.setups().filter_map(of).max().unwrap_or(0)
}

/// Refuses drives whose maps do not fit into memory, which would get this or another program
/// killed.
fn check_memory(maps_bytes: u64) -> Result<(), Report> {
    let available = memory::available_bytes();
    if maps_bytes + WRITTEN_BYTES <= available {
        return Ok(());
    }
    let reason = format!(
        "the maps of a full drive take about {} of memory, but only {} are free: choose a smaller \
         drive, or reduce its --capacity",
        Bytes(maps_bytes),
        Bytes(available)
    );
    Err(LabError::Unavailable { reason }.into())
}

/// The size of an archive's tree is known only now.
fn check_fits(workload: &PreparedWorkload, image: u64) -> Result<(), Report> {
    let tree = workload.archive_bytes();
    if tree <= image {
        return Ok(());
    }
    Err(UsageError::report(
        format!("the archive holds {}, the image has {}", Bytes(tree), Bytes(image)),
        "set a larger size in the plan's [target], or unpack part of the archive: --scale",
    ))
}

#[cfg(test)]
mod tests;

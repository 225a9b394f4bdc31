//! The executor of trials in guests: each on a simulated drive of its own under the lab kernel, in
//! virtual time, so that several run at once without disturbing each other's measurements.

use std::collections::{BTreeMap, VecDeque};
use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::mem;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;

use sha2::{Digest, Sha256};
use ssdlab_disk::guest::{pin, room};
use ssdlab_disk::{Flash, Memory, RequestErrors};
use ssdlab_filesystem::{Filesystem, Layout};
use ssdlab_flash::evidence::Value;
use ssdlab_flash::{ConditionError, Drive, Nanos, Plausible, Preparation, Specification};
use ssdlab_host::interrupt::Interrupt;
use ssdlab_host::toolbox::Toolbox;
use ssdlab_host::undo::Journal;
use ssdlab_kernel::LabKernel;
use ssdlab_kernel::aged::Store;
use ssdlab_lab as lab;
use ssdlab_operations::cuts::CutOutcome;
use ssdlab_plan::recordings::Recording;
use ssdlab_plan::schedule::{Action, FileTree, Phase, Trial, Workload};
use ssdlab_plan::{
    DRIVE_IDENTITY, Discard, HostModel, KernelLevel, LAB_KERNEL, Model, SLC_CACHE_BYTES, Schedule,
    Setup, SimulatedMachine, Span, WHOLE_SLC_CACHE_BYTES,
};
use ssdlab_results::{Executed, Record};
use ssdlab_workload as workload;

use super::assignment::Assignment;
use super::drive_watch::{DriveWatch, locked};
use super::error::GuestsError;
use super::evidence::{CuttableTrial, TrialLog};
use super::failure::Failure;
use super::hypervisor::{GUEST_TIMEOUT, GuestRun, Hypervisor, LoadedKernel};
use super::images::LoggedRequests;
use super::inside::GuestJob;
use super::libraries::{self, add_command};
use super::message::Message;
use super::performed::{TrialOutcome, TrialTimer};
use super::trial::PREPARATION;
use super::write_ledger::{self, KnownLayout};
use super::{ConductorError, Executor, RunState, system, tools};

/// Where an archive is in the guest.
const ARCHIVE: &str = "archive";

/// The virtual lab.
pub struct Guests<'a> {
    pub(super) schedule: &'a Schedule,
    pub(super) hypervisor: Hypervisor<'a>,
    kernels: BTreeMap<KernelLevel, LoadedKernel>,
    pub(super) drives: BTreeMap<String, Specification>,
    pub(super) hosts: BTreeMap<String, HostModel>,
    pub(super) plausible: BTreeMap<String, Plausible>,
    /// The changed values of drives, by block.
    pub(super) changes: BTreeMap<u32, ModelChange>,
    /// Where aged drives are kept.
    pub(super) aged: Store,
    /// Where request logs go.
    logs: Option<PathBuf>,
    /// Whether the files that power cuts leave are kept.
    pub(super) packs: bool,
    jobs: usize,
    /// Where its guests' programs are from.
    pub(super) toolbox: Toolbox,
    tools: Vec<String>,
    /// The libraries of programs that are no part of a system, with their digests.
    libraries: BTreeMap<String, String>,
    /// Whether a program has printed a line.
    has_heard: AtomicBool,
}

/// What the caller of a virtual lab provides.
pub struct GuestsInput<'a> {
    /// What to do.
    pub schedule: &'a Schedule,
    /// The lab kernels, by the levels that name them.
    pub kernels: BTreeMap<KernelLevel, LabKernel>,
    /// The drives, by the levels that name them.
    pub drives: BTreeMap<String, Specification>,
    /// The computers, by the levels that name them.
    pub hosts: BTreeMap<String, HostModel>,
    /// The plausible drives of the drive files, by the same levels; needed if blocks have drawn or
    /// changed drives.
    pub plausible: BTreeMap<String, Plausible>,
    /// Trials that run at the same time.
    pub jobs: usize,
    /// The request to stop.
    pub interrupt: &'a Interrupt,
}

/// A change to a model's values.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelChange {
    /// The model; others are unchanged.
    pub model: Model,
    /// The values by their dotted keys.
    pub values: BTreeMap<String, Value>,
}

/// A worker's message.
pub(super) enum WorkerMessage {
    Begun(Trial),
    Phase(Trial, String),
    Ended(Trial, Box<TrialOutcome>),
}

impl<'a> Guests<'a> {
    /// Makes the read-only files that all guests share.
    pub fn open(provided: GuestsInput<'a>, journal: &mut Journal) -> Result<Self, GuestsError> {
        let GuestsInput { schedule, kernels, drives, hosts, plausible, jobs, interrupt } = provided;
        let each = hosts.values().map(|host| host.memory_bytes).max().unwrap_or(0);
        let fits = |jobs: &usize| room(each * *jobs as u64).is_ok();
        let jobs = (1..=jobs.min(schedule.trials.len())).rev().find(fits).unwrap_or(1);
        let mut hypervisor = Hypervisor::open(each * jobs as u64, interrupt, journal)?;
        let load = |(level, kernel)| Ok((level, hypervisor.load(kernel)?));
        let kernels = kernels.into_iter().map(load).collect::<Result<_, GuestsError>>()?;
        let toolbox = tools::of_guests(schedule);
        let mut tools = super::tools(schedule, &toolbox);
        if let Some(system) = &schedule.workload.system {
            let made = system::make(hypervisor.root.folder(), system, interrupt)?;
            hypervisor.root.show(made.in_place);
            tools.push(made.name);
        }
        let root = &hypervisor.root;
        for (name, package) in tools::guest_programs(schedule) {
            // The record of the treatment that needs it will say what is missing.
            if let Ok(path) = toolbox.find(name, package) {
                root.add_program(&path, hypervisor.rules())?;
            }
        }
        let mut libraries = BTreeMap::new();
        for name in schedule.programs() {
            tools.push(add_command(root, name, (&toolbox, hypervisor.rules()), &mut libraries)?);
        }
        if let Some(FileTree::Archive { path, .. }) = &schedule.workload.tree {
            root.add_file(&mut workload::private(path, &schedule.inputs, interrupt)?, ARCHIVE)?;
        }
        for (number, recording) in schedule.workload.recordings().enumerate() {
            if let Recording::File(path) = recording {
                let mut contents = workload::private(path, &schedule.inputs, interrupt)?;
                root.add_file(&mut contents, &recording_name(number))?;
            }
        }
        Ok(Self {
            schedule,
            hypervisor,
            kernels,
            drives,
            hosts,
            plausible,
            changes: BTreeMap::new(),
            aged: Store::of_user(),
            logs: None,
            packs: false,
            jobs,
            toolbox,
            tools,
            libraries,
            has_heard: AtomicBool::new(false),
        })
    }

    /// Keeps a log of each trial's requests in a folder.
    pub fn log_to(&mut self, folder: &Path) -> Result<(), GuestsError> {
        fs::create_dir_all(folder).map_err(GuestsError::folder(folder))?;
        self.logs = Some(folder.to_owned());
        Ok(())
    }

    /// Keeps logs of requests, which kinds of bytes and power cuts need, until all guests end.
    pub fn log_briefly(&mut self) -> Result<(), GuestsError> {
        let logs = self.hypervisor.folder.join("requests");
        self.log_to(&logs)
    }

    /// The libraries that programs of these trials have used, with digests of their contents.
    pub fn libraries(&self, records: &[Record]) -> Result<BTreeMap<String, String>, GuestsError> {
        let Some(system) = &self.schedule.workload.system else {
            return Ok(self.libraries.clone());
        };
        libraries::of_trials(records, system, self.hypervisor.root.folder())
    }

    /// Trials that run at the same time.
    pub const fn jobs(&self) -> usize {
        self.jobs
    }

    /// Whether a program of a trial has printed a line, which its check is told.
    pub fn have_heard_lines(&self) -> bool {
        self.has_heard.load(Ordering::Relaxed)
    }

    /// Keeps the files of each filesystem that is recovered: for a cut that is looked at.
    pub fn pack_files(&mut self) {
        self.packs = true;
    }

    /// Performs trials, as many at a time as there are workers, and passes on their messages.
    pub(super) fn each(&self, trials: VecDeque<Trial>, hear: impl FnMut(WorkerMessage)) {
        let queue = Mutex::new(trials);
        let (tell, told) = mpsc::channel();
        thread::scope(|scope| {
            for worker in 0..self.jobs {
                let (queue, tell) = (&queue, tell.clone());
                scope.spawn(move || self.work(worker, queue, &tell));
            }
            drop(tell);
            told.into_iter().for_each(hear);
        });
    }

    /// Performs trials one after the other.
    fn work(
        &self,
        worker: usize,
        queue: &Mutex<VecDeque<Trial>>,
        news: &mpsc::Sender<WorkerMessage>,
    ) {
        // A guest alone stays where it starts, so that several runs need not share a processor.
        if self.jobs > 1 {
            pin(worker);
        }
        let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        while !self.hypervisor.interrupt.is_set()
            && let Some(trial) = next()
        {
            let _ = news.send(WorkerMessage::Begun(trial));
            let began = TrialTimer::now();
            let tell = |recovered, states| {
                let name = format!("power cuts, {recovered} of {states} states recovered");
                let _ = news.send(WorkerMessage::Phase(trial, name));
            };
            let cut = |evidence: &CuttableTrial<'_>| self.cut_telling(evidence, &tell);
            let performed = self.trial(self.schedule, trial, news, cut);
            let mut performed = performed.unwrap_or_else(TrialOutcome::from);
            performed.ended =
                performed.ended.map_err(|failure| failure.seen_by(self.hypervisor.interrupt));
            // The guest's own clock is virtual.
            began.time(&mut performed.measured);
            let _ = news.send(WorkerMessage::Ended(trial, Box::new(performed)));
        }
    }

    /// Performs a trial outside a run: nobody is told of its progress, and a failure of it is one
    /// of the call.
    pub(super) fn trial_alone(
        &self,
        schedule: &Schedule,
        trial: Trial,
        cut: impl FnOnce(&CuttableTrial<'_>) -> Result<Vec<CutOutcome>, Failure>,
    ) -> Result<TrialOutcome, Failure> {
        let mut performed = self.trial(schedule, trial, &mpsc::channel().0, cut)?;
        mem::replace(&mut performed.ended, Ok(()))?;
        Ok(performed)
    }

    /// Performs a trial of the schedule, or of one that differs from it in the workload and the
    /// power cuts. The caller evaluates its power cuts, if it has any.
    fn trial(
        &self,
        schedule: &Schedule,
        trial: Trial,
        news: &mpsc::Sender<WorkerMessage>,
        cut: impl FnOnce(&CuttableTrial<'_>) -> Result<Vec<CutOutcome>, Failure>,
    ) -> Result<TrialOutcome, Failure> {
        let assignment = Assignment::of(schedule, trial)?;
        let setup = &assignment.setup;
        let simulated = &setup.simulated;
        let (drive, host, draw) = self.simulation(simulated, trial)?;
        let specification = &simulated.changed(&drive);
        let fresh = || conditioned(specification, simulated, trial.seed, self.hypervisor.interrupt);
        let (flash, aged) = match setup.age {
            None => (Flash::new(fresh()?), None),
            Some(age) => {
                let _ = news.send(WorkerMessage::Phase(trial, "ageing".to_owned()));
                let (flash, state) = self.aged(age, setup, specification, &host, trial)?;
                (flash, Some(state))
            }
        };
        let original = schedule.cuts.as_ref().map(|_| flash.contents().clone());
        let flash = Arc::new(Mutex::new(flash));
        if original.is_some() {
            locked(&flash).keep_writes();
        }
        let create = |log: PathBuf| File::create(&log).map_err(Failure::step("make", &log));
        let log = self.log_of(trial).map(create).transpose()?.map(BufWriter::new);
        let (mut layout, mut ended, mut executed) = (None, String::new(), Vec::new());
        let kernel = self.kernel(setup);
        let run = GuestRun {
            name: &format!("guest-{}", trial.position),
            kernel,
            host: &host,
            seed: trial.seed,
            limit: limit(&assignment.workload),
            timeout: GUEST_TIMEOUT,
            errors: failing_requests(schedule, trial),
        };
        let mut trial_log = TrialLog::default();
        let mut watch = DriveWatch::new(&flash, &assignment.workload.phases);
        let job = job(&assignment, schedule.seed)?;
        let (mut performed, fingerprint): (TrialOutcome, _) =
            self.hypervisor.run(&run, &job, &flash, log, |now, message| {
                watch.hear(now, message);
                trial_log.hear(now, message);
                switch(run.errors.as_ref(), message);
                match message {
                    Message::Begins(name) => {
                        let _ = news.send(WorkerMessage::Phase(trial, name.clone()));
                    }
                    Message::Over(name) => ended.clone_from(name),
                    Message::Functions(functions) => executed
                        .push(Executed { phase: ended.clone(), functions: functions.clone() }),
                    Message::Layout(told) => {
                        // Later steps mount the filesystem again.
                        let teller = setup.filesystem.and_then(|of| of.layout?.contents);
                        let contents = teller.map(|_| locked(&flash).contents().clone());
                        layout = Some((told.clone(), contents));
                    }
                    _ => {}
                }
            })?;
        self.has_heard.fetch_or(!trial_log.said.is_empty(), Ordering::Relaxed);
        if let Some(logs) = &self.logs {
            write_ledger::write_executed(&write_ledger::functions_of(logs, trial), &executed)?;
        }
        if let (Some(asked), Some(original), Some(log), Ok(())) =
            (&schedule.cuts, &original, self.log_of(trial), &performed.ended)
        {
            let _ = news.send(WorkerMessage::Phase(trial, "power cuts".to_owned()));
            let writes = locked(&flash).take_writes();
            let requests =
                LoggedRequests::read(&log, writes).map_err(Failure::step("read", &log))?;
            let mut drive = locked(&flash).drive().clone();
            drive.cut_power();
            performed.measured.cuts = cut(&CuttableTrial {
                asked,
                trial,
                setup,
                host: &host,
                subjects: ssdlab_workload::subjects(&assignment.workload.phases),
                trial_log: &trial_log,
                requests: &requests,
                original,
                drive,
            })?;
        }
        // Measurements that only the host has.
        let measured = &mut performed.measured;
        watch.complete(measured);
        if let Some((filesystem, log)) = setup.filesystem.zip(self.log_of(trial)) {
            attribute(measured, filesystem, layout, &log);
        }
        if let Some(state) = aged {
            state.facts.enter(Some(state.contents), measured);
        }
        measured.environment.tools.clone_from(&self.tools);
        measured.applied.extend([
            (LAB_KERNEL.to_owned(), kernel.kernel.identity.clone()),
            ("drive".to_owned(), specification.name.clone()),
            (DRIVE_IDENTITY.to_owned(), identity(specification)),
            ("host".to_owned(), host.name.clone()),
            ("host_costs".to_owned(), host.costs.to_string()),
        ]);
        measured.applied.extend(cut_cache(specification, locked(&flash).drive()));
        measured.fingerprint = Some(fingerprint.to_string());
        measured.draw = draw;
        Ok(performed)
    }

    /// The kernel of a treatment.
    pub(super) fn kernel(&self, setup: &Setup) -> &LoadedKernel {
        self.kernels.get(&setup.simulated.kernel).expect("a kernel is provided for each level")
    }

    /// The log of a trial's requests, if logs are kept.
    fn log_of(&self, trial: Trial) -> Option<PathBuf> {
        Some(write_ledger::log_of(self.logs.as_ref()?, trial))
    }
}

/// The requests to the drive of a trial that fail.
fn failing_requests(schedule: &Schedule, trial: Trial) -> Option<RequestErrors> {
    let errors = schedule.workload.system.as_ref()?.write_errors?;
    Some(RequestErrors::new(errors, trial.seed))
}

/// Has requests fail in phases only: not those of mkfs.
fn switch<T>(errors: Option<&RequestErrors>, message: &Message<T>) {
    match (errors, message) {
        (Some(errors), Message::Begins(_)) => errors.set_active(true),
        (Some(errors), Message::Over(_)) => errors.set_active(false),
        _ => {}
    }
}

/// The guest's time in which a trial must have ended, whatever goes wrong in it.
fn limit(workload: &Workload) -> Nanos {
    // A phase may wait for quiet as long as it may work.
    let longest =
        |phase: &Phase| phase.limit_ns.saturating_mul(2).saturating_add(phase.postponed_ns);
    let phases = workload.phases.iter().map(longest).fold(0, u64::saturating_add);
    Nanos(phases.saturating_add(8 * Span(PREPARATION).nanos()))
}

/// Enters the kinds of bytes that the guest wrote, from the log of its requests, the filesystem's
/// layout and, where that does not suffice, the contents left on the drive.
fn attribute(
    measured: &mut Record,
    filesystem: &Filesystem,
    told: Option<(Result<Layout, String>, Option<Memory>)>,
    log: &Path,
) {
    let Some((layout, contents)) = told else {
        return write_ledger::note_missing(
            measured,
            "the guest does not say where its filesystem keeps what",
        );
    };
    match layout {
        Err(reason) => write_ledger::note_missing(measured, &reason),
        Ok(layout) => {
            let mut read = |offset_bytes, into: &mut [u8]| match &contents {
                Some(contents) => contents.load(offset_bytes, into).map_err(io::Error::other),
                None => Err(io::Error::other("its contents were not kept")),
            };
            let kept = KnownLayout { filesystem, layout: &layout };
            write_ledger::add_phases(measured, log, &kept, &mut read);
        }
    }
}

/// The job of a trial: what it does, without place, time, comparisons or the simulated machine; so
/// equal trials give equal jobs, to the byte.
fn job(assignment: &Assignment, run_seed: u64) -> Result<GuestJob, Failure> {
    let mut assignment = assignment.for_guest()?;
    if let Some(FileTree::Archive { path, .. }) = &mut assignment.workload.tree {
        *path = Path::new("/").join(ARCHIVE);
    }
    // The guest has them at a place of its own.
    if let Some(system) = &mut assignment.workload.system {
        system.root = None;
        system.add.clear();
    }
    for (number, recording) in assignment.workload.recordings_mut().enumerate() {
        if let Recording::File(path) = recording {
            *path = Path::new("/").join(recording_name(number));
        }
    }
    Ok(GuestJob::Trial { assignment, run_seed })
}

/// Where an operation log is in the guest, by its place among those of the workload.
fn recording_name(number: usize) -> String {
    format!("recording-{number}")
}

/// Distinguishes drives of one name, and a drive file before and after a change. Records hold it:
/// what `Debug` writes of a drive is a format that stays.
pub(super) fn identity(specification: &Specification) -> String {
    let hash = Sha256::digest(format!("{specification:?}"));
    let first = hash.first_chunk().copied().unwrap_or_default();
    format!("{:016x}", u64::from_be_bytes(first))
}

/// The sizes of the drive's SLC cache, if its capacity left it a part and the trial filled that.
fn cut_cache(specification: &Specification, drive: &Drive) -> Vec<(String, String)> {
    let Some(cache) = specification.slc_cache.filter(|_| drive.has_filled_slc()) else {
        return Vec::new();
    };
    let Some(whole) = cache.cut_from_bytes else { return Vec::new() };
    let pages = u64::from(cache.blocks) * u64::from(cache.pages_per_block);
    let bytes = pages * u64::from(specification.page_bytes);
    [(SLC_CACHE_BYTES, bytes), (WHOLE_SLC_CACHE_BYTES, whole)]
        .map(|(name, bytes)| (name.to_owned(), bytes.to_string()))
        .into()
}

/// A drive in the condition that the treatment asks for.
pub(super) fn conditioned(
    specification: &Specification,
    simulated: &SimulatedMachine,
    seed: u64,
    interrupt: &Interrupt,
) -> Result<Drive, Failure> {
    let mut go_on = |_, _| {
        if interrupt.is_set() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let preparation = Preparation::whole(specification.clone(), simulated.condition, seed);
    match preparation.prepare(&mut go_on) {
        Ok((drive, _)) => Ok(drive),
        Err(ConditionError::Stopped) => Err(Failure::Interrupted),
        Err(refused) => Err(Failure::Failed(refused.to_string())),
    }
}

impl Executor for Guests<'_> {
    fn missing(&self, setup: &Setup) -> Option<String> {
        let mut phases = self.schedule.workload.phases.iter();
        let discards = matches!(setup.discard, Some(Discard::On | Discard::Fstrim))
            || phases.any(|phase| phase.action == Action::Fstrim);
        let drive = self.drives.get(&setup.simulated.drive);
        if let Some(drive) = drive.filter(|drive| discards && !drive.trim.honoured) {
            return Some(format!("{} takes no discards", drive.name));
        }
        let own = setup.filesystem.and_then(|filesystem| filesystem.drivers.first());
        if let Some(own) = own.filter(|own| discards && setup.driver.is_none() && !own.discards) {
            let name = own.name;
            return Some(format!(
                "the driver of {name} in the lab kernel has no discards; with the driver of ext4 \
                 it has: filesystem_driver = \"ext4\""
            ));
        }
        if self.schedule.cuts.is_some() && setup.filesystem.is_some_and(|of| of.pool.is_some()) {
            return Some("a filesystem that a daemon serves cannot be cut off".to_owned());
        }
        let of_kernel = &self.kernel(setup).filesystems;
        let layer = setup.simulated.layer.as_ref();
        layer
            .and_then(|layer| lab::missing_layer(layer, of_kernel, &self.toolbox))
            .or_else(|| lab::missing_in_guest(setup.filesystem?, of_kernel, &self.toolbox))
    }

    fn perform(
        &mut self,
        trials: &[Trial],
        run_state: &mut RunState<'_>,
    ) -> Result<bool, ConductorError> {
        let open = trials.iter().copied().filter(|trial| run_state.is_open(trial)).collect();
        let mut kept = Ok(());
        self.each(open, |news| match news {
            WorkerMessage::Begun(trial) => run_state.begin_trial(trial),
            WorkerMessage::Phase(trial, name) => run_state.begin_phase(trial, &name),
            WorkerMessage::Ended(trial, performed) => {
                let is_interrupted = matches!(performed.ended, Err(Failure::Interrupted));
                // Or another trial of the treatment found that it cannot run.
                if is_interrupted || !run_state.is_open(&trial) {
                    return;
                }
                let record = performed.record(self.schedule, trial);
                if kept.is_ok() {
                    kept = run_state.add_record(record);
                }
                if kept.is_err() {
                    // Without a place for its records a run is pointless.
                    self.hypervisor.interrupt.set();
                }
            }
        });
        kept?;
        Ok(!self.hypervisor.interrupt.is_set())
    }
}

#[cfg(test)]
mod tests;

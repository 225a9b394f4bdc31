//! The stage for trials in guests: each on a simulated drive of its own under the lab kernel, in
//! virtual time, so that several run at once and none measures another.

use std::collections::{BTreeMap, VecDeque};
use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::iter;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use miette::Diagnostic;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use ssdlab_disk::{DiscardLimits, Disk, DiskError, Flash, Shape, WriteCache};
use ssdlab_flash::{Drive, Nanos, Specification, Work};
use thiserror::Error;

use super::failure::Failure;
use super::inside::Job;
use super::measure::nanos;
use super::trial::{PREPARATION, blank};
use super::{ConductorError, Desk, Event, Stage};
use crate::guest::{Channel, Machine, MachineError, Message, Root, RootError};
use crate::host::interrupt::Interrupt;
use crate::host::program::{self, Rules};
use crate::kernel::LabKernel;
use crate::lab;
use crate::plan::schedule::{Treatment, Tree, Trial};
use crate::plan::{Schedule, Setup, Simulated};
use crate::results::{Flashed, Record};
use crate::undo::Journal;

/// How long a guest may compute, in real time, without asking for anything.
const PATIENCE: Duration = Duration::from_mins(5);

/// Where an archive is in the guest.
const ARCHIVE: &str = "archive";

/// The virtual lab cannot be opened.
#[derive(Debug, Error, Diagnostic)]
pub enum GuestsError {
    /// Its folder cannot be made.
    #[error("cannot make the folder {}: {cause}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why not.
        cause: io::Error,
    },
    /// The guests' files cannot be made.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Root(#[from] RootError),
}

/// What the virtual lab is made of.
pub struct Guests<'a> {
    schedule: &'a Schedule,
    kernel: LabKernel,
    drives: BTreeMap<String, Specification>,
    root: Root,
    /// Holds a folder for each guest.
    folder: PathBuf,
    /// Where request logs go.
    logs: PathBuf,
    marker: String,
    jobs: usize,
    interrupt: &'a Interrupt,
    tools: Vec<String>,
}

/// What the caller of a virtual lab provides.
pub struct Provided<'a> {
    /// What to do.
    pub schedule: &'a Schedule,
    /// The lab kernel.
    pub kernel: LabKernel,
    /// The drives, by the levels that name them.
    pub drives: BTreeMap<String, Specification>,
    /// The folder that request logs go to.
    pub logs: PathBuf,
    /// Trials that run at the same time.
    pub jobs: usize,
    /// The request to stop.
    pub interrupt: &'a Interrupt,
}

/// What a worker has to tell.
enum News {
    Begun(Trial),
    Phase(String),
    Ended(Box<Record>, Option<Failure>),
}

impl<'a> Guests<'a> {
    /// Makes what all guests share: their read-only files.
    pub fn open(provided: Provided<'a>, journal: &mut Journal) -> Result<Self, GuestsError> {
        let Provided { schedule, kernel, drives, logs, jobs, interrupt } = provided;
        let marker = journal.marker().to_owned();
        let folder = journal.private_folder().join(format!("ssdlab-{marker}"));
        let at = |path: &Path| {
            let path = path.to_owned();
            move |cause| GuestsError::Folder { path, cause }
        };
        journal.make_folder(&folder).map_err(at(&folder))?;
        fs::create_dir_all(&logs).map_err(at(&logs))?;
        let root = folder.join("root");
        fs::create_dir(&root).map_err(at(&root))?;
        let rules = Rules { marker: &marker, limit: PREPARATION, interrupt };
        let root = Root::make(&root, rules)?;
        let setups = (0..schedule.treatments.len()).filter_map(|index| schedule.setup(index).ok());
        let mut programs = vec![("fstrim", "util-linux")];
        for filesystem in setups.filter_map(|setup| setup.filesystem) {
            let check = filesystem.check.filter(|_| schedule.verify).map(|check| check.program);
            let own = iter::once(filesystem.mkfs).chain(check);
            programs.extend(own.map(|program| (program, filesystem.package)));
        }
        for (name, package) in programs {
            // What is missing, its treatment's record will say.
            if let Ok(path) = program::find(name, package) {
                root.add_program(&path, rules)?;
            }
        }
        if let Some(Tree::Archive { path, .. }) = &schedule.workload.tree {
            root.add_file(path, ARCHIVE)?;
        }
        let tools = super::tools(schedule);
        Ok(Self { schedule, kernel, drives, root, folder, logs, marker, jobs, interrupt, tools })
    }

    /// Performs trials one after the other, pinned to one processor together with their guests:
    /// the two take turns, and a change of processor would cost more than the turn.
    fn work(&self, worker: usize, queue: &Mutex<VecDeque<Trial>>, news: &mpsc::Sender<News>) {
        pin(worker);
        let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        while !self.interrupt.is_set()
            && let Some(trial) = next()
        {
            let _ = news.send(News::Begun(trial));
            let started = Instant::now();
            let mut record = blank(self.schedule, trial);
            let failure = self.trial(&mut record, news).err();
            record.took_ns = nanos(started.elapsed());
            let _ = news.send(News::Ended(Box::new(record), failure));
        }
    }

    fn trial(&self, record: &mut Record, news: &mpsc::Sender<News>) -> Result<(), Failure> {
        let trial = record.trial;
        let setup =
            self.schedule.setup(trial.treatment).map_err(|error| Failure::Failed(error.message))?;
        let simulated = setup.simulated;
        let Some(specification) = self.drives.get(&simulated.drive) else {
            return Err(Failure::Failed(format!("there is no drive {}", simulated.drive)));
        };
        let drive = conditioned(specification, &simulated, trial.seed)?;
        let flash = Arc::new(Mutex::new(Flash::new(drive)));
        let heard = Mutex::new(Heard::default());
        let channel = Channel::new(&self.job(trial), |message| {
            let work = *flash.lock().unwrap_or_else(PoisonError::into_inner).drive().work();
            let mut heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
            match message {
                Message::Begins(name) => {
                    heard.last.get_or_insert(work);
                    let _ = news.send(News::Phase(name));
                }
                Message::Over => {
                    let before = heard.last.replace(work).unwrap_or_default();
                    heard.phases.push(flashed(specification, &before, &work));
                }
                Message::Done(done) => heard.done = Some(done),
            }
        });
        let folder = self.folder.join(format!("guest-{}", trial.position));
        fs::create_dir(&folder)?;
        let machine = Machine {
            kernel: &self.kernel.path,
            root: &self.root,
            folder: &folder,
            host: simulated.host,
            seed: trial.seed,
            limit: self.limit(trial),
            patience: PATIENCE,
            marker: &self.marker,
        };
        let log = self.logs.join(format!("{:04}.requests", trial.position));
        let log = BufWriter::new(File::create(log)?);
        let mut disks = [
            Disk::new("drive", machine.door("drive")?, Arc::clone(&flash), shape(specification))?
                .with_log(log)?,
            Disk::new("channel", machine.door("channel")?, channel, Shape::default())?,
        ];
        let ended = machine.run(&mut disks, self.interrupt);
        drop(disks);
        // The guest is gone, and with it all that used the folder.
        fs::remove_dir_all(&folder)?;
        let heard = heard.into_inner().unwrap_or_else(PoisonError::into_inner);
        let ended = ended?;
        let Some(done) = heard.done else {
            return Err(Failure::Failed(format!(
                "the guest ended without a record; its console says:\n{}",
                ended.console
            )));
        };
        let done = serde_json::from_value(done)
            .map_err(|error| Failure::Failed(format!("the guest's record is none: {error}")))?;
        self.merge(record, done, &heard.phases);
        record.applied.insert("drive".to_owned(), specification.name.clone());
        record.applied.insert("host".to_owned(), simulated.host.name.to_owned());
        record.fingerprint = Some(ended.fingerprint.to_string());
        Ok(())
    }

    /// The job of a trial: what it does, and nothing of where and when.
    fn job(&self, trial: Trial) -> Job {
        let mut schedule = self.schedule.clone();
        let levels = schedule.treatments[trial.treatment].levels.clone();
        schedule.treatments = vec![Treatment { levels, baseline: None }];
        schedule.trials.clear();
        schedule.claims.clear();
        schedule.notes.clear();
        if let Some(Tree::Archive { path, .. }) = &mut schedule.workload.tree {
            *path = Path::new("/").join(ARCHIVE);
        }
        Job { schedule, trial: Trial { block: 0, position: 0, treatment: 0, ..trial } }
    }

    /// The guest's time in which a trial must have ended, whatever goes wrong in it.
    fn limit(&self, trial: Trial) -> Nanos {
        let phases = self.schedule.phases(trial.treatment);
        // A phase may wait for quiet as long as it may work.
        let phases: u64 = phases.iter().map(|phase| phase.limit_ns.saturating_mul(2)).sum();
        Nanos(phases.saturating_add(4 * nanos(PREPARATION)))
    }

    /// Completes the guest's record with what only its host knows.
    fn merge(&self, record: &mut Record, done: Record, phases: &[Flashed]) {
        let Record { trial, lab, started_s, .. } = *record;
        *record = Record { trial, lab, started_s, ..done };
        for (phase, flashed) in record.phases.iter_mut().zip(phases) {
            phase.flash = Some(*flashed);
        }
        record.applied.insert("lab_kernel".to_owned(), self.kernel.identity.clone());
        record.environment.tools.clone_from(&self.tools);
    }
}

/// A drive in the state that the treatment asks for.
fn conditioned(
    specification: &Specification,
    simulated: &Simulated,
    seed: u64,
) -> Result<Drive, Failure> {
    let mut drive = Drive::new(specification.clone(), seed);
    let span_pages = specification.logical_pages;
    drive.condition(simulated.condition, span_pages, seed, &mut |_, _| {}).map_err(|refusal| {
        Failure::Failed(format!("the drive cannot be brought into its state: {refusal}"))
    })?;
    Ok(drive)
}

impl Stage for Guests<'_> {
    fn missing(&self, setup: &Setup) -> Option<String> {
        lab::no_mkfs(setup.filesystem?)
    }

    fn perform(&mut self, trials: &[Trial], desk: &mut Desk<'_>) -> Result<bool, ConductorError> {
        let open = trials.iter().copied().filter(|trial| desk.is_open(trial));
        let queue: Mutex<VecDeque<Trial>> = Mutex::new(open.collect());
        let (tell, hear) = mpsc::channel();
        let this = &*self;
        thread::scope(|scope| {
            for worker in 0..this.jobs {
                let (queue, tell) = (&queue, tell.clone());
                scope.spawn(move || this.work(worker, queue, &tell));
            }
            drop(tell);
            let mut kept = Ok(());
            for news in hear {
                match news {
                    News::Begun(trial) => desk.begin(trial),
                    News::Phase(name) => desk.observer.notice(Event::PhaseStarted { name: &name }),
                    News::Ended(_, Some(Failure::Interrupted)) => {}
                    News::Ended(mut record, failure) => {
                        if let Some(failure) = failure {
                            failure.mark(&mut record);
                        }
                        kept = kept.and_then(|()| desk.keep(*record));
                        if kept.is_err() {
                            // Without a place for its records a run has no sense.
                            this.interrupt.set();
                        }
                    }
                }
            }
            kept
        })?;
        Ok(!self.interrupt.is_set())
    }
}

/// What came over a guest's channel.
#[derive(Default)]
struct Heard {
    last: Option<Work>,
    phases: Vec<Flashed>,
    done: Option<serde_json::Value>,
}

/// What a drive's flash has done between two moments. It counts superblocks; drives are rated in
/// blocks.
fn flashed(specification: &Specification, before: &Work, after: &Work) -> Flashed {
    let pages = |before: u64, after: u64| (after - before) * u64::from(specification.page_bytes);
    let erases = after.erases.total() - before.erases.total();
    Flashed {
        flash_written_bytes: pages(before.programs.total(), after.programs.total()),
        flash_read_bytes: pages(before.reads.total(), after.reads.total()),
        erases: erases * u64::from(specification.superblock),
        stalled_ns: (after.stalled - before.stalled).0,
    }
}

/// The segments of a request to a SATA drive (`AHCI_MAX_SG` in drivers/ata/ahci.h).
const SEGMENTS: u32 = 168;

/// What a drive looks like to its guest. One that does not honour discards does not offer them.
fn shape(specification: &Specification) -> Shape {
    let usual = Shape::default();
    let discard: Option<DiscardLimits> = usual.discard.filter(|_| specification.trim.honoured);
    let id = specification.name.chars().filter(char::is_ascii_graphic).take(20).collect();
    Shape { id, discard, segments: SEGMENTS, write_cache: WriteCache::Switchable, ..usual }
}

/// Keeps this thread, and the guests it starts, on one processor.
fn pin(worker: usize) {
    let Ok(allowed) = sched_getaffinity(None) else { return };
    let allowed: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu)).collect();
    let Some(cpu) = allowed.get(worker % allowed.len().max(1)) else { return };
    let mut one = CpuSet::new();
    one.set(*cpu);
    // Where that is not allowed it only takes longer.
    let _ = sched_setaffinity(None, &one);
}

impl From<MachineError> for Failure {
    fn from(error: MachineError) -> Self {
        match error {
            MachineError::Interrupted => Self::Interrupted,
            other => Self::Failed(other.to_string()),
        }
    }
}

impl From<DiskError> for Failure {
    fn from(error: DiskError) -> Self {
        Self::Failed(error.to_string())
    }
}

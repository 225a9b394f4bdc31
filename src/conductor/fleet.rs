//! The stage for trials on many machines: they are submitted to Slurm, and what their attempts have
//! written is merged as it comes.
//!
//! The records say what was done. The queue is asked only whether what has not been done may still
//! come, and whether nodes are done with what has.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use miette::Diagnostic;
use thiserror::Error;

use super::collect::{Rsync, Seen};
use super::submission::{Expected, Homes, Submission, submissions};
use super::{ConductorError, Desk, Event, Stage, books};
use crate::host::interrupt::Interrupt;
use crate::host::program;
use crate::plan::schedule::Trial;
use crate::plan::{LabKind, Schedule, Setup};
use crate::results::{ATTEMPTS, Attempts, Record, Status, logs_of, output_of};
use crate::slurm::{Array, Slurm, SlurmError, attempt};

/// How often attempts are looked at, and how often the queue, whose controller serves others too.
const LOOK: Duration = Duration::from_millis(250);
const ASK: Duration = Duration::from_secs(3);

/// How long what a node has written may take to be seen here: shared folders keep what they know of
/// a folder for some seconds (nfs(5), `acdirmin` and on).
const DELIVERY: Duration = Duration::from_secs(15);

/// How long the controller may be silent; one that restarts is back within seconds.
const PATIENCE: Duration = Duration::from_mins(10);

/// Why elements wait when all is well (squeue(1), job reason codes).
const USUAL: [&str; 5] = ["None", "Resources", "Priority", "JobArrayTaskLimit", "BeginTime"];

/// A run on many machines that cannot go on.
#[derive(Debug, Error, Diagnostic)]
pub enum FleetError {
    /// Slurm does not do its part.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Slurm(#[from] SlurmError),
    /// It has stopped to answer while nodes were at it.
    #[error("Slurm is silent for {}: {cause}", humantime::format_duration(PATIENCE))]
    #[diagnostic(help(
        "jobs go on without it; `ssdlab run --resume RUN --on slurm` takes them up again"
    ))]
    Silent {
        /// What it said last.
        cause: SlurmError,
    },
    /// What is to be submitted cannot be stored, or read again.
    #[error("cannot keep what is submitted in {}: {cause}", path.display())]
    Submission {
        /// Where.
        path: PathBuf,
        /// Why not.
        cause: io::Error,
    },
    /// Trials have no record although nothing is left that would bring it.
    #[error("{count} trials have no record, and nothing is queued that would bring it: {says}")]
    #[diagnostic(help(
        "`ssdlab cancel RUN` undoes what killed trials have left on their nodes; \
         `ssdlab run --resume RUN --on slurm` submits what is missing"
    ))]
    Lost {
        /// Trials.
        count: usize,
        /// What their programs said last.
        says: String,
    },
}

/// What the caller of a fleet provides.
pub struct Submitter<'a> {
    /// What to do.
    pub schedule: &'a Schedule,
    /// Slurm.
    pub slurm: Slurm,
    /// What every node must have.
    pub expected: Expected,
    /// Whether nothing is recorded of what is asked of devices.
    pub no_trace: bool,
    /// The memory of a trial in bytes; all of its node's, where nothing is said.
    pub memory_bytes: Option<u64>,
    /// This program, which nodes have under the same path.
    pub program: PathBuf,
    /// How records get here, if nodes do not see the run's folder.
    pub rsync: Option<Rsync>,
    /// The request to stop.
    pub interrupt: &'a Interrupt,
}

/// Machines that Slurm gives out.
pub struct Fleet<'a> {
    by: Submitter<'a>,
    /// The run's folder, by a name that holds everywhere.
    folder: PathBuf,
    attempts: Attempts,
    /// All that was submitted, by name.
    submitted: BTreeMap<String, Submission>,
    /// The elements that are not over, or whose trials are not all recorded.
    waiting: Vec<Element>,
    /// Whether what earlier sessions have submitted is among them.
    has_adopted: bool,
    asked: Option<Instant>,
    /// Since when the controller is silent.
    silent: Option<Instant>,
    /// What was told about the queue, so that it is told once.
    told: BTreeSet<String>,
}

/// An element of an array.
#[derive(Debug)]
struct Element {
    array: String,
    job: String,
    index: usize,
    trials: Vec<Trial>,
    /// How it ended, in Slurm's words, and where.
    ended: String,
    /// Since when it is not in the queue.
    gone: Option<Instant>,
}

impl Element {
    fn new(array: &str, job: &str, index: usize, trials: &[Trial]) -> Self {
        Self {
            array: array.to_owned(),
            job: job.to_owned(),
            index,
            trials: trials.to_vec(),
            ended: String::new(),
            gone: None,
        }
    }

    fn is_recorded(&self, desk: &Desk<'_>) -> bool {
        !self.trials.iter().any(|trial| desk.is_open(trial))
    }

    /// What its program has said last.
    fn last_words(&self, run: &Path) -> String {
        let id = attempt(&self.job, self.index);
        match fs::read_to_string(output_of(run, &id)) {
            Err(_) => format!(
                "{id}: {}its output is not in {}: do nodes see this folder, under this name?",
                self.ended,
                run.join(ATTEMPTS).display()
            ),
            Ok(text) => format!("{id}: {}{}", self.ended, program::tail(&text)),
        }
    }
}

impl<'a> Fleet<'a> {
    /// Looks whether Slurm can run every treatment, before anything is made.
    pub fn check(slurm: &Slurm, schedule: &Schedule) -> Result<(), SlurmError> {
        let all: BTreeSet<BTreeSet<String>> =
            (0..schedule.treatments.len()).map(|index| schedule.features(index)).collect();
        all.iter().try_for_each(|features| slurm.check(features).map(drop))
    }

    /// A fleet for a run whose folder is there, an absolute path, and that has some records
    /// already.
    pub fn open(by: Submitter<'a>, folder: &Path, records: &[Record]) -> Result<Self, FleetError> {
        let place = folder.join(ATTEMPTS);
        let of_folder = |cause| FleetError::Submission { path: place.clone(), cause };
        fs::create_dir_all(&place).map_err(of_folder)?;
        Ok(Self {
            by,
            folder: folder.to_owned(),
            attempts: Attempts::new(folder, records),
            submitted: Submission::all(folder).map_err(of_folder)?,
            waiting: Vec::new(),
            has_adopted: false,
            asked: None,
            silent: None,
            told: BTreeSet::new(),
        })
    }

    /// What an earlier session has submitted and is still to come is waited for.
    fn adopt(&mut self) -> Result<(), SlurmError> {
        if std::mem::replace(&mut self.has_adopted, true) {
            return Ok(());
        }
        let queue = self.by.slurm.queue(&self.submitted.keys().cloned().collect())?;
        if let Some(rsync) = &mut self.by.rsync {
            // Where elements have been that are long over, nobody knows any more.
            for submission in self.submitted.values().filter(|of| of.staged.is_some()) {
                rsync.ask_all(submission, self.by.slurm.check(&submission.features)?);
            }
        }
        for element in queue.elements {
            let submission = self.submitted.get(&element.array);
            let trials = submission.and_then(|submission| submission.elements.get(element.index));
            let Some(trials) = trials else { continue };
            self.waiting.push(Element::new(&element.array, &element.job, element.index, trials));
        }
        Ok(())
    }

    fn submit(&mut self, trials: &[Trial], desk: &mut Desk<'_>) -> Result<(), FleetError> {
        let schedule = self.by.schedule;
        let needed: BTreeSet<_> =
            trials.iter().map(|trial| schedule.features(trial.treatment)).collect();
        let mut nodes = 0;
        for features in &needed {
            nodes = nodes.max(self.by.slurm.check(features)?.len());
        }
        let mut jobs = BTreeSet::new();
        let staging = self.by.rsync.as_ref().map(Rsync::staging);
        let homes = homes(schedule, &desk.records);
        for mut submission in submissions(schedule, trials, &homes, staging.is_some(), nodes) {
            let name = self.new_name(&desk.run.id());
            submission.expected = self.by.expected.clone();
            submission.no_trace = self.by.no_trace;
            submission.partition = self.by.slurm.partition().map(str::to_owned);
            submission.staged = staging.map(|folder| folder.join(&name));
            let job = self.submit_one(&name, &submission, &jobs)?;
            let elements = submission.elements.len();
            desk.observer.notice(Event::Submitted { job: &job, elements });
            for (index, trials) in submission.elements.iter().enumerate() {
                self.waiting.push(Element::new(&name, &job, index, trials));
            }
            self.submitted.insert(name, submission);
            jobs.insert(job);
        }
        Ok(())
    }

    /// Submits an array; `others` are the jobs that go with it.
    fn submit_one(
        &self,
        name: &str,
        submission: &Submission,
        others: &BTreeSet<String>,
    ) -> Result<String, FleetError> {
        let (schedule, slurm) = (self.by.schedule, &self.by.slurm);
        let path = Submission::path(&self.folder, name);
        submission
            .write(&self.folder, name)
            .map_err(|cause| FleetError::Submission { path: path.clone(), cause })?;
        let seen = Seen::by_nodes_of(submission, &self.folder);
        let array = Array {
            name,
            elements: submission.elements.len(),
            features: &submission.features,
            node: submission.node.as_deref(),
            is_exclusive: schedule.target.lab != LabKind::Virtual,
            memory_bytes: self.by.memory_bytes,
            limit: submission.limit(schedule),
            output: &seen.output(),
            script: &seen.script(&self.by.program, schedule, submission, name),
        };
        slurm.submit(&array).map_err(|error| {
            if matches!(error, SlurmError::Refused { .. }) {
                // Half of what was meant is no use, and what was refused is not waited for. Of any
                // other error nobody knows whether the job was taken: its name stays known.
                let _ = slurm.cancel(others);
                let _ = fs::remove_file(&path);
            }
            error.into()
        })
    }

    /// A name that no array of this run has, nor one of another folder's run of the same name.
    fn new_name(&self, run: &str) -> String {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let run: String = run.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
        let number = self.submitted.len() + 1;
        format!("ssdlab-{run}-{number}-{:08x}", random_word())
    }

    /// Puts what attempts have brought into the run.
    fn merge(&mut self, desk: &mut Desk<'_>) -> Result<(), ConductorError> {
        if let Some(rsync) = &mut self.by.rsync {
            for text in rsync.fetch(&self.folder) {
                desk.observer.notice(Event::Trouble { text: &text });
            }
        }
        let news = self.attempts.news(self.by.schedule)?;
        for double in news.doubles {
            let text = format!(
                "block {}, {}: attempt {} has recorded it too; that of {} counts",
                double.block + 1,
                self.levels(double.treatment),
                double.attempt,
                double.counts
            );
            desk.observer.notice(Event::Trouble { text: &text });
        }
        for text in &news.warnings {
            desk.observer.notice(Event::Trouble { text });
        }
        for record in news.records {
            self.keep(record, desk)?;
        }
        Ok(())
    }

    /// What ran counts, whichever other node could not run it. That a node could not counts only
    /// where no other could: it ends what is done about a treatment.
    fn keep(&self, record: Record, desk: &mut Desk<'_>) -> Result<(), ConductorError> {
        let treatment = record.trial.treatment;
        if record.status == Status::Unavailable {
            if desk.has_run(treatment) {
                let node = record.attempt.as_ref().map_or("a node", |of| of.node.as_str());
                let reason = record.reason.as_deref().unwrap_or_default();
                let text = format!("{node} cannot run {}: {reason}", self.levels(treatment));
                desk.observer.notice(Event::Trouble { text: &text });
                return Ok(());
            }
            if !desk.is_open(&record.trial) {
                return Ok(());
            }
        }
        desk.begin(record.trial);
        desk.keep(record)
    }

    fn levels(&self, treatment: usize) -> crate::plan::Levels {
        self.by.schedule.distinct(&self.by.schedule.treatments[treatment].levels)
    }

    /// Asks the queue which elements are over; a controller that is silent for a while is waited
    /// for.
    fn ask(&mut self, desk: &mut Desk<'_>) -> Result<(), FleetError> {
        let now = Instant::now();
        // Once all is recorded, only the nodes' own clearing up is waited for.
        let pause = if self.is_recorded(desk) { LOOK } else { ASK };
        if self.asked.is_some_and(|asked| now - asked < pause) {
            return Ok(());
        }
        self.asked = Some(now);
        let arrays = self.waiting.iter().map(|element| element.array.clone()).collect();
        let queue = match self.by.slurm.queue(&arrays) {
            Ok(queue) => queue,
            Err(cause) => {
                let since = *self.silent.get_or_insert_with(|| {
                    let text = format!("{cause}; waiting for it, as jobs go on without it");
                    desk.observer.notice(Event::Trouble { text: &text });
                    now
                });
                let is_over = now - since > PATIENCE;
                return if is_over { Err(FleetError::Silent { cause }) } else { Ok(()) };
            }
        };
        self.silent = None;
        for element in &mut self.waiting {
            let is_there = queue.has(&element.array, element.index);
            element.gone = (!is_there).then(|| element.gone.unwrap_or(now));
            let over = queue.over.iter().find(|one| one.is(&element.array, element.index));
            if let Some(over) = over {
                element.ended = format!("{} on {}, ", over.state, over.node);
            }
        }
        for element in queue.elements.iter().filter(|one| one.state == "pending") {
            let reason = element.reason.as_str();
            if !USUAL.contains(&reason) && self.told.insert(reason.to_owned()) {
                let id = element.attempt();
                let text = format!("{id} waits for an unusual reason, in Slurm's word: {reason}");
                desk.observer.notice(Event::Trouble { text: &text });
            }
        }
        if let Some(rsync) = &mut self.by.rsync {
            rsync.learn(&queue, &self.submitted);
        }
        Ok(())
    }

    fn is_recorded(&self, desk: &Desk<'_>) -> bool {
        self.waiting.iter().all(|element| element.is_recorded(desk))
    }

    /// Waits for elements until none is left, or none that would bring anything.
    fn wait(&mut self, desk: &mut Desk<'_>) -> Result<(), ConductorError> {
        while !self.waiting.is_empty() && !self.by.interrupt.is_set() {
            sleep(LOOK);
            self.ask(desk)?;
            // What was written before an element left the queue is read after it was asked.
            self.merge(desk)?;
            self.waiting.retain(|element| element.gone.is_none() || !element.is_recorded(desk));
            let is_lost =
                |element: &Element| element.gone.is_some_and(|at| at.elapsed() > DELIVERY);
            if self.waiting.iter().all(is_lost) {
                break;
            }
        }
        Ok(())
    }

    /// Ends what is queued; false if it does not end.
    fn cancel(&mut self) -> Result<bool, SlurmError> {
        let jobs = self.waiting.iter().map(|element| element.job.clone()).collect();
        let arrays: BTreeSet<String> =
            self.waiting.iter().map(|element| element.array.clone()).collect();
        self.by.slurm.cancel(&jobs)?;
        wait_until_gone(&self.by.slurm, &arrays, PATIENCE)
    }

    /// Takes in the last of what elements have brought that are over, so that nothing need stay
    /// where they were.
    fn merge_last(&mut self, desk: &mut Desk<'_>) -> Result<(), ConductorError> {
        if let Some(rsync) = &mut self.by.rsync {
            for text in rsync.fetch_last(&self.folder) {
                desk.observer.notice(Event::Trouble { text: &text });
            }
        }
        self.merge(desk)?;
        if let Err(error) = take_logs(&self.folder, &desk.records) {
            let text = format!("logs of requests stay in {ATTEMPTS}: {error}");
            desk.observer.notice(Event::Trouble { text: &text });
        }
        let left = self.attempts.not_undone()?.into_iter().map(|left| left.node);
        for node in left.collect::<BTreeSet<_>>() {
            let text = format!("{node} has not undone all: `ssdlab cancel {}`", desk.run.id());
            desk.observer.notice(Event::Trouble { text: &text });
        }
        Ok(())
    }

    /// An error for the elements that are over without having brought all their records.
    fn lost(&self, desk: &Desk<'_>) -> Result<(), FleetError> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let trials = self.waiting.iter().flat_map(|element| &element.trials);
        let count = trials.filter(|trial| desk.is_open(trial)).count();
        let says: BTreeSet<String> =
            self.waiting.iter().map(|element| element.last_words(&self.folder)).collect();
        let says = says.into_iter().take(3).collect::<Vec<_>>().join("; ");
        Err(FleetError::Lost { count, says })
    }
}

impl Stage for Fleet<'_> {
    /// Only a node knows.
    fn missing(&self, _: &Setup) -> Option<String> {
        None
    }

    fn perform(&mut self, trials: &[Trial], desk: &mut Desk<'_>) -> Result<bool, ConductorError> {
        self.adopt().map_err(FleetError::from)?;
        self.merge(desk)?;
        let waited: BTreeSet<u32> = self
            .waiting
            .iter()
            .flat_map(|element| element.trials.iter().map(|trial| trial.position))
            .collect();
        let is_missing = |trial: &&Trial| desk.is_open(trial) && !waited.contains(&trial.position);
        let todo: Vec<Trial> = trials.iter().filter(is_missing).copied().collect();
        self.submit(&todo, desk)?;
        self.wait(desk)?;
        let is_over = if self.by.interrupt.is_set() {
            self.cancel().map_err(FleetError::from)?
        } else {
            true
        };
        if is_over {
            self.merge_last(desk)?;
        }
        if self.by.interrupt.is_set() {
            return Ok(false);
        }
        self.lost(desk)?;
        Ok(true)
    }
}

/// Where the trials of a block that was begun have run, so that the others of it do, too: by block
/// and the features that they need. In virtual time it is the same everywhere.
fn homes(schedule: &Schedule, records: &[Record]) -> Homes {
    if schedule.target.lab == LabKind::Virtual {
        return Homes::new();
    }
    let of = |record: &Record| {
        let features = schedule.features(record.trial.treatment);
        Some(((record.trial.block, features), record.attempt.as_ref()?.node.clone()))
    };
    let ran = records.iter().filter(|record| record.status != Status::Unavailable);
    ran.filter_map(of).collect()
}

/// Puts the logs of requests of what counts to those of the run.
fn take_logs(run: &Path, records: &[Record]) -> io::Result<()> {
    let logs = run.join("requests");
    for record in records {
        let Some(attempt) = &record.attempt else { continue };
        let from = books::log_of(&logs_of(run, &attempt.id), record.trial);
        if from.exists() {
            fs::create_dir_all(&logs)?;
            fs::rename(&from, books::log_of(&logs, record.trial))?;
            // It is empty when all that counts has been taken out of it.
            let _ = fs::remove_dir(logs_of(run, &attempt.id));
        }
    }
    Ok(())
}

/// Waits until no element of some arrays is left; false if some still are after a time.
pub(super) fn wait_until_gone(
    slurm: &Slurm,
    arrays: &BTreeSet<String>,
    within: Duration,
) -> Result<bool, SlurmError> {
    let started = Instant::now();
    loop {
        let is_over = started.elapsed() >= within;
        match slurm.queue(arrays) {
            Ok(queue) if queue.elements.is_empty() => return Ok(true),
            Err(SlurmError::Unreachable { .. }) if !is_over => {}
            Err(error) => return Err(error),
            Ok(_) if is_over => return Ok(false),
            Ok(_) => {}
        }
        sleep(LOOK);
    }
}

/// Names need nothing better than not to meet.
fn random_word() -> u32 {
    let mut random = [0; 4];
    // Without randomness, the number of the submission still tells those of a run apart.
    let _ = rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty());
    u32::from_ne_bytes(random)
}

impl From<FleetError> for ConductorError {
    fn from(error: FleetError) -> Self {
        Self::Fleet(Box::new(error))
    }
}

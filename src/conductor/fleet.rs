//! The stage for trials on many machines: they are submitted to Slurm, and what their attempts have
//! written is merged as it comes.
//!
//! The records say what was done. The queue is asked only whether what has not been done may still
//! come.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use miette::Diagnostic;
use thiserror::Error;

use super::collect::{Rsync, Seen};
use super::submission::{Expected, Submission, submissions};
use super::{ConductorError, Desk, Event, Stage, books};
use crate::host::interrupt::Interrupt;
use crate::host::program;
use crate::plan::schedule::Trial;
use crate::plan::{LabKind, Schedule, Setup};
use crate::results::{ATTEMPTS, Attempts, Record, logs_of, output_of};
use crate::slurm::{Array, Slurm, SlurmError, attempt};

/// How often attempts are looked at, and how often the queue, whose controller serves others too.
const LOOK: Duration = Duration::from_millis(250);
const ASK: Duration = Duration::from_secs(3);

/// How long what a node has written may take to be seen here: shared folders keep what they know of
/// a file for some seconds (nfs(5), acregmax is longer, but a folder that changes is asked).
const DELIVERY: Duration = Duration::from_secs(15);

/// How long the controller may be silent; one that restarts is back within seconds.
const PATIENCE: Duration = Duration::from_mins(10);

/// A run on many machines that cannot go on.
#[derive(Debug, Error, Diagnostic)]
pub enum FleetError {
    /// Slurm does not do its part.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Slurm(#[from] SlurmError),
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
    /// The elements whose trials are not all recorded.
    waiting: Vec<Waiting>,
    asked: Option<Instant>,
    /// Since when the controller is silent.
    silent: Option<Instant>,
}

/// An element whose trials are not all recorded.
#[derive(Debug)]
struct Waiting {
    array: String,
    job: String,
    index: usize,
    trials: Vec<Trial>,
    /// How it ended, in Slurm's words, and where.
    ended: String,
    /// Since when it is not in the queue.
    gone: Option<Instant>,
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
            asked: None,
            silent: None,
        })
    }

    /// What an earlier session has submitted and is still to come is waited for.
    fn adopt(&mut self, desk: &Desk<'_>) -> Result<(), SlurmError> {
        let queue = self.by.slurm.queue(&self.submitted.keys().cloned().collect())?;
        if let Some(rsync) = &mut self.by.rsync {
            // Where elements have been that are long over, nobody knows any more.
            for (name, submission) in self.submitted.iter().filter(|(_, of)| of.is_staged) {
                rsync.ask_all(name, self.by.slurm.check(&submission.features)?);
            }
        }
        for element in queue.elements {
            let submission = self.submitted.get(&element.array);
            let trials = submission.and_then(|submission| submission.elements.get(element.index));
            let is_known = |of: &Waiting| of.array == element.array && of.index == element.index;
            let Some(trials) = trials.filter(|_| !self.waiting.iter().any(is_known)) else {
                continue;
            };
            if trials.iter().any(|trial| desk.is_open(trial)) {
                self.waiting.push(Waiting {
                    array: element.array,
                    job: element.job,
                    index: element.index,
                    trials: trials.clone(),
                    ended: String::new(),
                    gone: None,
                });
            }
        }
        Ok(())
    }

    fn submit(&mut self, trials: &[Trial], desk: &mut Desk<'_>) -> Result<(), FleetError> {
        let features: Vec<_> =
            trials.iter().map(|trial| self.by.schedule.features(trial.treatment)).collect();
        let mut nodes = 0;
        for features in features.into_iter().collect::<BTreeSet<_>>() {
            nodes = nodes.max(self.by.slurm.check(&features)?.len());
        }
        let (schedule, is_staged) = (self.by.schedule, self.by.rsync.is_some());
        for submission in submissions(schedule, trials, &self.by.expected, is_staged, nodes) {
            let name = self.new_name(&desk.run.id());
            let path = Submission::path(&self.folder, &name);
            submission
                .write(&self.folder, &name)
                .map_err(|cause| FleetError::Submission { path: path.clone(), cause })?;
            let seen = Seen::by_nodes_of(&submission, &self.folder, &name);
            let array = Array {
                name: &name,
                elements: submission.elements.len(),
                features: &submission.features,
                node: None,
                is_exclusive: schedule.target.lab != LabKind::Virtual,
                memory_bytes: self.by.memory_bytes,
                limit: submission.limit(schedule),
                output: &seen.output(),
                script: &seen.script(&self.by.program, schedule, &submission, &name),
            };
            let job = self.by.slurm.submit(&array).inspect_err(|_| {
                // What was refused is not waited for.
                let _ = fs::remove_file(&path);
            })?;
            desk.observer.notice(Event::Submitted { job: &job, elements: array.elements });
            for (index, trials) in submission.elements.iter().enumerate() {
                self.waiting.push(Waiting {
                    array: name.clone(),
                    job: job.clone(),
                    index,
                    trials: trials.clone(),
                    ended: String::new(),
                    gone: None,
                });
            }
            self.submitted.insert(name, submission);
        }
        Ok(())
    }

    /// A name that no array of this run has, nor one of another folder's run of the same name.
    fn new_name(&self, run: &str) -> String {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let run: String = run.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
        let number = self.submitted.len() + 1;
        format!("ssdlab-{run}-{number}-{:08x}", rand_word())
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
                self.by.schedule.distinct(&self.by.schedule.treatments[double.treatment].levels),
                double.attempt,
                double.counts
            );
            desk.observer.notice(Event::Trouble { text: &text });
        }
        for text in &news.warnings {
            desk.observer.notice(Event::Trouble { text });
        }
        for record in news.records {
            // Its treatment may have been found not to run by another attempt.
            if desk.is_open(&record.trial) {
                desk.begin(record.trial);
                desk.keep(record)?;
            }
        }
        self.waiting.retain(|element| element.trials.iter().any(|trial| desk.is_open(trial)));
        Ok(())
    }

    /// The same when all elements are over, so that nothing need stay on nodes.
    fn merge_last(&mut self, desk: &mut Desk<'_>) -> Result<(), ConductorError> {
        if let Some(rsync) = &self.by.rsync {
            for text in rsync.fetch_all(&self.folder, true) {
                desk.observer.notice(Event::Trouble { text: &text });
            }
        }
        self.merge(desk)
    }

    /// Asks the queue which elements are gone; a controller that is silent for a while is waited
    /// for.
    fn ask(&mut self, desk: &mut Desk<'_>) -> Result<(), FleetError> {
        let now = Instant::now();
        if self.asked.is_some_and(|asked| now - asked < ASK) {
            return Ok(());
        }
        self.asked = Some(now);
        let arrays = self.waiting.iter().map(|element| element.array.clone()).collect();
        match self.by.slurm.queue(&arrays) {
            Ok(queue) => {
                self.silent = None;
                if let Some(rsync) = &mut self.by.rsync {
                    rsync.learn(&queue);
                }
                for element in &mut self.waiting {
                    let is_there = queue.has(&element.array, element.index);
                    element.gone = (!is_there).then(|| element.gone.unwrap_or(now));
                    let over = queue.over.iter().find(|one| one.is(&element.array, element.index));
                    if let Some(over) = over {
                        element.ended = format!("{} on {}, ", over.state, over.node);
                    }
                }
            }
            Err(error @ SlurmError::Unreachable { .. }) => {
                let since = *self.silent.get_or_insert_with(|| {
                    let text = format!("{error}; waiting for it, as jobs go on without it");
                    desk.observer.notice(Event::Trouble { text: &text });
                    now
                });
                if now - since > PATIENCE {
                    return Err(error.into());
                }
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// Ends what is queued, and takes in what it has brought until then.
    fn cancel(&mut self, desk: &mut Desk<'_>) -> Result<(), ConductorError> {
        let jobs = self.waiting.iter().map(|element| element.job.clone()).collect();
        let arrays: BTreeSet<String> =
            self.waiting.iter().map(|element| element.array.clone()).collect();
        self.by.slurm.cancel(&jobs).map_err(FleetError::from)?;
        wait_until_gone(&self.by.slurm, &arrays, PATIENCE).map_err(FleetError::from)?;
        self.merge_last(desk)
    }

    /// An error for the elements that are gone without having brought all their records.
    fn lost(&self, desk: &Desk<'_>) -> Option<FleetError> {
        let is_lost = |element: &&Waiting| element.gone.is_some_and(|at| at.elapsed() > DELIVERY);
        let lost: Vec<&Waiting> = self.waiting.iter().filter(is_lost).collect();
        if lost.is_empty() || lost.len() < self.waiting.len() {
            return None;
        }
        let trials = lost.iter().flat_map(|element| &element.trials);
        let count = trials.filter(|trial| desk.is_open(trial)).count();
        let says: BTreeSet<String> =
            lost.iter().map(|element| last_words(&self.folder, element)).collect();
        let says = says.into_iter().take(3).collect::<Vec<_>>().join("; ");
        Some(FleetError::Lost { count, says })
    }

    /// Puts the logs of requests of what counts to those of the run.
    pub fn take_logs(run: &Path, records: &[Record]) -> io::Result<()> {
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
}

impl Stage for Fleet<'_> {
    /// Only a node knows.
    fn missing(&self, _: &Setup) -> Option<String> {
        None
    }

    fn perform(&mut self, trials: &[Trial], desk: &mut Desk<'_>) -> Result<bool, ConductorError> {
        self.merge(desk)?;
        self.adopt(desk).map_err(FleetError::from)?;
        let waited: Vec<Trial> =
            self.waiting.iter().flat_map(|element| element.trials.clone()).collect();
        let todo: Vec<Trial> = trials
            .iter()
            .copied()
            .filter(|trial| desk.is_open(trial) && !waited.contains(trial))
            .collect();
        self.submit(&todo, desk)?;
        while !self.waiting.is_empty() {
            if self.by.interrupt.is_set() {
                self.cancel(desk)?;
                return Ok(false);
            }
            sleep(LOOK);
            self.ask(desk)?;
            // What was written before an element left the queue is read after it was asked.
            self.merge(desk)?;
            if let Some(lost) = self.lost(desk) {
                return Err(lost.into());
            }
        }
        self.merge_last(desk)?;
        Ok(!self.by.interrupt.is_set())
    }
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

/// What an element's program has said last.
fn last_words(run: &Path, element: &Waiting) -> String {
    let id = attempt(&element.job, element.index);
    match fs::read_to_string(output_of(run, &id)) {
        Err(_) => format!(
            "{id}: {}its output is not in {}: do nodes see this folder, under this name?",
            element.ended,
            run.join(ATTEMPTS).display()
        ),
        Ok(text) => format!("{id}: {}{}", element.ended, program::tail(&text)),
    }
}

/// Names need nothing better than not to meet.
fn rand_word() -> u32 {
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

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

use super::submission::{Expected, Submission, submissions};
use super::{ConductorError, Desk, Event, Stage, books};
use crate::host::interrupt::Interrupt;
use crate::host::program;
use crate::plan::schedule::Trial;
use crate::plan::{LabKind, Schedule, Setup};
use crate::results::{ATTEMPTS, Attempts, Record, logs_of, output_of};
use crate::slurm::{Array, Queue, Slurm, SlurmError, attempt};

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

/// Machines that Slurm gives out.
pub struct Fleet<'a> {
    schedule: &'a Schedule,
    slurm: Slurm,
    /// What every node must have.
    expected: Expected,
    /// How what an element runs begins: this program.
    program: PathBuf,
    interrupt: &'a Interrupt,
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

    /// A fleet for a run, whose folder all nodes see, and which has some records already.
    pub fn open(
        slurm: Slurm,
        schedule: &'a Schedule,
        expected: Expected,
        program: PathBuf,
        run: (&Path, &[Record]),
        interrupt: &'a Interrupt,
    ) -> Result<Self, FleetError> {
        let (folder, records) = run;
        let place = folder.join(ATTEMPTS);
        let of_folder = |cause| FleetError::Submission { path: place.clone(), cause };
        fs::create_dir_all(&place).map_err(of_folder)?;
        Ok(Self {
            schedule,
            slurm,
            expected,
            program,
            interrupt,
            attempts: Attempts::new(folder, records),
            submitted: Submission::all(folder).map_err(of_folder)?,
            waiting: Vec::new(),
            asked: None,
            silent: None,
        })
    }

    /// What an earlier session has submitted and is still to come is waited for.
    fn adopt(&mut self, desk: &Desk<'_>) -> Result<(), SlurmError> {
        let queue = self.slurm.queue(&self.submitted.keys().cloned().collect())?;
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
                    gone: None,
                });
            }
        }
        Ok(())
    }

    fn submit(&mut self, trials: &[Trial], desk: &mut Desk<'_>) -> Result<(), FleetError> {
        let folder = desk.run.folder().to_owned();
        let features: Vec<_> =
            trials.iter().map(|trial| self.schedule.features(trial.treatment)).collect();
        let mut nodes = 0;
        for features in features.into_iter().collect::<BTreeSet<_>>() {
            nodes = nodes.max(self.slurm.check(&features)?);
        }
        for submission in submissions(self.schedule, trials, &self.expected, nodes) {
            let name = self.new_name(&desk.run.id());
            let path = Submission::path(&folder, &name);
            submission
                .write(&folder, &name)
                .map_err(|cause| FleetError::Submission { path: path.clone(), cause })?;
            let array = Array {
                name: &name,
                elements: submission.elements.len(),
                features: &submission.features,
                node: None,
                is_exclusive: self.schedule.target.lab != LabKind::Virtual,
                limit: submission.limit(self.schedule),
                output: &output_of(&folder, "%A_%a"),
                script: &script(&self.program, &folder, &name),
            };
            let job = self.slurm.submit(&array).inspect_err(|_| {
                // What was refused is not waited for.
                let _ = fs::remove_file(&path);
            })?;
            desk.observer.notice(Event::Submitted { job: &job, elements: array.elements });
            for (index, trials) in submission.elements.iter().enumerate() {
                let (array, job, trials) = (name.clone(), job.clone(), trials.clone());
                self.waiting.push(Waiting { array, job, index, trials, gone: None });
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
        let news = self.attempts.news(self.schedule)?;
        for double in news.doubles {
            let text = format!(
                "block {}, {}: attempt {} has recorded it too; that of {} counts",
                double.block + 1,
                self.schedule.distinct(&self.schedule.treatments[double.treatment].levels),
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

    /// Asks the queue which elements are gone; a controller that is silent for a while is waited
    /// for.
    fn ask(&mut self, desk: &mut Desk<'_>) -> Result<(), FleetError> {
        let now = Instant::now();
        if self.asked.is_some_and(|asked| now - asked < ASK) {
            return Ok(());
        }
        self.asked = Some(now);
        let arrays = self.waiting.iter().map(|element| element.array.clone()).collect();
        match self.slurm.queue(&arrays) {
            Ok(queue) => {
                self.silent = None;
                for element in &mut self.waiting {
                    let is_there = queue.has(&element.array, element.index);
                    element.gone = (!is_there).then(|| element.gone.unwrap_or(now));
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
        self.slurm.cancel(&jobs).map_err(FleetError::from)?;
        wait_until_gone(&self.slurm, &arrays, PATIENCE).map_err(FleetError::from)?;
        self.merge(desk)
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
            lost.iter().map(|element| last_words(desk.run.folder(), element)).collect();
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
            if self.interrupt.is_set() {
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
        Ok(!self.interrupt.is_set())
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
            Ok(queue) if queue == Queue::default() => return Ok(true),
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
    let text = fs::read_to_string(output_of(run, &id)).unwrap_or_default();
    match program::tail(&text) {
        says if says.is_empty() => format!("{id} says nothing"),
        says => format!("{id}: {says}"),
    }
}

/// What an element runs. It takes the place of the shell, so that what ends the job ends it.
fn script(program: &Path, run: &Path, submission: &str) -> String {
    let (program, run) = (quoted(program), quoted(run));
    format!("#!/bin/sh\nexec {program} node --run {run} --submission {submission}\n")
}

/// A path as a word of sh(1).
pub(super) fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', "'\\''"))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_one_word_whatever_is_in_it() {
        assert_eq!(quoted(Path::new("/a b/it's")), "'/a b/it'\\''s'");
    }
}

//! The stage for trials on many machines: they are submitted to Slurm, and the records of their
//! attempts are merged as they arrive.
//!
//! The records say what was done. The queue is asked only whether missing records may still come,
//! and whether nodes have finished with the others.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::fs::StatFs;
use ssdlab_host::interrupt::Interrupt;
use ssdlab_plan::schedule::Trial;
use ssdlab_plan::{LabKind, Levels, Schedule, Setup};
use ssdlab_results::{ATTEMPTS, Attempts, Record, Status, logs_of};
use ssdlab_slurm::{Array, JobId, Limits, Slurm, SlurmError};

use super::collect::{Rsync, Seen};
use super::element::Element;
use super::patience::{ASK, LOOK, PATIENCE, patiently, wait_until_gone};
use super::submission::{Expected, Homes, Submission, submissions};
use super::{ConductorError, Desk, Event, FleetError, Stage, books};

/// How long a node's writes may take to be visible here: if this machine serves the folder, if
/// rsync fetches them, and if another machine serves the folder, whose attributes NFS caches for a
/// minute (nfs(5), `acdirmax`).
const AT_ONCE: Duration = Duration::from_secs(5);
const BY_RSYNC: Duration = Duration::from_secs(20);
const BY_NETWORK: Duration = Duration::from_secs(75);

/// Filesystems that this machine itself serves (statfs(2)): ext2, ext3 and ext4, xfs, btrfs, tmpfs,
/// overlayfs.
const OWN: [i64; 5] = [0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0x794c_7630];

/// The reasons for which elements normally wait (squeue(1), job reason codes).
const USUAL: [&str; 5] = ["None", "Resources", "Priority", "JobArrayTaskLimit", "BeginTime"];

/// What the caller of a fleet provides.
pub struct Submitter<'a> {
    /// What to do.
    pub schedule: &'a Schedule,
    /// Slurm.
    pub slurm: Slurm,
    /// The requirements on every node.
    pub expected: Expected,
    /// Whether requests to devices are not recorded.
    pub no_trace: bool,
    /// The memory of a trial in bytes; all of its node's if none.
    pub memory_bytes: Option<u64>,
    /// The path of this program, which is the same on all nodes.
    pub program: PathBuf,
    /// How records get here, if nodes do not see the run's folder.
    pub rsync: Option<Rsync>,
    /// Where those nodes have their own folders.
    pub staging: PathBuf,
    /// The request to stop.
    pub interrupt: &'a Interrupt,
}

/// The machines of a Slurm cluster.
pub struct Fleet<'a> {
    by: Submitter<'a>,
    /// The run's folder, by a path that is valid on every machine.
    folder: PathBuf,
    attempts: Attempts,
    /// All that was submitted, by name.
    submitted: BTreeMap<String, Submission>,
    /// The elements that have not ended, or whose trials are not all recorded.
    waiting: Vec<Element>,
    /// Whether they include the submissions of earlier sessions.
    has_adopted: bool,
    asked: Option<Instant>,
    /// Since when the controller has been silent.
    silent: Option<Instant>,
    /// The reports about the queue so far, so that each is made once.
    told: BTreeSet<String>,
    /// The refusals of nodes: treatments that they cannot run.
    refusals: Vec<Record>,
    /// How long what a node has written may take to be seen here.
    delivery: Duration,
}

impl<'a> Fleet<'a> {
    /// Checks that Slurm can run every treatment, before anything is made.
    pub fn check(slurm: &Slurm, schedule: &Schedule) -> Result<(), SlurmError> {
        let all: BTreeSet<BTreeSet<String>> =
            (0..schedule.treatments.len()).map(|index| schedule.features(index)).collect();
        all.iter().try_for_each(|features| slurm.nodes(features).map(drop))
    }

    /// A fleet for a run whose folder, an absolute path, exists, and which may already have
    /// records.
    pub fn open(by: Submitter<'a>, folder: &Path, records: &[Record]) -> Result<Self, FleetError> {
        let place = folder.join(ATTEMPTS);
        let of_folder = |cause| FleetError::Submission { path: place.clone(), cause };
        fs::create_dir_all(&place).map_err(of_folder)?;
        let is_own = |found: StatFs| OWN.contains(&found.f_type);
        let delivery = match rustix::fs::statfs(&place) {
            _ if by.rsync.is_some() => BY_RSYNC,
            Ok(found) if is_own(found) => AT_ONCE,
            _ => BY_NETWORK,
        };
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
            refusals: Vec::new(),
            delivery,
        })
    }

    /// Adopts the submissions of earlier sessions whose records are still to come.
    fn adopt(&mut self) -> Result<(), FleetError> {
        if std::mem::replace(&mut self.has_adopted, true) {
            return Ok(());
        }
        let stop = Some(self.by.interrupt);
        let names = self.submitted.keys().cloned().collect();
        let queue = patiently(stop, || self.by.slurm.queue(&names))?;
        if let Some(rsync) = &mut self.by.rsync {
            // Slurm no longer knows the nodes of elements that ended long ago.
            for submission in self.submitted.values().filter(|of| of.staged.is_some()) {
                let nodes = patiently(stop, || self.by.slurm.nodes(&submission.features))?;
                rsync.ask_all(submission, nodes.into_keys());
            }
        }
        for element in queue.elements {
            let submission = self.submitted.get(&element.array);
            let trials = submission.and_then(|submission| submission.elements.get(element.index));
            let Some(trials) = trials else { continue };
            self.waiting.push(Element::new(&element.array, element.job, element.index, trials));
        }
        Ok(())
    }

    fn submit(&mut self, trials: &[Trial], desk: &mut Desk<'_>) -> Result<(), FleetError> {
        let schedule = self.by.schedule;
        let needed: BTreeSet<_> =
            trials.iter().map(|trial| schedule.features(trial.treatment)).collect();
        let (slurm, stop) = (&self.by.slurm, Some(self.by.interrupt));
        let mut homes = homes(schedule, &desk.records);
        let mut nodes = 0;
        for features in &needed {
            let found = patiently(stop, || slurm.nodes(features))?;
            nodes = nodes.max(found.len());
            // A block whose node is gone continues elsewhere: pairs across machines do not count,
            // but its records still serve other pairs.
            homes.retain(|(_, own), node| own != features || found.get(node) == Some(&true));
        }
        let limits = patiently(stop, || slurm.limits())?;
        let mut jobs = BTreeSet::new();
        let is_staged = self.by.rsync.is_some();
        for mut submission in submissions(schedule, trials, &homes, is_staged, nodes) {
            let name = self.new_name(&desk.run.id());
            submission.expected = self.by.expected.clone();
            submission.no_trace = self.by.no_trace;
            submission.partition = self.by.slurm.partition().map(str::to_owned);
            // All submissions of a run use one folder, so that each node is asked once for all.
            let known = self.submitted.values().find_map(|of| of.staged.clone());
            submission.staged =
                is_staged.then(|| known.unwrap_or_else(|| self.by.staging.join(&name)));
            let job = self.submit_one(&name, &submission, limits, &jobs)?;
            let elements = submission.elements.len();
            desk.observer.notice(Event::Submitted { job, elements });
            for (index, trials) in submission.elements.iter().enumerate() {
                self.waiting.push(Element::new(&name, job, index, trials));
            }
            self.submitted.insert(name, submission);
            jobs.insert(job);
        }
        Ok(())
    }

    /// Submits an array; `others` are the jobs submitted before it for the same trials.
    fn submit_one(
        &self,
        name: &str,
        submission: &Submission,
        limits: Limits,
        others: &BTreeSet<JobId>,
    ) -> Result<JobId, FleetError> {
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
            is_exclusive: !schedule.is_in(LabKind::Virtual),
            memory_bytes: self.by.memory_bytes,
            limit: submission.limit(schedule),
            output: &seen.output(),
            script: &seen.script(&self.by.program, schedule, submission, name),
        };
        slurm.submit(&array, limits).map_err(|error| match error {
            SlurmError::Refused { .. } => {
                // A partial submission is useless, and a refused job is not waited for. After any
                // other error the job may have been accepted: its name stays known.
                let _ = slurm.cancel(others);
                let _ = fs::remove_file(&path);
                error.into()
            }
            cause => FleetError::Silent { cause },
        })
    }

    /// A name that neither an array of this run has, nor one of a run of the same name in another
    /// folder.
    fn new_name(&self, run: &str) -> String {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let run: String = run.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
        let number = self.submitted.len() + 1;
        format!("ssdlab-{run}-{number}-{:08x}", random_word())
    }

    /// Merges the records of attempts into the run.
    fn merge(&mut self, desk: &mut Desk<'_>) -> Result<(), ConductorError> {
        if let Some(rsync) = &mut self.by.rsync {
            tell(desk, rsync.fetch(&self.folder));
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
        self.refusals.extend(news.refusals);
        for record in news.records {
            desk.begin(record.trial);
            desk.keep(record)?;
        }
        Ok(())
    }

    /// Applies refusals: a treatment that a node cannot run is given up, unless another node has
    /// run it.
    fn settle_refusals(&mut self, desk: &mut Desk<'_>) -> Result<(), ConductorError> {
        for record in &self.refusals {
            let treatment = record.trial.treatment;
            if !desk.has_run(treatment) && desk.is_open(&record.trial) {
                desk.begin(record.trial);
                desk.keep(record.clone())?;
            } else if desk.has_run(treatment) && self.told.insert(self.refusal(record)) {
                desk.observer.notice(Event::Trouble { text: &self.refusal(record) });
            }
        }
        Ok(())
    }

    /// The message of a refusal.
    fn refusal(&self, record: &Record) -> String {
        let node = record.attempt.as_ref().map_or("a node", |of| of.node.as_str());
        let reason = record.reason.as_deref().unwrap_or_default();
        format!("{node} cannot run {}: {reason}", self.levels(record.trial.treatment))
    }

    fn levels(&self, treatment: usize) -> Levels {
        self.by.schedule.distinct(&self.by.schedule.treatments[treatment].levels)
    }

    /// Asks the queue which elements have ended; waits for a controller that is silent for a while.
    fn ask(&mut self, desk: &mut Desk<'_>) -> Result<(), FleetError> {
        let now = Instant::now();
        // Once everything is recorded, only the nodes' own cleanup is waited for.
        let mut waiting = self.waiting.iter();
        let is_answered = waiting.all(|element| element.is_answered(desk, &self.refusals));
        let pause = if is_answered { LOOK } else { ASK };
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

    /// Waits for elements until none is left, or none that could add a record.
    fn wait(&mut self, desk: &mut Desk<'_>) -> Result<(), ConductorError> {
        while !self.waiting.is_empty() && !self.by.interrupt.is_set() {
            sleep(LOOK);
            self.ask(desk)?;
            // Merging after asking sees everything that was written before an element left the
            // queue.
            self.merge(desk)?;
            let refusals = &self.refusals;
            self.waiting
                .retain(|element| element.gone.is_none() || !element.is_answered(desk, refusals));
            let delivery = self.delivery;
            let is_lost =
                |element: &Element| element.gone.is_some_and(|at| at.elapsed() > delivery);
            if self.waiting.iter().all(is_lost) {
                break;
            }
        }
        Ok(())
    }

    /// Cancels the queued jobs; false if they do not end.
    fn cancel(&mut self) -> Result<bool, FleetError> {
        let jobs = self.waiting.iter().map(|element| element.job).collect();
        let arrays: BTreeSet<String> =
            self.waiting.iter().map(|element| element.array.clone()).collect();
        patiently(None, || self.by.slurm.cancel(&jobs))?;
        Ok(wait_until_gone(&self.by.slurm, &arrays, PATIENCE)?)
    }

    /// Merges the last records of ended elements, so that nothing need stay on their nodes.
    fn merge_last(&mut self, desk: &mut Desk<'_>) -> Result<(), ConductorError> {
        if let Some(rsync) = &mut self.by.rsync {
            tell(desk, rsync.fetch_now(&self.folder));
        }
        self.merge(desk)?;
        self.settle_refusals(desk)?;
        // Elements that Slurm has lost track of may still write on their nodes.
        if let Some(rsync) = self.by.rsync.as_mut().filter(|_| self.waiting.is_empty()) {
            tell(desk, rsync.clear(&self.folder));
        }
        if let Err(error) = take_logs(&self.folder, &desk.records) {
            let text = format!("logs of trials stay in {ATTEMPTS}: {error}");
            desk.observer.notice(Event::Trouble { text: &text });
        }
        let not_undone = self.attempts.not_undone()?;
        let nodes: BTreeSet<String> = not_undone.left.into_iter().map(|left| left.node).collect();
        let says = |node| {
            format!("{node} has changes that are not undone: `ssdlab cancel {}`", desk.run.id())
        };
        let unreadable = not_undone.unreadable.iter().map(ToString::to_string);
        let troubles: Vec<String> = nodes.into_iter().map(says).chain(unreadable).collect();
        tell(desk, troubles);
        Ok(())
    }

    /// An error for trials that have no record although all elements are over.
    fn lost(&self, trials: &[Trial], desk: &Desk<'_>) -> Result<(), FleetError> {
        let missing: Vec<&Trial> = trials.iter().filter(|trial| desk.is_open(trial)).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let words = self.waiting.iter().map(|element| element.last_words(&self.folder));
        let is_missing = |record: &&Record| {
            missing.iter().any(|trial| trial.treatment == record.trial.treatment)
        };
        let refusals = self.refusals.iter().filter(is_missing).map(|record| self.refusal(record));
        let says: BTreeSet<String> = words.chain(refusals).collect();
        let says = says.into_iter().take(3).collect::<Vec<_>>().join("; ");
        Err(FleetError::Lost { count: missing.len(), says })
    }
}

impl Stage for Fleet<'_> {
    /// Unknown here: only a node can tell.
    fn missing(&self, _: &Setup) -> Option<String> {
        None
    }

    fn perform(&mut self, trials: &[Trial], desk: &mut Desk<'_>) -> Result<bool, ConductorError> {
        self.adopt()?;
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
        let is_interrupted = self.by.interrupt.is_set();
        if is_interrupted && !self.cancel()? {
            let text = format!("jobs do not end: `ssdlab cancel {}`", desk.run.id());
            desk.observer.notice(Event::Trouble { text: &text });
            return Ok(false);
        }
        self.merge_last(desk)?;
        if !is_interrupted {
            self.lost(trials, desk)?;
        }
        Ok(!is_interrupted)
    }
}

fn tell(desk: &mut Desk<'_>, troubles: Vec<String>) {
    for text in troubles {
        desk.observer.notice(Event::Trouble { text: &text });
    }
}

/// The nodes on which the trials of begun blocks ran, by block and the features that they need, so
/// that the rest of each block runs there too. Irrelevant in virtual time, which is the same
/// everywhere.
fn homes(schedule: &Schedule, records: &[Record]) -> Homes {
    if schedule.is_in(LabKind::Virtual) {
        return Homes::new();
    }
    let of = |record: &Record| {
        let features = schedule.features(record.trial.treatment);
        Some(((record.trial.block, features), record.attempt.as_ref()?.node.clone()))
    };
    let ran = records.iter().filter(|record| record.status != Status::Unavailable);
    ran.filter_map(of).collect()
}

/// Moves what the attempts of the merged records logged to the logs of the run: requests, and the
/// functions that a lab kernel executed.
fn take_logs(run: &Path, records: &[Record]) -> io::Result<()> {
    let logs = run.join("requests");
    for record in records {
        let Some(attempt) = &record.attempt else { continue };
        let delivered = logs_of(run, attempt.id);
        for file in [books::log_of, books::functions_of] {
            let from = file(&delivered, record.trial);
            if from.exists() {
                fs::create_dir_all(&logs)?;
                fs::rename(&from, file(&logs, record.trial))?;
                // It is empty once all logs that count were moved.
                let _ = fs::remove_dir(&delivered);
            }
        }
    }
    Ok(())
}

/// A random word, only good enough for names not to collide.
fn random_word() -> u32 {
    let mut random = [0; 4];
    // Without randomness, the number of the submission still distinguishes those of a run.
    let _ = rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty());
    u32::from_ne_bytes(random)
}

impl From<FleetError> for ConductorError {
    fn from(error: FleetError) -> Self {
        Self::Fleet(Box::new(error))
    }
}

#[cfg(test)]
mod tests;

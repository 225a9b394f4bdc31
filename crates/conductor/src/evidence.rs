//! The evidence from a trial for judging power cuts: the requests to its drive, the reported
//! operations on its files, and the cases that follow from both.

use ssdlab_disk::Memory;
use ssdlab_flash::{Drive, Nanos, PowerCuts};
use ssdlab_operations::calls::FileCall;
use ssdlab_operations::cuts::{
    CutMoment, CutOutcome, FileHistory, FsckResult, Recovery, WatchedFiles,
};
use ssdlab_plan::cuts::Cuts;
use ssdlab_plan::schedule::Trial;
use ssdlab_plan::{HostModel, Setup};

use super::failure::Failure;
use super::images::LoggedRequests;
use super::message::Message;

/// What a trial reports while it runs, or what somebody's log says.
#[derive(Debug, Default)]
pub(super) struct TrialLog {
    pub history: FileHistory,
    /// When each phase began, and its name.
    pub phases: Vec<(Nanos, String)>,
    /// When the last one was over.
    pub over: Nanos,
    /// When data became durable, other than by a flush.
    pub durable: Vec<Nanos>,
    /// When programs printed a line, and the line.
    pub said: Vec<(Nanos, String)>,
    /// When programs changed or synced a file, and how.
    pub calls: Vec<(Nanos, FileCall)>,
}

impl TrialLog {
    /// Hears a guest's progress, at a moment.
    pub fn hear<T>(&mut self, now: Nanos, message: &Message<T>) {
        match message {
            Message::Begins(name) => self.phases.push((now, name.clone())),
            Message::Over(_) => self.over = now,
            Message::Deed(operation) => self.history.add(now.0, *operation),
            Message::Said(line) => self.said.push((now, line.clone())),
            Message::Called(call) => self.calls.push((now, call.clone())),
            _ => {}
        }
    }

    /// How many lines programs had printed at a moment.
    pub fn said_before(&self, at: Nanos) -> usize {
        self.said.partition_point(|(said, _)| *said <= at)
    }

    /// The phase at a moment.
    fn phase(&self, at: Nanos) -> String {
        let begun = self.phases.iter().take_while(|(began, _)| *began <= at);
        begun.last().map_or_else(String::new, |(_, name)| name.clone())
    }
}

/// A trial that has run, and whose drive could have lost power at any moment of it.
pub(super) struct CuttableTrial<'a> {
    /// How its power is cut.
    pub asked: &'a Cuts,
    pub trial: Trial,
    pub setup: &'a Setup,
    pub host: &'a HostModel,
    pub subjects: WatchedFiles,
    pub trial_log: &'a TrialLog,
    pub requests: &'a LoggedRequests,
    /// What the drive held before the trial.
    pub original: &'a Memory,
    /// The drive after it.
    pub drive: Drive,
}

/// One state that one cut leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CutCase {
    pub cut: u32,
    pub survivor: u32,
    /// When the power is cut.
    pub at: Nanos,
    pub moment: CutMoment,
    /// The seed that decides what survives.
    pub seed: u64,
}

impl<'a> CuttableTrial<'a> {
    /// The moments at which the power can be cut.
    pub fn power_cuts(&self) -> Result<PowerCuts<'a>, Failure> {
        let contradiction = |error| Failure::Failed(format!("the log of requests: {error}"));
        PowerCuts::new(self.drive.specification(), &self.requests.log).map_err(contradiction)
    }

    /// All cases, in the order of time.
    pub fn cases(&self, cuts: &PowerCuts<'_>) -> Vec<CutCase> {
        let begin = self.trial_log.phases.first().map_or(Nanos::ZERO, |(began, _)| *began);
        let within = begin..self.trial_log.over.max(begin);
        let promises = self.trial_log.history.promises().into_iter().map(Nanos);
        let durable = self.trial_log.durable.iter().copied();
        let said = self.trial_log.said.iter().map(|(at, _)| *at);
        let said = said.filter(|_| self.asked.check.is_some());
        let called = self.trial_log.calls.iter().map(|(at, _)| *at);
        let marks: Vec<Nanos> = promises.chain(durable).chain(said).chain(called).collect();
        let seed = self.trial.seed;
        let count = self.asked.of_trial as usize;
        let of_events = cuts.moments(&within, &marks, self.asked.moments.at_events(count), seed);
        let at_random = PowerCuts::at_random(&within, count - of_events.len(), seed);
        let of_events = of_events.into_iter().map(|at| (at, CutMoment::Event));
        let at_random = at_random.into_iter().map(|at| (at, CutMoment::Random));
        let mut moments: Vec<(Nanos, CutMoment)> = of_events.chain(at_random).collect();
        moments.sort_by_key(|(at, _)| *at);
        let cut = |(number, (at, moment)): (u32, (Nanos, CutMoment))| {
            (0..self.asked.survivors).map(move |survivor| CutCase {
                cut: number,
                survivor,
                at,
                moment,
                seed: seed ^ (u64::from(number) << 32) ^ u64::from(survivor),
            })
        };
        (0..).zip(moments).flat_map(cut).collect()
    }

    /// The outcome of a case, given its recovery and the number of the state that it left, if that
    /// is known.
    pub fn outcome(&self, case: &CutCase, state: Option<u32>, recovery: Recovery) -> CutOutcome {
        let Recovery { checked_before, mounted, found, checked, data } = recovery;
        let has_history = self.subjects != WatchedFiles::default();
        let is_judged = mounted.is_ok() && has_history;
        let found = self.subjects.each().zip(found);
        CutOutcome {
            cut: case.cut,
            survivor: case.survivor,
            state,
            at_ns: case.at.0,
            moment: case.moment,
            phase: self.trial_log.phase(case.at),
            checked_before,
            recovery_ns: mounted.as_ref().ok().copied(),
            unmountable: mounted.err(),
            unchecked: checked.is_none(),
            amiss: match checked {
                Some(FsckResult::Amiss(said)) => Some(said),
                Some(FsckResult::Sound) | None => None,
            },
            unpromised: has_history.then(|| self.trial_log.history.unpromised(case.at.0)),
            verdict: is_judged
                .then(|| self.trial_log.history.judge(case.at.0, &self.subjects, found)),
            data,
        }
    }
}

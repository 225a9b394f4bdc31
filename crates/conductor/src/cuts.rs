//! Cuts the power of simulated drives: the trial has run once, and its log says what a drive may
//! hold after a cut at any moment; guests recover that, many one after the other.

use std::path::Path;
use std::sync::{Arc, Mutex};

use ssdlab_cuts::{Deed, History, Moment, Outcome, Recovery, Subjects};
use ssdlab_disk::{Flash, Memory};
use ssdlab_flash::{Drive, Nanos, PowerCuts, Specification};
use ssdlab_guest::Message;
use ssdlab_plan::Setup;
use ssdlab_plan::cuts::Cuts;
use ssdlab_plan::schedule::Trial;

use super::drive_watch::locked;
use super::failure::Failure;
use super::guests::{Guests, Run};
use super::images::{Images, Requests};
use super::inside::Job;
use super::measure::nanos;
use super::recovery::Recoveries;
use super::trial::PREPARATION;

/// Cuts that one guest recovers from. What a guest has seen before may change how long it takes by
/// a little, so the number is part of the result.
const OF_A_GUEST: usize = 100;

/// What is heard of a trial while it runs.
#[derive(Debug, Default)]
pub(super) struct Heard {
    history: History,
    /// When each phase began, and its name.
    phases: Vec<(Nanos, String)>,
    /// When the last one was over.
    over: Nanos,
}

impl Heard {
    /// A guest tells, at a moment, what it does.
    pub fn hear(&mut self, now: Nanos, message: &Message) {
        match message {
            Message::Begins(name) => self.phases.push((now, name.clone())),
            Message::Over(_) => self.over = now,
            Message::Deed(deed) => self.deed(now, *deed),
            _ => {}
        }
    }

    fn deed(&mut self, now: Nanos, deed: Deed) {
        self.history.add(now.0, deed);
    }

    /// The phase at a moment.
    fn phase(&self, at: Nanos) -> String {
        let begun = self.phases.iter().take_while(|(began, _)| *began <= at);
        begun.last().map_or_else(String::new, |(_, name)| name.clone())
    }
}

/// A trial that has run, and whose drive could have been cut off at any moment of it.
pub(super) struct Evidence<'a> {
    pub trial: Trial,
    pub setup: &'a Setup,
    pub subjects: Subjects,
    pub heard: &'a Heard,
    pub requests: &'a Requests,
    /// What the drive held before the trial.
    pub original: &'a Memory,
    /// The drive after it.
    pub drive: Drive,
}

/// One state that one cut leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Case {
    cut: u32,
    survivor: u32,
    at: Nanos,
    moment: Moment,
    seed: u64,
}

impl Evidence<'_> {
    /// All cases, in the order of time.
    fn cases(&self, asked: Cuts, cuts: &PowerCuts<'_>) -> Vec<Case> {
        let begin = self.heard.phases.first().map_or(Nanos::ZERO, |(began, _)| *began);
        let within = begin..self.heard.over.max(begin);
        let marks: Vec<Nanos> = self.heard.history.promises().into_iter().map(Nanos).collect();
        let seed = self.trial.seed;
        let count = asked.of_trial as usize;
        let of_events = cuts.moments(&within, &marks, count.div_ceil(2), seed);
        let at_random = PowerCuts::at_random(&within, count - of_events.len(), seed);
        let of_events = of_events.into_iter().map(|at| (at, Moment::Event));
        let at_random = at_random.into_iter().map(|at| (at, Moment::Random));
        let mut moments: Vec<(Nanos, Moment)> = of_events.chain(at_random).collect();
        moments.sort_by_key(|(at, _)| *at);
        let cut = |(number, (at, moment)): (u32, (Nanos, Moment))| {
            (0..asked.survivors).map(move |survivor| Case {
                cut: number,
                survivor,
                at,
                moment,
                seed: seed ^ (u64::from(number) << 32) ^ u64::from(survivor),
            })
        };
        (0..).zip(moments).flat_map(cut).collect()
    }

    fn outcome(&self, case: &Case, recovery: Recovery) -> Outcome {
        let Recovery { mounted, found, amiss } = recovery;
        let is_mounted = mounted.is_ok();
        let found = self.subjects.each().zip(found);
        Outcome {
            cut: case.cut,
            survivor: case.survivor,
            at_ns: case.at.0,
            moment: case.moment,
            phase: self.heard.phase(case.at),
            recovery_ns: mounted.as_ref().ok().copied(),
            unmountable: mounted.err(),
            amiss,
            verdict: is_mounted.then(|| self.heard.history.judge(case.at.0, found)),
        }
    }
}

/// What guests recover from, one case after the other.
struct Series<'a> {
    evidence: &'a Evidence<'a>,
    cases: std::vec::IntoIter<Case>,
    cuts: PowerCuts<'a>,
    images: Images<'a>,
    current: Option<Case>,
    outcomes: Vec<Outcome>,
    refused: Option<String>,
}

impl Series<'_> {
    fn hear(&mut self, flash: &Mutex<Flash>, message: &Message) {
        match message {
            Message::Next => {
                self.current = self.cases.next();
                let Some(case) = self.current else { return };
                match self.images.of(&self.cuts.at(case.at), case.seed) {
                    Ok(image) => locked(flash).replace_contents(image),
                    Err(error) => self.refused = Some(error.to_string()),
                }
            }
            Message::Recovered(recovery) => self.enter(recovery.clone()),
            _ => {}
        }
    }

    fn enter(&mut self, recovery: Recovery) {
        if let Some(case) = self.current.take() {
            self.outcomes.push(self.evidence.outcome(&case, recovery));
        }
    }
}

impl Guests<'_> {
    /// Cuts the power of a trial's drive, and finds out what is left each time.
    pub(super) fn cut(
        &self,
        asked: Cuts,
        evidence: &Evidence<'_>,
    ) -> Result<Vec<Outcome>, Failure> {
        let specification = evidence.drive.specification().clone();
        let cuts = power_cuts(&specification, evidence)?;
        let cases = evidence.cases(asked, &cuts);
        let images = Images::new(evidence.requests, evidence.original);
        let mut series = Series {
            evidence,
            cases: cases.into_iter(),
            cuts,
            images,
            current: None,
            outcomes: Vec::new(),
            refused: None,
        };
        let mut guest = 0;
        while series.cases.len() > 0 {
            self.recover(evidence, guest, &mut series)?;
            guest += 1;
        }
        Ok(series.outcomes)
    }

    /// Has one guest recover from the next cases. One that dies of what it finds says so of the
    /// case, and the next guest goes on after it.
    fn recover(
        &self,
        evidence: &Evidence<'_>,
        guest: usize,
        series: &mut Series<'_>,
    ) -> Result<(), Failure> {
        let Evidence { trial, setup, subjects, .. } = evidence;
        let count = series.cases.len().min(OF_A_GUEST);
        let count = u32::try_from(count).expect("a guest recovers from few cuts");
        let job =
            Job::Recovery(Recoveries { setup: for_guest(setup)?, subjects: *subjects, count });
        let run = Run {
            name: &format!("recovery-{}-{guest}", trial.position),
            host: setup.simulated.host,
            seed: trial.seed,
            limit: Nanos(nanos(PREPARATION) * u64::from(count + 1)),
        };
        let contents = Memory::new(evidence.drive.specification().capacity_bytes());
        let flash = Flash::with_contents(evidence.drive.clone(), contents);
        let flash = Arc::new(Mutex::new(flash));
        let before = series.cases.len();
        let ended: Result<((), _), _> =
            self.run(&run, &job, &flash, None, |_, message| series.hear(&flash, message));
        if let Some(reason) = series.refused.take() {
            return Err(Failure::Failed(format!("a cut leaves what its drive refuses: {reason}")));
        }
        match ended {
            Ok(_) => Ok(()),
            Err(Failure::Failed(reason)) if series.cases.len() < before => {
                let mounted = Err(format!("the kernel died of it: {reason}"));
                series.enter(Recovery { mounted, found: Vec::new(), amiss: None });
                Ok(())
            }
            Err(failure) => Err(failure),
        }
    }
}

fn power_cuts<'a>(
    specification: &Specification,
    evidence: &Evidence<'a>,
) -> Result<PowerCuts<'a>, Failure> {
    let contradiction = |error| Failure::Failed(format!("the log of requests: {error}"));
    PowerCuts::new(specification, &evidence.requests.log).map_err(contradiction)
}

/// The setup as a guest is told it.
fn for_guest(setup: &Setup) -> Result<Setup, Failure> {
    let mut levels = setup.levels.clone();
    levels.0.retain(|factor, _| !factor.is_simulated());
    Ok(Setup::new(&levels)?)
}

/// The requests of a trial, from their log and the data of its writes.
pub(super) fn requests(log: &Path, flash: &Mutex<Flash>) -> Result<Requests, Failure> {
    let writes = locked(flash).take_writes();
    Requests::read(log, writes).map_err(Failure::step("read", log))
}

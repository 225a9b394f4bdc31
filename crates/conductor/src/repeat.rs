//! Repeats one power cut of a run: the trial from its beginning, the cut, and the recovery.

use std::collections::{BTreeMap, BTreeSet};

use ssdlab_disk::{Backend, Memory};
use ssdlab_flash::{
    Command, Extent, LoggedRequest, Nanos, PowerCut, RevertedSectors, SECTOR_BYTES, Survivor,
};
use ssdlab_operations::cuts::{CutOutcome, Finding, Recovery};
use ssdlab_plan::Schedule;
use ssdlab_results::{
    AtRisk, ChangedInput, CourseEvent, CourseEventKind, FileAfter, REPEAT_SCHEMA, Record,
    RepeatedCut, RequestAtRisk,
};

use super::cuts::PackedFiles;
use super::error::TaskError;
use super::evidence::{CutCase, CuttableTrial};
use super::failure::Failure;
use super::guests::Guests;
use super::images::{self, Images};
use super::least::least;

/// Recoveries in the search for the fewest requests that a finding needs to be lost.
const MOST_RECOVERIES: usize = 100;

/// A power cut of a run, and what survives of it when it is repeated.
#[derive(Debug, Clone, Copy)]
pub struct CutOfRun<'a> {
    /// The run's name.
    pub run: &'a str,
    pub schedule: &'a Schedule,
    pub record: &'a Record,
    /// What was found after the cut.
    pub outcome: &'a CutOutcome,
    pub survives: SurvivorChoice<'a>,
}

/// What survives of a repeated cut.
#[derive(Debug, Clone, Copy)]
pub enum SurvivorChoice<'a> {
    /// The same.
    AsRecorded,
    /// Everything but what was at risk of these requests.
    AllBut(&'a BTreeSet<usize>),
    /// As much as possible with this finding.
    MostWith(Finding),
}

/// The state after a cut, byte by byte and request by request.
#[derive(Debug)]
pub struct CutState {
    /// The contents of the drive when it is switched on again.
    pub image: Memory,
    /// The requests to it up to the cut, in the order of submission.
    pub asked: Vec<RequestAtCut>,
    /// Where it holds an older version than the newest submitted.
    pub reverted: Vec<RevertedSectors>,
    /// The files that it holds once it is recovered, if they were asked for.
    pub files: PackedFiles,
}

/// A request before a cut.
#[derive(Debug, Clone, Copy)]
pub struct RequestAtCut {
    pub logged: LoggedRequest,
    pub stage: RequestSafety,
    /// The bytes of it that could be lost.
    pub at_risk_bytes: u64,
    /// Whether some of them are.
    pub is_lost: bool,
}

/// The stage of a request at a cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestSafety {
    /// It was acknowledged, and the cut does not affect it.
    Safe,
    /// It was acknowledged, and could be lost.
    AtRisk,
    /// It was not acknowledged.
    UnderWay,
}

/// What was found after the repeat of one cut of a trial.
pub(super) struct ExaminedCut {
    pub outcome: CutOutcome,
    pub files: Vec<FileAfter>,
    pub course: Vec<CourseEvent>,
    pub remains: CutState,
    /// Whether what is lost was chosen, not drawn.
    is_chosen: bool,
}

impl Guests<'_> {
    pub fn repeat(&mut self, cut: &CutOfRun<'_>) -> Result<(RepeatedCut, CutState), TaskError> {
        let CutOfRun { run, record, outcome: recorded, .. } = *cut;
        let position = record.trial.position;
        let repeated = self.again(cut).map_err(|failure| self.unrepeated(position, failure));
        let (repeated, again) = repeated?;
        let ExaminedCut { outcome, files, course, remains, is_chosen } = again;
        let contents_sha256 = images::sha256(&remains.image, self.hypervisor.interrupt)
            .map_err(|failure| self.unrepeated(position, failure))?;
        let same_trial = repeated.fingerprint == record.fingerprint;
        let is_same_cut = outcome.at_ns == recorded.at_ns && outcome.phase == recorded.phase;
        let is_as_recorded = if is_chosen { is_same_cut } else { outcome.agrees_with(recorded) };
        let repeat = RepeatedCut {
            schema: REPEAT_SCHEMA,
            run: run.to_owned(),
            trial: position,
            levels: record.levels.clone(),
            agrees: same_trial && is_as_recorded,
            chosen: is_chosen,
            same_trial,
            changes: ChangedInput::between(record, &repeated),
            recorded: recorded.clone(),
            repeated: outcome,
            drive: remains.at_risk(),
            contents_sha256,
            image_bytes: remains.image.capacity_bytes(),
            files,
            course,
        };
        Ok((repeat, remains))
    }

    /// The error of a trial that cannot be repeated.
    pub(super) fn unrepeated(&self, trial: u32, failure: Failure) -> TaskError {
        failure.of_task(&format!("repeat trial {trial}"), self.hypervisor.interrupt)
    }

    /// Performs a trial again, and recovers from one of its cuts.
    fn again(&mut self, cut: &CutOfRun<'_>) -> Result<(Record, ExaminedCut), Failure> {
        self.log_briefly()?;
        let CutOfRun { schedule, record, outcome, survives, .. } = *cut;
        let trial = record.trial;
        let mut again = None;
        let performed = self.trial_alone(schedule, trial, |evidence| {
            again = Some(self.recover_one(evidence, outcome.cut, outcome.survivor, survives)?);
            Ok(Vec::new())
        })?;
        let again = again.ok_or_else(|| Failure::Failed("its power was not cut".to_owned()))?;
        Ok((performed.record(schedule, trial), again))
    }

    /// Recovers from one survivor of one cut.
    pub(super) fn recover_one(
        &self,
        evidence: &CuttableTrial<'_>,
        cut: u32,
        survivor: u32,
        survives: SurvivorChoice<'_>,
    ) -> Result<ExaminedCut, Failure> {
        let mut cuts = evidence.power_cuts()?;
        let is_it = |case: &CutCase| (case.cut, case.survivor) == (cut, survivor);
        let Some(case) = evidence.cases(&cuts).into_iter().find(is_it) else {
            return Err(Failure::Failed(format!("there is no cut {cut}, survivor {survivor}")));
        };
        let cut = cuts.at(case.at);
        let examine = |survivor: Survivor| {
            let remains = CutState::of(evidence, &case, &cut, survivor)?;
            self.examine(evidence, case, remains)
        };
        let losing = |lost: &BTreeSet<usize>| {
            Ok::<_, Failure>(ExaminedCut { is_chosen: true, ..examine(cut.losing(lost))? })
        };
        match survives {
            SurvivorChoice::AsRecorded => examine(cut.survivor(case.seed)),
            SurvivorChoice::AllBut(lost) => {
                check_at_risk(lost, &cut)?;
                losing(lost)
            }
            SurvivorChoice::MostWith(finding) => {
                let mut found = examine(cut.survivor(case.seed))?;
                let lost = found.remains.lost().collect();
                least(lost, MOST_RECOVERIES, |lost| {
                    let again = losing(&lost.iter().copied().collect())?;
                    let has_it = again.outcome.has(finding) == Some(true);
                    if has_it {
                        found = again;
                    }
                    Ok::<_, Failure>(has_it)
                })?;
                Ok(found)
            }
        }
    }

    /// Recovers from what remains after a cut.
    fn examine(
        &self,
        evidence: &CuttableTrial<'_>,
        case: CutCase,
        mut remains: CutState,
    ) -> Result<ExaminedCut, Failure> {
        let mut image = |_: &CutCase| Ok(remains.image.clone());
        let mut recovered = None;
        self.recover_each(evidence, vec![case], &mut image, &mut |_, recovery, packed| {
            recovered = Some((recovery, packed));
        })?;
        let (recovery, packed): (Recovery, _) =
            recovered.ok_or_else(|| Failure::Failed("nothing was recovered".to_owned()))?;
        remains.files = packed;
        let files = evidence.files(&case, &recovery);
        let course = evidence.course(&case, &remains);
        let outcome = evidence.outcome(&case, None, recovery);
        Ok(ExaminedCut { outcome, files, course, remains, is_chosen: false })
    }
}

/// Refuses to lose requests that no drive would have lost.
fn check_at_risk(lost: &BTreeSet<usize>, cut: &PowerCut<'_>) -> Result<(), Failure> {
    let at_risk: BTreeSet<usize> = cut.at_risk().map(|(number, _)| number).collect();
    match lost.difference(&at_risk).next() {
        None => Ok(()),
        Some(number) => Err(Failure::Failed(format!(
            "request {number} was not at risk when the power failed; --log FILE without --lose \
             tells which were"
        ))),
    }
}

impl CuttableTrial<'_> {
    /// The state of each file after a case.
    fn files(&self, case: &CutCase, recovery: &Recovery) -> Vec<FileAfter> {
        let (history, at_ns) = (&self.trial_log.history, case.at.0);
        let found = self.subjects.each().zip(&recovery.found);
        let after = found.map(|(subject, found)| FileAfter {
            name: subject.name(),
            expected: history.expected(subject, at_ns),
            found: *found,
            verdict: history.judge(at_ns, &self.subjects, [(subject, *found)]),
        });
        after.collect()
    }

    /// The operations on files and the requests at risk before a case.
    fn course(&self, case: &CutCase, remains: &CutState) -> Vec<CourseEvent> {
        let operations = self.trial_log.history.operations().into_iter();
        let operations = operations.map(|(at_ns, operation)| CourseEvent {
            at_ns,
            what: CourseEventKind::FileOperation(operation),
        });
        let said = self.trial_log.said.iter().cloned();
        let said =
            said.map(|(at, line)| CourseEvent { at_ns: at.0, what: CourseEventKind::Said(line) });
        let requests =
            remains.asked.iter().enumerate().filter(|(_, asked)| asked.at_risk_bytes > 0);
        let requests = requests.map(|(number, asked)| CourseEvent {
            at_ns: asked.logged.submitted.0,
            what: CourseEventKind::Request(asked.at_risk(number)),
        });
        let before = |event: &CourseEvent| event.at_ns <= case.at.0;
        let mut course: Vec<CourseEvent> =
            operations.chain(said).filter(before).chain(requests).collect();
        course.sort_by_key(|event| event.at_ns);
        course
    }
}

impl CutState {
    fn of(
        evidence: &CuttableTrial<'_>,
        case: &CutCase,
        cut: &PowerCut<'_>,
        survivor: Survivor,
    ) -> Result<Self, Failure> {
        let refused = |error| Failure::Failed(format!("a cut leaves what no drive has: {error}"));
        let image = Images::new(evidence.requests, evidence.original).of(cut, &survivor);
        let at_risk: BTreeMap<usize, u64> = cut.at_risk().collect();
        let requests = evidence.requests.log[..cut.submitted()].iter().enumerate();
        let asked = requests.map(|(number, logged)| {
            let at_risk_bytes = at_risk.get(&number).copied().unwrap_or(0);
            let is_lost = at_risk_bytes > 0 && survivor.is_older(number, logged.command);
            RequestAtCut { is_lost, ..RequestAtCut::of(*logged, case.at, at_risk_bytes) }
        });
        Ok(Self {
            image: image.map_err(refused)?,
            asked: asked.collect(),
            reverted: survivor.reverted,
            files: PackedFiles::default(),
        })
    }

    /// The requests of which something is lost.
    fn lost(&self) -> impl Iterator<Item = usize> {
        let lost = self.asked.iter().enumerate().filter(|(_, asked)| asked.is_lost);
        lost.map(|(number, _)| number)
    }

    /// The same as counts.
    pub(super) fn at_risk(&self) -> AtRisk {
        // What a discard leaves is nobody's data.
        let writes = |stage: RequestSafety| {
            let is_write = |of: &&RequestAtCut| matches!(of.logged.command, Command::Write(..));
            let writes = self.asked.iter().filter(is_write).filter(|of| of.stage == stage);
            writes.fold((0, 0), |(count, bytes), of| (count + 1, bytes + of.at_risk_bytes))
        };
        let (volatile, volatile_bytes) = writes(RequestSafety::AtRisk);
        let (under_way, under_way_bytes) = writes(RequestSafety::UnderWay);
        let sectors = |reverted: &RevertedSectors| reverted.sectors.end - reverted.sectors.start;
        AtRisk {
            requests: self.asked.len() as u64,
            volatile,
            volatile_bytes,
            under_way,
            under_way_bytes,
            older_bytes: self.reverted.iter().map(sectors).sum::<u64>() * SECTOR_BYTES,
        }
    }
}

impl RequestAtCut {
    fn of(logged: LoggedRequest, cut: Nanos, at_risk_bytes: u64) -> Self {
        let is_acknowledged = logged.completed.is_some_and(|at| at <= cut);
        let stage = match at_risk_bytes {
            _ if !is_acknowledged => RequestSafety::UnderWay,
            0 => RequestSafety::Safe,
            _ => RequestSafety::AtRisk,
        };
        Self { logged, stage, at_risk_bytes, is_lost: false }
    }

    /// The same for a report.
    fn at_risk(&self, number: usize) -> RequestAtRisk {
        let nothing = Extent { offset_bytes: 0, length_bytes: 0 };
        let Extent { offset_bytes, length_bytes } = self.logged.command.extent().unwrap_or(nothing);
        RequestAtRisk {
            number: number as u64,
            command: self.logged.command.name(),
            offset_bytes,
            length_bytes,
            acknowledged: self.stage != RequestSafety::UnderWay,
            lost: self.is_lost,
        }
    }
}

//! Repeats one power cut of a run: the trial from its beginning, the cut, and the recovery.

use std::collections::BTreeMap;
use std::mem;
use std::sync::mpsc;

use ssdlab_cuts::{Outcome, Recovery};
use ssdlab_disk::{Backend, Memory};
use ssdlab_flash::{Command, Cut, Logged, Nanos, Reverted, SECTOR_BYTES};
use ssdlab_results::{AtRisk, Change, FileAfter, REPEAT_SCHEMA, Record, Repeat};

use super::error::RepeatError;
use super::evidence::{Case, Evidence};
use super::failure::Failure;
use super::guests::Guests;
use super::images::{self, Images};

/// The state after a cut, byte by byte and request by request.
#[derive(Debug)]
pub struct Remains {
    /// The contents of the drive when it is switched on again.
    pub image: Memory,
    /// The requests to it up to the cut, in the order of submission.
    pub asked: Vec<Asked>,
    /// Where it holds an older version than the newest submitted.
    pub reverted: Vec<Reverted>,
}

/// A request before a cut.
#[derive(Debug, Clone, Copy)]
pub struct Asked {
    /// The request.
    pub logged: Logged,
    /// Its stage.
    pub stage: AskedStage,
    /// The bytes of it that could be lost.
    pub at_risk_bytes: u64,
}

/// The stage of a request at a cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskedStage {
    /// It was acknowledged, and the cut does not affect it.
    Safe,
    /// It was acknowledged, and could be lost.
    AtRisk,
    /// It was not acknowledged.
    UnderWay,
}

/// The repeat of one cut of a trial.
pub(super) struct Again {
    pub outcome: Outcome,
    pub files: Vec<FileAfter>,
    pub remains: Remains,
}

impl Guests<'_> {
    /// Repeats a cut of a run, given the record of its trial and the outcome in it.
    pub fn repeat(
        &mut self,
        run: &str,
        record: &Record,
        recorded: &Outcome,
    ) -> Result<(Repeat, Remains), RepeatError> {
        let position = record.trial.position;
        // The log is needed only until the cut, and is removed with this folder.
        let logs = self.hypervisor.folder.join("requests");
        self.log_to(&logs)
            .map_err(|error| RepeatError::Failed { trial: position, reason: error.to_string() })?;
        let explained = |failure: Failure| match failure.seen_by(self.hypervisor.interrupt) {
            Failure::Interrupted => RepeatError::Interrupted,
            Failure::Unavailable(reason) => RepeatError::Unavailable { trial: position, reason },
            Failure::Failed(reason) | Failure::Void(reason) => {
                RepeatError::Failed { trial: position, reason }
            }
        };
        let (repeated, again) = self.again(record, recorded).map_err(explained)?;
        let Again { outcome, files, remains } = again;
        let same_trial = repeated.fingerprint == record.fingerprint;
        let repeat = Repeat {
            schema: REPEAT_SCHEMA,
            run: run.to_owned(),
            trial: position,
            levels: record.levels.clone(),
            agrees: same_trial && outcome.agrees_with(recorded),
            same_trial,
            changes: Change::between(record, &repeated),
            recorded: recorded.clone(),
            repeated: outcome,
            drive: remains.at_risk(),
            image_sha256: images::sha256(&remains.image),
            image_bytes: remains.image.capacity_bytes(),
            files,
        };
        Ok((repeat, remains))
    }

    /// Performs a trial again, and recovers from one of its cuts.
    fn again(&self, record: &Record, recorded: &Outcome) -> Result<(Record, Again), Failure> {
        let trial = record.trial;
        let nobody = mpsc::channel().0;
        let mut again = None;
        let mut performed = self.trial(trial, &nobody, |evidence| {
            again = Some(self.recover_one(evidence, recorded.cut, recorded.survivor)?);
            Ok(Vec::new())
        })?;
        mem::replace(&mut performed.ended, Ok(()))?;
        let again = again.ok_or_else(|| Failure::Failed("its power was not cut".to_owned()))?;
        Ok((performed.record(self.schedule, trial), again))
    }

    /// Recovers from one survivor of one cut.
    pub(super) fn recover_one(
        &self,
        evidence: &Evidence<'_>,
        cut: u32,
        survivor: u32,
    ) -> Result<Again, Failure> {
        let mut cuts = evidence.power_cuts()?;
        let mut cases = evidence.cases(&cuts);
        cases.retain(|case| case.cut == cut && case.survivor == survivor);
        let Some(case) = cases.first().copied() else {
            return Err(Failure::Failed(format!("there is no cut {cut}, survivor {survivor}")));
        };
        let remains = Remains::of(evidence, &case, &cuts.at(case.at))?;
        let mut image = |_: &Case| Ok(remains.image.clone());
        let mut recovered = None;
        self.recover_each(evidence, cases, &mut image, &mut |_, recovery| {
            recovered = Some(recovery);
        })?;
        let recovery: Recovery =
            recovered.ok_or_else(|| Failure::Failed("nothing was recovered".to_owned()))?;
        let files = evidence.files(&case, &recovery);
        Ok(Again { outcome: evidence.outcome(&case, recovery), files, remains })
    }
}

impl Evidence<'_> {
    /// The state of each file after a case.
    fn files(&self, case: &Case, recovery: &Recovery) -> Vec<FileAfter> {
        let (history, at_ns) = (&self.heard.history, case.at.0);
        let found = self.subjects.each().zip(&recovery.found);
        let after = found.map(|(subject, found)| FileAfter {
            name: subject.name(),
            expected: history.expected(subject, at_ns),
            found: *found,
            verdict: history.judge(at_ns, [(subject, *found)]),
        });
        after.collect()
    }
}

impl Remains {
    fn of(evidence: &Evidence<'_>, case: &Case, cut: &Cut<'_>) -> Result<Self, Failure> {
        let refused = |error| Failure::Failed(format!("a cut leaves what no drive has: {error}"));
        let survivor = cut.survivor(case.seed);
        let image = Images::new(evidence.requests, evidence.original).of(cut, &survivor);
        let at_risk: BTreeMap<usize, u64> = cut.at_risk().collect();
        let requests = evidence.requests.log[..cut.submitted()].iter().enumerate();
        let asked = requests.map(|(number, logged)| {
            Asked::of(*logged, case.at, at_risk.get(&number).copied().unwrap_or(0))
        });
        Ok(Self {
            image: image.map_err(refused)?,
            asked: asked.collect(),
            reverted: survivor.reverted,
        })
    }

    /// The same as counts.
    pub(super) fn at_risk(&self) -> AtRisk {
        // What a discard leaves is nobody's data.
        let writes = |stage: AskedStage| {
            let is_write = |of: &&Asked| matches!(of.logged.command, Command::Write(..));
            let writes = self.asked.iter().filter(is_write).filter(|of| of.stage == stage);
            writes.fold((0, 0), |(count, bytes), of| (count + 1, bytes + of.at_risk_bytes))
        };
        let (volatile, volatile_bytes) = writes(AskedStage::AtRisk);
        let (under_way, under_way_bytes) = writes(AskedStage::UnderWay);
        let sectors = |reverted: &Reverted| reverted.sectors.end - reverted.sectors.start;
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

impl Asked {
    fn of(logged: Logged, cut: Nanos, at_risk_bytes: u64) -> Self {
        let is_acknowledged = logged.completed.is_some_and(|at| at <= cut);
        let stage = match at_risk_bytes {
            _ if !is_acknowledged => AskedStage::UnderWay,
            0 => AskedStage::Safe,
            _ => AskedStage::AtRisk,
        };
        Self { logged, stage, at_risk_bytes }
    }
}

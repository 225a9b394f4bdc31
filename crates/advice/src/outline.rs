//! A run in one row: its subject, its state, and the verdicts on its claims.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_plan::{LabKind, Origin, Schedule};
use ssdlab_results::{Ending, Record};

use super::Completeness;
use super::claims;
use super::counted::counted;
use super::judgement::{Judgement, Verdict};
use super::late::LateWork;
use super::pairs::Blocks;
use super::plausible::{self, PlausibleDrives};

/// A run, told shortly.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Outline {
    /// The plan's name.
    pub plan: String,
    /// Where its trials ran.
    pub lab: Origin,
    /// What they ran on: simulated drives, or the device or the directory and the drive's model.
    pub drives: Vec<String>,
    /// Its trials.
    pub trials: usize,
    /// Those that went well.
    pub trials_ok: usize,
    /// Whether it came to its planned end.
    pub status: Completeness,
    /// Why it ended.
    pub ending: Ending,
    /// Claims that hold.
    pub holds: usize,
    /// Claims that are refuted.
    pub refuted: usize,
    /// Claims that depend on the drive.
    pub depends: usize,
    /// Claims that are undecided.
    pub undecided: usize,
    /// Claims whose sides are one computation.
    pub identical: usize,
    /// Claims that the lab cannot test.
    pub untested: usize,
}

impl Outline {
    /// How many claims have this verdict.
    pub fn claims(&self, verdict: Verdict) -> usize {
        match verdict {
            Verdict::Holds => self.holds,
            Verdict::Refuted => self.refuted,
            Verdict::Depends => self.depends,
            Verdict::Undecided => self.undecided,
            Verdict::Identical => self.identical,
            Verdict::Untested => self.untested,
        }
    }
}

/// Judges the claims of a run, without the rest of its analysis.
pub fn judge(schedule: &Schedule, records: &[Record]) -> Vec<Judgement> {
    let published = plausible::of_published(records);
    let blocks = Blocks::of(schedule, &published);
    let drawn = PlausibleDrives::of(schedule, records);
    let late = LateWork::of(schedule, records);
    claims::judge_all(schedule, &blocks, drawn.as_ref(), late.as_ref())
}

/// Summarises a run in one row.
pub fn outline(schedule: &Schedule, records: &[Record], ending: Ending) -> Outline {
    let claims = judge(schedule, records);
    let came_out =
        |verdict| claims.iter().filter(|claim| claim.outcome.verdict() == verdict).count();
    Outline {
        plan: schedule.plan.clone(),
        lab: schedule.origin(),
        drives: drives(schedule, records),
        trials: records.len(),
        trials_ok: counted(records).count(),
        status: Completeness::of(ending),
        ending,
        holds: came_out(Verdict::Holds),
        refuted: came_out(Verdict::Refuted),
        depends: came_out(Verdict::Depends),
        undecided: came_out(Verdict::Undecided),
        identical: came_out(Verdict::Identical),
        untested: came_out(Verdict::Untested),
    }
}

fn drives(schedule: &Schedule, records: &[Record]) -> Vec<String> {
    if schedule.is_in(LabKind::Virtual) {
        let drives: BTreeSet<String> =
            schedule.setups().map(|s| s.simulated.drive.clone()).collect();
        return drives.into_iter().collect();
    }
    let place = schedule.target.iter().filter_map(|target| target.place());
    let place = place.map(|path| path.display().to_string());
    let models = records.iter().filter_map(|record| record.environment.drive_model.clone());
    place.chain(models.collect::<BTreeSet<_>>()).collect()
}

//! A treatment and its trials, summed up.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_flash::Draw;
use ssdlab_operations::cuts::CutOutcome;
use ssdlab_plan::metric::Metric;
use ssdlab_plan::{Levels, Schedule};
use ssdlab_results::{
    AgeingRecord, ByProgram, DriveCourse, Imported, PhaseRecord, Record, Smart, Teardown,
    TrialStatus,
};
use ssdlab_stats::Summary;

use super::CONFIDENCE;
use super::counted::{counted, of_last_step};
use super::cuts::{self, CutsResult};
use super::late::Unmounting;

/// A treatment and its trials.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TreatmentResult {
    /// Its levels.
    pub levels: Levels,
    /// Whether it could be measured.
    pub status: TreatmentStatus,
    /// What went wrong, in all or some of its trials.
    pub reason: Option<String>,
    /// Its trials, in the order they ran.
    pub trials: Vec<TrialResult>,
    /// The results of checking its filesystem's stated features, from the first trial that checked.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub features: BTreeMap<String, String>,
    /// What unmounting did after the last phase, where it matters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unmounting: Option<Unmounting>,
    /// What power cuts cost it, if there were any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cuts: Option<CutsResult>,
    /// Means and spreads over the trials that went well, on the published drive.
    pub summary: Vec<PhaseSummary>,
    /// Whose bytes were written in its stretches of the running machine's time, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_program: Option<StretchPrograms>,
}

/// The bytes of some stretches by program. They explain a result; no verdict is about them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StretchPrograms {
    /// The number of stretches.
    pub stretches: usize,
    /// Their bytes, together.
    pub total: ByProgram,
}

/// Whether a treatment could be measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TreatmentStatus {
    /// At least one trial went well.
    Ok,
    /// This machine cannot run it.
    Unavailable,
    /// Every trial went wrong.
    Failed,
    /// None has run yet.
    Waiting,
    /// An earlier step did not choose it.
    Unselected,
}

impl fmt::Display for TreatmentStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ok => "ok",
            Self::Unavailable => "unavailable",
            Self::Failed => "failed",
            Self::Waiting => "not run yet",
            Self::Unselected => "unselected",
        })
    }
}

/// One trial.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TrialResult {
    /// The block, from 0.
    pub block: u32,
    /// The place in the run, from 0.
    pub position: u32,
    /// The seed; absent if it was imported.
    pub seed: Option<u64>,
    /// Where it was imported from; absent where ssdlab itself measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub imported: Option<Imported>,
    /// What of the drive and the host was drawn; absent on the published drive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draw: Option<Draw>,
    /// How it ended.
    pub status: TrialStatus,
    /// Why, unless it ended well.
    pub reason: Option<String>,
    /// Equal for trials that were the same to the bit (virtual lab only).
    pub fingerprint: Option<String>,
    /// What ageing had made of the filesystem, if it was aged.
    pub aged: Option<AgeingRecord>,
    /// What was measured.
    pub phases: Vec<PhaseRecord>,
    /// What unmounting still did.
    pub teardown: Option<Teardown>,
    /// What a simulated drive went through.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drive: Option<DriveCourse>,
    /// Its power cuts, in the order of time; records have them, so that a report need not.
    #[serde(skip)]
    pub cuts: Vec<CutOutcome>,
    /// The drive's own counters before and after, where it has them.
    pub smart: Option<[Smart; 2]>,
}

/// A treatment's phase, summed up.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PhaseSummary {
    /// The phase.
    pub name: String,
    /// Each metric that every trial has.
    pub metrics: BTreeMap<Metric, MetricSummary>,
}

/// A metric over the trials of a treatment.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct MetricSummary {
    /// Trials.
    pub n: usize,
    /// The arithmetic mean.
    pub mean: f64,
    /// Student's t interval of it, 95 %; absent for one trial.
    pub interval: Option<[f64; 2]>,
    /// The median.
    pub median: f64,
    /// The standard deviation; absent for one trial.
    pub sd: Option<f64>,
    /// The least value.
    pub min: f64,
    /// The greatest value.
    pub max: f64,
}

/// Sums up a treatment, by its index; its trials are left out.
pub(super) fn summarise(index: usize, schedule: &Schedule, records: &[Record]) -> TreatmentResult {
    let mut own: Vec<&Record> =
        records.iter().filter(|record| record.trial.treatment == index).collect();
    own.sort_by_key(|record| record.trial.position);
    let mut well: Vec<&Record> =
        counted(records).filter(|record| record.trial.treatment == index).collect();
    well.sort_by_key(|record| record.trial.position);
    let well = of_last_step(schedule, well);
    let summed_up: Vec<&Record> =
        well.iter().copied().filter(|record| record.draw.is_none()).collect();
    let bad = own.iter().find(|record| record.status != TrialStatus::Ok);
    let status = match bad {
        _ if !well.is_empty() => TreatmentStatus::Ok,
        Some(record) if record.status == TrialStatus::Unavailable => TreatmentStatus::Unavailable,
        None if own.is_empty() && was_passed_over(index, schedule, records) => {
            TreatmentStatus::Unselected
        }
        None if own.is_empty() => TreatmentStatus::Waiting,
        _ => TreatmentStatus::Failed,
    };
    let reason = match bad {
        Some(record) => {
            let reason = record.reason.clone().unwrap_or_default();
            let failed = own.iter().filter(|record| record.status != TrialStatus::Ok).count();
            let some = format!("{failed} of {} trials: {reason}", own.len());
            Some(if well.is_empty() { reason } else { some })
        }
        None if status == TreatmentStatus::Unselected => Some("no step chose it".to_owned()),
        None if own.is_empty() => Some("it has not run yet".to_owned()),
        None => None,
    };
    TreatmentResult {
        levels: schedule.treatments[index].levels.clone(),
        status,
        reason,
        trials: Vec::new(),
        features: own
            .iter()
            .map(|record| &record.features)
            .find(|features| !features.is_empty())
            .cloned()
            .unwrap_or_default(),
        unmounting: Unmounting::of(&summed_up),
        cuts: cuts::summarise(&summed_up),
        summary: schedule
            .phases(index)
            .iter()
            .map(|phase| summary(&phase.name, &summed_up))
            .collect(),
        by_program: by_program(&summed_up),
    }
}

/// Whether a step has begun that it could have been in, so that the steps before did not keep it.
fn was_passed_over(index: usize, schedule: &Schedule, records: &[Record]) -> bool {
    let reached = records.iter().map(|record| schedule.step_of(record.trial.block)).max();
    let could = |step: usize| schedule.is_of_step(index, step);
    reached.is_some_and(|reached| (1..=reached).any(could))
}

/// Adds to each treatment its trials, in the order they ran.
pub(super) fn add_trials(treatments: &mut [TreatmentResult], records: Cow<'_, [Record]>) {
    let mut add = |record: Record| {
        let Some(treatment) = treatments.get_mut(record.trial.treatment) else { return };
        treatment.trials.push(TrialResult {
            block: record.trial.block,
            position: record.trial.position,
            seed: record.imported.is_none().then_some(record.trial.seed),
            imported: record.imported,
            draw: record.draw,
            status: record.status,
            reason: record.reason,
            fingerprint: record.fingerprint,
            aged: record.aged,
            phases: record.phases,
            teardown: record.teardown,
            drive: record.drive,
            cuts: record.cuts,
            smart: record.smart,
        });
    };
    match records {
        Cow::Owned(records) => records.into_iter().for_each(&mut add),
        Cow::Borrowed(records) => records.iter().cloned().for_each(&mut add),
    }
    for treatment in treatments {
        treatment.trials.sort_by_key(|trial| trial.position);
    }
}

fn by_program(well: &[&Record]) -> Option<StretchPrograms> {
    let phases = well.iter().flat_map(|record| &record.phases);
    let known = phases.filter_map(|phase| phase.ledger.as_ref()?.by_program.as_ref());
    let stretches = known.clone().count();
    (stretches > 0).then(|| StretchPrograms { stretches, total: ByProgram::total(known) })
}

fn summary(phase: &str, well: &[&Record]) -> PhaseSummary {
    let measured: Vec<&PhaseRecord> = well
        .iter()
        .filter_map(|record| record.phases.iter().find(|measured| measured.name == phase))
        .collect();
    let metrics = measured.first().into_iter().flat_map(|first| first.metrics());
    let metrics = metrics
        .filter_map(|(metric, _)| {
            let values: Option<Vec<f64>> =
                measured.iter().map(|phase| phase.metric(metric)).collect();
            let summary = Summary::of(&values?)?;
            let interval = summary.interval(CONFIDENCE).map(Into::into);
            let Summary { n, mean, median, sd, min, max, .. } = summary;
            Some((metric, MetricSummary { n, mean, interval, median, sd, min, max }))
        })
        .collect();
    PhaseSummary { name: phase.to_owned(), metrics }
}

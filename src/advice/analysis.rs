//! The whole analysis of a run: what `--json` prints and every report is made from.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_stats::Summary;

use super::CONFIDENCE;
use super::claims::{self, Judgement, Verdict};
use super::effects::{self, Effect};
use super::environment;
use super::hosts::{self, ByHost};
use super::method::{self, Check};
use super::pairs::Blocks;
use super::ranking::{self, Ranking};
use super::warnings::{self, Warned};
use crate::plan::metric::{self, is_of_the_drive};
use crate::plan::{LabKind, Levels, Schedule};
use crate::results::{Aged, DriveCourse, Ending, Imported, Phase, Record, Smart, Status, Teardown};

/// The version of the analysis' format.
pub const ANALYSIS_SCHEMA: u32 = 1;

/// What a run found out.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Analysis {
    /// The version of this format.
    pub schema: u32,
    /// The run's name.
    pub run: String,
    /// The plan's name.
    pub plan: String,
    /// The question.
    pub question: String,
    /// Where the trials ran.
    pub lab: LabKind,
    /// Whether the run came to its planned end.
    pub status: Completeness,
    /// Why it ended.
    pub ending: Ending,
    /// The metric the plan is about.
    pub metric: String,
    /// The seed of the run; absent if it was imported.
    pub seed: Option<u64>,
    /// What trials ran on: each fact with every value that it had in any of them.
    pub environment: BTreeMap<String, BTreeSet<String>>,
    /// The settings that the kernel reported alike in all trials that have them.
    pub applied: BTreeMap<String, String>,
    /// Every treatment, also those that could not run.
    pub treatments: Vec<Treatment>,
    /// What each treatment does to each metric, against its baseline.
    pub effects: Vec<Effect>,
    /// Which of the effects on the plan's metric and of the claims' ratios each host has; empty
    /// where fewer than two hosts have measured, and where hosts make no difference (virtual lab).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub by_host: Vec<ByHost>,
    /// Which treatments are better than which, step by step; empty where the plan ranks nothing.
    pub rankings: Vec<Ranking>,
    /// The plan's claims, judged.
    pub claims: Vec<Judgement>,
    /// The settings that follow from the verdicts.
    pub settings: Vec<Setting>,
    /// Whether it was done so that its numbers can be believed.
    pub method: Vec<Check>,
    /// What a reader must know before believing the numbers.
    pub warnings: Vec<Warned>,
}

impl Analysis {
    /// What a treatment does to a metric in one phase, if that was found.
    #[must_use]
    pub fn effect(&self, metric: &str, levels: &Levels, phase: &str) -> Option<&Effect> {
        self.effects.iter().find(|effect| {
            effect.metric == metric && effect.levels == *levels && effect.phases == [phase]
        })
    }
}

/// Whether a run came to its planned end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Completeness {
    /// It did.
    Complete,
    /// It was interrupted, and can be resumed.
    Partial,
}

impl Completeness {
    /// What an ending says of it.
    #[must_use]
    pub fn of(ending: Ending) -> Self {
        match ending {
            Ending::Interrupted => Self::Partial,
            _ => Self::Complete,
        }
    }
}

/// A treatment and its trials.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Treatment {
    /// Its levels.
    pub levels: Levels,
    /// Whether it could be measured.
    pub status: TreatmentStatus,
    /// What went wrong, in all or some of its trials.
    pub reason: Option<String>,
    /// Its trials, in the order they ran.
    pub trials: Vec<Trial>,
    /// What its first trial that looked found of the features stated about its filesystem.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub features: BTreeMap<String, String>,
    /// Means and spreads over the trials that went well.
    pub summary: Vec<PhaseSummary>,
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
pub struct Trial {
    /// The block, from 0.
    pub block: u32,
    /// The place in the run, from 0.
    pub position: u32,
    /// The seed; absent if it was imported.
    pub seed: Option<u64>,
    /// Where it was imported from; absent where ssdlab itself measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub imported: Option<Imported>,
    /// How it ended.
    pub status: Status,
    /// Why, unless it ended well.
    pub reason: Option<String>,
    /// Equal for trials that were the same to the bit (virtual lab only).
    pub fingerprint: Option<String>,
    /// What ageing had made of the filesystem, if it was aged.
    pub aged: Option<Aged>,
    /// What was measured.
    pub phases: Vec<Phase>,
    /// What unmounting still wrote.
    pub teardown: Option<Teardown>,
    /// What a simulated drive went through.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drive: Option<DriveCourse>,
    /// The drive's own counters before and after, where it has them.
    pub smart: Option<[Smart; 2]>,
}

/// A treatment's phase, summed up.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PhaseSummary {
    /// The phase.
    pub name: String,
    /// Each metric that every trial has.
    pub metrics: BTreeMap<String, MetricSummary>,
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

/// A setting that follows from a verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Setting {
    /// What to do.
    pub says: String,
    /// The claims it follows from.
    pub claims: Vec<String>,
}

/// Analyses a run; `run` is its name, `ending` why it ended. What is measured goes into the
/// analysis, so records that are given away are not copied.
#[must_use]
pub fn analyse<'a>(
    run: &str,
    schedule: &Schedule,
    records: impl Into<Cow<'a, [Record]>>,
    ending: Ending,
) -> Analysis {
    let records = records.into();
    let mut analysis = summarise(run, schedule, &records, ending);
    add_trials(&mut analysis.treatments, records);
    analysis
}

/// Analyses a run as [`analyse`] does, but for the trials: treatments have none.
#[must_use]
pub fn summarise(run: &str, schedule: &Schedule, records: &[Record], ending: Ending) -> Analysis {
    let treatments: Vec<Treatment> =
        (0..schedule.treatments.len()).map(|index| treatment(index, schedule, records)).collect();
    let blocks = Blocks::of(schedule, records);
    let effects = effects::all(schedule, &blocks);
    let of_claims = hosts::of_claims(schedule, &blocks);
    let mut claims = claims::judge_all(schedule, &blocks, &of_claims);
    for claim in &mut claims {
        claim.scope = scope(schedule.target.lab, &claim.metric).map(str::to_owned);
    }
    let method = method::checks(schedule, records, &claims);
    let mut by_host = hosts::of_effects(schedule, &blocks, &effects);
    by_host.extend(of_claims.into_iter().map(|(by_host, _)| by_host));
    let mut warnings = warnings::all(schedule, records, &treatments, &method);
    let of_hosts = hosts::warnings(schedule, records, &blocks, &by_host);
    warnings.extend(of_hosts.into_iter().map(Warned::from));
    let rankings = ranking::all(schedule, &blocks);
    let (environment, applied) = (environment::of(records), environment::applied(records));
    Analysis {
        schema: ANALYSIS_SCHEMA,
        run: run.to_owned(),
        plan: schedule.plan.clone(),
        question: schedule.question.clone(),
        lab: schedule.target.lab,
        status: Completeness::of(ending),
        ending,
        metric: schedule.metric.clone(),
        seed: (schedule.target.lab != LabKind::Imported).then_some(schedule.seed),
        environment,
        applied,
        settings: settings(schedule.target.lab, &claims),
        warnings,
        method,
        treatments,
        effects,
        by_host,
        rankings,
        claims,
    }
}

fn treatment(index: usize, schedule: &Schedule, records: &[Record]) -> Treatment {
    let mut own: Vec<&Record> =
        records.iter().filter(|record| record.trial.treatment == index).collect();
    own.sort_by_key(|record| record.trial.position);
    let is_well = |record: &&Record| record.status == Status::Ok;
    let step_of = |record: &Record| schedule.step_of(record.trial.block);
    // Trials that a treatment was chosen by would flatter it.
    let last = own.iter().copied().filter(is_well).map(step_of).max();
    let is_of_last = |record: &&Record| Some(step_of(record)) == last;
    let well: Vec<&Record> = own.iter().copied().filter(is_well).filter(is_of_last).collect();
    let bad = own.iter().find(|record| record.status != Status::Ok);
    let status = match bad {
        _ if !well.is_empty() => TreatmentStatus::Ok,
        Some(record) if record.status == Status::Unavailable => TreatmentStatus::Unavailable,
        None if own.is_empty() && was_passed_over(index, schedule, records) => {
            TreatmentStatus::Unselected
        }
        None if own.is_empty() => TreatmentStatus::Waiting,
        _ => TreatmentStatus::Failed,
    };
    let reason = match bad {
        Some(record) => {
            let reason = record.reason.clone().unwrap_or_default();
            let failed = own.iter().filter(|record| record.status != Status::Ok).count();
            let some = format!("{failed} of {} trials: {reason}", own.len());
            Some(if well.is_empty() { reason } else { some })
        }
        None if status == TreatmentStatus::Unselected => Some("no step chose it".to_owned()),
        None if own.is_empty() => Some("it has not run yet".to_owned()),
        None => None,
    };
    Treatment {
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
        summary: schedule.phases(index).iter().map(|phase| summary(&phase.name, &well)).collect(),
    }
}

/// Whether a step has begun that it could have been in, and the steps before have not kept it.
fn was_passed_over(index: usize, schedule: &Schedule, records: &[Record]) -> bool {
    let reached = records.iter().map(|record| schedule.step_of(record.trial.block)).max();
    let could = |step: usize| schedule.is_of_step(index, step);
    reached.is_some_and(|reached| (1..=reached).any(could))
}

/// Hands each treatment its trials, in the order they ran.
fn add_trials(treatments: &mut [Treatment], records: Cow<'_, [Record]>) {
    let mut add = |record: Record| {
        let Some(treatment) = treatments.get_mut(record.trial.treatment) else { return };
        treatment.trials.push(Trial {
            block: record.trial.block,
            position: record.trial.position,
            seed: record.imported.is_none().then_some(record.trial.seed),
            imported: record.imported,
            status: record.status,
            reason: record.reason,
            fingerprint: record.fingerprint,
            aged: record.aged,
            phases: record.phases,
            teardown: record.teardown,
            drive: record.drive,
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

fn summary(phase: &str, well: &[&Record]) -> PhaseSummary {
    let measured: Vec<&Phase> = well
        .iter()
        .filter_map(|record| record.phases.iter().find(|measured| measured.name == phase))
        .collect();
    let reported = measured.first().into_iter().flat_map(|first| first.reported.keys());
    let counted = metric::measured().map(|(name, _)| name);
    let names = counted.chain(reported.map(String::as_str));
    let metrics = names
        .filter_map(|name| {
            let values: Option<Vec<f64>> =
                measured.iter().map(|phase| phase.metric(name)).collect();
            let summary = Summary::of(&values?)?;
            let interval = summary.interval(CONFIDENCE).map(|interval| [interval.lo, interval.hi]);
            let Summary { n, mean, median, sd, min, max, .. } = summary;
            Some((name.to_owned(), MetricSummary { n, mean, interval, median, sd, min, max }))
        })
        .collect();
    PhaseSummary { name: phase.to_owned(), metrics }
}

/// The settings that follow. A verdict never claims more than its lab can show: the times of an
/// image file say nothing about a drive, so no setting follows from them.
fn settings(lab: LabKind, claims: &[Judgement]) -> Vec<Setting> {
    let shows = |claim: &Judgement| match lab {
        LabKind::Virtual | LabKind::Device => true,
        LabKind::Image => !is_of_the_drive(&claim.metric),
        // The device's counts include what others did.
        LabKind::Directory => is_of_the_drive(&claim.metric),
        // Nobody here knows how it was measured.
        LabKind::Imported => false,
    };
    let of = |claim: &Judgement| match claim.verdict {
        Verdict::Holds => claim.if_holds.clone(),
        Verdict::Refuted => claim.if_refuted.clone(),
        Verdict::Undecided => None,
    };
    let mut settings: Vec<Setting> = Vec::new();
    for claim in claims.iter().filter(|claim| shows(claim)) {
        let Some(says) = of(claim) else { continue };
        match settings.iter_mut().find(|known| known.says == says) {
            Some(known) => known.claims.push(claim.id.clone()),
            None => settings.push(Setting { says, claims: vec![claim.id.clone()] }),
        }
    }
    settings
}

/// What a verdict about a metric is limited to in a lab.
fn scope(lab: LabKind, metric: &str) -> Option<&'static str> {
    match lab {
        LabKind::Virtual if is_of_the_drive(metric) => Some("of a simulated drive"),
        LabKind::Image if is_of_the_drive(metric) => Some("of an image file, not of a drive"),
        LabKind::Directory if !is_of_the_drive(metric) => Some("with whatever else ran there"),
        LabKind::Imported => Some("of imported results"),
        _ => None,
    }
}

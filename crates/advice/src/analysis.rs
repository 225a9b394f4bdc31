//! The whole analysis of a run: what `--json` prints and every report is made from.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use ssdlab_plan::metric::Metric;
use ssdlab_plan::{CAPACITY_BYTES, Factor, LabKind, Levels, Origin, Schedule};
use ssdlab_quantity::grouped;
use ssdlab_results::{Ending, Record};

use super::effects::{self, Effect, NoRatio};
use super::flat::{self, Flat};
use super::flip::Flip;
use super::hosts::{self, ByHost};
use super::judgement::{Conclusion, Judgement, Outcome};
use super::late::LateWork;
use super::method::{self, Check};
use super::over_drives::{FEWEST_DRAWS, OverDrives};
use super::pairs::Blocks;
use super::plausible::{self, PlausibleDrives};
use super::prediction::{self, Prediction};
use super::ranking::{self, StepRanking};
use super::treatment::{self, TreatmentResult};
use super::warning::WarningMessage;
use super::{claims, warnings};

/// The version of the analysis' format.
pub const ANALYSIS_SCHEMA: u32 = 1;

/// What a run found out.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Analysis {
    /// The version of this format.
    pub schema: u32,
    /// The run's name.
    pub run: String,
    /// What commands call it if its name is not enough: its folder.
    #[serde(skip)]
    pub folder: Option<String>,
    /// The plan's name.
    pub plan: String,
    /// The question.
    pub question: String,
    /// Where the trials ran.
    pub lab: Origin,
    /// Whether the run came to its planned end.
    pub status: Completeness,
    /// Why it ended.
    pub ending: Ending,
    /// The metric the plan is about.
    pub metric: Metric,
    /// The seed of the run; absent if it was imported.
    pub seed: Option<u64>,
    /// The number of plausible drives measured besides the published one; 0 if trials are repeated
    /// on the same drive. All numbers are for the published drive, except those called plausible.
    pub plausible_drives: usize,
    /// By how much the plan's workload was scaled.
    pub scale: f64,
    /// The capacity in bytes of the drive, image or device; absent if it is unknown or differs
    /// between treatments.
    pub capacity_bytes: Option<u64>,
    /// Every capacity in bytes that trials had.
    pub capacities_bytes: BTreeSet<u64>,
    /// The same for each drive, as far as trials name theirs.
    #[serde(skip)]
    pub capacities_of_drives: BTreeMap<String, BTreeSet<u64>>,
    /// The conditions to which simulated drives were brought before the trials.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<String>,
    /// What the trials ran on: each property, with every value it had in any trial.
    pub environment: BTreeMap<String, BTreeSet<String>>,
    /// The settings for which the kernel reported the same value in all trials that have them.
    pub applied: BTreeMap<String, String>,
    /// Every treatment, also those that could not run.
    pub treatments: Vec<TreatmentResult>,
    /// What each treatment does to each metric, against its baseline.
    pub effects: Vec<Effect>,
    /// The differences of the plan's metric that have no ratio, as one side has nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub without_ratio: Vec<NoRatio>,
    /// The effects on the plan's metric and the claims' ratios, separately for each host; empty if
    /// fewer than two hosts ran trials, or if hosts make no difference (virtual lab).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub by_host: Vec<ByHost>,
    /// Which treatments are better than which, step by step; empty where the plan ranks nothing.
    pub rankings: Vec<StepRanking>,
    /// What was predicted before the run, beside what was measured; empty without a prediction.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub predictions: Vec<Prediction>,
    /// The plan's claims, judged.
    #[serde(serialize_with = "flat::serialize")]
    #[schemars(with = "Vec<Flat>")]
    pub claims: Vec<Judgement>,
    /// The settings that follow from the verdicts.
    pub settings: Vec<RecommendedSetting>,
    /// Checks of the run's method: whether its numbers can be trusted.
    pub method: Vec<Check>,
    /// What a reader must know before believing the numbers.
    pub warnings: Vec<WarningMessage>,
}

impl Analysis {
    /// Adds the results of `ssdlab flip` to their claims.
    pub fn add_flips(&mut self, flips: Vec<Flip>) {
        for flip in flips {
            if let Some(claim) = self.claims.iter_mut().find(|claim| claim.id == flip.claim) {
                claim.flips.push(flip);
            }
        }
    }

    /// Puts what the run of a prediction found, whose treatments are the same in the same order,
    /// beside what was measured.
    pub fn add_prediction(&mut self, predicted: &Self) {
        self.predictions.extend(prediction::beside(&self.treatments, &predicted.treatments));
    }

    /// The effect of a treatment on a metric in one phase, if there is one.
    pub fn effect(&self, metric: Metric, levels: &Levels, phase: &str) -> Option<&Effect> {
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
    /// Whether a run with this ending is complete.
    pub fn of(ending: Ending) -> Self {
        match ending {
            Ending::Interrupted => Self::Partial,
            _ => Self::Complete,
        }
    }
}

/// A setting that follows from a verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RecommendedSetting {
    /// What to do.
    pub says: String,
    /// The limits of this recommendation: it holds in some of a claim's cases only, or rests on few
    /// plausible drives.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<String>,
    /// What it rests on, in words: how a model was made (`by construction`), a claim made after
    /// results were known (`exploratory`), or simulated, counted or measured results.
    pub rests_on: String,
    /// The claims it follows from.
    pub claims: Vec<String>,
}

/// Analyses a run; `run` is its name, `ending` why it ended. Measurements move into the analysis,
/// so owned records are not copied.
pub fn analyse<'a>(
    run: &str,
    schedule: &Schedule,
    records: impl Into<Cow<'a, [Record]>>,
    ending: Ending,
) -> Analysis {
    let records = records.into();
    let mut analysis = summarise(run, schedule, &records, ending);
    treatment::add_trials(&mut analysis.treatments, records);
    analysis
}

/// Analyses a run like [`analyse`], but leaves out the treatments' trials.
pub fn summarise(run: &str, schedule: &Schedule, records: &[Record], ending: Ending) -> Analysis {
    let treatments: Vec<TreatmentResult> = (0..schedule.treatments.len())
        .map(|index| treatment::summarise(index, schedule, records))
        .collect();
    let published = plausible::of_published(records);
    let blocks = Blocks::of(schedule, &published);
    let mut effects = effects::all(schedule, &blocks);
    let drives = PlausibleDrives::of(schedule, records);
    if let Some(drives) = &drives {
        drives.spread(&mut effects);
    }
    let late = LateWork::of(schedule, records);
    let claims = claims::judge_all(schedule, &blocks, drives.as_ref(), late.as_ref());
    let mut by_host = hosts::of_effects(schedule, &blocks, &effects);
    by_host.extend(hosts::of_claims(schedule, &blocks));
    let rankings = ranking::all(schedule, &blocks);
    let intervals = intervals(schedule.metric, &claims, &effects, &by_host, &rankings);
    let method = method::checks(schedule, &published, &claims, &intervals);
    let mut warnings = warnings::all(schedule, records, &treatments, &method);
    let of_hosts = hosts::warnings(schedule, records, &blocks, &by_host);
    let unranked = ranking::unranked(schedule, &blocks);
    warnings.extend(of_hosts.into_iter().chain(unranked).map(WarningMessage::from));
    let capacities_bytes = capacities(schedule, records);
    let (environment, applied) = (environments(records), applied(&published));
    Analysis {
        folder: None,
        predictions: Vec::new(),
        schema: ANALYSIS_SCHEMA,
        run: run.to_owned(),
        plan: schedule.plan.clone(),
        question: schedule.question.clone(),
        lab: schedule.origin(),
        status: Completeness::of(ending),
        ending,
        metric: schedule.metric,
        seed: schedule.target.is_some().then_some(schedule.seed),
        scale: schedule.scale(),
        plausible_drives: plausible::measured(records),
        capacity_bytes: capacities_bytes.first().copied().filter(|_| capacities_bytes.len() == 1),
        capacities_bytes,
        capacities_of_drives: capacities_of_drives(records),
        conditions: schedule.conditions(),
        environment,
        applied,
        settings: settings(schedule.origin(), &claims),
        warnings,
        method,
        treatments,
        without_ratio: effects::without_ratio(schedule, &blocks),
        effects,
        by_host,
        rankings,
        claims,
    }
}

/// The 95 % intervals that reports show: of claims, of rankings, and of effects on `metric`, both
/// over all hosts and on each.
fn intervals(
    metric: Metric,
    claims: &[Judgement],
    effects: &[Effect],
    by_host: &[ByHost],
    rankings: &[StepRanking],
) -> Vec<[f64; 2]> {
    let of_claims = claims.iter().map(|claim| claim.outcome.interval());
    let of_effects = effects.iter().filter(|effect| effect.metric == metric);
    let of_effects = of_effects.map(|effect| effect.interval);
    let of_hosts = by_host.iter().flat_map(|by_host| {
        let across = by_host.across.map(|across| across.interval);
        by_host.hosts.iter().map(|own| own.interval).chain([across])
    });
    let of_places = rankings.iter().flat_map(|ranking| &ranking.places);
    let of_places = of_places.map(|place| place.interval);
    of_claims.chain(of_effects).chain(of_hosts).chain(of_places).flatten().collect()
}

/// The settings that follow from the verdicts. A verdict never claims more than its lab can show:
/// the times of an image file say nothing about a drive, so no setting follows from them.
fn settings(origin: Origin, claims: &[Judgement]) -> Vec<RecommendedSetting> {
    let is_of_the_drive = |claim: &Judgement| claim.claim.metric.is_of_the_drive();
    let shows = |claim: &Judgement| match origin {
        Origin::Lab(LabKind::Virtual | LabKind::Device | LabKind::Live) => true,
        Origin::Lab(LabKind::Image) => !is_of_the_drive(claim),
        // The device's counters include the I/O of other programs.
        Origin::Lab(LabKind::Directory) => is_of_the_drive(claim),
        // How it was measured is unknown.
        Origin::Imported => false,
    };
    let of = |claim: &Judgement| match &claim.outcome {
        Outcome::Measured { conclusion: Conclusion::Holds, .. } => claim.claim.if_holds.clone(),
        Outcome::Measured { conclusion: Conclusion::Refuted, .. } => claim.claim.if_refuted.clone(),
        _ => None,
    };
    let usable = claims.iter().filter(|claim| shows(claim));
    let settings = grouped(usable.filter_map(|claim| Some((of(claim)?, claim))));
    let setting = |(says, from): (String, Vec<&Judgement>)| RecommendedSetting {
        limits: limits(&from, claims),
        rests_on: rests_on(origin, &from),
        claims: from.iter().map(|claim| claim.id.clone()).collect(),
        says,
    };
    settings.into_iter().map(setting).collect()
}

/// What a setting that follows from some verdicts is limited to.
fn limits(from: &[&Judgement], claims: &[Judgement]) -> Vec<String> {
    let is_case = |claim: &&Judgement| from.iter().any(|own| own.claim.id == claim.claim.id);
    let cases: Vec<&Judgement> = claims.iter().filter(is_case).collect();
    let mut limits = Vec::new();
    if from.len() < cases.len() {
        let varies = |factor: &Factor| {
            let level = |case: &&Judgement| case.levels.as_ref()?.0.get(factor).cloned();
            cases.iter().map(level).collect::<BTreeSet<_>>().len() > 1
        };
        let own = |claim: &&Judgement| {
            claim.levels.as_ref().map_or(String::new(), |levels| levels.only(varies).to_string())
        };
        limits.push(match from {
            [one] => format!("for {}", own(one)),
            _ => format!("in {} of {} cases", from.len(), cases.len()),
        });
    }
    let drawn = from.iter().filter_map(|claim| claim.plausible.as_ref()).map(|over| over.of).min();
    if let Some(drawn) = drawn.filter(|drawn| *drawn < FEWEST_DRAWS) {
        let drives = if drawn == 1 { "drive" } else { "drives" };
        limits.push(format!("on {drawn} plausible {drives} only"));
    }
    let differs = |over: &OverDrives| over.published_differs();
    if from.iter().any(|claim| claim.plausible.as_ref().is_some_and(differs)) {
        limits.push("not on the published drive".to_owned());
    }
    limits
}

/// What a setting that follows from some verdicts rests on: each kind once, with the number of
/// verdicts if there are several kinds.
fn rests_on(origin: Origin, from: &[&Judgement]) -> String {
    let is_virtual = origin == Origin::Lab(LabKind::Virtual);
    let n = |claim: &Judgement| claim.outcome.estimate().map_or(0, |estimate| estimate.n);
    let of = |claim: &Judgement| match &claim.plausible {
        _ if claim.by_construction.is_some() => "by construction".to_owned(),
        _ if claim.claim.exploratory.is_some() => "exploratory".to_owned(),
        Some(over) => format!("simulated on {0} of {0} plausible drives", over.of),
        None if claim.claim.metric.is_of_cuts() => {
            format!("{} simulated power cuts", n(claim))
        }
        None if is_virtual => format!("simulated, n = {}", n(claim)),
        None => format!("measured, n = {}", n(claim)),
    };
    let kinds = grouped(from.iter().map(|claim| (of(claim), *claim)));
    match &kinds[..] {
        [(only, _)] => only.clone(),
        several => {
            let says = |(kind, own): &(String, Vec<&Judgement>)| {
                format!("{} of {} {kind}", own.len(), from.len())
            };
            several.iter().map(says).collect::<Vec<_>>().join(", ")
        }
    }
}

/// Each field of the records' environments, with every value that it had.
fn environments(records: &[Record]) -> BTreeMap<String, BTreeSet<String>> {
    let mut facts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut environments: Vec<_> = records.iter().map(|record| &record.environment).collect();
    // Runs are long, and their trials mostly ran on one machine.
    environments.dedup();
    for environment in environments {
        let environment = serde_json::to_value(environment).expect("it is plain data");
        let Value::Object(fields) = environment else { continue };
        for (name, value) in fields {
            let value = worded(&value);
            if !value.is_empty() {
                facts.entry(name).or_default().insert(value);
            }
        }
    }
    facts
}

/// The capacity in bytes of the device that a trial ran on.
fn capacity(record: &Record) -> Option<u64> {
    record.applied.get(CAPACITY_BYTES)?.parse().ok()
}

/// The capacities in bytes of drives, by the names of these.
fn capacities_of_drives(records: &[Record]) -> BTreeMap<String, BTreeSet<u64>> {
    let mut capacities: BTreeMap<String, BTreeSet<u64>> = BTreeMap::new();
    for record in records {
        let simulated = record.levels.0.get(&Factor::Drive);
        let drive = simulated.or(record.environment.drive_model.as_ref());
        if let Some((drive, capacity)) = drive.zip(capacity(record)) {
            capacities.entry(drive.clone()).or_default().insert(capacity);
        }
    }
    capacities
}

/// The capacities in bytes of the devices that trials ran on; without records, the target's.
fn capacities(schedule: &Schedule, records: &[Record]) -> BTreeSet<u64> {
    let mut capacities: BTreeSet<u64> = records.iter().filter_map(capacity).collect();
    if capacities.is_empty() {
        capacities.extend(schedule.capacity_bytes());
    }
    capacities
}

/// Each setting for which the kernel reported the same value in every trial that has it.
fn applied(records: &[Record]) -> BTreeMap<String, String> {
    let mut settings: BTreeMap<&String, Option<&String>> = BTreeMap::new();
    for (name, value) in records.iter().flat_map(|record| &record.applied) {
        let known = settings.entry(name).or_insert(Some(value));
        *known = known.filter(|known| *known == value);
    }
    let alike = |(name, value): (&String, Option<&String>)| Some((name.clone(), value?.clone()));
    settings.into_iter().filter_map(alike).filter(|(_, value)| !value.is_empty()).collect()
}

fn worded(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(several) => several.iter().map(worded).collect::<Vec<_>>().join("; "),
        other => other.to_string(),
    }
}

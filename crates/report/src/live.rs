//! A run in progress, for the page that shows it.

use std::iter;

use serde::Serialize;
use ssdlab_advice::{Analysis, Judgement, Verdict};
use ssdlab_plan::Schedule;
use ssdlab_results::Status;

use super::claims::claims;
use super::evidence::so_far;
use super::number;
use super::plausible;
use super::words::plain;

/// The progress of a run.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Going {
    /// Trials that have ended.
    pub done: usize,
    /// The least number of trials that there will be.
    pub planned: usize,
    /// What is known about the remaining time, in words.
    pub pace: String,
    /// What is running now.
    pub running: Vec<String>,
    /// What went wrong.
    pub troubles: Vec<String>,
    /// Whether it has ended.
    pub ended: bool,
}

/// The results so far.
#[derive(Debug, Clone, Serialize)]
pub struct Shown {
    question: String,
    run: String,
    lab: String,
    seed: Option<u64>,
    metric: String,
    claims: Vec<LiveClaim>,
    rows: Vec<LiveRow>,
    #[serde(skip)]
    so_far: Vec<SoFar>,
}

/// What is known of a claim, for a line on a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SoFar {
    /// The claim's name; with the treatment in brackets where it applies to several.
    pub id: String,
    /// The verdict if the run ended now.
    pub verdict: Verdict,
    /// The verdict, which way it leans if there is none yet, and the numbers, in words.
    pub says: String,
}

#[derive(Debug, Clone, Serialize)]
struct LiveClaim {
    says: String,
    verdict: Verdict,
    found: String,
}

#[derive(Debug, Clone, Serialize)]
struct LiveRow {
    treatment: String,
    phase: String,
    /// On any drive.
    samples: Vec<f64>,
    /// On the published drive; it says so where samples are on others, too.
    mean: String,
    ratio: String,
}

/// The progress and the results of a run.
#[derive(Serialize)]
struct State<'a> {
    #[serde(flatten)]
    shown: &'a Shown,
    #[serde(flatten)]
    going: &'a Going,
}

/// The state of a run as a JSON object.
#[must_use]
pub fn live(shown: &Shown, going: &Going) -> String {
    serde_json::to_string(&State { shown, going }).expect("it is plain data")
}

impl Shown {
    /// The results so far, from an analysis of the trials so far.
    #[must_use]
    pub fn new(schedule: &Schedule, analysis: &Analysis) -> Self {
        let claims = claims(schedule, analysis).into_iter().flat_map(|claim| {
            claim.cases.into_iter().map(move |case| {
                let found: Vec<String> =
                    iter::once(case.line()).chain(claim.shared.iter().cloned()).collect();
                let found = found.join("; ");
                let (says, found) = (plain(claim.says), plain(&found));
                LiveClaim { says, verdict: case.judgement.outcome.verdict(), found }
            })
        });
        Self {
            question: analysis.question.clone(),
            run: analysis.run.clone(),
            lab: analysis.lab.to_string(),
            seed: analysis.seed,
            metric: analysis.metric.clone(),
            claims: claims.collect(),
            rows: rows(schedule, analysis),
            so_far: analysis.claims.iter().map(claim_so_far).collect(),
        }
    }

    /// What is known of each claim.
    #[must_use]
    pub fn so_far(&self) -> &[SoFar] {
        &self.so_far
    }
}

fn claim_so_far(claim: &Judgement) -> SoFar {
    SoFar { id: plain(&claim.id), verdict: claim.outcome.verdict(), says: plain(&so_far(claim)) }
}

fn rows(schedule: &Schedule, analysis: &Analysis) -> Vec<LiveRow> {
    let metric = analysis.metric.as_str();
    let of_mean = if analysis.plausible_drives > 0 { " on the published drive" } else { "" };
    let mut rows = Vec::new();
    for treatment in &analysis.treatments {
        for summary in &treatment.summary {
            let Some(of_all) = summary.metrics.get(metric) else { continue };
            let effect = analysis.effect(metric, &treatment.levels, &summary.name);
            let well = treatment.trials.iter().filter(|trial| trial.status == Status::Ok);
            let phases = well.flat_map(|trial| &trial.phases);
            let samples = phases.filter(|phase| phase.name == summary.name);
            rows.push(LiveRow {
                treatment: plain(&schedule.distinct(&treatment.levels).to_string()),
                phase: summary.name.clone(),
                samples: samples.filter_map(|phase| phase.metric(metric)).collect(),
                mean: format!("{}{of_mean}", number::value(metric, of_all.mean)),
                ratio: effect.map(plausible::effect).unwrap_or_default(),
            });
        }
    }
    rows
}

//! A run as it goes on, for the page that shows it.

use serde::Serialize;

use super::number;
use super::text::{evidence, plain};
use crate::advice::{Analysis, Verdict};
use crate::plan::Schedule;
use crate::results::Status;

/// How far a run is.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Going {
    /// Trials that have ended.
    pub done: usize,
    /// Trials there will be, at least.
    pub planned: usize,
    /// What is known about the rest of it, in words.
    pub pace: String,
    /// What is being done.
    pub running: Vec<String>,
    /// What went wrong.
    pub troubles: Vec<String>,
    /// Whether it has ended.
    pub ended: bool,
}

#[derive(Serialize)]
struct Live<'a> {
    question: &'a str,
    run: &'a str,
    lab: String,
    seed: u64,
    metric: &'a str,
    claims: Vec<Claim>,
    rows: Vec<Row<'a>>,
    #[serde(flatten)]
    going: &'a Going,
}

#[derive(Serialize)]
struct Claim {
    says: String,
    verdict: Verdict,
    found: String,
}

#[derive(Serialize)]
struct Row<'a> {
    treatment: String,
    phase: &'a str,
    samples: Vec<f64>,
    mean: String,
    ratio: String,
}

/// The state of a run as a JSON object; `analysis` is of the trials so far.
#[must_use]
pub fn live(schedule: &Schedule, analysis: &Analysis, going: &Going) -> String {
    let claims = analysis.claims.iter().map(|claim| {
        let of = claim.levels.as_ref().map(|levels| schedule.distinct(levels).to_string());
        let parts = [of.unwrap_or_default(), evidence(claim)];
        let found = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>();
        Claim { says: plain(&claim.says), verdict: claim.verdict, found: plain(&found.join(": ")) }
    });
    let live = Live {
        question: &analysis.question,
        run: &analysis.run,
        lab: analysis.lab.to_string(),
        seed: analysis.seed,
        metric: &analysis.metric,
        claims: claims.collect(),
        rows: rows(schedule, analysis),
        going,
    };
    serde_json::to_string(&live).expect("it is plain data")
}

fn rows<'a>(schedule: &Schedule, analysis: &'a Analysis) -> Vec<Row<'a>> {
    let metric = analysis.metric.as_str();
    let mut rows = Vec::new();
    for treatment in &analysis.treatments {
        for summary in &treatment.summary {
            let Some(of_all) = summary.metrics.get(metric) else { continue };
            let effect = analysis.effects.iter().find(|effect| {
                effect.metric == metric
                    && effect.levels == treatment.levels
                    && effect.phases == [summary.name.as_str()]
            });
            let well = treatment.trials.iter().filter(|trial| trial.status == Status::Ok);
            let phases = well.flat_map(|trial| &trial.phases);
            let samples = phases.filter(|phase| phase.name == summary.name);
            rows.push(Row {
                treatment: plain(&schedule.distinct(&treatment.levels).to_string()),
                phase: &summary.name,
                samples: samples.filter_map(|phase| phase.metric(metric)).collect(),
                mean: number::value(metric, of_all.mean),
                ratio: effect
                    .map(|effect| number::effect(effect.ratio, effect.interval))
                    .unwrap_or_default(),
            });
        }
    }
    rows
}

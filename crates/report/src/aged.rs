//! The file layout of aged filesystems before the first phase, in a sentence.

use ssdlab_advice::Analysis;
use ssdlab_plan::{Factor, Levels, Schedule};
use ssdlab_results::AgeingRecord;

/// The layout scores, one for all treatments that share an aged filesystem; `None` if nothing was
/// aged.
pub(super) fn layout_scores(schedule: &Schedule, analysis: &Analysis) -> Option<String> {
    let mut scores: Vec<(Levels, String)> = Vec::new();
    for treatment in &analysis.treatments {
        let aged: Vec<&AgeingRecord> =
            treatment.trials.iter().filter_map(|trial| trial.aged.as_ref()).collect();
        let shapes = |factor: &Factor| factor.shapes_aged() || factor.is_simulated();
        let levels = schedule.distinct(&treatment.levels).only(shapes);
        if !aged.is_empty() && !scores.iter().any(|(known, _)| *known == levels) {
            scores.push((levels, score(&aged)));
        }
    }
    let one = |(levels, score): &(Levels, String)| {
        if levels.0.is_empty() { score.clone() } else { format!("{score} ({levels})") }
    };
    let all: Vec<String> = scores.iter().map(one).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

fn score(aged: &[&AgeingRecord]) -> String {
    let known: Vec<f64> = aged.iter().filter_map(|aged| aged.layout_score).collect();
    if known.is_empty() {
        return "unknown".to_owned();
    }
    let mean = known.iter().sum::<f64>() / known.len() as f64;
    let missed = aged.iter().any(|aged| aged.is_at_target == Some(false));
    let rounds = aged.iter().map(|aged| aged.rounds).max().unwrap_or(0);
    let why =
        if missed { format!(", not what was asked for in {rounds} rounds") } else { String::new() };
    format!("{mean:.3}{why}")
}

//! Judges claims that one treatment is better than all of its rivals.

use ssdlab_plan::schedule::{Bounds, Statement};
use ssdlab_plan::{Factor, Schedule};

use super::case::{Case, Evidence, Judgement, RestsOn, Sample, measure, named};
use super::pairs::Blocks;

/// The treatments that a case's treatment is claimed to beat: those with other levels of the
/// factors that the claim names.
pub(super) fn rivals(schedule: &Schedule, case: &Case<'_>) -> Vec<usize> {
    let Statement::Best { among, .. } = &case.claim.statement else { return Vec::new() };
    let best = &schedule.treatments[case.side.treatment].levels;
    let is_rival = |index: &usize| {
        let levels = &schedule.treatments[*index].levels;
        let competes = |(factor, among): (&Factor, &Vec<String>)| {
            levels.0.get(factor).is_some_and(|level| among.contains(level))
        };
        levels != best && levels.with(&case.claim.compare) == *best && among.iter().all(competes)
    };
    (0..schedule.treatments.len()).filter(is_rival).collect()
}

/// Tests whether a treatment is better than each of its rivals. This must be shown for every rival
/// (R. L. Berger 1982, "Multiparameter hypothesis testing and acceptance sampling", Technometrics
/// 24: an intersection-union test, which needs no correction) and is refuted by any that is better.
/// The ratio shown is to the nearest rival, or to the best of those that are ahead.
pub(super) fn weigh(
    schedule: &Schedule,
    blocks: &Blocks<'_>,
    case: &Case<'_>,
    is_one_of_several: bool,
) -> (Judgement, Option<Evidence>) {
    let bounds = case.claim.bounds();
    let is_higher = matches!(bounds, Bounds::AtLeast(_));
    let ahead = |sample: &Sample| sample.tests(bounds);
    let mut measured: Vec<(Judgement, Option<Sample>)> = Vec::new();
    let mut not_measured = Vec::new();
    for rival in rivals(schedule, case) {
        let found = measure(schedule, blocks, &case.against(rival), is_one_of_several);
        if found.0.found().is_some() {
            measured.push(found);
        } else {
            let levels = &schedule.treatments[rival].levels;
            not_measured.push(schedule.distinct(levels).to_string());
        }
    }
    let distance = |judgement: &Judgement| {
        let ratio = judgement.found().unwrap_or(f64::NAN);
        if is_higher { ratio } else { 1.0 / ratio }
    };
    let nearest = measured.iter().min_by(|a, b| distance(&a.0).total_cmp(&distance(&b.0)));
    let Some((nearest, sample)) = nearest else {
        let mut judgement = named(schedule, case, is_one_of_several);
        judgement.reason = Some("it was not measured beside any other".to_owned());
        return (judgement, None);
    };
    let mut judgement = nearest.clone();
    judgement.not_measured = not_measured;
    [judgement.at_least, judgement.at_most] = bounds.ends();
    // One rival that is ahead refutes it, but what cannot be tested against each is not shown.
    let untested = measured.iter().find(|(_, sample)| sample.is_none()).map(|(one, _)| one.clone());
    let Some(sample) = sample.clone().or_else(|| measured.iter().find_map(|(_, own)| own.clone()))
    else {
        let Judgement { verdict, reason, more_runs, .. } =
            untested.unwrap_or_else(|| nearest.clone());
        return (Judgement { verdict, reason, more_runs, ..judgement }, None);
    };
    let tests: Vec<(f64, f64)> =
        measured.iter().filter_map(|(_, sample)| sample.as_ref().map(ahead)).collect();
    let p_holds = match &untested {
        Some(_) => 1.0,
        None => tests.iter().map(|(ahead, _)| *ahead).fold(0.0, f64::max),
    };
    let p_behind = tests.iter().map(|(_, behind)| *behind).fold(1.0, f64::min);
    let p_refuted = (p_behind * tests.len() as f64).min(1.0);
    judgement.reason = untested.and_then(|one| one.reason);
    (judgement, Some(Evidence { rests_on: RestsOn::Sample(sample), p_holds, p_refuted }))
}

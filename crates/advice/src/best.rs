//! Judges claims that one treatment is better than all of its rivals.

use ssdlab_plan::schedule::{Bounds, Statement};
use ssdlab_plan::{Factor, Schedule};

use super::case::{CaseBasis, CaseSample, CaseTestResult, CaseTests, ComparedCase, measure};
use super::judgement::{ClaimEstimate, Conclusion, OpenReason, Outcome};
use super::pairs::Blocks;

/// The treatments that a case's treatment is claimed to beat: those with other levels of the
/// factors that the claim names.
pub(super) fn rivals(schedule: &Schedule, case: &ComparedCase<'_>) -> Vec<usize> {
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
/// The ratio shown is to the nearest rival, or to the best of those that are ahead: returns the
/// case against this one, the rivals that were not measured, and the tests.
pub(super) fn weigh<'a>(
    schedule: &Schedule,
    blocks: &Blocks<'_>,
    case: ComparedCase<'a>,
) -> (ComparedCase<'a>, Vec<String>, CaseTestResult) {
    let bounds = case.claim.bounds();
    let mut measured = Vec::new();
    let mut not_measured = Vec::new();
    for rival in rivals(schedule, &case) {
        if let Ok((estimate, sample)) = measure(schedule, blocks, &case.against(rival)) {
            measured.push((rival, estimate, sample));
        } else {
            let levels = &schedule.treatments[rival].levels;
            not_measured.push(schedule.distinct(levels).to_string());
        }
    }
    let distance = |estimate: &ClaimEstimate| match bounds {
        Bounds::AtLeast(_) => estimate.found.ratio(),
        _ => 1.0 / estimate.found.ratio(),
    };
    let nearest = measured.iter().min_by(|a, b| distance(&a.1).total_cmp(&distance(&b.1)));
    let Some((nearest, estimate, sample)) = nearest else {
        let why = OpenReason::from("it was not measured beside any other".to_owned());
        return (case, Vec::new(), Err(Outcome::NotCompared(why)));
    };
    // One rival that is ahead refutes it, but what cannot be tested against each is not shown.
    let untested = measured.iter().find_map(|(.., sample)| sample.as_ref().err());
    let samples: Vec<&CaseSample> =
        measured.iter().filter_map(|(.., sample)| sample.as_ref().ok()).collect();
    let weighed = match (sample.as_ref().ok().or(samples.first().copied()), untested) {
        (Some(sample), untested) => {
            let tests: Vec<(f64, f64)> = samples.iter().map(|own| own.tests(bounds)).collect();
            let p_behind = tests.iter().map(|(_, behind)| *behind).fold(1.0, f64::min);
            Ok(CaseTests {
                estimate: *estimate,
                rests_on: CaseBasis::Sample(sample.clone()),
                p_holds: match untested {
                    Some(_) => 1.0,
                    None => tests.iter().map(|(ahead, _)| *ahead).fold(0.0, f64::max),
                },
                p_refuted: (p_behind * tests.len() as f64).min(1.0),
                reason: untested.and_then(OpenReason::reason).map(str::to_owned),
            })
        }
        (None, untested) => {
            let why = untested.cloned().unwrap_or(OpenReason::Runs(None));
            Err(Outcome::Measured { estimate: *estimate, conclusion: Conclusion::Open(why) })
        }
    };
    (case.against(*nearest), not_measured, weighed)
}

//! Verdicts and effects over plausible drives: on how many a claim holds, and what decides it.
//!
//! There is no t interval over draws: it would shrink with their number, but what is unknown about
//! a drive does not. Reports give the range, the published drive included, and how many draws
//! agree. The published drive has the first block; all other results of a run are its results.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use ssdlab_plan::schedule::Bounds;
use ssdlab_plan::{Factor, Schedule};
use ssdlab_results::Record;
use ssdlab_stats::Summary;

use super::best::rivals;
use super::case::{ComparedCase, cases, unlike};
use super::counted::counted;
use super::effects::Effect;
use super::judgement::{ClaimEstimate, Conclusion, EstimatedValue, Outcome};
use super::over_drives::{DriveSpread, FEWEST_DRAWS, OverDrives, guarantee};
use super::pairs::{Blocks, ComparedSide, Quantity, StepChoice};
use super::separation::{self, DrawResult};

/// The records of trials on the published drive.
pub(super) fn of_published(records: &[Record]) -> Cow<'_, [Record]> {
    if records.iter().all(|record| record.draw.is_none()) {
        return Cow::Borrowed(records);
    }
    records.iter().filter(|record| record.draw.is_none()).cloned().collect()
}

/// The number of plausible drives that were measured.
pub(super) fn measured(records: &[Record]) -> usize {
    let drawn = counted(records).filter(|record| record.draw.is_some());
    drawn.map(|record| record.trial.block).collect::<BTreeSet<_>>().len()
}

/// The draws that were discarded before the plausible drives were found.
pub(super) fn redrawn(records: &[Record]) -> u32 {
    // All trials of a block with one drive have the same draw.
    let draws = records.iter().filter_map(|record| {
        let drive = record.levels.0.get(&Factor::Drive);
        Some(((record.trial.block, drive), record.draw.as_ref()?.redrawn))
    });
    draws.collect::<BTreeMap<_, _>>().into_values().sum()
}

/// A run with trials on plausible drives.
pub(super) struct PlausibleDrives<'a> {
    schedule: &'a Schedule,
    records: &'a [Record],
    /// The blocks of the published drive and of the drawn ones.
    blocks: Blocks<'a>,
}

impl<'a> PlausibleDrives<'a> {
    /// `None` if no trial was on a plausible drive.
    pub fn of(schedule: &'a Schedule, records: &'a [Record]) -> Option<Self> {
        let drives = || Self { schedule, records, blocks: Blocks::of(schedule, records) };
        (measured(records) > 0).then(drives)
    }

    /// Adds to effects their spread over plausible drives.
    pub fn spread(&self, effects: &mut [Effect]) {
        for effect in effects {
            let sides = [&effect.levels, &effect.baseline].map(|levels| self.schedule.find(levels));
            let [Some(side), Some(baseline)] = sides else { continue };
            let quantity = Quantity { metric: effect.metric, phases: &effect.phases };
            let found = self.blocks.found(quantity.of(side), Some(quantity.of(baseline)));
            let found = found.ok().filter(|found| !found.values().any(|own| is_of_nothing(*own)));
            effect.plausible = found.and_then(|found| over(self.schedule, &found));
        }
    }

    /// Judges a case, already judged on the published drive, by the drives on which it holds.
    pub fn judge(
        &self,
        case: &ComparedCase<'_>,
        outcome: Outcome,
    ) -> (Outcome, Option<OverDrives>) {
        let claim = case.claim;
        let pair = case.baseline.filter(|_| !claim.is_best());
        // Cuts are judged as before: a trial has many already, also on the published drive.
        if unlike(self.schedule, claim).is_some()
            || self.schedule.not_testable(claim).is_some()
            || claim.metric.is_of_cuts()
            || pair.is_some_and(|other| self.blocks.are_identical(case.side, other))
        {
            return (outcome, None);
        }
        let found = match found(self.schedule, &self.blocks, case) {
            Ok(found) => found,
            Err(reason) => return (outcome.of_one_run().opened(reason.into()), None),
        };
        let holds = |value: f64| claim.bounds().allow(value);
        let drawn = drawn_values(self.schedule, &found);
        let (of, count) = (drawn.len(), drawn.iter().filter(|value| holds(**value)).count());
        if of == 0 {
            return (outcome, None);
        }
        let published = found.iter().find(|(block, _)| self.schedule.draw_of(**block).is_none());
        let published = published.map(|(_, value)| *value);
        let on_published = published.map(holds);
        // Enough draws that agree are not outvoted by the published drive, which is one more.
        let are_enough = FEWEST_DRAWS <= of;
        let conclusion = match (count, on_published) {
            (holds, None | Some(true)) if holds == of => Conclusion::Holds,
            (0, None | Some(false)) => Conclusion::Refuted,
            (holds, _) if holds == of && are_enough => Conclusion::Holds,
            (0, _) if are_enough => Conclusion::Refuted,
            _ => Conclusion::Depends,
        };
        let measured = |found: EstimatedValue, n: usize| {
            let estimate = ClaimEstimate { found, n, across_hosts: None, p: None };
            Outcome::Measured { estimate, conclusion }
        };
        if pair.is_some() && found.values().any(|own| is_of_nothing(*own)) {
            // There is no range of ratios; what both sides have says enough.
            let signs = self.blocks.against_nothing(case.side, pair, StepChoice::FirstStep);
            let on_drives = signs.map(|signs| EstimatedValue::AgainstNothing(signs.found()));
            let either = on_drives.or(outcome.estimate().map(|estimate| estimate.found));
            return (either.map_or(outcome, |nothing| measured(nothing, found.len())), None);
        }
        let Some(spread) = over(self.schedule, &found) else { return (outcome, None) };
        let separated_by =
            (0 < count && count < of).then(|| separation::best(&self.drawn(case, &found, holds)));
        let is_guaranteed =
            (count == 0 || count == of) && are_enough && claim.exploratory.is_none();
        let ratio = published.unwrap_or(spread.median);
        let over = OverDrives {
            holds: count,
            of,
            published: on_published,
            guarantees: is_guaranteed.then(|| guarantee(of)),
            spread,
            separated_by: separated_by.flatten(),
        };
        (measured(EstimatedValue::Ratio { ratio, interval: None }, found.len()), Some(over))
    }

    /// The draws of a case's treatments, each with its result.
    fn drawn(
        &self,
        case: &ComparedCase<'_>,
        found: &BTreeMap<u32, f64>,
        holds: impl Fn(f64) -> bool,
    ) -> Vec<DrawResult> {
        let treatments = treatments(self.schedule, case);
        let level = |record: &Record| record.levels.0.get(&Factor::Drive).cloned();
        let drives: BTreeSet<_> = treatments
            .iter()
            .map(|index| self.schedule.treatments[*index].levels.0.get(&Factor::Drive))
            .collect();
        let mut drawn = Vec::new();
        for (block, value) in
            found.iter().filter(|(block, _)| self.schedule.draw_of(**block).is_some())
        {
            let mut parameters = BTreeMap::new();
            let own = self.records.iter().filter(|record| {
                record.trial.block == *block && treatments.contains(&record.trial.treatment)
            });
            for record in own {
                for (key, drawn) in record.draw.iter().flat_map(|draw| &draw.values) {
                    let name = match level(record).filter(|_| drives.len() > 1) {
                        Some(drive) => format!("{drive}: {key}"),
                        None => key.clone(),
                    };
                    parameters.insert(name, drawn.clone());
                }
            }
            drawn.push(DrawResult { parameters, found: *value, holds: holds(*value) });
        }
        drawn
    }
}

/// A case of a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseSubject {
    /// The name of its judgement.
    pub id: String,
    /// The claim's name in the plan.
    pub claim: String,
    /// The treatments that it is about.
    pub treatments: BTreeSet<usize>,
}

/// The outcome of a case in single blocks.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseByBlock {
    pub subject: CaseSubject,
    /// Whether it holds in each single block that measured it.
    pub holds: BTreeMap<u32, bool>,
    /// The value that decides this.
    pub values: BTreeMap<u32, f64>,
}

/// Every case of the claims that this schedule can judge.
pub fn subjects(schedule: &Schedule) -> Vec<CaseSubject> {
    let mut subjects = Vec::new();
    each_case(schedule, |_, subject| subjects.push(subject));
    subjects
}

/// Every claim that can be judged in a single block.
pub fn standings(schedule: &Schedule, records: &[Record]) -> Vec<CaseByBlock> {
    let blocks = Blocks::of(schedule, records);
    let mut standings = Vec::new();
    each_case(schedule, |case, subject| {
        let Ok(values) = found(schedule, &blocks, case) else { return };
        let bounds = case.claim.bounds();
        let holds = values.iter().map(|(block, value)| (*block, bounds.allow(*value)));
        standings.push(CaseByBlock { subject, holds: holds.collect(), values });
    });
    standings
}

/// Calls a function with each case that can be judged in a single block.
fn each_case(schedule: &Schedule, mut call: impl FnMut(&ComparedCase<'_>, CaseSubject)) {
    for claim in schedule.claims.iter().filter(|claim| unlike(schedule, claim).is_none()) {
        let cases = cases(schedule, claim);
        for case in &cases {
            let id = case.id(schedule, cases.len() > 1);
            let treatments = treatments(schedule, case);
            call(case, CaseSubject { id, claim: claim.id.clone(), treatments });
        }
    }
}

/// Whether a ratio is of something and nothing.
fn is_of_nothing(ratio: f64) -> bool {
    ratio <= 0.0 || ratio.is_infinite()
}

/// The values of blocks on plausible drives.
fn drawn_values(schedule: &Schedule, found: &BTreeMap<u32, f64>) -> Vec<f64> {
    let is_drawn = |block: &u32| schedule.draw_of(*block).is_some();
    found.iter().filter(|(block, _)| is_drawn(block)).map(|(_, value)| *value).collect()
}

/// The spread of values by block, the first of which is of the published drive.
fn over(schedule: &Schedule, found: &BTreeMap<u32, f64>) -> Option<DriveSpread> {
    let values = drawn_values(schedule, found);
    let median = Summary::of(&values)?.median;
    let of_all: Vec<f64> = found.values().copied().collect();
    let Summary { min, max, .. } = Summary::of(&of_all)?;
    Some(DriveSpread { least: min, median, most: max, values })
}

/// The value in each block; of a lead, that over the nearest rival.
fn found(
    schedule: &Schedule,
    blocks: &Blocks<'_>,
    case: &ComparedCase<'_>,
) -> Result<BTreeMap<u32, f64>, String> {
    if !case.claim.is_best() {
        return blocks.found(case.side, case.baseline);
    }
    let is_higher = matches!(case.claim.bounds(), Bounds::AtLeast(_));
    let mut nearest: BTreeMap<u32, f64> = BTreeMap::new();
    for rival in rivals(schedule, case) {
        for (block, ratio) in blocks.found(case.side, case.against(rival).baseline)? {
            let known = nearest.entry(block).or_insert(ratio);
            *known = if is_higher { known.min(ratio) } else { known.max(ratio) };
        }
    }
    Ok(nearest)
}

/// Every treatment that a case is about.
fn treatments(schedule: &Schedule, case: &ComparedCase<'_>) -> BTreeSet<usize> {
    let of =
        |side: ComparedSide<'_>| [Some(side.treatment), side.excess_over].into_iter().flatten();
    let baseline = case.baseline.into_iter().flat_map(of);
    of(case.side).chain(baseline).chain(rivals(schedule, case)).collect()
}

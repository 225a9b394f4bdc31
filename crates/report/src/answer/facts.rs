//! What is known of a claim, for the gaps of a plan's sentences.

use ssdlab_advice::{Analysis, EstimatedValue, Judgement};
use ssdlab_plan::ClaimFact;
use ssdlab_plan::metric::Unit;
use ssdlab_quantity::listed;

use crate::levels::level_name;
use crate::nouns::number_word;
use crate::number;
use crate::reason::{ReasonSide, main_reason};
use crate::table::total;

/// A claim in all of its cases.
pub(super) struct ClaimFacts<'a> {
    pub analysis: &'a Analysis,
    pub cases: &'a [&'a Judgement],
}

impl ClaimFacts<'_> {
    /// A fact in words; of several cases their range. `None` if it is not known of each of them.
    pub fn find(&self, what: ClaimFact) -> Option<String> {
        let first = self.cases.first()?;
        match what {
            ClaimFact::Value => self.value(),
            ClaimFact::Against => {
                let unit = first.claim.metric.unit;
                span(&self.all(other)?, |value| number::spoken(unit, value))
            }
            ClaimFact::Times => self.times(),
            ClaimFact::More => span(&self.all(|_, case| ratio(case))?, number::spoken_change),
            ClaimFact::Percent => {
                let percent = |ratio| number::spoken(Unit::Percent, 100.0 * ratio);
                span(&self.all(|_, case| ratio(case))?, percent)
            }
            ClaimFact::Range => range(self.cases),
            ClaimFact::Share => self.share(),
            ClaimFact::Separates => {
                let by = first.plausible.as_ref()?.separated_by.as_ref()?;
                Some(format!("its {}", by.parameter.replace(['_', '.'], " ")))
            }
            ClaimFact::Most => self.most(),
            ClaimFact::Reason => {
                let own =
                    ReasonSide { levels: first.levels.as_ref()?, phases: &first.claim.phases };
                let other = ReasonSide {
                    levels: first.baseline.as_ref()?,
                    phases: first.claim.other_phases(),
                };
                main_reason(self.analysis, [own, other], first.claim.metric)
            }
        }
    }

    /// What the case with the most of the metric has that not all cases have.
    fn most(&self) -> Option<String> {
        let amount = |case: &&&Judgement| own(self.analysis, case).unwrap_or(f64::NEG_INFINITY);
        let most = self.cases.iter().max_by(|a, b| amount(a).total_cmp(&amount(b)))?;
        let is_common = |factor, level| {
            let mut all = self.cases.iter().filter_map(|case| case.levels.as_ref());
            all.all(|levels| levels.0.get(factor) == Some(level))
        };
        let levels = most.levels.as_ref()?.0.iter();
        let own = levels.filter(|(factor, level)| !is_common(*factor, *level));
        Some(listed(&own.map(|(factor, level)| level_name(*factor, level)).collect::<Vec<_>>()))
    }

    fn all(&self, of: impl Fn(&Analysis, &Judgement) -> Option<f64>) -> Option<Vec<f64>> {
        self.cases.iter().map(|case| of(self.analysis, case)).collect()
    }

    /// What the claim is about, as its range has it: the amount, or the ratio.
    pub fn amount(&self) -> Option<String> {
        let is_absolute = self.cases.first()?.claim.is_absolute();
        if is_absolute { self.value() } else { self.times() }
    }

    fn value(&self) -> Option<String> {
        let unit = self.cases.first()?.claim.metric.unit;
        span(&self.all(own)?, |value| number::spoken(unit, value))
    }

    fn times(&self) -> Option<String> {
        let ratios = span(&self.all(|_, case| ratio(case))?, number::spoken_ratio)?;
        Some(format!("{ratios} times"))
    }

    /// On how many drives all cases hold.
    fn share(&self) -> Option<String> {
        let over: Option<Vec<_>> = self.cases.iter().map(|case| case.plausible.as_ref()).collect();
        let over = over?;
        let holds = over.iter().map(|over| over.holds).min()?;
        let of = over.first()?.of;
        let holds = if holds == 0 { "none".to_owned() } else { number_word(holds) };
        Some(format!("{holds} of {}", drives(of)))
    }
}

/// Plausible drives, for readers.
pub(super) fn drives(number: usize) -> String {
    match number {
        1 => "one drive like it".to_owned(),
        several => format!("{} drives like it", number_word(several)),
    }
}

fn ratio(case: &Judgement) -> Option<f64> {
    if case.claim.is_absolute() { None } else { median(case).or_else(|| case.outcome.ratio()) }
}

/// The median over plausible drives, if they all contradict the published one: it stands for what
/// the answer says.
fn median(case: &Judgement) -> Option<f64> {
    let over = case.plausible.as_ref().filter(|over| over.published_differs())?;
    Some(over.spread.median)
}

/// The claim's metric on its own side.
pub(super) fn own(analysis: &Analysis, case: &Judgement) -> Option<f64> {
    let claim = &case.claim;
    match case.outcome.estimate()?.found {
        EstimatedValue::AgainstNothing(found) => Some(found.own),
        EstimatedValue::Ratio { ratio, .. } if claim.is_absolute() => {
            Some(median(case).unwrap_or(ratio))
        }
        EstimatedValue::Ratio { .. } if median(case).is_some() => None,
        EstimatedValue::Ratio { .. } => {
            total(analysis, case.levels.as_ref()?, &claim.phases, claim.metric)
        }
    }
}

/// The claim's metric on the side that it is compared with.
fn other(analysis: &Analysis, case: &Judgement) -> Option<f64> {
    let claim = &case.claim;
    match case.outcome.estimate()?.found {
        EstimatedValue::AgainstNothing(found) => found.other,
        EstimatedValue::Ratio { .. } if median(case).is_some() => None,
        EstimatedValue::Ratio { .. } => {
            total(analysis, case.baseline.as_ref()?, claim.other_phases(), claim.metric)
        }
    }
}

/// The range of a claim over plausible drives, or else over its intervals; of all cases together.
/// `None` if it has no width that readers would see.
pub(super) fn range(cases: &[&Judgement]) -> Option<String> {
    let claim = &cases.first()?.claim;
    let of = |case: &&Judgement| {
        let over = case.plausible.as_ref().map(|over| [over.spread.least, over.spread.most]);
        over.or_else(|| case.outcome.interval()).or_else(|| case.outcome.ratio().map(|r| [r, r]))
    };
    let ends: Option<Vec<[f64; 2]>> = cases.iter().map(of).collect();
    let ends = ends?.concat();
    let unit = claim.metric.unit;
    if claim.is_absolute() {
        return span(&ends, |value| number::spoken(unit, value))
            .filter(|text| text.contains(" to "));
    }
    let ratios = span(&ends, number::spoken_ratio).filter(|text| text.contains(" to "))?;
    Some(format!("{ratios} times"))
}

/// Values as one text: the least to the greatest, where they differ for readers.
fn span(values: &[f64], says: impl Fn(f64) -> String) -> Option<String> {
    let least = values.iter().copied().reduce(f64::min)?;
    let most = values.iter().copied().reduce(f64::max)?;
    let (of_ms, is_below_1_s) = (number::spoken_ms(most), most < 1e9);
    let [least, most] = [least, most].map(says);
    // `63 to 120 ms` is easier to read than `63 ms to 0.12 s`.
    let is_short = is_below_1_s && least.ends_with(" ms") && most.ends_with(" s");
    let most = if is_short { of_ms } else { most };
    if least == most {
        return Some(least);
    }
    // `3 ms to 4 ms` has the unit once.
    let short = match (least.split_once(' '), most.split_once(' ')) {
        (Some((number, unit)), Some((_, other))) if unit == other => number.to_owned(),
        _ => least,
    };
    Some(format!("{short} to {most}"))
}

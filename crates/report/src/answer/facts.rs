//! What is known of a claim, for the gaps of a plan's sentences.

use ssdlab_advice::{Analysis, EstimatedValue, Judgement, Verdict};
use ssdlab_plan::metric::Unit;
use ssdlab_plan::{ClaimFact, Schedule};
use ssdlab_quantity::{grouped, listed};

use crate::claims::varied;
use crate::levels::{labelled, level_name};
use crate::nouns::number_word;
use crate::number;
use crate::table::total;

/// A claim in all of its cases.
#[derive(Clone, Copy)]
pub(super) struct ClaimFacts<'a> {
    pub schedule: &'a Schedule,
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
                let (digits, unit) = (self.digits(), first.claim.metric.unit);
                span(&self.all(other)?, |value| number::spoken_to(digits, unit, value))
            }
            ClaimFact::Times => self.times(),
            ClaimFact::More => span(&self.all(|_, case| ratio(case))?, number::spoken_change),
            ClaimFact::Percent => {
                let percent = |ratio| number::spoken(Unit::Percent, 100.0 * ratio);
                span(&self.all(|_, case| ratio(case))?, percent)
            }
            ClaimFact::Range => range(self.cases),
            ClaimFact::Share => self.share(),
            ClaimFact::Verdict => {
                let all = |verdict| self.cases.iter().all(|own| own.outcome.verdict() == verdict);
                let words = [(Verdict::Holds, "yes"), (Verdict::Refuted, "no")];
                let word = words.into_iter().find(|(verdict, _)| all(*verdict));
                word.map(|(_, word)| word.to_owned())
                    .or_else(|| Some(format!("on {}", self.share()?)))
            }
            ClaimFact::Each if self.cases.len() == 1 => self.amount(),
            ClaimFact::Each => self.each(what),
            ClaimFact::Separates => {
                let by = first.plausible.as_ref()?.separated_by.as_ref()?;
                Some(format!("its {}", by.parameter.replace(['_', '.'], " ")))
            }
            ClaimFact::Most => self.most(),
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

    /// A fact of each case, with the levels in which cases differ; once where they agree.
    pub fn each(&self, what: ClaimFact) -> Option<String> {
        let varied = varied(self.cases);
        let of = |case: &&Judgement| {
            let levels = case.levels.iter().flat_map(|levels| &levels.0);
            let levels = levels.filter(|(factor, _)| varied.contains(factor));
            let names = levels.map(|(factor, level)| labelled(self.schedule, *factor, level));
            let names: Vec<String> = names.filter(|name| !name.is_empty()).collect();
            Some((ClaimFacts { cases: &[*case], ..*self }.find(what)?, names.join(", ")))
        };
        let found = grouped(self.cases.iter().map(of).collect::<Option<Vec<_>>>()?);
        if let [(amount, _)] = &found[..] {
            return Some(amount.clone());
        }
        let says = found.iter().map(|(amount, names)| format!("{amount} ({})", listed(names)));
        Some(listed(&says.collect::<Vec<_>>()))
    }

    fn digits(&self) -> i32 {
        let [case] = self.cases else { return 2 };
        digits(self.analysis, case)
    }

    fn value(&self) -> Option<String> {
        let (digits, unit) = (self.digits(), self.cases.first()?.claim.metric.unit);
        span(&self.all(own)?, |value| number::spoken_to(digits, unit, value))
    }

    fn times(&self) -> Option<String> {
        let ratios = span(&self.all(|_, case| ratio(case))?, number::spoken_ratio)?;
        Some(format!("{ratios} times"))
    }

    fn share(&self) -> Option<String> {
        let [holds, of] = self.holds_on()?;
        let holds = if holds == 0 { "none".to_owned() } else { number_word(holds) };
        Some(format!("{holds} of {}", variants(of)))
    }

    /// On how many plausible drives all cases hold, and how many there are.
    pub fn holds_on(&self) -> Option<[usize; 2]> {
        let values = |case: &&Judgement| Some(case.plausible.as_ref()?.spread.values.clone());
        let values: Vec<Vec<f64>> = self.cases.iter().map(values).collect::<Option<_>>()?;
        let bounds = self.cases.first()?.claim.bounds();
        let of = values.iter().map(Vec::len).min()?;
        let holds = |drive: &usize| values.iter().all(|own| bounds.allow(own[*drive]));
        Some([(0..of).filter(holds).count(), of])
    }
}

/// Plausible drives, for readers.
pub(super) fn variants(number: usize) -> String {
    format!("{} variant{}", number_word(number), if number == 1 { "" } else { "s" })
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

/// Enough digits for readers who divide one side by the other to find the ratio.
pub fn digits(analysis: &Analysis, case: &Judgement) -> i32 {
    let sides = (own(analysis, case), other(analysis, case), ratio(case));
    let (Some(own), Some(other), Some(ratio)) = sides else { return 2 };
    let read = |value: f64| format!("{value:.1e}").parse::<f64>().unwrap_or(value);
    let found = number::spoken_ratio(read(own) / read(other));
    if found == number::spoken_ratio(ratio) { 2 } else { 3 }
}

/// The claim's metric on its own side.
pub fn own(analysis: &Analysis, case: &Judgement) -> Option<f64> {
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

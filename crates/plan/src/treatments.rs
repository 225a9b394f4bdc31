//! The treatments of a run: which combinations of levels, and what each is compared with.

use std::collections::BTreeMap;

use super::by_hand;
use super::error::PlanFault;
use super::factor::{Factor, Levels};
use super::level_error::LevelError;
use super::limits::MOST_TREATMENTS;
use super::schedule::Treatment;
use super::scheduler::modern;
use super::varied::{VariedFactor, fault, level_fault};
use super::written::Plan;

/// The treatments, and what they mean.
pub(super) struct ResolvedTreatments {
    pub baseline: Levels,
    pub treatments: Vec<Treatment>,
}

/// Resolves the treatments; every factor's levels are checked by then.
pub(super) fn resolve(
    plan: &Plan,
    factors: &[VariedFactor],
    notes: &mut Vec<String>,
) -> Result<ResolvedTreatments, PlanFault> {
    let mut listed = by_hand::listed(plan)?;
    let is_left_out =
        |factor: &Factor| factors.iter().any(|own| own.factor == *factor && own.is_left_out());
    for levels in &mut listed {
        levels.0.retain(|factor, _| !is_left_out(factor));
    }
    let baseline = baseline(plan, factors, &listed, notes)?;
    let is_listed = |factor: Factor| listed.iter().any(|levels| levels.0.contains_key(&factor));
    let mut combinations = if listed.is_empty() { vec![Levels::default()] } else { listed.clone() };
    let is_varied = |varied: &&VariedFactor| !varied.is_left_out() && !is_listed(varied.factor);
    for varied in factors.iter().filter(is_varied) {
        combinations = combinations
            .iter()
            .flat_map(|levels| {
                varied
                    .levels
                    .iter()
                    .map(|level| levels.with(&Levels([(varied.factor, level.clone())].into())))
            })
            .collect();
        if combinations.len() > MOST_TREATMENTS {
            return Err(fault(
                varied.at(),
                format!("more than {MOST_TREATMENTS} combinations of levels"),
                "vary fewer factors, or drop combinations with `exclude`".to_owned(),
            ));
        }
    }
    let excluded = excluded(plan, factors)?;
    combinations.retain(|levels| !excluded.iter().any(|part| levels.matches(part)));
    if combinations.is_empty() {
        return Err(PlanFault::nowhere(
            "no combination of levels is left to run",
            "`exclude` drops all of them; remove some of its entries",
        ));
    }
    let places: BTreeMap<&Levels, usize> =
        combinations.iter().enumerate().map(|(place, levels)| (levels, place)).collect();
    let counterpart = |levels: &Levels| {
        let other = levels.with(&baseline);
        places.get(&other).copied().filter(|_| other != *levels)
    };
    let baselines: Vec<_> = combinations.iter().map(counterpart).collect();
    let treatments = combinations.into_iter().zip(baselines);
    let treatments: Vec<Treatment> =
        treatments.map(|(levels, baseline)| Treatment::new(levels, baseline)).collect();
    for Treatment { levels, setup, .. } in &treatments {
        if let Err(error) = setup {
            let of_factor = factors.iter().find(|varied| varied.factor == error.factor);
            let message = format!("{} ({levels})", error.message);
            let error = LevelError { message, ..error.clone() };
            return Err(level_fault(error, of_factor.and_then(VariedFactor::at)));
        }
    }
    Ok(ResolvedTreatments { baseline, treatments })
}

fn baseline(
    plan: &Plan,
    factors: &[VariedFactor],
    listed: &[Levels],
    notes: &mut Vec<String>,
) -> Result<Levels, PlanFault> {
    let varied: Vec<_> = factors.iter().filter(|varied| varied.levels.len() > 1).collect();
    let Some(written) = &plan.baseline else {
        return match varied[..] {
            [] => Ok(Levels::default()),
            _ if let [first, _, ..] = listed => Ok(first.clone()),
            [only] => Ok(Levels([(only.factor, only.levels[0].clone())].into())),
            _ => Err(PlanFault::nowhere(
                "the plan varies several factors but names no baseline",
                "add [baseline] with, for example, the factor in question and the level to compare \
                 with",
            )),
        };
    };
    let mut baseline = modern(written.get_ref());
    let is_left_out = |factor: &Factor| {
        factors.iter().any(|varied| varied.factor == *factor && varied.is_left_out())
    };
    baseline.0.retain(|factor, _| !is_left_out(factor));
    for (factor, level) in &mut baseline.0 {
        let Some(varied) = factors.iter().find(|varied| varied.factor == *factor) else {
            return Err(PlanFault::at(
                written.span(),
                format!("the baseline names `{factor}`, which the plan does not vary"),
                format!("add `{factor}` to [factors], or remove it from [baseline]"),
            ));
        };
        if !varied.levels.contains(level) {
            if varied.lacks(level) {
                return Err(PlanFault::at(
                    written.span(),
                    format!(
                        "the baseline's {factor} = \"{level}\" is not one of the plan's levels"
                    ),
                    format!("levels of `{factor}`: {}", varied.levels.join(", ")),
                ));
            }
            notes.push(format!(
                "the baseline {factor} = {level} is not in this run; using {factor} = {} instead",
                varied.levels[0]
            ));
            level.clone_from(&varied.levels[0]);
        }
    }
    Ok(baseline)
}

/// The excluded combinations, checked: a typo here would run unwanted treatments.
fn excluded(plan: &Plan, factors: &[VariedFactor]) -> Result<Vec<Levels>, PlanFault> {
    let check = |part: &toml::Spanned<Levels>| {
        let levels = modern(part.get_ref());
        for (factor, level) in &levels.0 {
            let varied = factors.iter().find(|varied| varied.factor == *factor);
            if varied.is_none_or(|varied| varied.lacks(level)) {
                return Err(PlanFault::at(
                    part.span(),
                    format!("`exclude` names {factor} = \"{level}\", which the plan does not vary"),
                    "remove or correct it",
                ));
            }
        }
        Ok(levels)
    };
    plan.exclude.iter().map(check).collect()
}

#[cfg(test)]
mod tests;

//! Treatments that a plan lists one by one, instead of as combinations of levels.

use std::collections::BTreeSet;
use std::ops::Range;

use super::error::PlanFault;
use super::factor::{Factor, Levels};
use super::scheduler::modern;
use super::written::Plan;

/// The treatments that a plan lists, each with a level of every factor that one of them names.
///
/// # Errors
///
/// If one lacks a factor that has no level by default, or is another once more.
pub(super) fn listed(plan: &Plan) -> Result<Vec<Levels>, PlanFault> {
    let mut listed: Vec<Levels> = Vec::new();
    for written in &plan.treatments {
        let mut levels = modern(written.get_ref());
        for factor in factors(plan) {
            if levels.0.contains_key(&factor) {
                continue;
            }
            let level = factor.usual().ok_or_else(|| {
                PlanFault::at(
                    written.span(),
                    format!("this treatment has no `{factor}`, which others have"),
                    format!("name a level of `{factor}` in each of [[treatments]]"),
                )
            })?;
            levels.0.insert(factor, level.to_owned());
        }
        if listed.contains(&levels) {
            return Err(PlanFault::at(
                written.span(),
                format!("the treatment {levels} is listed twice"),
                "list each once",
            ));
        }
        listed.push(levels);
    }
    Ok(listed)
}

/// A factor that some of the treatments name.
pub(super) struct ListedFactor {
    pub factor: Factor,
    /// Its levels, in the order of the list.
    pub levels: Vec<String>,
    /// The first treatment that names it.
    pub at: Range<usize>,
}

/// The factors that the treatments name.
pub(super) fn varied(plan: &Plan) -> Result<Vec<ListedFactor>, PlanFault> {
    let listed = listed(plan)?;
    let of = |factor: Factor| {
        let mut levels: Vec<String> = Vec::new();
        for treatment in &listed {
            let level = &treatment.0[&factor];
            if !levels.contains(level) {
                levels.push(level.clone());
            }
        }
        ListedFactor { factor, levels, at: place(plan, factor) }
    };
    Ok(factors(plan).map(of).collect())
}

/// The factors that some treatment names, each once.
fn factors(plan: &Plan) -> impl Iterator<Item = Factor> {
    let names = |factor: &Factor| {
        plan.treatments.iter().any(|treatment| treatment.get_ref().0.contains_key(factor))
    };
    Factor::ALL.into_iter().filter(names)
}

/// The first treatment that names a factor.
fn place(plan: &Plan, factor: Factor) -> Range<usize> {
    let mut treatments = plan.treatments.iter();
    let first = treatments.find(|treatment| treatment.get_ref().0.contains_key(&factor));
    first.map_or(0..0, toml::Spanned::span)
}

/// Refuses a factor that is named in the list and elsewhere, or set on the command line.
pub(super) fn check_apart(plan: &Plan, set: impl Iterator<Item = Factor>) -> Result<(), PlanFault> {
    let listed: BTreeSet<Factor> = factors(plan).collect();
    let written = plan.factors.iter().chain(&plan.simulated.factors);
    let written = written.map(|(factor, levels)| (*factor, Some(levels.span())));
    let mut others = written.chain(set.map(|factor| (factor, None)));
    match others.find(|(factor, _)| listed.contains(factor)) {
        None => Ok(()),
        Some((factor, at)) => Err(PlanFault {
            message: format!("the levels of `{factor}` are those of [[treatments]]"),
            at,
            help: Some(format!("name `{factor}` in [[treatments]] only")),
        }),
    }
}

#[cfg(test)]
mod tests;

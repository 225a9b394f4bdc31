//! The two sides of a claim: the treatments that it compares.
//!
//! The sides of a pair differ in the compared factors and in nothing else, or the ratio would be
//! the effect of something that the claim does not name. A plan that leaves the other side open is
//! refused: a guess might judge a different claim.

use super::error::PlanFault;
use super::factor::{Factor, Levels};
use super::schedule::{Claim, Schedule};
use super::setup::FSTRIM;
use super::side::PHASE;
use super::varied::{LevelOrigin, VariedFactor};

/// The two sides of a claim.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Sides {
    /// The levels whose effect it states.
    pub compare: Levels,
    /// The levels they are compared with: other levels of the same factors.
    pub against: Levels,
    /// What both sides share.
    pub only: Levels,
}

impl Sides {
    /// The sides of claim `id`. `against` is the other side if the claim gives it; otherwise the
    /// baseline's levels of the compared factors are. `phases` are those that it compares, if it
    /// does.
    pub fn new(
        id: &str,
        [compare, only, baseline]: [&Levels; 3],
        against: Option<&Levels>,
        phases: Option<&[String; 2]>,
        factors: &[VariedFactor],
    ) -> Result<Self, PlanFault> {
        if let Some((factor, _)) =
            against.and_then(|named| named.0.iter().find(|(f, _)| !compare.0.contains_key(f)))
        {
            return Err(PlanFault::nowhere(
                format!(
                    "claim `{id}`: `against` names `{factor}` and `compare` does not, so that the \
                     sides would differ in more than is compared"
                ),
                format!("name `{factor}` in `compare`, too, or remove it from `against`"),
            ));
        }
        let other = against.unwrap_or(baseline);
        let is_open =
            |factor: &Factor| !other.0.contains_key(factor) && is_of_plan(*factor, factors);
        if let Some(factor) = compare.0.keys().find(|factor| is_open(factor)) {
            return Err(undetermined(id, *factor, [compare, other], phases, factors));
        }
        let mut sides =
            Self { compare: Levels::default(), against: Levels::default(), only: only.clone() };
        for (factor, level) in &compare.0 {
            if let Some(shared) = only.0.get(factor).filter(|shared| *shared != level) {
                return Err(PlanFault::nowhere(
                    format!(
                        "claim `{id}` compares {factor} = \"{level}\", but `where` limits it to \
                         {factor} = \"{shared}\""
                    ),
                    format!("remove `{factor}` from `where`, or name the same level"),
                ));
            }
            let other = other.0.get(factor);
            if other == Some(level) {
                sides.only.0.entry(*factor).or_insert_with(|| level.clone());
                continue;
            }
            sides.compare.0.insert(*factor, level.clone());
            sides.against.0.extend(other.map(|other| (*factor, other.clone())));
        }
        if sides.compare.0.is_empty() && phases.is_none() {
            return Err(PlanFault::nowhere(
                format!("claim `{id}` compares a treatment with itself"),
                "in `compare`, name levels other than those of the baseline (or of `against`)",
            ));
        }
        // A compared factor in `where` only repeats the side that it applies to.
        sides.only.0.retain(|factor, _| !sides.compare.0.contains_key(factor));
        Ok(sides)
    }
}

/// Whether the levels of a factor are the plan's own. If the command line or another lab has
/// replaced them, a claim may stay undecided.
fn is_of_plan(factor: Factor, factors: &[VariedFactor]) -> bool {
    factors.iter().any(|varied| varied.factor == factor && varied.origin != LevelOrigin::Elsewhere)
}

/// The refusal of a claim whose other side is not given; it says what to write.
fn undetermined(
    id: &str,
    open: Factor,
    [compare, other]: [&Levels; 2],
    phases: Option<&[String; 2]>,
    factors: &[VariedFactor],
) -> PlanFault {
    let level = |(factor, own): (&Factor, &String)| {
        let varied = factors.iter().find(|varied| varied.factor == *factor);
        let others = varied.into_iter().flat_map(|varied| &varied.levels);
        let other = other.0.get(factor).or_else(|| others.clone().find(|level| *level != own));
        let other = other.or_else(|| phases.map(|_| own));
        Some(format!("{factor} = \"{}\"", other?))
    };
    let phase = phases.map(|[_, other]| Some(format!("{PHASE} = \"{other}\"")));
    let levels = compare.0.iter().map(level);
    let written: Option<Vec<String>> = phase.into_iter().chain(levels).collect();
    let message = format!(
        "claim `{id}`: nothing says what {open} = \"{}\" is compared with; the baseline and \
         `against` name no level of `{open}`",
        compare.0.get(&open).map_or("", String::as_str)
    );
    let help = match written {
        Some(written) => format!(
            "write, for example, against = {{ {} }}; if both sides share the level, name it in \
             `where` instead of `compare`",
            written.join(", ")
        ),
        None => format!("give `{open}` a second level in [factors], and name it in `against`"),
    };
    PlanFault::nowhere(message, help)
}

impl Schedule {
    /// Whether two treatments are to do the same until the last of some phases has ended: what
    /// differs is an fstrim that comes later.
    pub fn begin_alike(&self, treatments: [usize; 2], until: &[String]) -> bool {
        let levels = treatments.map(|treatment| {
            let mut levels = self.treatments[treatment].levels.clone();
            let discard = levels.0.get_mut(&Factor::Discard);
            if let Some(level) = discard.filter(|level| level.as_str() == FSTRIM)
                && !until.iter().any(|phase| phase == FSTRIM)
            {
                "off".clone_into(level);
            }
            levels
        });
        levels[0] == levels[1]
    }
}

impl Claim {
    /// The levels that a treatment's are compared with: the same but for the compared factors, of
    /// which there are none if the sides differ in the phase alone. `None` if the claim compares no
    /// pair or, in a schedule of an earlier version, lacks the other side.
    pub fn other_side(&self, levels: &Levels) -> Option<Levels> {
        let other: Option<Vec<(Factor, String)>> = self
            .compare
            .0
            .keys()
            .map(|factor| Some((*factor, self.against.0.get(factor)?.clone())))
            .collect();
        let other = levels.with(&Levels(other?.into_iter().collect()));
        let differs = other != *levels || self.against_phase.is_some();
        (self.is_of_a_pair() && differs).then_some(other)
    }

    /// Every treatment that it is about, with the one that it is compared with, or none if it
    /// compares no pair. Both are indices.
    pub fn pairs(&self, schedule: &Schedule) -> Vec<(usize, Option<usize>)> {
        let treatments = schedule.treatments.iter().enumerate();
        let own = treatments
            .filter(|(_, t)| t.levels.matches(&self.only) && t.levels.matches(&self.compare));
        own.filter_map(|(index, treatment)| {
            if !self.is_of_a_pair() {
                return Some((index, None));
            }
            let other = schedule.find(&self.other_side(&treatment.levels)?)?;
            Some((index, Some(other)))
        })
        .collect()
    }

    /// The treatment over which another's excess is computed; `None` if there is none, or if it is
    /// the same.
    pub fn less(&self, schedule: &Schedule, treatment: usize) -> Option<usize> {
        let levels = &schedule.treatments[treatment].levels;
        let other = schedule.find(&levels.with(self.excess_over()?))?;
        (other != treatment).then_some(other)
    }
}

/// Refuses a claim that no treatments of a plan can decide; levels that the command line or another
/// lab has dropped leave it undecided.
pub(super) fn check_pairs(
    claim: &Claim,
    schedule: &Schedule,
    factors: &[VariedFactor],
) -> Result<(), PlanFault> {
    let id = &claim.id;
    if let Some(factor) = claim
        .excess_over()
        .iter()
        .flat_map(|part| part.0.keys())
        .find(|factor| claim.compare.0.contains_key(factor))
    {
        return Err(PlanFault::nowhere(
            format!("claim `{id}`: `excess_over` names `{factor}`, in which the sides differ"),
            format!("name a factor there that both sides share, or compare without `{factor}`"),
        ));
    }
    if factors.iter().any(|varied| varied.origin == LevelOrigin::Elsewhere) {
        return Ok(());
    }
    let pairs = claim.pairs(schedule);
    if pairs.is_empty() && claim.compare.0.is_empty() && claim.against_phase.is_some() {
        return Err(PlanFault::nowhere(
            format!("claim `{id}`: no treatment has {}", claim.only),
            "`exclude` drops such treatments: name others in `where`",
        ));
    }
    if pairs.is_empty() {
        let says = |levels: &Levels| {
            if levels.0.is_empty() { String::new() } else { format!(" where {levels}") }
        };
        let against = if claim.is_of_a_pair() {
            format!(" and one with {} that differ in nothing else", claim.against)
        } else {
            String::new()
        };
        return Err(PlanFault::nowhere(
            format!(
                "claim `{id}`: no treatment has {}{against}{}",
                claim.compare,
                says(&claim.only)
            ),
            "`exclude` drops such treatments: name what else the sides differ in, both in \
             `compare` and in `against`",
        ));
    }
    let has_excess = |(own, other): &(usize, Option<usize>)| {
        let mut sides = [Some(*own), *other].into_iter().flatten();
        sides.all(|side| claim.less(schedule, side).is_some())
    };
    if let Some(part) = claim.excess_over()
        && !pairs.iter().any(has_excess)
    {
        return Err(PlanFault::nowhere(
            format!("claim `{id}`: no pair of treatments has counterparts with {part}"),
            "in `where`, name another level of that factor; see that `exclude` keeps both",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests;

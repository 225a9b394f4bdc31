//! Resolves a plan's claims: which treatments, phases and metric they are about.

use std::collections::BTreeMap;

use ssdlab_quantity::{Bytes, Share, Span};
use toml::Spanned;

use super::compared;
use super::cuts::CutMoments;
use super::error::PlanFault;
use super::factor::{Factor, Levels};
use super::measured;
use super::metric::{self, AfterCuts, Aggregation, Better, Metric, Source, Unit};
use super::published::Published;
use super::schedule::{Bounds, Claim, Schedule, Statement};
use super::scheduler::modern;
use super::sides::{self, Sides};
use super::varied::VariedFactor;
use super::wording::PlanWording;
use super::written::{self, Bound, Plan};

mod answer;

pub(super) use answer::answer;

pub(super) fn resolve(
    plan: &Plan,
    schedule: &Schedule,
    factors: &[VariedFactor],
) -> Result<Vec<Claim>, PlanFault> {
    let mut claims: Vec<Claim> = Vec::new();
    for entry in &plan.claims {
        let written = PlanWording::new(plan, factors).claim(entry.get_ref());
        let claim =
            claim(plan, &written, schedule, factors).map_err(|fault| fault.placed(entry.span()))?;
        if claims.iter().any(|earlier| earlier.id == claim.id) {
            return Err(PlanFault::at(
                entry.span(),
                format!("two claims are called `{}`", claim.id),
                "give each claim an id of its own",
            ));
        }
        claims.push(claim);
    }
    Ok(claims)
}

#[expect(clippy::too_many_lines, reason = "a claim's keys are read one after the other")]
fn claim(
    plan: &Plan,
    written: &written::WrittenClaim,
    schedule: &Schedule,
    factors: &[VariedFactor],
) -> Result<Claim, PlanFault> {
    let id = &written.id;
    let own_metric = written.metric.as_ref();
    let find = |written: &Spanned<String>| {
        let name = written.get_ref();
        metric::find(name).ok_or_else(|| {
            let message = format!("claim `{id}`: there is no metric `{name}`");
            PlanFault::at(written.span(), message, metric::instead_of(name))
        })
    };
    let metric = own_metric.map_or(Ok(schedule.metric), find)?;
    let is_best = written.best.is_some();
    let has_comparison = written.compare.phase.is_some() || !written.compare.levels.0.is_empty();
    if is_best && (has_comparison || written.against.is_some()) {
        return Err(PlanFault::nowhere(
            format!("claim `{id}` has `best` and a comparison"),
            "`best` compares with every other level: omit `compare` and `against`",
        ));
    }
    let compared = compared::phases(written, metric, schedule, factors)?;
    if compared.is_none() {
        check_phases(written, metric, schedule, factors)?;
    }
    if metric.is_of_cuts() {
        check_cuts(written, metric, schedule)?;
    }
    let compare = modern(written.best.as_ref().unwrap_or(&written.compare.levels));
    let only = modern(&written.only);
    let excess_over = written.excess_over.as_ref().map(modern);
    let against = written.against.as_ref().map(|side| modern(&side.levels));
    for levels in [&compare, &only].into_iter().chain(&against).chain(&excess_over) {
        check_levels(id, levels, factors)?;
    }
    let (are_absolute, bounds) = bounds(written, metric).map_err(|message| {
        PlanFault::nowhere(
            format!("claim `{id}`: {message}"),
            "give at_least, at_most or both: ratios above 0 (1.1 means ten percent more), or \
             amounts of the metric (\"3 min\", \"10 MB\", \"5 years\", \"1 %\" or 0 for a share, \
             \"20\" for a count)",
        )
    })?;
    let is_lead = !are_absolute && matches!(bounds, Bounds::AtLeast(_));
    if is_best && (compare.0.is_empty() || !is_lead) {
        return Err(PlanFault::nowhere(
            format!(
                "claim `{id}`: `best` takes levels and, optionally, only the margin by which they \
                lead"
            ),
            "for example best = { filesystem = \"ext4\" }, at_least = 1.1",
        ));
    }
    if is_best && bounds.values().any(|lead| lead < 1.0) {
        let message = format!("claim `{id}`: who is the best leads by a factor of at least 1");
        return Err(PlanFault::nowhere(message, "for example at_least = 1.1, or omit it"));
    }
    if are_absolute && against.is_some() {
        let message = format!("claim `{id}`: an amount is compared with nothing");
        return Err(PlanFault::nowhere(
            message,
            "omit `against`, or bound the ratio: at_least = 1.1",
        ));
    }
    if is_best && metric.better == Better::Neither {
        let message = format!("claim `{id}`: neither more nor less of `{metric}` is better");
        return Err(PlanFault::nowhere(
            message,
            "name another metric, or bound its ratio with `compare`",
        ));
    }
    if is_best && written.excess_over.is_some() {
        let message = format!("claim `{id}`: an excess is compared with one other treatment");
        return Err(PlanFault::nowhere(message, "omit `best` or `excess_over`"));
    }
    let published = published_value(written, metric, are_absolute)?;
    let sides = if are_absolute || is_best {
        Sides { compare, against: against.unwrap_or_default(), only }
    } else {
        // The plan's own baseline: if the command line has dropped it, the claim stays undecided.
        let baseline = match &plan.baseline {
            Some(written) => modern(written.get_ref()),
            None => schedule.baseline.clone(),
        };
        let levels = [&compare, &only, &baseline];
        Sides::new(id, levels, against.as_ref(), compared.as_ref(), factors)?
    };
    let (phases, against_phase) = match compared {
        Some([own, other]) => (vec![own], Some(other)),
        None => (written.phases.iter().map(|phase| phase.get_ref().clone()).collect(), None),
    };
    let among = among(written, factors)?;
    let statement = match bounds {
        Bounds::AtLeast(lead) if is_best => Statement::Best { among, lead },
        _ if are_absolute => Statement::Amount(bounds),
        _ => Statement::Ratio { excess_over, bounds },
    };
    let claim = Claim {
        id: id.clone(),
        says: written.says.clone(),
        metric,
        phases,
        against_phase,
        compare: sides.compare,
        against: sides.against,
        only: sides.only,
        statement,
        if_holds: written.if_holds.clone(),
        if_refuted: written.if_refuted.clone(),
        published,
        by_construction: written.by_construction.clone(),
        not_testable: written.not_testable.clone(),
        exploratory: written.exploratory.clone(),
        left_open: 0,
    };
    sides::check_pairs(&claim, schedule, factors)?;
    Ok(claim)
}

/// Refuses a claim about power cuts that nothing can decide.
fn check_cuts(
    written: &written::WrittenClaim,
    metric: Metric,
    schedule: &Schedule,
) -> Result<(), PlanFault> {
    let id = &written.id;
    let Some(cuts) = &schedule.cuts else {
        return Err(PlanFault::nowhere(
            format!("claim `{id}`: `{metric}` is about power cuts, and the plan has none"),
            "add [cuts] with number = 1000",
        ));
    };
    let Source::Cuts(what) = metric.source else { return Ok(()) };
    if what == AfterCuts::Rejected && cuts.check.is_none() {
        return Err(PlanFault::nowhere(
            format!("claim `{id}`: `{metric}` is what the plan's own check says, and it has none"),
            "add it to [cuts], for example check = \"git fsck\"",
        ));
    }
    if what.is_at_random() && cuts.moments == CutMoments::Events {
        return Err(PlanFault::nowhere(
            format!("claim `{id}`: `{metric}` is over cuts at random moments, and there are none"),
            "leave `where` out of [cuts], or claim the share of cuts with a finding",
        ));
    }
    if what.is_of_files() && !schedule.workload.has_history() {
        return Err(PlanFault::nowhere(
            format!("claim `{id}`: `{metric}` needs files that record what they must hold"),
            "add a phase with do = \"replace\", \"append\", \"database\" or \"sequences\", \
             or claim `rejected`",
        ));
    }
    if written.best.is_some() || written.excess_over.is_some() {
        return Err(PlanFault::nowhere(
            format!("claim `{id}`: `{metric}` is bounded, or compared with one other treatment"),
            "use `compare`, and at_least or at_most, instead of `best` and `excess_over`",
        ));
    }
    Ok(())
}

/// Refuses phases that the workload lacks, or whose values of a metric are meaningless.
fn check_phases(
    written: &written::WrittenClaim,
    metric: Metric,
    schedule: &Schedule,
    factors: &[VariedFactor],
) -> Result<(), PlanFault> {
    let id = &written.id;
    let planned = |phase: &Spanned<String>| {
        schedule.workload.phases.iter().find(|planned| planned.name == *phase.get_ref())
    };
    let lacks_a_day =
        |phase: &&Spanned<String>| planned(phase).is_some_and(|planned| planned.a_day.is_none());
    if metric.is_of_days()
        && let Some(phase) = written.phases.iter().find(lacks_a_day)
    {
        let name = phase.get_ref();
        return Err(PlanFault::at(
            phase.span(),
            format!("claim `{id}`: the plan does not say how often a day `{name}` runs"),
            "give the phase `a_day`, for example a_day = 10",
        ));
    }
    if written.phases.len() > 1 && metric.together == Aggregation::Never {
        let message = format!("claim `{id}`: `{metric}` cannot be combined over several phases");
        return Err(PlanFault::nowhere(message, "name one phase"));
    }
    let known = schedule.phase_names();
    for (at, phase) in written.phases.iter().enumerate() {
        let own = phase.get_ref();
        if compared::is_unknown(own, &known, factors) {
            let message = format!("claim `{id}`: there is no phase `{own}`");
            return Err(PlanFault::at(
                phase.span(),
                message,
                format!("phases: {}", known.join(", ")),
            ));
        }
        if written.phases[..at].iter().any(|earlier| earlier.get_ref() == own) {
            let message = format!("claim `{id}` names phase `{own}` twice");
            let help = "name each phase once: their values are added up";
            return Err(PlanFault::at(phase.span(), message, help));
        }
        let lack = planned(phase).and_then(|planned| measured::lacks(planned, metric));
        if let Some((why, help)) = lack {
            let message = format!("claim `{id}`: there is no `{metric}`: {why}");
            return Err(PlanFault::at(phase.span(), message, help));
        }
    }
    if written.phases.is_empty() {
        return Err(PlanFault::nowhere(
            format!("claim `{id}` names no phase"),
            "name at least one: phases = [\"...\"]",
        ));
    }
    Ok(())
}

/// The published value of a claim's quantity.
fn published_value(
    written: &written::WrittenClaim,
    metric: Metric,
    is_absolute: bool,
) -> Result<Option<f64>, PlanFault> {
    let Some(bound) = &written.published else { return Ok(None) };
    let id = &written.id;
    if matches!(bound, Bound::Amount(_)) != is_absolute {
        return Err(PlanFault::nowhere(
            format!("claim `{id}`: the published value and the bounds are of different kinds"),
            "write both as ratios, or both as amounts of the metric",
        ));
    }
    amount(bound, metric).map(Some).map_err(|message| {
        PlanFault::nowhere(
            format!("claim `{id}`: {message}"),
            "write the published value in the same form as a bound",
        )
    })
}

impl Schedule {
    /// The claim that answers the question, or the first of several. None if another metric was
    /// asked for: what is shown is then not the answer.
    pub fn answering_claim(&self) -> Option<&Claim> {
        let id = self.answer.decides.first().filter(|_| !self.is_asked_for)?;
        self.claims.iter().find(|claim| claim.id == *id)
    }
}

/// The competitors of a claim to be the best, by today's names.
fn among(
    written: &written::WrittenClaim,
    factors: &[VariedFactor],
) -> Result<BTreeMap<Factor, Vec<String>>, PlanFault> {
    let id = &written.id;
    let best = written.best.as_ref().map(modern).unwrap_or_default();
    let mut among = BTreeMap::new();
    for (factor, levels) in &written.among {
        if written.best.is_none() {
            let message =
                format!("claim `{id}`: `among` names competitors, but the claim has no `best`");
            return Err(PlanFault::nowhere(message, "use it with `best`"));
        }
        let Some(own) = best.0.get(factor) else {
            let message = format!("claim `{id}`: `among` names `{factor}`, and `best` does not");
            return Err(PlanFault::nowhere(
                message,
                format!("name a level of `{factor}` in `best`, or omit it"),
            ));
        };
        let mut todays = Vec::new();
        for level in levels {
            let level = modern(&Levels([(*factor, level.clone())].into()));
            check_levels(id, &level, factors)?;
            todays.extend(level.0.into_values());
        }
        if todays.iter().all(|level| level == own) {
            let message = format!("claim `{id}`: `among` names no other {factor} than \"{own}\"");
            return Err(PlanFault::nowhere(message, "name those that it leads"));
        }
        among.insert(*factor, todays);
    }
    Ok(among)
}

/// Resolves published measurements.
pub(super) fn published(
    plan: &Plan,
    schedule: &Schedule,
    factors: &[VariedFactor],
) -> Result<Vec<Published>, PlanFault> {
    let known = schedule.phase_names();
    let one = |written: &written::WrittenPublished| {
        let only = modern(&written.only);
        check_levels("published", &only, factors)?;
        let mut values = BTreeMap::new();
        for (phase, value) in &written.values {
            if compared::is_unknown(phase, &known, factors) {
                let help = format!("phases: {}", known.join(", "));
                return Err(PlanFault::nowhere(format!("there is no phase `{phase}`"), help));
            }
            let value = amount(value, schedule.metric).map_err(|message| {
                PlanFault::nowhere(message, format!("write a {}", schedule.metric))
            })?;
            values.insert(phase.clone(), value);
        }
        let fitted = written.fitted.clone();
        if let Some(phase) = fitted.iter().find(|phase| !values.contains_key(*phase)) {
            let message = format!("nothing is published of `{phase}` here");
            return Err(PlanFault::nowhere(message, "name phases of `values` in `fitted`"));
        }
        Ok(Published { only, values, fitted })
    };
    let placed = |entry: &toml::Spanned<written::WrittenPublished>| {
        one(entry.get_ref()).map_err(|fault| fault.placed(entry.span()))
    };
    plan.published.iter().map(placed).collect()
}

fn check_levels(id: &str, levels: &Levels, factors: &[VariedFactor]) -> Result<(), PlanFault> {
    for (factor, level) in &levels.0 {
        let Some(varied) = factors.iter().find(|varied| varied.factor == *factor) else {
            return Err(PlanFault::nowhere(
                format!("`{id}` names `{factor}`, which the plan does not vary"),
                format!("add `{factor}` to [factors]"),
            ));
        };
        // Levels that the command line dropped leave the claim undecided, not the plan wrong.
        if varied.lacks(level) {
            return Err(PlanFault::nowhere(
                format!("`{id}`: {factor} = \"{level}\" is not one of the plan's levels"),
                format!("levels of `{factor}`: {}", varied.levels.join(", ")),
            ));
        }
    }
    Ok(())
}

/// Whether a claim's bounds are amounts, and the bounds as numbers.
fn bounds(claim: &written::WrittenClaim, metric: Metric) -> Result<(bool, Bounds), String> {
    let written = [&claim.at_least, &claim.at_most];
    let is_of_cuts = metric.is_of_cuts();
    // At most 0 times another, or at most 0, means none at all.
    let is_none = |bound: &Bound| is_of_cuts && *bound == Bound::Ratio(0.0);
    let is_amount = |bound: &&Bound| matches!(bound, Bound::Amount(_)) || is_none(bound);
    let amounts = written.into_iter().flatten().filter(is_amount).count();
    let given = written.into_iter().flatten().count();
    if amounts > 0 && amounts < given {
        return Err("one bound is a ratio, the other an amount".to_owned());
    }
    if amounts > 0 && claim.excess_over.is_some() {
        return Err("an excess is bounded by a ratio".to_owned());
    }
    let number = |bound: &Option<Bound>| bound.as_ref().map(|b| amount(b, metric)).transpose();
    let lead = claim.best.as_ref().map(|_| Bounds::AtLeast(1.0));
    let bounds = Bounds::new(number(&claim.at_least)?, number(&claim.at_most)?).or(lead);
    let bounds = bounds.ok_or("it has no bound")?;
    if !are_possible(metric, bounds) {
        return Err("a bound must be above 0 and finite".to_owned());
    }
    match bounds {
        Bounds::Between(low, high) if low >= high => {
            Err(format!("no value is both at least {low} and at most {high}"))
        }
        _ => Ok((amounts > 0, bounds)),
    }
}

/// Whether a claim can have these bounds: above 0, or at most 0 for a metric of power cuts.
pub(super) fn are_possible(metric: Metric, bounds: Bounds) -> bool {
    let is_possible = |bound: f64| bound.is_finite() && bound > 0.0;
    let [at_least, at_most] = bounds.ends();
    let may_be_none = metric.is_of_cuts() && at_most == Some(0.0);
    at_least.is_none_or(is_possible) && (may_be_none || at_most.is_none_or(is_possible))
}

/// A ratio or a plain number unchanged, an amount in the metric's unit.
fn amount(bound: &Bound, metric: Metric) -> Result<f64, String> {
    let text = match bound {
        Bound::Ratio(number) => return Ok(*number),
        Bound::Amount(text) => text,
    };
    let unit = metric.unit;
    let (number, help) = match (unit, unit.symbol()) {
        (Unit::Ns, _) => return text.parse::<Span>().map(|span| span.nanos() as f64),
        (Unit::Bytes, _) => return text.parse::<Bytes>().map(|bytes| bytes.0 as f64),
        (Unit::Percent, _) => return Share::try_from(text.clone()).map(|share| 100.0 * share.0),
        (Unit::Years, _) => {
            let years = text.trim_end_matches('s').strip_suffix("year").map(str::trim_end);
            (years, "\"5 years\"".to_owned())
        }
        (_, "") => (Some(text.as_str()), "a number, such as \"20\"".to_owned()),
        (_, symbol) => (Some(text.as_str()), format!("a number, in {symbol}")),
    };
    let amount = number.and_then(|number| number.parse().ok());
    amount
        .filter(|amount: &f64| amount.is_finite())
        .ok_or_else(|| format!("`{text}` is not an amount of `{metric}`: write {help}"))
}

#[cfg(test)]
mod tests;

//! The best of a ranking.

use ssdlab_advice::{Analysis, RankedTreatment, StepRanking};
use ssdlab_plan::metric::Unit;
use ssdlab_plan::{Factor, Levels, Schedule};
use ssdlab_quantity::{grouped, listed};

use crate::levels::{label, labelled};
use crate::nouns::{listed_levels, noun};
use crate::number;
use crate::words::{counted, plain};

/// What changes by less than this share is no difference that matters to anyone, however surely it
/// is one.
const NEGLIGIBLE: f64 = 0.02;

pub(super) fn is_negligible(ratio: f64) -> bool {
    (1.0 - NEGLIGIBLE..=1.0 + NEGLIGIBLE).contains(&ratio)
}

/// The best of the last ranking; where the question is not about all factors, of each combination
/// of the others. `None` without a ranking.
pub(super) fn best(schedule: &Schedule, analysis: &Analysis) -> Option<String> {
    let ranking = analysis.rankings.last()?;
    let groups = groups(schedule, ranking);
    if let [(_, places)] = &groups[..]
        && are_alike(places)
    {
        return None;
    }
    if let Some(tie) = tie(schedule, &groups) {
        return Some(format!("no single one: {tie}"));
    }
    let of = |(context, places): &(Levels, Vec<&RankedTreatment>)| {
        let (first, rivals) = split(places)?;
        let name = |place| name(schedule, place, groups.len());
        let rivals: Vec<String> = rivals.iter().map(|place| name(place)).collect();
        let rivals = match rivals.len() {
            0 => String::new(),
            1..=2 => format!(" (level with {})", listed(&rivals)),
            more => format!(" (level with {more} others)"),
        };
        let own = format!("{}{rivals}", name(first));
        Some(if context.0.is_empty() {
            own
        } else {
            format!("{own} for {}", listed_levels(context))
        })
    };
    let best: Vec<String> = groups.iter().filter_map(of).collect();
    (!best.is_empty()).then(|| listed(&best))
}

/// That all are level, if they are in each of several groups of the same size.
fn tie(schedule: &Schedule, groups: &[(Levels, Vec<&RankedTreatment>)]) -> Option<String> {
    let (_, places) = groups.first().filter(|_| groups.len() > 1)?;
    let is_tied = |(_, own): &(_, Vec<&RankedTreatment>)| {
        let rivals = split(own).map_or(0, |(_, rivals)| rivals.len());
        rivals > 0 && rivals + 1 == places.len() && own.len() == places.len()
    };
    let contexts: Vec<String> = groups.iter().map(|(context, _)| listed_levels(context)).collect();
    let mut names: Vec<String> =
        places.iter().map(|place| name(schedule, place, groups.len())).collect();
    names.sort();
    let says = || format!("{} are level for {}", listed(&names), listed(&contexts));
    groups.iter().all(is_tied).then(says)
}

/// How far the baseline is behind the best, or else the next that is not level with it; of several
/// groups how far others are at most.
pub(super) fn margin(schedule: &Schedule, analysis: &Analysis) -> Option<String> {
    let groups = groups(schedule, analysis.rankings.last()?);
    let percent = |ratio: f64| number::spoken(Unit::Percent, 100.0 * ratio);
    if let [(_, places)] = &groups[..] {
        let (first, rivals) = split(places)?;
        let behind = &places[1 + rivals.len()..];
        let is_baseline = |place: &&&RankedTreatment| place.levels.matches(&schedule.baseline);
        let shown = behind.iter().find(is_baseline).or(behind.first())?;
        let name = label(schedule, &shown.levels);
        return Some(format!("{name} is at {} of the best", percent(shown.ratio / first.ratio)));
    }
    let last =
        |(_, places): &(_, Vec<&RankedTreatment>)| Some(places.last()?.ratio / places[0].ratio);
    let most = groups.iter().filter_map(last).map(|ratio| ratio.ln().abs()).reduce(f64::max)?;
    Some(format!("all are within {} of the best", percent(most.exp() - 1.0)))
}

/// Values by their names, below a heading.
pub type ValueGroup = (String, Vec<(String, f64)>);

/// The last ranking: treatments by the levels that they share, each with its ratio to the first's
/// value, from the first on; empty if there is none.
pub fn ranked(schedule: &Schedule, analysis: &Analysis) -> Vec<ValueGroup> {
    let Some(ranking) = analysis.rankings.last() else { return Vec::new() };
    let groups = groups(schedule, ranking);
    let of = |(context, places): &(Levels, Vec<&RankedTreatment>)| {
        let own = |place: &&RankedTreatment| {
            (name(schedule, place, groups.len()), place.ratio / places[0].ratio)
        };
        (plain(&listed_levels(context)), places.iter().map(own).collect())
    };
    groups.iter().map(of).collect()
}

/// What was ranked, and over which phases.
pub fn measure(analysis: &Analysis) -> Option<String> {
    let ranking = analysis.rankings.last()?;
    Some(format!("{} over {}", noun(ranking.metric), counted(ranking.phases.len(), "phase")))
}

/// A place's name in one of so many groups: of several, by the levels that the question is about.
fn name(schedule: &Schedule, place: &RankedTreatment, groups: usize) -> String {
    if groups == 1 {
        return label(schedule, &place.levels);
    }
    let asked = place.levels.only(|factor| schedule.baseline.0.contains_key(factor));
    let names = asked.0.iter().map(|(factor, level)| labelled(schedule, *factor, level));
    plain(&listed(&names.collect::<Vec<_>>()))
}

/// A sentence with the best, and the next if there is but one group; `None` without a ranking.
pub(super) fn leader(schedule: &Schedule, analysis: &Analysis) -> Option<String> {
    let ranking = analysis.rankings.last()?;
    let measure = measure(analysis)?;
    let groups = groups(schedule, ranking);
    if let [(_, places)] = &groups[..]
        && are_alike(places)
    {
        let all = places.iter().map(|place| label(schedule, &place.levels));
        let all = listed(&all.collect::<Vec<_>>());
        return Some(format!("No difference that matters: by {measure} {all} are within 2 %."));
    }
    if let Some(tie) = tie(schedule, &groups) {
        return Some(format!("By {measure} {tie}."));
    }
    let best = best(schedule, analysis)?;
    let next = match &groups[..] {
        [(_, places)] => split(places).and_then(|(_, rivals)| places.get(1 + rivals.len())),
        _ => None,
    };
    let next = next.map_or(String::new(), |next| {
        let times = number::spoken_ratio(next.ratio);
        format!(" Next is {}, at {times} times that.", label(schedule, &next.levels))
    });
    Some(format!("By {measure} {best} is the best.{next}"))
}

/// Whether several places do not differ by what matters.
fn are_alike(places: &[&RankedTreatment]) -> bool {
    places.len() > 1 && places.iter().all(|place| is_negligible(place.ratio / places[0].ratio))
}

/// The places by the levels of factors that the question is not about, which are those that the
/// baseline does not name.
fn groups<'a>(
    schedule: &Schedule,
    ranking: &'a StepRanking,
) -> Vec<(Levels, Vec<&'a RankedTreatment>)> {
    let is_context = |factor: &Factor| !schedule.baseline.0.contains_key(factor);
    let of =
        |place: &'a RankedTreatment| (schedule.distinct(&place.levels).only(is_context), place);
    grouped(ranking.places.iter().map(of))
}

/// The first, and those right behind it that do not differ by what matters, or cannot be told
/// apart from it.
fn split<'a>(
    places: &[&'a RankedTreatment],
) -> Option<(&'a RankedTreatment, Vec<&'a RankedTreatment>)> {
    let (first, others) = places.split_first()?;
    let is_level = |place: &&&RankedTreatment| {
        is_negligible(place.ratio / first.ratio)
            || first.sets.iter().any(|set| place.sets.contains(set))
    };
    Some((first, others.iter().take_while(is_level).copied().collect()))
}

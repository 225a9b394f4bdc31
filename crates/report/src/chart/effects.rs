//! The effects chart, a forest plot: ratios to the baseline with their intervals.

use ssdlab_advice::Effect;
use ssdlab_plan::Levels;
use ssdlab_plan::metric::{Better, Metric, Unit};

use super::canvas::{Chart, Heading, in_parts};
use super::data::{ChartData, ChartTreatment};
use super::label;
use super::palette::{PLAIN, Symbol};
use super::rows::{Mark, Row, RowChart, RowPanel, panels_in_a_chart};
use super::scale::Scale;
use crate::nouns::noun;
use crate::plausible;
use crate::words::{counted, plain};

/// The ratios of the plan's metric, phase by phase and over all phases together.
pub(super) fn charts(data: &ChartData<'_>) -> Vec<Chart> {
    let metric = data.analysis.metric;
    let all: Vec<&Effect> =
        data.analysis.effects.iter().filter(|effect| effect.metric == metric).collect();
    let mut panels: Vec<&[String]> = Vec::new();
    for effect in &all {
        if !panels.contains(&effect.phases.as_slice()) {
            panels.push(&effect.phases);
        }
    }
    panels.sort_by_key(|phases| phases.len());
    let is_compared = |levels: &Levels| all.iter().any(|effect| effect.levels == *levels);
    let rows: Vec<&ChartTreatment<'_>> =
        data.treatments.iter().filter(|shown| is_compared(&shown.treatment.levels)).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let find = |shown: &ChartTreatment<'_>, phases: &[String]| {
        let is_it =
            |effect: &&&Effect| effect.phases == phases && effect.levels == shown.treatment.levels;
        all.iter().copied().find(|effect| is_it(&effect))
    };
    in_parts(&panels, panels_in_a_chart(rows.len()), |shown_phases, part| {
        let panels: Vec<RowPanel> = shown_phases
            .iter()
            .map(|phases| {
                let effects = rows.iter().map(|shown| find(shown, phases)).collect::<Vec<_>>();
                panel(phases, &effects)
            })
            .collect();
        let better = match metric.better {
            Better::Less => ", of which less is better",
            Better::More => ", of which more is better",
            Better::Neither => "",
        };
        let whisker = match data.analysis.plausible_drives {
            _ if !panels.iter().any(RowPanel::has_whisker) => String::new(),
            0 => " Whisker: its 95 % interval; an end without a cap lies outside.".to_owned(),
            drives => format!(
                " Whisker: its range with {}; an end without a cap lies outside.",
                counted(drives, "plausible drive")
            ),
        };
        let notes = format!(
            "Disc: ratio to the baseline ({}){better}.{whisker} The line is at 1, where there is \
             no difference.",
            plain(&data.schedule.baseline.to_string())
        );
        let title = format!("Effects on {}{part}", plain(&noun(metric)));
        let heading = Heading { title, notes, keys: Vec::new() };
        let names = rows.iter().map(|shown| shown.name.clone()).collect();
        let shown = rows.iter().flat_map(|shown| {
            let of = |phases: &&[String]| Some((find(shown, phases)?, shown.name.as_str()));
            shown_phases.iter().filter_map(of).collect::<Vec<_>>()
        });
        let says = says(metric, &shown.collect::<Vec<_>>());
        RowChart { heading, names, panels }.chart("effects", says)
    })
}

fn panel(phases: &[String], effects: &[Option<&Effect>]) -> RowPanel {
    let ratios: Vec<f64> = effects.iter().flatten().map(|effect| effect.ratio).collect();
    let (least, greatest) = ratios
        .iter()
        .fold((1.0f64, 1.0f64), |(low, high), ratio| (low.min(*ratio), high.max(*ratio)));
    // A wide interval must not squeeze the others' ratios.
    let room = (greatest / least).max(1.1);
    let mut values = vec![least, greatest];
    for [low, high] in effects.iter().copied().flatten().filter_map(around) {
        values.extend([low.max(least / room), high.min(greatest * room)]);
    }
    let row = |effect: Option<&Effect>| {
        let Some(effect) = effect else { return Row::default() };
        let mut marks: Vec<Mark> = around(effect).map(Mark::Whisker).into_iter().collect();
        marks.push(Mark::Point {
            at: effect.ratio,
            lane: 0,
            symbol: Symbol::Disc,
            colour: PLAIN,
            radius: 8,
        });
        Row { marks, says: plausible::effect(effect) }
    };
    let title = match phases {
        [phase] => plain(phase),
        _ => "all phases together".to_owned(),
    };
    let rows = effects.iter().copied().map(row).collect();
    RowPanel { title, scale: Scale::logarithmic(Unit::Ratio, &values), reference: Some(1.0), rows }
}

/// The range of an effect over plausible drives, or else its interval.
fn around(effect: &Effect) -> Option<[f64; 2]> {
    effect.plausible.as_ref().map(|spread| [spread.least, spread.most]).or(effect.interval)
}

fn says(metric: Metric, effects: &[(&Effect, &str)]) -> String {
    let shown = effects.iter().filter(|(effect, _)| effect.is_shown()).count();
    let distance = |(effect, _): &&(&Effect, &str)| effect.ratio.ln().abs();
    let largest = effects.iter().max_by(|one, other| distance(one).total_cmp(&distance(other)));
    let largest = largest.map_or(String::new(), |(effect, name)| {
        let phases = match &effect.phases[..] {
            [phase] => label::cut(&plain(phase), 60),
            _ => "all phases together".to_owned(),
        };
        let effect = plausible::effect(effect);
        format!(" The largest: {name} in {phases}, {effect}.")
    });
    format!(
        "{shown} of {} ratios of {metric} to the baseline are shown not to be 1, at 5 % error over \
         all of them.{largest}",
        effects.len()
    )
}

//! The chart of the write ledger: what kind of bytes reached the device, phase by phase.

use plotters::style::RGBColor;
use ssdlab_filesystem::layout::BlockKind;
use ssdlab_plan::metric::{Source, Unit};

use super::canvas::{Chart, Heading, Key, in_parts};
use super::data::{ChartData, ChartTreatment, range};
use super::palette::{KINDS, Symbol};
use super::rows::{Row, RowChart, RowPanel, panels_in_a_chart};
use super::scale::Scale;
use crate::reason::called;
use crate::words::plain;

/// The share of all bytes below which a phase is not shown.
const WORTH_A_PANEL: f64 = 0.005;

/// The letters on the bars of each kind.
const MARKS: [char; BlockKind::ALL.len()] = ['F', 'J', 'I', 'D', 'A', 'S', 'C', '?'];

/// A panel for each phase that writes, if the written bytes could be attributed.
pub(super) fn charts(data: &ChartData<'_>) -> Vec<Chart> {
    let most = |phase: &String| {
        data.treatments.iter().filter_map(|shown| total(shown, phase)).fold(0.0, f64::max)
    };
    let of_run = data.phases.iter().map(most).fold(0.0, f64::max);
    let phases: Vec<&String> =
        data.phases.iter().filter(|phase| most(phase) > WORTH_A_PANEL * of_run).collect();
    let kinds = kinds(data);
    in_parts(&phases, panels_in_a_chart(data.treatments.len()), |phases, part| {
        chart(data, phases, &kinds, part)
    })
}

/// A kind of written bytes, and how it is drawn.
struct Drawn {
    kind: BlockKind,
    colour: RGBColor,
    /// The letter on its bars.
    mark: char,
}

impl Drawn {
    /// The bytes of this kind that a phase wrote, as a mean over trials.
    fn mean(&self, shown: &ChartTreatment<'_>, phase: &str) -> f64 {
        shown.mean(phase, Source::Written(self.kind))
    }
}

/// The kinds of bytes that were written.
fn kinds(data: &ChartData<'_>) -> Vec<Drawn> {
    let is_written = |drawn: &Drawn| {
        let of = |shown: &ChartTreatment<'_>| {
            data.phases.iter().any(|phase| drawn.mean(shown, phase) > 0.0)
        };
        data.treatments.iter().any(of)
    };
    let kinds = BlockKind::ALL.into_iter().zip(KINDS).zip(MARKS);
    kinds.map(|((kind, colour), mark)| Drawn { kind, colour, mark }).filter(is_written).collect()
}

/// All written bytes; `None` if those of any trial could not be attributed.
fn total(shown: &ChartTreatment<'_>, phase: &str) -> Option<f64> {
    let found = BlockKind::ALL.map(|kind| shown.summary(phase, Source::Written(kind))).into_iter();
    found.map(|found| Some(found?.mean)).sum()
}

fn chart(data: &ChartData<'_>, phases: &[&String], kinds: &[Drawn], part: &str) -> Chart {
    let title = format!("What was written to the device{part}");
    let notes = "Means over trials, by what the bytes are to the filesystem.";
    let key = |drawn: &Drawn| Key {
        symbol: Symbol::Square,
        colour: drawn.colour,
        says: format!("{} {}", drawn.mark, called(drawn.kind)),
    };
    let keys = kinds.iter().map(key).collect();
    let heading = Heading { title, notes: notes.to_owned(), keys };
    let names = data.treatments.iter().map(|shown| shown.name.clone()).collect();
    let panel = |phase: &&String| {
        let totals = data.treatments.iter().filter_map(|shown| total(shown, phase));
        RowPanel {
            title: plain(phase),
            scale: Scale::from_zero(Unit::Bytes, totals.fold(0.0, f64::max)),
            reference: None,
            rows: data.treatments.iter().map(|shown| row(shown, phase, kinds)).collect(),
        }
    };
    let panels = phases.iter().map(panel).collect();
    let ranges = kinds.iter().filter_map(|drawn| {
        let of = |shown: &ChartTreatment<'_>| {
            phases.iter().map(|phase| drawn.mean(shown, phase)).sum::<f64>()
        };
        let is_known =
            |shown: &&ChartTreatment<'_>| phases.iter().all(|p| total(shown, p).is_some());
        let known = data.treatments.iter().filter(is_known);
        let totals = known.map(|shown| shown.named(of(shown)));
        Some(format!("{}: {}", called(drawn.kind), range(Unit::Bytes, totals)?))
    });
    let says = format!("Over these phases, {}.", ranges.collect::<Vec<_>>().join("; "));
    RowChart { heading, names, panels }.chart("ledger", says)
}

fn row(shown: &ChartTreatment<'_>, phase: &str, kinds: &[Drawn]) -> Row {
    if total(shown, phase).is_none() {
        return Row { marks: Vec::new(), says: "not known".to_owned() };
    }
    let part = |drawn: &Drawn| (drawn.mean(shown, phase), drawn.colour, drawn.mark.to_string());
    Row::stacked(Unit::Bytes, kinds.iter().map(part))
}

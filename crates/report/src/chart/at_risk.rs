//! The chart of work at risk: at each power cut, how much had been done that nothing promised to
//! keep, and how much of it was lost.

use ssdlab_advice::TrialResult;
use ssdlab_operations::cuts::{CutOutcome, Finding};
use ssdlab_plan::metric::Unit;

use super::canvas::{Chart, Heading, Key, in_parts};
use super::data::{ChartData, ChartTreatment, range, thinned};
use super::grid::{GridPanel, PanelGrid, Point, Shares, panels_in_a_chart};
use super::label;
use super::palette::{COLOURS, PLAIN, Symbol};
use super::scale::Scale;
use crate::words::plain;

/// Panels side by side.
const COLUMNS: u32 = 3;

/// A kind of point.
type Kind = (Symbol, usize, &'static str);

const UNPROMISED: Kind = (Symbol::Ring, 5, "done and not promised");
const LOST: Kind = (Symbol::Disc, 0, "lost");
const BROKEN: Kind = (Symbol::Cross, 3, "lost, with a broken promise");
const UNMOUNTABLE: Kind = (Symbol::Diamond, 1, "unmountable: nothing can be read");

/// One power cut in a phase.
struct AtRisk {
    at_ns: f64,
    /// Operations that had been done and were not promised.
    unpromised: f64,
    /// Operations that are gone; `None` if the filesystem could not be mounted.
    lost: Option<f64>,
    is_broken: bool,
}

impl AtRisk {
    /// The worst that is known of a cut's survivors; `None` if no file records its history.
    fn of(cut: &[CutOutcome]) -> Option<Self> {
        let verdicts = || cut.iter().filter_map(|outcome| outcome.verdict.as_ref());
        let is_broken = |outcome: &CutOutcome| outcome.has(Finding::BrokenPromise) == Some(true);
        Some(Self {
            at_ns: cut[0].at_ns as f64,
            unpromised: cut[0].unpromised?.into(),
            lost: verdicts().map(|verdict| verdict.lost_operations).max().map(f64::from),
            is_broken: cut.iter().any(is_broken),
        })
    }

    /// What it had at risk, and above it or on it what came of that.
    fn points(&self) -> impl Iterator<Item = Point> {
        let kind = if self.is_broken { BROKEN } else { LOST };
        let came_of_it = self.lost.map_or((UNMOUNTABLE, self.unpromised), |lost| (kind, lost));
        let point = |((symbol, colour, _), up): (Kind, f64)| Point {
            at: (self.at_ns, up),
            symbol,
            colour: COLOURS[colour],
        };
        [(UNPROMISED, self.unpromised), came_of_it].map(point).into_iter()
    }
}

/// A treatment's cuts in a phase.
struct Cuts<'a> {
    shown: &'a ChartTreatment<'a>,
    cuts: Vec<AtRisk>,
}

/// A chart for each phase in which the power was cut, a panel for each treatment.
pub(super) fn charts(data: &ChartData<'_>) -> Vec<Chart> {
    data.phases.iter().flat_map(|phase| of_phase(data, phase)).collect()
}

fn of_phase(data: &ChartData<'_>, phase: &str) -> Vec<Chart> {
    let in_phase = |trial: &TrialResult| -> Vec<AtRisk> {
        let cuts = trial.cuts.chunk_by(|one, next| one.cut == next.cut);
        cuts.filter(|cut| cut[0].phase == phase).filter_map(AtRisk::of).collect()
    };
    let all = data.treatments.iter().map(|shown| {
        let cuts = shown.trials.iter().copied().flat_map(in_phase).collect();
        Cuts { shown, cuts }
    });
    let all: Vec<Cuts<'_>> = all.filter(|own| !own.cuts.is_empty()).collect();
    let cuts = || all.iter().flat_map(|own| &own.cuts);
    let times = || cuts().map(|cut| cut.at_ns);
    let (first, last) = (times().fold(f64::MAX, f64::min), times().fold(0.0, f64::max));
    let most = cuts().map(|cut| cut.unpromised.max(cut.lost.unwrap_or(0.0))).fold(0.0, f64::max);
    let across = Scale::between(Unit::Ns, first, last);
    let up = Scale::from_zero(Unit::Number, most);
    let (every, thinned) = thinned(2 * cuts().count());
    in_parts(&all, panels_in_a_chart(COLUMNS), |own, part| {
        let name = label::cut(&plain(phase), 30);
        let title = format!("Work at risk over time in {name}{part}");
        let notes = format!(
            "At each power cut, by its time in the trial: operations on files that were done and \
             not promised to last, and those that were lost. What lies between survived without a \
             promise. All panels have the same axes.{thinned}"
        );
        let key = |(symbol, colour, says): Kind| Key {
            symbol,
            colour: COLOURS[colour],
            says: says.to_owned(),
        };
        let points = || own.iter().flat_map(|own| &own.cuts).flat_map(AtRisk::points);
        let is_shown = |kind: &Kind| points().any(|point| point.symbol == kind.0);
        let kinds = [UNPROMISED, LOST, BROKEN, UNMOUNTABLE].into_iter();
        let keys = kinds.filter(is_shown).map(key).collect();
        let heading = Heading { title, notes, keys };
        let panel = |own: &Cuts<'_>| GridPanel {
            points: own.cuts.iter().step_by(every).flat_map(AtRisk::points).collect(),
            ..GridPanel::new(own.shown.name.clone(), across.clone(), up.clone(), PLAIN)
        };
        let panels = own.iter().map(panel).collect();
        let shares = Shares { across: true, up: true };
        let id = format!("at-risk-{}", label::slug(phase));
        PanelGrid { heading, columns: COLUMNS, shares, panels }.chart(&id, says(own))
    })
}

/// The most that a cut lost with each treatment, and how many broke a promise.
fn says(all: &[Cuts<'_>]) -> String {
    let most = |own: &Cuts<'_>| own.cuts.iter().filter_map(|cut| cut.lost).fold(0.0, f64::max);
    let lost = all.iter().map(|own| own.shown.named(most(own)));
    let lost = range(Unit::Number, lost).unwrap_or_default();
    let cuts = || all.iter().flat_map(|own| &own.cuts);
    let (broken, of) = (cuts().filter(|cut| cut.is_broken).count(), cuts().count());
    format!("The most operations that a cut lost: {lost}. {broken} of {of} cuts broke a promise.")
}

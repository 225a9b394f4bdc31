//! The drive over time: free blocks, and a simulated drive's internal writes.

use ssdlab_plan::metric::Unit;
use ssdlab_results::DriveCourse;

use super::canvas::{Chart, Heading, in_parts};
use super::data::{ChartData, ChartTreatment, LineStep, over_trials, range, range_of};
use super::grid::{GridPanel, PanelGrid, Shares, panels_in_a_chart};
use super::scale::Scale;

/// Steps of a line.
const STEPS: u32 = 48;

/// Treatments side by side.
const MOST_COLUMNS: usize = 3;

/// What is plotted of a drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Free,
    OwnWrites,
    Stalls,
}

impl Side {
    const ALL: [Self; 3] = [Self::Free, Self::OwnWrites, Self::Stalls];

    fn title(self) -> &'static str {
        match self {
            Self::Free => "free blocks",
            Self::OwnWrites => "own writes",
            Self::Stalls => "stalls",
        }
    }

    fn unit(self) -> Unit {
        match self {
            Self::Free => Unit::Percent,
            Self::OwnWrites => Unit::BytesPerS,
            Self::Stalls => Unit::Ns,
        }
    }

    /// The value at an index of a drive's course: a share in per cent, or a running count.
    fn of(self, course: &DriveCourse, moment: usize) -> f64 {
        let count = |list: &[u64]| list.get(moment).map_or(0.0, |count| *count as f64);
        match self {
            Self::Free => {
                let free = course.free_blocks.get(moment).copied().unwrap_or(0);
                100.0 * f64::from(free) / f64::from(course.wear.blocks.max(1))
            }
            // Data in the write buffer has not been programmed yet.
            Self::OwnWrites => {
                (count(&course.flash_written_bytes) - count(&course.host_page_bytes)).max(0.0)
            }
            Self::Stalls => count(&course.stalled_ns),
        }
    }

    /// The values at the ends of whole steps; for counts, their growth per second.
    fn line(self, course: &DriveCourse, step_ns: f64) -> Vec<f64> {
        let end_ns = course.at_ns.last().map_or(0.0, |at| *at as f64);
        let ends = (0..=STEPS).map(|step| f64::from(step) * step_ns);
        // The longest trial ends with the last step, except for rounding.
        let ends = ends.take_while(|at| *at <= end_ns * (1.0 + 1e-9));
        let values: Vec<f64> = ends.map(|at| self.at(course, at)).collect();
        match self {
            Self::Free => values,
            Self::OwnWrites | Self::Stalls => {
                let growth = |two: &[f64]| (two[1] - two[0]).max(0.0) * 1e9 / step_ns;
                values.windows(2).map(growth).collect()
            }
        }
    }

    /// The value at a time, interpolated linearly.
    fn at(self, course: &DriveCourse, at_ns: f64) -> f64 {
        let after = course.at_ns.partition_point(|at| (*at as f64) < at_ns);
        let last = course.at_ns.len().saturating_sub(1);
        let Some(before) = after.checked_sub(1).filter(|_| after <= last) else {
            return self.of(course, after.min(last));
        };
        let (from, to) = (course.at_ns[before] as f64, course.at_ns[after] as f64);
        let (one, other) = (self.of(course, before), self.of(course, after));
        one + (other - one) * (at_ns - from) / (to - from)
    }
}

/// A side of the drive in the trials of a treatment.
struct DriveSide<'a> {
    shown: &'a ChartTreatment<'a>,
    side: Side,
    steps: Vec<LineStep>,
}

/// A row of panels for each treatment on a simulated drive; own writes and stalls only if any.
pub(super) fn charts(data: &ChartData<'_>) -> Vec<Chart> {
    let longest = data.treatments.iter().flat_map(courses).filter_map(|course| course.at_ns.last());
    let Some(longest_ns) = longest.max().filter(|longest| **longest > 0) else {
        return Vec::new();
    };
    let step_ns = *longest_ns as f64 / f64::from(STEPS);
    let mut sides: Vec<(Side, Vec<DriveSide<'_>>)> = Vec::new();
    for side in Side::ALL {
        let seen = data.treatments.iter().filter_map(|shown| seen(shown, side, step_ns));
        let seen: Vec<DriveSide<'_>> = seen.collect();
        if side == Side::Free || greatest(&seen) > 0.0 {
            sides.push((side, seen));
        }
    }
    let across = Scale::from_zero(Unit::Ns, *longest_ns as f64);
    let rows: Vec<usize> = (0..sides[0].1.len()).collect();
    // Sides are columns; if there is only one, treatments are.
    let columns = if sides.len() > 1 { sides.len() } else { MOST_COLUMNS };
    let columns = u32::try_from(columns).unwrap_or(1);
    let in_a_chart = (panels_in_a_chart(columns) / sides.len()).max(1);
    in_parts(&rows, in_a_chart, |rows, part| {
        let title = format!("The drive over time{part}");
        let notes = "Line: mean over the trials that are still at it. Band: from the least to the \
                     greatest of them. Pale \
                     verticals: where phases begin, in the first trial. Own writes: what is \
                     programmed beyond the host's pages. Stalls: how long the host's pages wait \
                     in each second for the drive's own work, added up."
            .to_owned();
        let heading = Heading { title, notes, keys: Vec::new() };
        let panels = rows.iter().flat_map(|row| {
            sides.iter().map(move |(side, seen)| (side, &seen[*row], greatest(seen)))
        });
        let panels = panels.map(|(side, seen, greatest)| {
            let up = match side {
                Side::Free => Scale::between(side.unit(), 0.0, 100.0),
                _ => Scale::from_zero(side.unit(), greatest),
            };
            panel(seen, step_ns, &across, up)
        });
        let panels = panels.collect();
        let shares = Shares { across: true, up: sides.len() == 1 };
        PanelGrid { heading, columns, shares, panels }.chart("drive", says(&sides))
    })
}

fn courses<'a>(shown: &'a ChartTreatment<'_>) -> impl Iterator<Item = &'a DriveCourse> {
    shown.trials.iter().filter_map(|trial| trial.drive.as_ref())
}

fn seen<'a>(shown: &'a ChartTreatment<'a>, side: Side, step_ns: f64) -> Option<DriveSide<'a>> {
    let trials: Vec<Vec<f64>> = courses(shown).map(|course| side.line(course, step_ns)).collect();
    (!trials.is_empty()).then(|| DriveSide { shown, side, steps: over_trials(&trials) })
}

fn greatest(seen: &[DriveSide<'_>]) -> f64 {
    seen.iter().flat_map(|seen| &seen.steps).map(|(_, [_, most])| *most).fold(0.0, f64::max)
}

fn panel(seen: &DriveSide<'_>, step_ns: f64, across: &Scale, up: Scale) -> GridPanel {
    // A state belongs to the step's end, a growth to the whole step.
    let shift = if seen.side == Side::Free { 0.0 } else { 0.5 };
    let place = |step: usize| (step as f64 + shift) * step_ns;
    let first = courses(seen.shown).next();
    let begins = first.iter().flat_map(|course| course.phases_ns.values());
    let title = format!("{}: {}", seen.shown.name, seen.side.title());
    let panel = GridPanel::new(title, across.clone(), up, seen.shown.colour);
    GridPanel {
        begins: begins.filter(|at| **at > 0).map(|at| *at as f64).collect(),
        ..panel.with_steps(&seen.steps, place)
    }
}

fn says(sides: &[(Side, Vec<DriveSide<'_>>)]) -> String {
    let says = sides.iter().filter_map(|(side, seen)| {
        let (word, extreme): (_, fn(&DriveSide<'_>) -> f64) = match side {
            Side::Free => {
                ("at least", |seen| seen.steps.iter().map(|step| step.0).fold(f64::MAX, f64::min))
            }
            _ => ("at most", |seen| seen.steps.iter().map(|step| step.0).fold(0.0, f64::max)),
        };
        let values = seen.iter().map(|seen| seen.shown.named(extreme(seen)));
        let range = match side {
            Side::Free => range_of(values, |share| format!("{share:.1} %"))?,
            _ => range(side.unit(), values)?,
        };
        Some(format!("{}: {word} {range}", side.title()))
    });
    format!("On average over trials, {}.", says.collect::<Vec<_>>().join("; "))
}

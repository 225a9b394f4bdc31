//! Charts with one row per treatment, named at the left, in panels side by side and below each
//! other, each with its own axis and a column of numbers.

use plotters::chart::{ChartBuilder, ChartContext};
use plotters::coord::cartesian::Cartesian2d;
use plotters::coord::types::RangedCoordf64;
use plotters::element::Rectangle;
use plotters::prelude::SVGBackend;
use plotters::style::text_anchor::HPos;
use plotters::style::{Color, RGBColor, TRANSPARENT};
use ssdlab_plan::metric::Unit;

use super::canvas::{
    self, Chart, Drawing, DrawingRegion, EDGE, Heading, NORMAL, SMALL, WIDTH, at, font, line,
    symbol, text,
};
use super::label;
use super::palette::{GRID, LINE, MUTED, ON_MARK, Symbol, TEXT};
use super::scale::Scale;
use crate::number;

/// Panels side by side.
const COLUMNS: usize = 2;

/// The width of each panel that names leave free.
const LEAST_PANEL: u32 = 420;

/// The height of a row, and of each of many rows.
const ROW_HEIGHT: u32 = 38;
const LOW_ROW_HEIGHT: u32 = 30;
const MANY_ROWS: usize = 12;

/// The heights of a panel's title, above its rows, and of its axis, below them.
const PANEL_TITLE: u32 = 40;
const PANEL_AXIS: u32 = 46;

/// The space between panels.
const GAP: u32 = 24;

/// The maximum height of a chart with more than one row of panels.
const TALLEST: u32 = 2600;

pub(super) struct RowChart {
    pub heading: Heading,
    pub names: Vec<String>,
    pub panels: Vec<RowPanel>,
}

/// A part of a chart with its own axis.
pub(super) struct RowPanel {
    pub title: String,
    pub scale: Scale,
    /// A value that the others are compared with.
    pub reference: Option<f64>,
    /// As many as there are names.
    pub rows: Vec<Row>,
}

impl RowPanel {
    /// Whether an interval is drawn in it.
    pub fn has_whisker(&self) -> bool {
        let mut marks = self.rows.iter().flat_map(|row| &row.marks);
        marks.any(|mark| matches!(mark, Mark::Whisker(_)))
    }
}

/// What is drawn in a row.
#[derive(Default)]
pub(super) struct Row {
    pub marks: Vec<Mark>,
    /// Its number as text.
    pub says: String,
}

impl Row {
    /// A row of stacked bars, each with a length, a colour and a text; its number is the total.
    pub fn stacked(unit: Unit, parts: impl IntoIterator<Item = (f64, RGBColor, String)>) -> Self {
        let mut from = 0.0;
        let mut marks = Vec::new();
        for (length, colour, says) in parts.into_iter().filter(|(length, ..)| *length > 0.0) {
            let to = from + length;
            marks.push(Mark::Bar { from, to, colour, is_pale: false, says });
            from = to;
        }
        Self { marks, says: number::amount(unit, from) }
    }
}

/// Something drawn in a row.
pub(super) enum Mark {
    /// A bar from one value to another, optionally with a text on it.
    Bar { from: f64, to: f64, colour: RGBColor, is_pale: bool, says: String },
    /// A line across the row.
    Tick(f64),
    /// An interval.
    Whisker([f64; 2]),
    /// A line between two values.
    Span { ends: [f64; 2], colour: RGBColor },
    /// A symbol; `lane` is its height above the row's middle, in per cent.
    Point { at: f64, lane: i32, symbol: Symbol, colour: RGBColor, radius: i32 },
}

/// How many panels with this many rows fit into a chart.
pub(super) fn panels_in_a_chart(rows: usize) -> usize {
    let height = PANEL_TITLE + row_height(rows) * count(rows) + PANEL_AXIS;
    COLUMNS * (TALLEST / height).max(1) as usize
}

fn row_height(rows: usize) -> u32 {
    if rows > MANY_ROWS { LOW_ROW_HEIGHT } else { ROW_HEIGHT }
}

fn count(items: usize) -> u32 {
    u32::try_from(items).unwrap_or(u32::MAX)
}

impl RowChart {
    /// The chart; `says` is its text alternative.
    pub fn chart(self, id: &str, says: String) -> Chart {
        let svg = self.svg(&says);
        Chart { id: id.to_owned(), title: self.heading.title, says, svg }
    }

    fn svg(&self, says: &str) -> String {
        let height = self.heading.height() + count(self.lines()) * self.line_height();
        canvas::svg(&self.heading.title, says, height, |root| {
            self.heading.draw(root)?;
            self.panels.iter().enumerate().try_for_each(|(index, panel)| {
                self.draw_names(root, index)?;
                self.draw_panel(root, index, panel)
            })
        })
    }

    fn lines(&self) -> usize {
        self.panels.len().div_ceil(COLUMNS)
    }

    fn row_height(&self) -> u32 {
        row_height(self.names.len())
    }

    fn line_height(&self) -> u32 {
        PANEL_TITLE + self.row_height() * count(self.names.len()) + PANEL_AXIS + GAP
    }

    /// How many panels are side by side.
    fn columns(&self) -> u32 {
        count(self.panels.len().clamp(1, COLUMNS))
    }

    /// A name, cut only if the panels need its room.
    fn shown(&self, name: &str) -> String {
        let room = WIDTH - 3 * EDGE - self.columns() * LEAST_PANEL;
        label::cut(name, label::columns(room, NORMAL))
    }

    fn names_width(&self) -> u32 {
        let widths = self.names.iter().map(|name| label::width(&self.shown(name), NORMAL) + EDGE);
        EDGE + widths.max().unwrap_or(0)
    }

    /// The left end, the width and the top of a panel.
    fn place(&self, index: usize) -> (u32, u32, u32) {
        let columns = self.columns();
        let width = (WIDTH - EDGE - self.names_width()) / columns;
        let (column, line) = (count(index % COLUMNS), count(index / COLUMNS));
        let top = self.heading.height() + line * self.line_height();
        (self.names_width() + column * width, width - GAP * (columns - 1), top)
    }

    fn draw_names(&self, root: &DrawingRegion<'_>, index: usize) -> Drawing {
        let (left, _, top) = self.place(index);
        if !index.is_multiple_of(COLUMNS) {
            return Ok(());
        }
        self.names.iter().enumerate().try_for_each(|(row, name)| {
            let name = self.shown(name);
            text(root, &name, (left - EDGE, self.middle(top, row)), NORMAL, HPos::Right, TEXT)
        })
    }

    fn middle(&self, top: u32, row: usize) -> u32 {
        top + PANEL_TITLE + count(row) * self.row_height() + self.row_height() / 2
    }

    fn draw_panel(&self, root: &DrawingRegion<'_>, index: usize, panel: &RowPanel) -> Drawing {
        let (left, width, top) = self.place(index);
        let title = label::cut(&panel.title, label::columns(width, NORMAL));
        text(root, &title, (left, top + PANEL_TITLE / 2), NORMAL, HPos::Left, TEXT)?;
        let numbers = panel.rows.iter().map(|row| label::width(&row.says, SMALL) + 8).max();
        let numbers = numbers.unwrap_or(0).min(width / 2);
        let rows_height = self.row_height() * count(self.names.len());
        let plot = root
            .clone()
            .shrink(at(left, top + PANEL_TITLE), at(width - numbers, rows_height + PANEL_AXIS));
        let mut axes = ChartBuilder::on(&plot)
            .x_label_area_size(PANEL_AXIS)
            .build_cartesian_2d(panel.scale.clone(), 0.0..self.names.len() as f64)?;
        let labels = (width - numbers) / (panel.scale.label_width(SMALL) + GAP);
        axes.configure_mesh()
            .x_labels(labels.max(2) as usize)
            .disable_y_mesh()
            .disable_y_axis()
            .bold_line_style(GRID)
            .light_line_style(TRANSPARENT)
            .axis_style(MUTED)
            .label_style(font(SMALL, MUTED))
            .draw()?;
        let plot = Plot { root, axes, half: (self.row_height() / 2).cast_signed() };
        if let Some(reference) = panel.reference {
            let x = plot.x(panel.scale.within(reference));
            let ends = [top + PANEL_TITLE, top + PANEL_TITLE + rows_height];
            line(root, ends.map(|y| (x, y.cast_signed())).to_vec(), LINE, 2)?;
        }
        for (index, row) in panel.rows.iter().enumerate() {
            let middle = self.middle(top, index);
            row.marks
                .iter()
                .try_for_each(|mark| plot.draw(mark, middle.cast_signed(), &panel.scale))?;
            text(root, &row.says, (left + width, middle), SMALL, HPos::Right, TEXT)?;
        }
        Ok(())
    }
}

/// A panel whose axis has been drawn.
struct Plot<'a, 'b> {
    root: &'a DrawingRegion<'b>,
    axes: ChartContext<'a, SVGBackend<'b>, Cartesian2d<Scale, RangedCoordf64>>,
    /// Half the height of a row.
    half: i32,
}

impl Plot<'_, '_> {
    fn x(&self, value: f64) -> i32 {
        self.axes.backend_coord(&(value, 0.0)).0
    }

    fn draw(&self, mark: &Mark, middle: i32, scale: &Scale) -> Drawing {
        let bar = self.half - 5;
        match mark {
            Mark::Bar { from, to, colour, is_pale, says } => {
                let (from, to) = (self.x(*from), self.x(*to));
                let ends = [(from, middle - bar), (to, middle + bar)];
                let colour_of_bar = colour.mix(if *is_pale { 0.4 } else { 1.0 });
                self.root.draw(&Rectangle::new(ends, colour_of_bar.filled()))?;
                let room = u32::try_from(to - from).unwrap_or(0);
                if says.is_empty() || label::width(says, SMALL) + 6 > room {
                    return Ok(());
                }
                let centre = at_least_zero(i32::midpoint(from, to), middle);
                text(self.root, says, centre, SMALL, HPos::Center, ON_MARK)
            }
            Mark::Tick(value) => {
                let x = self.x(*value);
                line(self.root, vec![(x, middle - bar), (x, middle + bar)], LINE, 4)
            }
            Mark::Whisker(ends) => {
                // One line, from cap to cap; an end outside the axis has no cap.
                let end = |end: f64| {
                    let (x, cap) = (self.x(end), if scale.has(end) { 6 } else { 0 });
                    [(x, middle - cap), (x, middle + cap), (x, middle)]
                };
                let mut points = end(ends[0]).to_vec();
                points.extend(end(ends[1]).into_iter().rev());
                line(self.root, points, LINE, 2)
            }
            Mark::Span { ends, colour } => {
                let [from, to] = ends.map(|end| self.x(end));
                line(self.root, vec![(from, middle), (to, middle)], *colour, 3)
            }
            Mark::Point { at, lane, symbol: shape, colour, radius } => {
                let rise = (bar - radius) * lane / 100;
                symbol(self.root, (self.x(*at), middle - rise), *shape, *radius, *colour)
            }
        }
    }
}

fn at_least_zero(x: i32, y: i32) -> (u32, u32) {
    (x.max(0).cast_unsigned(), y.max(0).cast_unsigned())
}

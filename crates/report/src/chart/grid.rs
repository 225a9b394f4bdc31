//! Charts of small panels, each with a horizontal and a vertical axis.

use plotters::chart::ChartBuilder;
use plotters::element::{Polygon, Rectangle};
use plotters::style::text_anchor::HPos;
use plotters::style::{Color, RGBColor, TRANSPARENT};

use super::canvas::{
    self, Chart, Drawing, DrawingRegion, EDGE, Heading, SMALL, WIDTH, at, font, line, symbol, text,
};
use super::data::LineStep;
use super::label;
use super::palette::{GRID, LINE, MUTED, Symbol, TEXT};
use super::scale::Scale;

/// The height of a panel, and how much of it its title and axis labels take.
const HEIGHT: u32 = 280;
const TITLE: u32 = 36;
const BELOW: u32 = 44;
const LEFT: u32 = 120;

/// The maximum number of labels on the vertical and on the horizontal axis.
const LABELS_UP: usize = 5;
const MOST_LABELS: u32 = 8;

/// The maximum height of a chart.
const TALLEST: u32 = 3600;

/// A chart of panels.
pub(super) struct PanelGrid {
    pub heading: Heading,
    /// The maximum number of panels side by side, at least 1.
    pub columns: u32,
    pub shares: Shares,
    pub panels: Vec<GridPanel>,
}

/// The axes that all panels share: they are labelled once, below the last row and left of the first
/// column.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shares {
    pub across: bool,
    pub up: bool,
}

pub(super) struct GridPanel {
    pub title: String,
    pub across: Scale,
    pub up: Scale,
    /// A value that the others are compared with.
    pub reference: Option<f64>,
    /// The smallest and the largest value at each horizontal position.
    pub band: Vec<(f64, [f64; 2])>,
    pub line: Vec<(f64, f64)>,
    pub points: Vec<Point>,
    /// Bars from 0, each from one horizontal position to another.
    pub bars: Vec<([f64; 2], f64)>,
    /// Rectangles, each by two opposite corners.
    pub patches: Vec<[(f64, f64); 2]>,
    /// Horizontal positions where something begins.
    pub begins: Vec<f64>,
    /// The colour of band, line, bars and patches.
    pub colour: RGBColor,
}

impl GridPanel {
    /// An empty panel.
    pub const fn new(title: String, across: Scale, up: Scale, colour: RGBColor) -> Self {
        Self {
            title,
            across,
            up,
            reference: None,
            band: Vec::new(),
            line: Vec::new(),
            points: Vec::new(),
            bars: Vec::new(),
            patches: Vec::new(),
            begins: Vec::new(),
            colour,
        }
    }

    /// Adds the line of the steps' means, and the band around it if trials differ; `place` is a
    /// step's horizontal position.
    pub fn with_steps(self, steps: &[LineStep], place: impl Fn(usize) -> f64) -> Self {
        let is_band = steps.iter().any(|(_, [low, high])| low < high);
        let placed = || steps.iter().enumerate().map(|(index, step)| (place(index), *step));
        Self {
            band: placed().filter(|_| is_band).map(|(at, (_, ends))| (at, ends)).collect(),
            line: placed().map(|(at, (mean, _))| (at, mean)).collect(),
            ..self
        }
    }
}

#[derive(Debug, Clone)]
pub(super) struct Point {
    pub at: (f64, f64),
    pub symbol: Symbol,
    pub colour: RGBColor,
}

/// How many panels fit into a chart with this many columns.
pub(super) fn panels_in_a_chart(columns: u32) -> usize {
    (columns * (TALLEST / HEIGHT)) as usize
}

impl PanelGrid {
    /// The chart; `says` is its text alternative.
    pub fn chart(self, id: &str, says: String) -> Chart {
        let svg = self.svg(&says);
        Chart { id: id.to_owned(), title: self.heading.title, says, svg }
    }

    fn svg(&self, says: &str) -> String {
        let panels = u32::try_from(self.panels.len()).unwrap_or(u32::MAX);
        let columns = panels.clamp(1, self.columns);
        let height = self.heading.height() + panels.div_ceil(columns) * HEIGHT + EDGE;
        canvas::svg(&self.heading.title, says, height, |root| {
            self.heading.draw(root)?;
            self.panels.iter().zip(0..).try_for_each(|(panel, index)| {
                let width = (WIDTH - 2 * EDGE) / columns;
                let left = EDGE + index % columns * width;
                let top = self.heading.height() + index / columns * HEIGHT;
                let labels = Shares {
                    across: !self.shares.across || index + columns >= panels,
                    up: !self.shares.up || index % columns == 0,
                };
                panel.draw(root, (left, top), width - EDGE, labels)
            })
        })
    }
}

impl GridPanel {
    /// Draws the panel; `labelled` are the axes that have labels.
    fn draw(
        &self,
        root: &DrawingRegion<'_>,
        (left, top): (u32, u32),
        width: u32,
        labelled: Shares,
    ) -> Drawing {
        let lines = label::two_lines(&self.title, label::columns(width - LEFT, SMALL));
        let middle = top + TITLE / 2;
        let places =
            if lines.len() > 1 { [middle - SMALL / 2, middle + SMALL / 2] } else { [middle; 2] };
        for (title, at) in lines.iter().zip(places) {
            text(root, title, (left + LEFT, at), SMALL, HPos::Left, TEXT)?;
        }
        let area = root.clone().shrink(at(left, top + TITLE), at(width, HEIGHT - TITLE));
        let mut plot = ChartBuilder::on(&area)
            .x_label_area_size(BELOW)
            .y_label_area_size(LEFT)
            .build_cartesian_2d(self.across.clone(), self.up.clone())?;
        let labels = (width - LEFT) / (self.across.label_width(SMALL) + EDGE);
        let mut mesh = plot.configure_mesh();
        if !labelled.across {
            mesh.disable_x_axis();
        }
        if !labelled.up {
            mesh.disable_y_axis();
        }
        mesh.x_labels(labels.clamp(2, MOST_LABELS) as usize)
            .y_labels(LABELS_UP)
            .disable_x_mesh()
            .bold_line_style(GRID)
            .light_line_style(TRANSPARENT)
            .axis_style(MUTED)
            .label_style(font(SMALL, MUTED))
            .draw()?;
        let place = |point: (f64, f64)| plot.backend_coord(&point);
        for across in &self.begins {
            let ends = [self.up.low(), f64::MAX].map(|up| place((*across, up)));
            line(root, ends.to_vec(), GRID, 2)?;
        }
        for ([from, to], height) in &self.bars {
            let corners = [place((*from, 0.0)), place((*to, *height))];
            root.draw(&Rectangle::new(corners, self.colour.filled()))?;
        }
        for corners in &self.patches {
            root.draw(&Rectangle::new(corners.map(place), self.colour.filled()))?;
        }
        let upper = self.band.iter().map(|(across, [_, high])| place((*across, *high)));
        let lower = self.band.iter().rev().map(|(across, [low, _])| place((*across, *low)));
        let outline: Vec<(i32, i32)> = upper.chain(lower).collect();
        if !outline.is_empty() {
            root.draw(&Polygon::new(outline, self.colour.mix(0.25).filled()))?;
        }
        if let Some(value) = self.reference {
            let ends = [self.across.low(), f64::MAX];
            line(root, ends.map(|across| place((across, value))).to_vec(), LINE, 2)?;
        }
        if !self.line.is_empty() {
            line(root, self.line.iter().copied().map(place).collect(), self.colour, 4)?;
        }
        self.points
            .iter()
            .try_for_each(|point| symbol(root, place(point.at), point.symbol, 5, point.colour))
    }
}

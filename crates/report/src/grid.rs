//! Tables for all reports.

use std::iter;

use comfy_table::{
    Cell, CellAlignment, ColumnConstraint, ContentArrangement, Table, Width, presets,
};
use textwrap::core::display_width;

use super::words::{Style, plain};

/// The width of files, for tables that are laid out side by side.
pub(super) const FILE_WIDTH: u16 = 100;

/// The width of a value, with its remarks beside or below it.
const CELL_WIDTH: usize = 21;

/// A table that is not drawn yet, for several report formats.
pub(super) struct ReportTable {
    pub header: Vec<String>,
    /// Its rows; a cell may have several lines.
    pub rows: Vec<Vec<String>>,
    /// The index of the first column of numbers; all columns after it are numbers, too.
    pub numbers: usize,
}

impl ReportTable {
    /// The table for a terminal, which wraps its cells if the terminal has a width, without a final
    /// newline. It is wider than the terminal rather than break a word of a cell, such as a number.
    pub fn text(&self, style: Style) -> String {
        let mut table = Table::new();
        table.load_style(presets::UTF8_FULL_CONDENSED);
        if let Some(width) = style.width {
            table.set_content_arrangement(ContentArrangement::Dynamic);
            table.set_width(width);
        }
        let cell = |text: &String| text.lines().map(plain).collect::<Vec<_>>().join("\n");
        table.set_header(self.header.iter().map(cell));
        table.add_rows(self.rows.iter().map(|row| row.iter().map(cell)));
        let columns = table.column_count();
        let longest = |column: usize| {
            let cells = table.column_cells_iter(column).flatten().map(Cell::content);
            let words = cells.map(|cell| cell.split_whitespace().map(display_width).max());
            words.flatten().max().and_then(|width| u16::try_from(width).ok()).unwrap_or(0)
        };
        let longest: Vec<u16> = (0..columns).map(longest).collect();
        for (index, (column, longest)) in table.column_iter_mut().zip(longest).enumerate() {
            let width = Width::Fixed(longest.saturating_add(column.padding_width()));
            column.set_constraint(ColumnConstraint::LowerBoundary(width));
            if index >= self.numbers {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        table.to_string().lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
    }
}

/// A row with its name, unless all of its cells are absent.
pub(super) fn row(
    name: &str,
    cells: impl IntoIterator<Item = Option<String>>,
) -> Option<Vec<String>> {
    let cells: Vec<Option<String>> = cells.into_iter().collect();
    let is_known = cells.iter().any(Option::is_some);
    let cells = cells.into_iter().map(Option::unwrap_or_default);
    is_known.then(|| iter::once(name.to_owned()).chain(cells).collect())
}

/// How many values fit beside a label of this width, at least one.
pub(super) fn side_by_side(style: Style, label_width: usize) -> usize {
    let width = usize::from(style.width.unwrap_or(FILE_WIDTH));
    (width.saturating_sub(label_width) / CELL_WIDTH).max(1)
}

#[cfg(test)]
mod tests;

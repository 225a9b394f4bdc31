//! Tables for all reports.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

use super::text::Style;

/// The width of files, for tables that are laid out side by side.
pub(super) const FILE_WIDTH: u16 = 100;

/// The width of a value, with its remarks beside or below it.
const CELL_WIDTH: usize = 21;

/// An empty table, which wraps its cells if the terminal has a width.
pub(super) fn new(style: Style) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED);
    if let Some(width) = style.width {
        table.set_content_arrangement(ContentArrangement::Dynamic);
        table.set_width(width);
    }
    table
}

/// The table as text, without a final newline; its columns from `numbers` on are right-aligned.
pub(super) fn drawn(mut table: Table, numbers: usize) -> String {
    for column in table.column_iter_mut().skip(numbers) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.to_string().lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

/// A table that is not drawn yet, for several report formats.
pub(super) struct Grid {
    /// Its header.
    pub header: Vec<String>,
    /// Its rows; a cell may have several lines.
    pub rows: Vec<Vec<String>>,
    /// The index of the first column of numbers; all columns after it are numbers, too.
    pub numbers: usize,
}

impl Grid {
    /// The table for a terminal, by [`drawn`].
    pub fn text(&self, style: Style) -> String {
        let mut table = new(style);
        table.set_header(&self.header);
        table.add_rows(&self.rows);
        drawn(table, self.numbers)
    }
}

/// How many values fit beside a label of this width, at least one.
pub(super) fn side_by_side(style: Style, label_width: usize) -> usize {
    let width = usize::from(style.width.unwrap_or(FILE_WIDTH));
    (width.saturating_sub(label_width) / CELL_WIDTH).max(1)
}

//! Texts in cells of Markdown tables.

/// A text in a cell of a table.
pub fn cell(text: &str) -> String {
    text.replace('\n', " ").replace('|', "\\|")
}

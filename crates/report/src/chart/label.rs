//! Text in charts: escaping it for SVG, estimating its width, and shortening it.

use textwrap::core::display_width;
use textwrap::{Options, WordSplitter};

/// The width of a column of text, in per cent of its size: that of a digit of `DejaVu` Sans, which
/// is wider than other machines' fonts.
const COLUMN: u32 = 64;

/// The estimated width of a text, in the unit of its size.
pub(super) fn width(text: &str, size: u32) -> u32 {
    let columns = u32::try_from(display_width(text)).unwrap_or(u32::MAX);
    columns.saturating_mul(COLUMN * size).div_ceil(100)
}

/// How many columns of this size fit.
pub(super) fn columns(width: u32, size: u32) -> usize {
    (100 * width / (COLUMN * size)) as usize
}

/// Text in at most this many columns, shortened in the middle: names of treatments may differ at
/// either end.
pub(super) fn cut(text: &str, columns: usize) -> String {
    if display_width(text) <= columns {
        return text.to_owned();
    }
    let kept = columns.saturating_sub(1);
    let head = start(text.chars(), kept.div_ceil(2));
    let tail = start(text.chars().rev(), kept / 2);
    head + "…" + &tail.chars().rev().collect::<String>()
}

/// The first characters, in at most this many columns.
fn start(characters: impl Iterator<Item = char>, columns: usize) -> String {
    let mut start = String::new();
    for c in characters {
        if display_width(&start) + display_width(c.encode_utf8(&mut [0; 4])) > columns {
            break;
        }
        start.push(c);
    }
    start
}

/// Text in at most two lines of this many columns.
pub(super) fn two_lines(text: &str, columns: usize) -> Vec<String> {
    // Do not break drive names at their hyphens.
    let at_spaces = Options::new(columns.max(1)).word_splitter(WordSplitter::NoHyphenation);
    let lines = textwrap::wrap(text, at_spaces);
    match &lines[..] {
        [_] | [_, _] => lines.into_iter().map(String::from).collect(),
        [first, rest @ ..] => vec![first.to_string(), cut(&rest.join(" "), columns)],
        [] => Vec::new(),
    }
}

/// Text escaped as content or attribute of an element.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\'' => escaped += "&apos;",
            c => escaped.push(c),
        }
    }
    escaped
}

/// Text as part of a file name.
pub(super) fn slug(text: &str) -> String {
    let kept = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let slug: String = text.chars().map(kept).take(40).collect();
    slug.trim_matches('-').to_owned()
}

#[cfg(test)]
mod tests;

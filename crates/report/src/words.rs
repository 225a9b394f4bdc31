//! Texts for people: how they are counted, quoted, wrapped, and kept free of control characters.

use ssdlab_advice::Analysis;

/// What the output can show.
#[derive(Debug, Clone, Copy, Default)]
pub struct Style {
    /// Whether it shows colours.
    pub is_coloured: bool,
    /// Its width in columns; `None` for a file.
    pub width: Option<u16>,
}

/// The text that `write` writes.
pub(super) fn written(write: impl FnOnce(&mut String) -> std::fmt::Result) -> String {
    let mut text = String::new();
    write(&mut text).expect("a String takes everything");
    text
}

/// A number of things.
pub fn counted(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// The run as an argument of a command.
pub(super) fn argument(analysis: &Analysis) -> String {
    let run = analysis.folder.as_ref().unwrap_or(&analysis.run);
    shlex::try_quote(run).unwrap_or_default().into_owned()
}

/// Wraps a text to the terminal's width; `first` starts the first line, `indent` every other.
pub fn wrapped(first: &str, text: &str, indent: &str, style: Style) -> String {
    let width = style.width.map_or(usize::MAX / 2, usize::from);
    let options = textwrap::Options::new(width)
        .initial_indent(first)
        .subsequent_indent(indent)
        .wrap_algorithm(textwrap::WrapAlgorithm::FirstFit)
        // Names of files and options stay whole.
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    textwrap::fill(&with_units(&plain(text)), options).replace(NO_BREAK, " ")
}

/// A space at which no line ends.
const NO_BREAK: &str = "\u{A0}";

/// A text whose numbers keep their units on the same line.
fn with_units(text: &str) -> String {
    const UNITS: [&str; 16] = [
        "ns", "us", "ms", "s", "h", "%", "B", "kB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB",
        "MB/s",
    ];
    let is_unit = |word: &str| UNITS.contains(&word.trim_end_matches(['.', ',', ';', ':', ')']));
    let mut words = text.split(' ');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |kept, word| {
        let is_kept = is_unit(word) && kept.ends_with(|c: char| c.is_ascii_digit());
        kept + if is_kept { NO_BREAK } else { " " } + word
    })
}

/// Text of plans and programs without characters that control a terminal, that XML forbids, or
/// that change the direction of other text.
pub(super) fn plain(text: &str) -> String {
    let seen = text.chars().filter(|c| !is_unseen(*c));
    seen.map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Whether a character is invisible and changes how others are displayed.
pub fn is_unseen(c: char) -> bool {
    matches!(c, '\u{061C}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}')
        || matches!(c, '\u{2060}'..='\u{2069}')
        || matches!(c, '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}' | '\u{FFFE}' | '\u{FFFF}')
}

#[cfg(test)]
mod tests;

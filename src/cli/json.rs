//! JSON as it is printed: no character in it steers a terminal or changes the direction of text.
//!
//! RFC 8259 has the controls below U+0020 escaped and lets all others be. Those are escaped here,
//! too: who parses them gets the same texts.

use std::io::{self, BufWriter, Write};

use serde::Serialize;

use crate::report::is_unseen;

/// What is written at a time, in bytes.
const BUFFER_BYTES: usize = 1 << 18;

/// Writes a value as one object over several lines, bit by bit: that of a long run is large.
pub fn write(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    // Its pieces are of a few bytes: a buffer whose type is known takes them in half the time.
    let mut out = Escaping(BufWriter::with_capacity(BUFFER_BYTES, out));
    serde_json::to_writer_pretty(&mut out, value)?;
    writeln!(out)?;
    out.flush()
}

/// A value as a line, with its end.
pub fn line(value: &impl Serialize) -> serde_json::Result<String> {
    let mut out = Escaping(Vec::new());
    serde_json::to_writer(&mut out, value)?;
    out.0.push(b'\n');
    Ok(String::from_utf8(out.0).expect("JSON is UTF-8"))
}

/// Takes JSON in pieces of whole characters. Characters beyond ASCII are in strings only.
struct Escaping<W>(W);

impl<W: Write> Write for Escaping<W> {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        self.write_all(piece).map(|()| piece.len())
    }

    fn write_all(&mut self, piece: &[u8]) -> io::Result<()> {
        let is_harmless = |byte: &u8| *byte < 0x7f;
        if piece.iter().all(is_harmless) {
            return self.0.write_all(piece);
        }
        let text = str::from_utf8(piece).map_err(io::Error::other)?;
        for run in text.split_inclusive(steers) {
            let plain = run.trim_end_matches(steers);
            self.0.write_all(plain.as_bytes())?;
            for unit in run[plain.len()..].encode_utf16() {
                write!(self.0, "\\u{unit:04x}")?;
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Whether a character does more than to be shown. Of the controls below U+0020 those that JSON has
/// between its values are left.
fn steers(c: char) -> bool {
    c >= '\u{7f}' && c.is_control() || is_unseen(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_steers_and_values_are_equal() {
        let mut hostile: String = ('\0'..='\u{a0}').collect();
        hostile += "\u{61c}\u{200f}\u{202e}\u{2066}\u{feff}é\u{1f600}";
        let mut pretty = Vec::new();
        write(&[&hostile], &mut pretty).unwrap();
        for text in [String::from_utf8(pretty).unwrap(), line(&[&hostile]).unwrap()] {
            assert!(text.contains("\\u009b") && text.contains("\\u202e"), "{text}");
            assert!(text.contains("é\u{1f600}"), "{text}");
            assert!(!text.contains(|c: char| c.is_control() && c != '\n' || is_unseen(c)));
            assert_eq!(serde_json::from_str::<[String; 1]>(&text).unwrap(), [hostile.clone()]);
        }
    }
}

//! JSON output without characters that control a terminal or change the direction of text. RFC 8259
//! requires escapes only for controls below U+0020. The others are escaped here, too: parsers
//! restore the same text.

use std::io::{self, BufWriter, Write};

use serde::Serialize;
use ssdlab_report::is_unseen;

/// The write buffer, in bytes.
const BUFFER_BYTES: usize = 1 << 18;

/// Writes a value as one pretty-printed object, incrementally: that of a long run is large.
pub fn write(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    // It comes in pieces of a few bytes. The buffer passes on whole ones, and many at a time.
    let mut out = BufWriter::with_capacity(BUFFER_BYTES, Escaping(out));
    serde_json::to_writer_pretty(&mut out, value)?;
    writeln!(out)?;
    out.flush()
}

/// A value as one line, with its line feed.
pub fn line(value: &impl Serialize) -> serde_json::Result<String> {
    let mut out = Escaping(Vec::new());
    serde_json::to_writer(&mut out, value)?;
    out.0.push(b'\n');
    Ok(String::from_utf8(out.0).expect("JSON is UTF-8"))
}

/// Receives JSON in pieces of whole characters. Non-ASCII characters occur only in strings.
struct Escaping<W>(W);

impl<W: Write> Write for Escaping<W> {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        self.write_all(piece).map(|()| piece.len())
    }

    fn write_all(&mut self, piece: &[u8]) -> io::Result<()> {
        if piece.is_ascii() && !piece.contains(&0x7f) {
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

/// Whether a character is a control or changes the text direction. Controls below U+0020 that JSON
/// uses between values are exempt.
fn steers(c: char) -> bool {
    c >= '\u{7f}' && c.is_control() || is_unseen(c)
}

#[cfg(test)]
mod tests;

//! Bytes in hexadecimal notation.

use std::fmt::Write;

/// Bytes as hexadecimal digits, two each.
#[must_use]
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

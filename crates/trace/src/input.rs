//! Defines how input is awaited.

use std::io::{self, BufRead, ErrorKind};

/// The bytes at hand, at least one unless the input is at its end.
///
/// An interruption by a signal is no failure, and waited out.
pub fn fill<R: BufRead>(input: &mut R) -> io::Result<&[u8]> {
    while let Err(cause) = input.fill_buf() {
        if cause.kind() != ErrorKind::Interrupted {
            return Err(cause);
        }
    }
    input.fill_buf()
}

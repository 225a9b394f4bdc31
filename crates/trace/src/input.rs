//! Defines how input is read despite interruptions.

use std::io::{self, BufRead, ErrorKind};

/// The buffered bytes, at least one unless the input is at its end.
///
/// Interruptions by signals are retried.
pub fn fill<R: BufRead>(input: &mut R) -> io::Result<&[u8]> {
    while let Err(cause) = input.fill_buf() {
        if cause.kind() != ErrorKind::Interrupted {
            return Err(cause);
        }
    }
    input.fill_buf()
}

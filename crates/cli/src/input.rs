//! Files that people write, read whole: plans and drive files.

use std::io;
use std::path::Path;

use ssdlab_host::{bounded, regular_file};

/// The largest such file, in bytes.
const MOST_BYTES: u64 = 16 << 20;

/// Reads a regular file or a pipe. One that does not end soon fails, before it takes much memory.
pub fn read(path: &Path) -> io::Result<String> {
    let bytes = bounded::read(regular_file::open_or_pipe(path)?, MOST_BYTES)?;
    String::from_utf8(bytes).map_err(|error| {
        io::Error::new(io::ErrorKind::InvalidData, format!("it is not text: {error}"))
    })
}

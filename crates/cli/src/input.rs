//! Files that people write, read whole: plans and drive files.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The largest such file, in bytes.
const MOST_BYTES: u64 = 16 << 20;

/// Reads a file or a pipe. One that does not end soon fails, before it takes much memory.
pub fn read(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_BYTES {
        let says = format!("it has more than {MOST_BYTES} bytes, the maximum for such a file");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, says));
    }
    String::from_utf8(bytes).map_err(|error| {
        io::Error::new(io::ErrorKind::InvalidData, format!("it is not text: {error}"))
    })
}

//! Reads others' files completely, within a bound: they may be larger than memory, or endless.

use std::io::{self, Read};

/// Reads to the end. Input of more than this many bytes fails, before it takes more memory.
pub fn read(from: impl Read, most_bytes: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(most_bytes + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most_bytes {
        let says = format!("it has more than {most_bytes} bytes, the maximum for such a file");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, says));
    }
    Ok(bytes)
}

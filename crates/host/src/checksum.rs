//! Checksums of files.

use std::io::{self, Read};
use std::path::Path;

use sha2::{Digest, Sha256};

use super::regular_file;

/// The SHA-256 of a file, in hexadecimal digits.
pub fn checksum(path: &Path) -> io::Result<String> {
    checksum_of(&mut regular_file::open(path)?)
}

/// The SHA-256 of all that can still be read, in hexadecimal digits.
pub fn checksum_of(file: &mut impl Read) -> io::Result<String> {
    let mut hasher = Sha256::new();
    let mut piece = vec![0; 1 << 20];
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(hex::encode(hasher.finalize())),
            length => hasher.update(&piece[..length]),
        }
    }
}

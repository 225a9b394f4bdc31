//! Checksums of files.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use sha2::{Digest, Sha256};

use super::hexadecimal::hexadecimal;

/// The SHA-256 of a file, in hexadecimal digits.
pub fn checksum(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut hasher = Sha256::new();
    let mut piece = vec![0; 1 << 20];
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(hexadecimal(&hasher.finalize())),
            length => hasher.update(&piece[..length]),
        }
    }
}

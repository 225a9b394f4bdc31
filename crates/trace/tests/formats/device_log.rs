//! Puts together logs of dm-log-writes, as `drivers/md/dm-log-writes.c` does.

#![allow(dead_code, reason = "each uses what it needs")]

pub const FLUSH: u64 = 1;
pub const FUA: u64 = 2;
pub const DISCARD: u64 = 4;
pub const MARK: u64 = 8;
pub const METADATA: u64 = 16;

/// A log with these entries.
pub fn log(entries: &[Vec<u8>], sector_bytes: u32) -> Vec<u8> {
    [super_block(entries.len() as u64, sector_bytes), entries.concat()].concat()
}

/// A super block that counts so many entries, in a sector of its own.
pub fn super_block(entries: u64, sector_bytes: u32) -> Vec<u8> {
    let numbers = [0x6a_7366_7773_6872, 1, entries].map(u64::to_le_bytes);
    padded([numbers.as_flattened(), &sector_bytes.to_le_bytes()].concat(), sector_bytes)
}

/// An entry in a sector of its own, with the text of a mark, and the data of a write behind it.
pub fn entry(sector: u64, sectors: u64, flags: u64, mark: &str, sector_bytes: u32) -> Vec<u8> {
    let numbers = [sector, sectors, flags, mark.len() as u64].map(u64::to_le_bytes);
    let mut bytes = padded([numbers.as_flattened(), mark.as_bytes()].concat(), sector_bytes);
    if flags & DISCARD == 0 {
        // Data that would be read as an entry with unknown flags.
        bytes.resize(bytes.len() + usize::try_from(sectors).unwrap() * sector_bytes as usize, 0xff);
    }
    bytes
}

fn padded(mut bytes: Vec<u8>, sector_bytes: u32) -> Vec<u8> {
    bytes.resize(sector_bytes as usize, 0);
    bytes
}

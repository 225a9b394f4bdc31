//! Checks logs of dm-log-writes, put together after `drivers/md/dm-log-writes.c`: the kernels that
//! build these tests have no device mapper.

use ssdlab_trace::{Flags, Format, Kind, Options};

use super::{drive, ending, read, request, requests, with};

const FLUSH: u64 = 1;
const FUA: u64 = 2;
const DISCARD: u64 = 4;
const MARK: u64 = 8;
const METADATA: u64 = 16;

/// A super block that counts so many entries, in a sector of its own.
fn super_block(entries: u64, sector_bytes: u32) -> Vec<u8> {
    let numbers = [0x6a_7366_7773_6872, 1, entries].map(u64::to_le_bytes);
    padded([numbers.as_flattened(), &sector_bytes.to_le_bytes()].concat(), sector_bytes)
}

/// An entry in a sector of its own, with the text of a mark, and the data of a write behind it.
fn entry(sector: u64, sectors: u64, flags: u64, mark: &str, sector_bytes: u32) -> Vec<u8> {
    let numbers = [sector, sectors, flags, mark.len() as u64].map(u64::to_le_bytes);
    let mut bytes = padded([numbers.as_flattened(), mark.as_bytes()].concat(), sector_bytes);
    if flags & DISCARD == 0 {
        // Data that would be read as an entry with unknown flags.
        bytes.resize(bytes.len() + sectors as usize * sector_bytes as usize, 0xff);
    }
    bytes
}

fn padded(mut bytes: Vec<u8>, sector_bytes: u32) -> Vec<u8> {
    bytes.resize(sector_bytes as usize, 0);
    bytes
}

/// A log with one of everything, followed by what was on the log device before.
fn log(sector_bytes: u32) -> Vec<u8> {
    let entries = [
        entry(8, 2, 0, "", sector_bytes),
        entry(10, 1, METADATA, "", sector_bytes),
        entry(0, 0, FLUSH, "", sector_bytes),
        entry(0, 0, MARK, "mkfs", sector_bytes),
        entry(64, 1024, DISCARD, "", sector_bytes),
        entry(3, 1, FLUSH | FUA | METADATA, "", sector_bytes),
    ];
    let before = vec![0xff; sector_bytes as usize];
    [super_block(entries.len() as u64, sector_bytes), entries.concat(), before].concat()
}

#[test]
fn every_kind_of_entry_is_read_in_sectors_of_the_device() {
    for sector_bytes in [512, 4096] {
        let bytes = u64::from(sector_bytes);
        let expected = [
            request(0, Kind::Write, 8 * bytes, 2 * bytes),
            with(Flags::METADATA, request(0, Kind::Write, 10 * bytes, bytes)),
            request(0, Kind::Flush, 0, 0),
            request(0, Kind::Discard, 64 * bytes, 1024 * bytes),
            with(
                Flags::PREFLUSH | Flags::FUA | Flags::METADATA,
                request(0, Kind::Write, 3 * bytes, bytes),
            ),
        ];
        let log = log(sector_bytes);
        assert_eq!(Format::detect(&log).unwrap(), Format::DmLogWrites);
        assert_eq!(requests(&log, Format::DmLogWrites, &Options::default()), expected);
    }
}

#[test]
fn a_log_that_ends_early_gives_what_came_before() {
    let whole = log(512);
    let sectors = whole.len() / 512 - 1;
    // Where each of the five requests is complete, in sectors; a mark is none.
    let complete = [4, 6, 7, 9, 11];
    for end in 1..sectors {
        let (found, error) = read(&whole[..end * 512], Format::DmLogWrites, &Options::default());
        assert_eq!(found.len(), complete.iter().filter(|at| **at <= end).count(), "{end}");
        let error = error.expect("an entry is missing");
        assert!(error.contains("the dm-log-writes trace is truncated at record "), "{error}");
    }
}

#[test]
fn a_fault_is_named_by_entry_and_field() {
    let with_entry = |entry: Vec<u8>| [super_block(1, 512), entry].concat();
    let mut newer = super_block(0, 512);
    newer[8] = 2;
    let mut without_sectors = super_block(0, 512);
    without_sectors[24..28].fill(0);
    for (log, expected) in [
        (vec![0; 512], "the header: the magic number is 0, not 0x6a736677736872"),
        (newer, "the header: the version is 2, not 1"),
        (super_block(0, 1000), "the header: the sector size is 1000, not a power of two"),
        (without_sectors, "the header: the sector size is 0, not a power of two"),
        (
            with_entry(entry(0, 1, 32, "", 512)),
            "record 1 (byte 512): the sum of flags is 32, not at most 31",
        ),
        (
            with_entry(entry(u64::MAX, 0, FUA, "", 512)),
            "record 1 (byte 512): the sector is 18446744073709551615, not less than 2^64 bytes",
        ),
        (
            with_entry(entry(0, 1 << 60, DISCARD, "", 512)),
            "record 1 (byte 512): the number of sectors is 1152921504606846976, not less than",
        ),
        (
            with_entry(entry((1 << 55) - 1, 2, DISCARD, "", 512)),
            "record 1 (byte 512): the offset is 18446744073709551104",
        ),
    ] {
        let error = ending(&log, Format::DmLogWrites);
        assert!(error.starts_with(&format!("dm-log-writes trace, {expected}")), "{error}");
    }
    let empty = ending(b"", Format::DmLogWrites);
    assert!(empty.starts_with("the dm-log-writes trace is truncated at the header"), "{empty}");
}

#[test]
fn its_drive_has_no_name() {
    let error = read(&log(512), Format::DmLogWrites, &drive("sda")).1.unwrap();
    assert!(error.starts_with("the trace has no requests to \"sda\""), "{error}");
}

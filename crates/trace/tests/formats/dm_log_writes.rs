//! Checks logs of dm-log-writes, put together after `drivers/md/dm-log-writes.c`: the kernels that
//! build these tests have no device mapper.

use ssdlab_trace::{
    DeviceLogEntry, DeviceLogReader, Flags, RequestKind, TraceFormat, TraceOptions,
};

use super::device_log::{DISCARD, FLUSH, FUA, MARK, METADATA, entry, super_block};
use super::{device_log, drive, ending, read, request, requests, with};

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
    [device_log::log(&entries, sector_bytes), before].concat()
}

#[test]
fn every_kind_of_entry_is_read_in_sectors_of_the_device() {
    for sector_bytes in [512, 4096] {
        let bytes = u64::from(sector_bytes);
        let expected = [
            request(0, RequestKind::Write, 8 * bytes, 2 * bytes),
            with(Flags::METADATA, request(0, RequestKind::Write, 10 * bytes, bytes)),
            request(0, RequestKind::Flush, 0, 0),
            request(0, RequestKind::Discard, 64 * bytes, 1024 * bytes),
            with(
                Flags::PREFLUSH | Flags::FUA | Flags::METADATA,
                request(0, RequestKind::Write, 3 * bytes, bytes),
            ),
        ];
        let log = log(sector_bytes);
        assert_eq!(TraceFormat::detect(&log).unwrap(), TraceFormat::DmLogWrites);
        assert_eq!(requests(&log, TraceFormat::DmLogWrites, &TraceOptions::default()), expected);
    }
}

#[test]
fn a_device_log_has_marks_and_data() {
    let write = entry(8, 2, 0, "", 512);
    let whole = log(512);
    let entries: Vec<_> = DeviceLogReader::new(&whole[..]).unwrap().map(Result::unwrap).collect();
    let DeviceLogEntry::Request(request, data) = &entries[0] else { panic!("{entries:?}") };
    assert_eq!((request.kind, request.offset_bytes), (RequestKind::Write, 8 * 512));
    assert_eq!(data, &write[512..]);
    assert_eq!(entries[3], DeviceLogEntry::Mark("mkfs".to_owned()));
    let DeviceLogEntry::Request(discard, data) = &entries[4] else { panic!("{entries:?}") };
    assert_eq!((discard.kind, data.len()), (RequestKind::Discard, 0));
    assert_eq!(entries.len(), 6);

    let mut truncated = DeviceLogReader::new(&whole[..2048]).unwrap();
    assert_eq!(truncated.next().unwrap().unwrap(), entries[0]);
    let error = truncated.next().unwrap().unwrap_err().to_string();
    assert!(error.starts_with("the dm-log-writes trace is truncated at record 2"), "{error}");
    assert!(truncated.next().is_none());
}

#[test]
fn a_log_that_ends_early_gives_what_came_before() {
    let whole = log(512);
    let sectors = whole.len() / 512 - 1;
    // Where each of the five requests is complete, in sectors; a mark is none.
    let complete = [4, 6, 7, 9, 11];
    for end in 1..sectors {
        let (found, error) =
            read(&whole[..end * 512], TraceFormat::DmLogWrites, &TraceOptions::default());
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
        (
            with_entry({
                let mut entry = entry(0, 0, MARK, "mkfs", 512);
                entry[24..32].copy_from_slice(&481_u64.to_le_bytes());
                entry
            }),
            "record 1 (byte 512): the length of a mark is 481, not within its sector",
        ),
    ] {
        let error = ending(&log, TraceFormat::DmLogWrites);
        assert!(error.starts_with(&format!("dm-log-writes trace, {expected}")), "{error}");
    }
    let empty = ending(b"", TraceFormat::DmLogWrites);
    assert!(empty.starts_with("the dm-log-writes trace is truncated at the header"), "{empty}");
}

#[test]
fn its_drive_has_no_name() {
    let error = read(&log(512), TraceFormat::DmLogWrites, &drive("sda")).1.unwrap();
    assert!(error.starts_with("the trace has no requests to \"sda\""), "{error}");
}

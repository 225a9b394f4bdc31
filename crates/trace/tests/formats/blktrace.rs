//! Checks the binary format of blktrace: both versions, both byte orders, and what is left out.

use std::io::BufReader;

use ssdlab_trace::{Flags, Request, RequestKind, TraceFormat, TraceOptions, TraceReader, merge};

use super::{
    BIG_ENDIAN, BLKPARSE, KERNEL, KERNEL_TEXT, LITTLE_ENDIAN, VERSION_8, completed, drain, drive,
    ending, issued, queued, read, request, requests, with,
};

#[test]
fn issued_requests_are_what_the_drive_sees() {
    assert_eq!(requests(LITTLE_ENDIAN, TraceFormat::Blktrace, &TraceOptions::default()), issued());
    assert_eq!(requests(BIG_ENDIAN, TraceFormat::Blktrace, &TraceOptions::default()), issued());
}

#[test]
fn version_8_tells_write_zeroes_from_writes() {
    let mut expected = issued();
    expected.push(with(Flags::SYNC, request(8000, RequestKind::WriteZeroes, 2048 * 512, 64 << 10)));
    assert_eq!(requests(VERSION_8, TraceFormat::Blktrace, &TraceOptions::default()), expected);
}

#[test]
fn queued_requests_are_what_was_asked_for() {
    let expected = [
        completed(3000, with(Flags::SYNC, request(0, RequestKind::Write, 2048 * 512, 4096))),
        with(Flags::READAHEAD, request(2000, RequestKind::Read, 4096 * 512, 128 << 10)),
        with(Flags::SYNC, request(4000, RequestKind::Flush, 0, 0)),
        with(
            Flags::SYNC | Flags::METADATA | Flags::FUA | Flags::PREFLUSH,
            request(5000, RequestKind::Write, 8192 * 512, 8192),
        ),
        request(6000, RequestKind::Discard, 512 << 20, 1 << 30),
    ];
    assert_eq!(requests(LITTLE_ENDIAN, TraceFormat::Blktrace, &queued()), expected);
}

#[test]
fn blkparse_reads_the_binary_as_this_crate_does() {
    for (options, count) in [(TraceOptions::default(), 14), (queued(), 27)] {
        let reader = |file| TraceReader::new(file, TraceFormat::Blktrace, &options).unwrap();
        let merged = drain(merge(KERNEL.map(reader).into()));
        assert_eq!(merged, (requests(KERNEL_TEXT, TraceFormat::Blkparse, &options), None));
        assert_eq!(merged.0.len(), count);
        assert_eq!(
            requests(LITTLE_ENDIAN, TraceFormat::Blktrace, &options),
            requests(BLKPARSE, TraceFormat::Blkparse, &options)
        );
    }
}

#[test]
fn the_size_of_the_buffer_does_not_matter() {
    for capacity in 1..80 {
        let input = BufReader::with_capacity(capacity, VERSION_8);
        let reader =
            TraceReader::new(input, TraceFormat::Blktrace, &TraceOptions::default()).unwrap();
        let (requests, error) = drain(reader);
        assert_eq!((requests.len(), error), (7, None));
    }
}

#[test]
fn a_cut_trace_gives_all_before_the_cut() {
    for length in 0..LITTLE_ENDIAN.len() {
        let (requests, error) =
            read(&LITTLE_ENDIAN[..length], TraceFormat::Blktrace, &TraceOptions::default());
        for (found, whole) in requests.iter().zip(issued()) {
            // Its completion may lie behind the cut.
            assert_eq!(Request { completed_ns: whole.completed_ns, ..*found }, whole);
            assert!(found.completed_ns.is_none_or(|time| Some(time) == whole.completed_ns));
        }
        if let Some(error) = error {
            let cut = error.starts_with("the blktrace trace is truncated at record ");
            assert!(cut || error.contains("no issued requests"), "{error}");
        }
    }
    assert_eq!(
        ending(&LITTLE_ENDIAN[..1179], TraceFormat::Blktrace),
        "the blktrace trace is truncated at record 23 (byte 1132); everything before that was \
         read: continue without the rest, or record the trace again"
    );
}

#[test]
fn a_driver_without_issue_events_is_noticed() {
    // The events up to the first that is issued.
    let only_queued = &LITTLE_ENDIAN[..(48 + 16) + (48 + 8) + 48 + (48 + 16)];
    assert_eq!(
        ending(only_queued, TraceFormat::Blktrace),
        "the trace has no issued requests, but 1 queued: read those instead"
    );
}

#[test]
fn damage_is_named_by_record_and_byte() {
    let mut damaged = LITTLE_ENDIAN.to_vec();
    damaged[48 + 16 + 1] = b'?';
    assert_eq!(
        ending(&damaged, TraceFormat::Blktrace),
        "blktrace trace, record 2 (byte 64): the magic is \"\\x07?ae\", not 0x65617400 + version, \
         in either byte order; repair the trace there, or truncate it before that"
    );
    damaged = LITTLE_ENDIAN.to_vec();
    damaged[0] = 6;
    assert_eq!(
        ending(&damaged, TraceFormat::Blktrace),
        "the blktrace trace has version 6; the known version is 7 or 8: use a newer ssdlab, or \
         convert it"
    );
}

#[test]
fn one_drive_is_read() {
    let mut two = LITTLE_ENDIAN.to_vec();
    // The device of the last event that is issued with bytes, the metadata read.
    let device = two.len() - 3 * 48 + 36;
    two[device..device + 4].copy_from_slice(&((259_u32 << 20) | 3).to_le_bytes());
    assert_eq!(
        ending(&two, TraceFormat::Blktrace),
        "the trace has requests to \"8,0\" and to \"259,3\": choose one of its drives"
    );
    assert_eq!(requests(&two, TraceFormat::Blktrace, &drive("8,0")), issued()[..5]);
    assert_eq!(requests(&two, TraceFormat::Blktrace, &drive("259,3")).len(), 1);
    assert_eq!(
        read(&two, TraceFormat::Blktrace, &drive("8,1")).1.unwrap(),
        "the trace has no requests to \"8,1\", but to \"8,0\": choose one of its drives"
    );
}

#[test]
fn requests_of_zoned_drives_are_refused() {
    let mut zoned = VERSION_8.to_vec();
    // The write-zeroes at the end becomes a zone append: bit 16 instead of 22 of the categories.
    let action = zoned.len() - 64 + 32;
    let value = u64::from_le_bytes(zoned[action..action + 8].try_into().unwrap());
    zoned[action..action + 8].copy_from_slice(&(value ^ (1 << 38) ^ (1 << 32)).to_le_bytes());
    let error = ending(&zoned, TraceFormat::Blktrace);
    assert!(error.contains("the category is \"0x1014a\", not one of a drive without zones"));
}

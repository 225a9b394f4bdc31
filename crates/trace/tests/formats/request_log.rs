//! Checks ssdlab's own log byte by byte, and what it refuses.

use ssdlab_trace::{
    Flags, Request, RequestKind, RequestLogWriter, TraceFormat, TraceOptions, TraceReader,
    WriteOrigin,
};

use super::{drive, ending, read, request, requests, with};

const CAPACITY_BYTES: u64 = 1 << 30;

fn write(requests: &[Request]) -> Vec<u8> {
    let mut writer = RequestLogWriter::new(Vec::new(), CAPACITY_BYTES).unwrap();
    for request in requests {
        writer.append(request).unwrap();
    }
    writer.finish().unwrap()
}

fn refusal(request: Request) -> String {
    let mut writer = RequestLogWriter::new(Vec::new(), CAPACITY_BYTES).unwrap();
    let error = writer.append(&request).unwrap_err().to_string();
    assert_eq!(writer.finish().unwrap().len(), 32, "nothing of it is written");
    error
}

#[test]
fn the_bytes_are_those_of_the_description() {
    let mut one =
        with(Flags::FUA | Flags::SYNC, request(5, RequestKind::Discard, 3 * 512, 2 * 512));
    one.completed_ns = Some(0x0102);
    one.origin = Some(WriteOrigin { directory_bytes: 512, metadata_bytes: 1024 - 512 });
    let log = write(&[one, request(6, RequestKind::Flush, 0, 0)]);
    let expected: [&[u8]; 8] = [
        b"ssdlabrq\x02\0\0\0\0\0\0\0",
        b"\0\0\0\x40\0\0\0\0\0\0\0\0\0\0\0\0",
        b"\x05\0\0\0\0\0\0\0\x02\x01\0\0\0\0\0\0",
        b"\x03\0\0\0\0\0\0\0\x02\0\0\0\x03\0\x05\0",
        b"\x01\0\0\0\x01\0\0\0",
        b"\x06\0\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff",
        b"\0\0\0\0\0\0\0\0\0\0\0\0\x02\0\0\0",
        b"\xff\xff\xff\xff\xff\xff\xff\xff",
    ];
    assert_eq!(log, expected.concat());

    let reader =
        TraceReader::new(&log[..], TraceFormat::RequestLog, &TraceOptions::default()).unwrap();
    assert_eq!(reader.capacity_bytes(), Some(CAPACITY_BYTES));
    let relative = Request { submitted_ns: 0, completed_ns: Some(0xfd), ..one };
    assert_eq!(
        requests(&log, TraceFormat::RequestLog, &TraceOptions::default()),
        [relative, request(1, RequestKind::Flush, 0, 0)]
    );
}

#[test]
fn what_the_format_cannot_hold_is_refused() {
    let wrong_order = Request { completed_ns: Some(4), ..request(5, RequestKind::Read, 0, 512) };
    let owned = |metadata_bytes| Request {
        origin: Some(WriteOrigin { directory_bytes: 0, metadata_bytes }),
        ..request(0, RequestKind::Write, 0, 512)
    };
    for (request, expected) in [
        (request(0, RequestKind::Read, 1, 512), "the offset is 1, not a multiple of 512 bytes"),
        (request(0, RequestKind::Read, 0, 513), "the length is 513, not a multiple of 512 bytes"),
        (request(0, RequestKind::Read, 0, 0), "the length is 0, not above 0 for all but a flush"),
        (request(0, RequestKind::Flush, 0, 512), "the range of a flush is 512, not 0"),
        (
            request(0, RequestKind::Write, CAPACITY_BYTES, 512),
            "the offset is 1073741824, not one whose range lies within the drive's capacity",
        ),
        (owned(100), "the bytes of structures is 100, not whole sectors below 2^32 - 1"),
        (owned(1024), "the bytes whose owner is known is 1024, not at most the length"),
        (wrong_order, "the submission is 5, not before the completion"),
    ] {
        let expected = format!("cannot log a request: {expected}; split or correct it");
        assert_eq!(refusal(request), expected);
    }
}

#[test]
fn a_cut_log_gives_all_before_the_cut() {
    let whole = [request(0, RequestKind::Write, 0, 512), request(7, RequestKind::Read, 512, 512)];
    let log = write(&whole);
    let (found, error) = read(&log[..111], TraceFormat::RequestLog, &TraceOptions::default());
    assert_eq!(found, whole[..1]);
    assert!(error.unwrap().starts_with("the ssdlab trace is truncated at record 2 (byte 72);"));
    for length in [0, 31] {
        let error = ending(&log[..length], TraceFormat::RequestLog);
        assert!(error.starts_with("the ssdlab trace is truncated at the header;"), "{error}");
    }
}

#[test]
fn damage_is_named_by_record_and_byte() {
    let log = write(&[request(0, RequestKind::Write, 0, 512)]);
    for (at, value, expected) in [
        (0, b'S', "ssdlab trace, the header: the magic is \"Ssdlabrq\", not ssdlabrq"),
        (8, 3, "the ssdlab trace has version 3; the known version is 1 or 2: use a newer"),
        (32 + 28, 5, "ssdlab trace, record 1 (byte 32): the kind is 5, not 0 to 4"),
        (32 + 30, 32, "ssdlab trace, record 1 (byte 32): the set of flags is 32, not below 32"),
        (32 + 23, 1, "ssdlab trace, record 1 (byte 32): the sector is"),
        (32 + 18, 1, "ssdlab trace, record 1 (byte 32): the offset is 33554432"),
    ] {
        let mut damaged = log.clone();
        damaged[at] = value;
        if at == 32 + 18 {
            damaged[16..24].copy_from_slice(&512_u64.to_le_bytes());
        }
        let error = ending(&damaged, TraceFormat::RequestLog);
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn the_first_version_does_not_tell_whose_bytes_they_are() {
    let log =
        write(&[request(0, RequestKind::Write, 0, 512), request(7, RequestKind::Read, 512, 512)]);
    let mut first = log[..32].to_vec();
    first[8] = 1;
    for record in log[32..].chunks(40) {
        first.extend(&record[..32]);
    }
    let expected =
        [request(0, RequestKind::Write, 0, 512), request(7, RequestKind::Read, 512, 512)];
    assert_eq!(requests(&first, TraceFormat::RequestLog, &TraceOptions::default()), expected);
}

#[test]
fn it_has_no_drives_to_choose_from() {
    let log = write(&[]);
    assert_eq!(requests(&log, TraceFormat::RequestLog, &TraceOptions::default()), []);
    let error = read(&log, TraceFormat::RequestLog, &drive("sda")).1.unwrap();
    assert!(error.contains("no requests to \"sda\", but to \"the only drive\""), "{error}");
}

//! Checks the logs of fio: one it wrote, and what its manual describes.

use ssdlab_trace::{RequestKind, TraceFormat, TraceOptions};

use super::{FIO, drive, ending, read, request, requests};

#[test]
fn a_log_of_fio_is_read() {
    let found = requests(FIO, TraceFormat::FioLog, &TraceOptions::default());
    // fio waited 3 ms after each request, so the unit of its times shows.
    assert_eq!(
        found[..2],
        [
            request(0, RequestKind::Read, 0, 4096),
            request(3_317_000, RequestKind::Read, 45_056, 4096),
        ]
    );
    assert_eq!(found.iter().filter(|request| request.kind == RequestKind::Flush).count(), 2);
    assert_eq!(found.len(), 18);
}

#[test]
fn version_2_has_no_times_but_waits() {
    let log = b"fio version 2 iolog\n/dev/sdb add\n/dev/sdb open\n\n/dev/sdb write 4096 8192\n\
        /dev/sdb sync 4096 0\n/dev/sdb wait 1500 0\n/dev/sdb trim 0 1048576\n/dev/sdb wait 2 0\n\
        /dev/sdb datasync\n/dev/sdb close\n";
    let expected = [
        request(0, RequestKind::Write, 4096, 8192),
        request(0, RequestKind::Flush, 0, 0),
        request(1_500_000_000, RequestKind::Discard, 0, 1 << 20),
        request(1_500_000_000, RequestKind::Flush, 0, 0),
    ];
    assert_eq!(requests(log, TraceFormat::FioLog, &TraceOptions::default()), expected);
}

#[test]
fn one_file_is_read() {
    let log = b"fio version 3 iolog\n0 a add\n0 b add\n5 a read 0 512\n7 b write 512 1024\n";
    assert_eq!(
        ending(log, TraceFormat::FioLog),
        "the trace has requests to \"a\" and to \"b\": choose one of its drives"
    );
    let expected = [request(0, RequestKind::Write, 512, 1024)];
    assert_eq!(requests(log, TraceFormat::FioLog, &drive("b")), expected);
    assert!(read(log, TraceFormat::FioLog, &drive("c")).1.is_some());
}

#[test]
fn a_fault_is_named_by_line_and_field() {
    for (log, expected) in [
        ("fio version 4 iolog\n", "line 1: the first line is \"fio version 4 iolog\", not \"fio"),
        ("", "line 1: the first line is nothing, not"),
        ("fio version 3 iolog\na read 0 1\n", "line 2: the time is \"a\", not a number of micro"),
        ("fio version 3 iolog\n0 a wait 5 0\n", "line 2: the action is \"wait\", not add, open"),
        ("fio version 2 iolog\n0 a read 0 1\n", "line 2: the action is \"a\", not add, open"),
        ("fio version 2 iolog\na read 0\n", "line 2: the length is nothing, not a number of bytes"),
    ] {
        let error = ending(log.as_bytes(), TraceFormat::FioLog);
        assert!(error.starts_with(&format!("fio trace, {expected}")), "{error}");
    }
}

//! Checks the lines of the MSR Cambridge traces.

use ssdlab_trace::{ClampedTimes, Request, RequestKind, TraceFormat, TraceOptions, TraceReader};

use super::{drive, ending, read, request, requests};

const TRACE: &[u8] = b"128166372003061629,usr,0,Read,7014609920,24576,41286\n\
    128166372016382155,usr,0,Write,2517025792,4096,703\n";

fn expected() -> [Request; 2] {
    let mut expected = [
        request(0, RequestKind::Read, 7_014_609_920, 24_576),
        request(1_332_052_600, RequestKind::Write, 2_517_025_792, 4_096),
    ];
    expected[0].completed_ns = Some(4_128_600);
    expected[1].completed_ns = Some(1_332_122_900);
    expected
}

#[test]
fn times_are_relative_and_in_nanoseconds() {
    assert_eq!(requests(TRACE, TraceFormat::MsrCambridge, &TraceOptions::default()), expected());
}

#[test]
fn titles_and_windows_line_ends_are_understood() {
    let text = str::from_utf8(TRACE).unwrap().replace('\n', "\r\n");
    let text = format!("Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\r\n{text}");
    assert_eq!(
        requests(text.as_bytes(), TraceFormat::MsrCambridge, &TraceOptions::default()),
        expected()
    );
}

#[test]
fn a_time_that_goes_backwards_is_raised_and_counted() {
    let trace = b"100,h,0,Read,0,512,10\n97,h,0,Read,512,512,1\n101,h,0,Read,0,512,1\n";
    let mut reader =
        TraceReader::new(&trace[..], TraceFormat::MsrCambridge, &TraceOptions::default()).unwrap();
    let times: Vec<_> = reader
        .by_ref()
        .map(|request| request.map(|request| (request.submitted_ns, request.completed_ns)).unwrap())
        .collect();
    assert_eq!(times, [(0, Some(1_000)), (0, Some(0)), (100, Some(200))]);
    assert_eq!(reader.clamped(), ClampedTimes { requests: 1, furthest_ns: 300 });
}

#[test]
fn one_disk_is_read() {
    let trace = [TRACE, b"128166372016382156,usr,1,Write,0,512,1\n"].concat();
    assert_eq!(
        ending(&trace, TraceFormat::MsrCambridge),
        "the trace has requests to \"usr,0\" and to \"usr,1\": choose one of its drives"
    );
    assert_eq!(requests(&trace, TraceFormat::MsrCambridge, &drive("usr,0")), expected());
    assert!(read(&trace, TraceFormat::MsrCambridge, &drive("1")).1.unwrap().contains("usr,0"));
}

#[test]
fn requests_that_move_nothing_are_left_out() {
    let trace = [b"128166372003061000,usr,0,Read,0,0,1\n", TRACE].concat();
    assert_eq!(requests(&trace, TraceFormat::MsrCambridge, &TraceOptions::default()), expected());
}

#[test]
fn a_fault_is_named_by_line_and_field() {
    for (line, expected) in [
        ("x,h,0,Read,0,512,1", "the timestamp is \"x\", not a number of 100 ns ticks"),
        ("1,h,0", "the line is \"1,h,0\", not seven comma-separated fields"),
        ("1,h,0,Trim,0,512,1", "the type is \"Trim\", not Read or Write"),
        ("1,h,0,Read,-1,512,1", "the offset is \"-1\", not a number of bytes"),
        ("1,h,0,Read,0,+5,1", "the size is \"+5\", not a number of bytes"),
        ("1,h,0,Read,0,512,", "the response time is nothing, not a number of 100 ns ticks"),
        ("1,h,0,Read,0,512,1,2", "the line is \"1,h,0,Read,0,512,1,2\", not seven fields"),
        ("\u{1}", "the timestamp is \"\\x01\", not a number of 100 ns ticks"),
    ] {
        let trace = format!("{}{line}\n", str::from_utf8(TRACE).unwrap());
        let error = ending(trace.as_bytes(), TraceFormat::MsrCambridge);
        let expected = format!("msr-cambridge trace, line 3: {expected}");
        assert!(error.starts_with(&expected), "{error}\n{expected}");
    }
}

#[test]
fn memory_does_not_grow_with_a_line() {
    let error = ending(&vec![b'1'; 1 << 20], TraceFormat::MsrCambridge);
    assert!(error.contains("line 1: it is \"1111"), "{error}");
    assert!(error.contains("not a line of 64 KiB at most"), "{error}");
}

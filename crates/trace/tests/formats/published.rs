//! Checks the formats of published traces.

use ssdlab_trace::{RequestKind, TraceFormat, TraceOptions, TraceReader};

use super::{completed, drain, drive, ending, request, requests};

#[test]
fn alibaba_block_traces_are_in_bytes_and_microseconds() {
    let trace = "419,W,8792731648,16384,1577808144360767\n419,R,4096,512,1577808144360777\n";
    let expected = [
        request(0, RequestKind::Write, 8_792_731_648, 16_384),
        request(10_000, RequestKind::Read, 4_096, 512),
    ];
    let titled = format!("\u{feff}device_id,opcode,offset,length,timestamp\r\n{trace}");
    for trace in [trace, &titled] {
        let reader = TraceReader::detect(trace.as_bytes(), &TraceOptions::default()).unwrap();
        assert_eq!(reader.format(), TraceFormat::Alibaba);
        assert_eq!(drain(reader), (expected.to_vec(), None));
    }
    let two = format!("{trace}420,R,0,512,1577808144360777\n");
    assert_eq!(requests(two.as_bytes(), TraceFormat::Alibaba, &drive("419")), expected);
    let error = ending(two.as_bytes(), TraceFormat::Alibaba);
    assert!(error.contains("requests to \"419\" and to \"420\""), "{error}");
}

#[test]
fn tencent_block_traces_are_in_sectors_and_seconds() {
    let trace = b"1538323200,12910952,128,0,1063\n1538323201,8,1,1,1063\n";
    let reader = TraceReader::detect(&trace[..], &TraceOptions::default()).unwrap();
    assert_eq!(reader.format(), TraceFormat::Tencent);
    let expected = [
        request(0, RequestKind::Read, 12_910_952 * 512, 128 * 512),
        request(1_000_000_000, RequestKind::Write, 8 * 512, 512),
    ];
    assert_eq!(drain(reader), (expected.to_vec(), None));
    assert_eq!(requests(trace, TraceFormat::Tencent, &drive("1063")), expected);
}

/// Its response time is the latency; a blank one is not known, and a blank type is neither a read
/// nor a write.
#[test]
fn systor_traces_have_latencies() {
    let trace = "Timestamp,Response,IOType,LUN,Offset,Size\n\
        1456095145.133076000,0.000806000,R,0,899056122368,131072\n\
        1456095145.133076000,0.000001000,,0,0,512\n\
        1456095145.134076000,,W,0,4096,8192\n";
    let expected = [
        completed(806_000, request(0, RequestKind::Read, 899_056_122_368, 131_072)),
        request(1_000_000, RequestKind::Write, 4_096, 8_192),
    ];
    let untitled = trace.split_once('\n').unwrap().1;
    for trace in [trace, untitled] {
        let reader = TraceReader::detect(trace.as_bytes(), &TraceOptions::default()).unwrap();
        assert_eq!(reader.format(), TraceFormat::Systor);
        assert_eq!(drain(reader), (expected.to_vec(), None));
    }
}

#[test]
fn fiu_traces_may_have_spaces_in_names_and_no_hash() {
    let trace = b"89966846302 4892 syslogd 904265560 8 W 6 0 531e779d5a5ba4ce4ef1d2d1a1ac7ee3\n\
        89966846402 20782 my tool 8 16 R 6 0\n";
    let reader = TraceReader::detect(&trace[..], &TraceOptions::default()).unwrap();
    assert_eq!(reader.format(), TraceFormat::Fiu);
    let expected = [
        request(0, RequestKind::Write, 904_265_560 * 512, 4096),
        request(100, RequestKind::Read, 8 * 512, 16 * 512),
    ];
    assert_eq!(drain(reader), (expected.to_vec(), None));
    assert_eq!(requests(trace, TraceFormat::Fiu, &drive("6 0")), expected);
}

#[test]
fn a_fault_is_named_by_line_and_field() {
    let alibaba = "1,R,0,512,1\n";
    let tencent = "1,0,1,0,7\n";
    let systor = "1.5,0.1,R,0,0,512\n";
    let fiu = "1 2 x 8 8 W 6 0 531e779d5a5ba4ce4ef1d2d1a1ac7ee3\n";
    for (format, good, wrong, expected) in [
        (TraceFormat::Alibaba, alibaba, "1,D,0,512,1", "the opcode is \"D\", not R or W"),
        (
            TraceFormat::Alibaba,
            alibaba,
            "1,R,-1,512,1",
            "the offset is \"-1\", not a number of bytes",
        ),
        (TraceFormat::Alibaba, alibaba, "1,R,0,512", "the line is \"1,R,0,512\", not as many"),
        (
            TraceFormat::Tencent,
            tencent,
            "1,0,1,2,7",
            "the type is \"2\", not 0 (read) or 1 (write)",
        ),
        (
            TraceFormat::Tencent,
            tencent,
            "1,x,1,0,7",
            "the offset is \"x\", not a number of 512-byte",
        ),
        (
            TraceFormat::Systor,
            systor,
            "1,0.1,R,0,0,512",
            "the timestamp is \"1\", not seconds with",
        ),
        (TraceFormat::Systor, systor, "1.5,-1.0,R,0,0,512", "the response time is \"-1.0\", not"),
        (TraceFormat::Fiu, fiu, "1 2 x 8 8 D 6 0", "the operation is \"D\", not W or R"),
        (TraceFormat::Fiu, fiu, "1 2 8 8 W 6 0", "the line is \"1 2 8 8 W 6 0\", not time, PID"),
    ] {
        let error = ending(format!("{good}{wrong}\n").as_bytes(), format);
        let expected = format!("{format} trace, line 2: {expected}");
        assert!(error.starts_with(&expected), "{error}\n{expected}");
    }
}

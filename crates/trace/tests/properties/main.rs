//! Checks what must hold for any trace: no input panics, and what is written reads back.

use std::fmt::Write;
use std::io::BufReader;

use proptest::prelude::*;
use ssdlab_trace::{
    Flags, Request, RequestKind, RequestLogWriter, TraceError, TraceFormat, TraceOptions,
    TraceReader, TraceStage, WriteOrigin, merge,
};

const CAPACITY_BYTES: u64 = 1 << 50;

/// True traces, one of each format and version that there is a file of.
const TRACES: [&[u8]; 11] = [
    include_bytes!("../fixtures/little-endian.blktrace"),
    include_bytes!("../fixtures/big-endian.blktrace"),
    include_bytes!("../fixtures/version-8.blktrace"),
    include_bytes!("../fixtures/blkparse.txt"),
    include_bytes!("../fixtures/fio-3.33.log"),
    include_bytes!("../fixtures/lines/alibaba.csv"),
    include_bytes!("../fixtures/lines/biosnoop.txt"),
    include_bytes!("../fixtures/lines/fiu.txt"),
    include_bytes!("../fixtures/lines/ftrace.txt"),
    include_bytes!("../fixtures/lines/systor.csv"),
    include_bytes!("../fixtures/lines/tencent.csv"),
];

/// All of a trace, through a buffer of any size, which must not change what is read.
fn read(trace: &[u8], format: TraceFormat, options: &TraceOptions, buffer: usize) -> Vec<Request> {
    let input = BufReader::with_capacity(buffer, trace);
    let reader = TraceReader::new(input, format, options).unwrap();
    reader.collect::<Result<_, _>>().unwrap()
}

/// Reads bytes as every format in every way, and checks what every reader promises.
fn read_as_everything(bytes: &[u8]) {
    for format in TraceFormat::ALL {
        for stage in [TraceStage::Issued, TraceStage::Queued] {
            for drive in [None, Some("8,0".to_owned())] {
                let options = TraceOptions { stage, drive };
                let reader = |_| TraceReader::new(bytes, format, &options);
                if let Ok(readers) = (0..2).map(reader).collect::<Result<Vec<_>, _>>() {
                    check(merge(readers));
                }
                if let Ok(reader) = reader(0) {
                    check(reader);
                }
            }
        }
    }
    if let Ok(reader) = TraceReader::detect(bytes, &TraceOptions::default()) {
        check(reader);
    }
}

fn check(reader: impl Iterator<Item = Result<Request, TraceError>>) {
    let mut last_ns = None;
    for request in reader.map_while(Result::ok) {
        assert!(last_ns.is_some() || request.submitted_ns == 0);
        assert!(last_ns.is_none_or(|last_ns| last_ns <= request.submitted_ns));
        assert!(request.completed_ns.is_none_or(|time| time >= request.submitted_ns));
        assert!(request.offset_bytes.checked_add(request.length_bytes).is_some());
        assert_eq!(request.kind == RequestKind::Flush, request.length_bytes == 0);
        last_ns = Some(request.submitted_ns);
    }
}

/// Requests in order of time from 0, as ssdlab's own log can hold them.
fn requests() -> impl Strategy<Value = Vec<Request>> {
    let kinds = [
        RequestKind::Read,
        RequestKind::Write,
        RequestKind::Flush,
        RequestKind::Discard,
        RequestKind::WriteZeroes,
    ];
    let one = (
        0..1_u64 << 40,
        prop::option::of(0..1_u64 << 40),
        prop::sample::select(kinds.to_vec()),
        0..1_u64 << 40,
        1..=u64::from(u32::MAX),
        (0..32_u16).prop_map(Flags::from_bits_truncate),
        prop::option::of((0..1_u32 << 16, 0..1_u32 << 16)),
    );
    prop::collection::vec(one, 0..20).prop_map(|all| {
        let mut submitted_ns = 0;
        let mut requests = Vec::new();
        for (after_ns, took_ns, kind, sector, sectors, flags, owners) in all {
            submitted_ns += if requests.is_empty() { 0 } else { after_ns };
            let moves_data = u64::from(kind != RequestKind::Flush);
            requests.push(Request {
                submitted_ns,
                completed_ns: took_ns.map(|took_ns| submitted_ns + took_ns),
                kind,
                offset_bytes: sector * 512 * moves_data,
                length_bytes: sectors * 512 * moves_data,
                flags,
                origin: owners.map(|(directory, metadata)| {
                    let directory = u64::from(directory).min(sectors) * moves_data;
                    let metadata = u64::from(metadata).min(sectors - directory) * moves_data;
                    WriteOrigin { directory_bytes: directory * 512, metadata_bytes: metadata * 512 }
                }),
            });
        }
        requests
    })
}

fn log(requests: &[Request]) -> Vec<u8> {
    let mut writer = RequestLogWriter::new(Vec::new(), CAPACITY_BYTES).unwrap();
    for request in requests {
        writer.append(request).unwrap();
    }
    writer.finish().unwrap()
}

/// Bytes that are much like a trace: pieces of lines and records that mean something.
fn nearly_traces() -> impl Strategy<Value = Vec<u8>> {
    let pieces: [&[u8]; 34] = [
        b"fio version 2 iolog\n",
        b"fio version 3 iolog\n",
        b"file read 0 512\n",
        b"1 file sync\n",
        b" wait 18446744073709551615",
        b"\n",
        b"  8,0    1        1     0.000000000     7  D ",
        b"  8,0    1        1     0.000000000     7  Q ",
        b"  8,0    1        1     0.000000001     7  C ",
        b"  8,0    1        1     0.000000002     7  R ",
        b"x-1 [000] . 1.0: block_rq_issue: 8,0 ",
        b"x-1 [000] . 1.0: block_rq_complete: 8,0 ",
        b"TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)\n",
        b" FWS ",
        b" 2048 + 8",
        b" [x]\n",
        b"18446744073709551615",
        b"128166372003061629,usr,0,Read,7014609920,24576,41286\n",
        b",",
        b"ssdlabrq\x01\0\0\0\0\0\0\0",
        b"ssdlabrq\x02\0\0\0\0\0\0\0",
        b"\0\0\0\0\0\0\0\0",
        b"\x01\0\0\0\x01\0\0\0",
        b"\xff\xff\xff\xff\xff\xff\xff\xff",
        b"rhswfsj\0\x01\0\0\0\0\0\0\0",
        b"\x02\0\0\0\0\0\0\0\0\x02\0\0",
        &[0; 484],
        &[0; 480],
        b"\x07tae",
        b"eat\x07",
        b"\x08tae",
        b"eat\x08",
        b"\x07\0\x44\0",
        b"\x01\0\x16\0",
    ];
    let piece = prop_oneof![
        8 => prop::sample::select(pieces.to_vec()).prop_map(<[u8]>::to_vec),
        1 => prop::collection::vec(any::<u8>(), 0..64),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..512)) {
        read_as_everything(&bytes);
    }

    #[test]
    fn no_broken_traces_panic(bytes in nearly_traces()) {
        read_as_everything(&bytes);
    }

    #[test]
    fn no_damaged_traces_panic(
        trace in prop::sample::select(TRACES.to_vec()),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        length in any::<prop::sample::Index>(),
    ) {
        let mut trace = trace.to_vec();
        for (at, value) in damage {
            let at = at.index(trace.len());
            trace[at] = value;
        }
        trace.truncate(1 + length.index(trace.len()));
        read_as_everything(&trace);
    }

    #[test]
    fn a_written_log_reads_back_equal(requests in requests(), buffer in 1..128_usize) {
        let options = TraceOptions::default();
        let found = read(&log(&requests), TraceFormat::RequestLog, &options, buffer);
        prop_assert_eq!(found, requests);
    }

    #[test]
    fn a_cut_log_gives_the_requests_before_the_cut(requests in requests(), cut in 0..40_usize) {
        let log = log(&requests);
        let length = log.len() - cut.min(log.len() - 32);
        let options = TraceOptions::default();
        let reader =
            TraceReader::new(&log[..length], TraceFormat::RequestLog, &options).unwrap();
        let found: Vec<_> = reader.map_while(Result::ok).collect();
        prop_assert_eq!(&found[..], &requests[..(length - 32) / 40]);
    }

    #[test]
    fn msr_lines_read_back_equal(requests in requests(), buffer in 1..128_usize) {
        let mut text = String::new();
        let mut expected = Vec::new();
        for mut request in requests {
            if !matches!(request.kind, RequestKind::Read | RequestKind::Write) {
                continue;
            }
            let ticks = request.submitted_ns / 100;
            let response = request.completed_ns.map_or(0, |time| time / 100 - ticks);
            request.submitted_ns = ticks * 100;
            request.completed_ns = Some((ticks + response) * 100);
            (request.flags, request.origin) = (Flags::empty(), None);
            expected.push(request);
            let Request { kind, offset_bytes, length_bytes, .. } = request;
            writeln!(text, "{ticks},h,1,{kind:?},{offset_bytes},{length_bytes},{response}")?;
        }
        let options = TraceOptions::default();
        let found = read(text.as_bytes(), TraceFormat::MsrCambridge, &options, buffer);
        prop_assert_eq!(found, from_zero(expected));
    }

    #[test]
    fn fio_lines_read_back_equal(requests in requests(), buffer in 1..128_usize) {
        let mut text = "fio version 3 iolog\n0 x add\n".to_owned();
        let mut expected = Vec::new();
        for mut request in requests {
            let action = match request.kind {
                RequestKind::Read => "read",
                RequestKind::Write => "write",
                RequestKind::Flush => "sync",
                RequestKind::Discard => "trim",
                RequestKind::WriteZeroes => continue,
            };
            let micros = request.submitted_ns / 1000;
            request.submitted_ns = micros * 1000;
            request.completed_ns = None;
            (request.flags, request.origin) = (Flags::empty(), None);
            expected.push(request);
            let Request { offset_bytes, length_bytes, .. } = request;
            writeln!(text, "{micros} x {action} {offset_bytes} {length_bytes}")?;
        }
        let found = read(text.as_bytes(), TraceFormat::FioLog, &TraceOptions::default(), buffer);
        prop_assert_eq!(found, from_zero(expected));
    }

    #[test]
    fn blkparse_lines_read_back_equal(requests in requests(), buffer in 1..128_usize) {
        let mut text = String::new();
        let mut expected = Vec::new();
        for mut request in requests {
            (request.completed_ns, request.origin) = (None, None);
            request.flags.set(Flags::PREFLUSH, request.flags.contains(Flags::PREFLUSH)
                && request.kind != RequestKind::Flush);
            let time = request.submitted_ns;
            let (seconds, decimals) = (time / 1_000_000_000, time % 1_000_000_000);
            let rwbs = rwbs(&request);
            write!(text, "  8,0    3       11 {seconds:5}.{decimals:09}  4162  Q {rwbs:>3} ")?;
            if request.kind != RequestKind::Flush {
                let (sector, sectors) = (request.offset_bytes / 512, request.length_bytes / 512);
                write!(text, "{sector} + {sectors} ")?;
            }
            writeln!(text, "[a b]")?;
            expected.push(request);
        }
        let options = TraceOptions { stage: TraceStage::Queued, drive: None };
        let found = read(text.as_bytes(), TraceFormat::Blkparse, &options, buffer);
        prop_assert_eq!(found, expected);
    }
}

/// The RWBS field of blkparse, in the order in which it writes the letters.
fn rwbs(request: &Request) -> String {
    let operation = match request.kind {
        RequestKind::Read => "R",
        RequestKind::Write => "W",
        RequestKind::Flush => "FN",
        RequestKind::Discard => "D",
        RequestKind::WriteZeroes => "WZ",
    };
    let letter = |flag, letter| if request.flags.contains(flag) { letter } else { "" };
    [
        letter(Flags::PREFLUSH, "F"),
        operation,
        letter(Flags::FUA, "F"),
        letter(Flags::READAHEAD, "A"),
        letter(Flags::SYNC, "S"),
        letter(Flags::METADATA, "M"),
    ]
    .concat()
}

/// The same requests, the first of them at time 0.
fn from_zero(mut requests: Vec<Request>) -> Vec<Request> {
    let began_ns = requests.first().map_or(0, |first| first.submitted_ns);
    for request in &mut requests {
        request.submitted_ns -= began_ns;
        request.completed_ns = request.completed_ns.map(|time| time - began_ns);
    }
    requests
}

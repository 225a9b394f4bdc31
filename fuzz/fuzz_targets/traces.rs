//! The trace readers: by content, by every format in turn, and merged. Requests are what they are
//! said to be: in order of time, completed after they were submitted, and within 64 bits. What was
//! written in a format reads back equal, and its requests and bytes add up.

#![no_main]

use libfuzzer_sys::fuzz_target;
use ssdlab_trace::{
    Flags, Request, RequestKind, RequestLogWriter, TraceError, TraceFormat, TraceOptions,
    TraceReader, TraceStage, merge,
};

fuzz_target!(|bytes: &[u8]| {
    check_written(bytes);
    for stage in [TraceStage::Issued, TraceStage::Queued] {
        let options = TraceOptions { stage, drive: None };
        if let Ok(reader) = TraceReader::detect(bytes, &options) {
            check(reader);
        }
        for format in TraceFormat::ALL {
            let (first, second) = bytes.split_at(bytes.len() / 2);
            let readers = [first, second].map(|part| TraceReader::new(part, format, &options));
            check(merge(readers.into_iter().flatten().collect()));
            if let Ok(reader) = TraceReader::new(bytes, format, &options) {
                check(reader);
            }
        }
    }
});

/// The formats that can be written here, with their titles.
const WRITTEN: [(TraceFormat, &str); 10] = [
    (TraceFormat::Alibaba, ""),
    (TraceFormat::Tencent, ""),
    (TraceFormat::Systor, ""),
    (TraceFormat::Fiu, ""),
    (TraceFormat::MsrCambridge, ""),
    (TraceFormat::Ftrace, ""),
    (TraceFormat::Blkparse, ""),
    (TraceFormat::Biosnoop, "TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)\n"),
    (TraceFormat::FioLog, "fio version 3 iolog\n"),
    (TraceFormat::RequestLog, ""),
];

/// A request to be written: its first sector, their number, and whether it reads.
type Written = (u64, u32, bool);

/// Writes requests in formats that have no more than these, and reads them again.
fn check_written(bytes: &[u8]) {
    let requests: Vec<Written> = bytes
        .as_chunks::<4>()
        .0
        .iter()
        .map(|[offset, high, length, kind]| {
            let offset = (u64::from(*high) << 32) | u64::from(*offset);
            (offset, u32::from(*length) + 1, kind % 2 == 0)
        })
        .collect();
    let sum: u64 = requests.iter().map(|(_, sectors, _)| u64::from(*sectors) * 512).sum();
    for (format, titles) in WRITTEN {
        let written = match format {
            TraceFormat::RequestLog => log(&requests),
            _ => {
                let lines =
                    requests.iter().zip(0..).map(|(request, time)| line(format, time, *request));
                (titles.to_owned() + &lines.collect::<String>()).into_bytes()
            }
        };
        let reader =
            TraceReader::new(&written[..], format, &TraceOptions::default()).expect("sound titles");
        let found: Vec<Request> = reader.map(|request| request.expect("a sound line")).collect();
        assert_eq!(found.len(), requests.len(), "{format}");
        assert_eq!(found.iter().map(|request| request.length_bytes).sum::<u64>(), sum, "{format}");
        for (request, (sector, sectors, is_read)) in found.iter().zip(&requests) {
            assert_eq!(request.offset_bytes, sector * 512, "{format}");
            assert_eq!(request.length_bytes, u64::from(*sectors) * 512, "{format}");
            assert_eq!(request.kind == RequestKind::Read, *is_read, "{format}");
        }
    }
}

/// The line of a request at a time in the format's unit.
fn line(format: TraceFormat, time: u64, (sector, sectors, is_read): Written) -> String {
    let (offset, length) = (sector * 512, sectors * 512);
    let (letter, number) = if is_read { ('R', 0) } else { ('W', 1) };
    let [title, word] = if is_read { ["Read", "read"] } else { ["Write", "write"] };
    match format {
        TraceFormat::Alibaba => format!("7,{letter},{offset},{length},{time}\n"),
        TraceFormat::Tencent => format!("{time},{sector},{sectors},{number},7\n"),
        TraceFormat::Systor => format!("{time}.5,0.25,{letter},7,{offset},{length}\n"),
        TraceFormat::Fiu => format!("{time} 1 a b {sector} {sectors} {letter} 8 0\n"),
        TraceFormat::MsrCambridge => format!("{time},a,0,{title},{offset},{length},5\n"),
        TraceFormat::Blkparse => {
            format!("8,0 0 1 {time}.500000000 1 D {letter} {sector} + {sectors} [a]\n")
        }
        TraceFormat::Biosnoop => {
            format!("{time}.500000 a b 1 sda {letter} {sector} {length} 0.25\n")
        }
        TraceFormat::FioLog => format!("{time} a {word} {offset} {length}\n"),
        _ => format!(
            "a-1 [000] . {time}.5: block_rq_issue: 8,0 {letter} {length} () {sector} + {sectors} \
             [a]\n"
        ),
    }
}

/// The requests in ssdlab's own log.
fn log(requests: &[Written]) -> Vec<u8> {
    let mut log = RequestLogWriter::new(Vec::new(), 1 << 50).expect("memory takes everything");
    for ((sector, sectors, is_read), submitted_ns) in requests.iter().zip(0..) {
        let request = Request {
            submitted_ns,
            completed_ns: None,
            kind: if *is_read { RequestKind::Read } else { RequestKind::Write },
            offset_bytes: sector * 512,
            length_bytes: u64::from(*sectors) * 512,
            flags: Flags::empty(),
            origin: None,
        };
        log.append(&request).expect("a sound request");
    }
    log.finish().expect("memory takes everything")
}

fn check(requests: impl Iterator<Item = Result<Request, TraceError>>) {
    let mut last_ns = 0;
    for request in requests.flatten() {
        assert!(request.submitted_ns >= last_ns, "{request:?} after {last_ns}");
        last_ns = request.submitted_ns;
        assert!(request.completed_ns.is_none_or(|time| time >= last_ns), "{request:?}");
        assert!(request.offset_bytes.checked_add(request.length_bytes).is_some(), "{request:?}");
        assert_eq!(request.kind == RequestKind::Flush, request.length_bytes == 0, "{request:?}");
    }
}

//! The trace readers: by content, by every format in turn, and merged. Requests are what they are
//! said to be: in order of time, completed after they were submitted, and within 64 bits. From
//! lines of a published format they read back equal, and their bytes add up.

#![no_main]

use libfuzzer_sys::fuzz_target;
use ssdlab_trace::{
    Request, RequestKind, TraceError, TraceFormat, TraceOptions, TraceReader, TraceStage, merge,
};

fuzz_target!(|bytes: &[u8]| {
    check_lines(bytes);
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

/// Writes requests as lines of a format that has no more than these, and reads them again.
fn check_lines(bytes: &[u8]) {
    let requests: Vec<(u64, u32, bool)> = bytes
        .as_chunks::<4>()
        .0
        .iter()
        .map(|[offset, high, length, kind]| {
            let offset = (u64::from(*high) << 32) | u64::from(*offset);
            (offset, u32::from(*length) + 1, kind % 2 == 0)
        })
        .collect();
    let sum: u64 = requests.iter().map(|(_, sectors, _)| u64::from(*sectors) * 512).sum();
    for format in [
        TraceFormat::Alibaba,
        TraceFormat::Tencent,
        TraceFormat::Systor,
        TraceFormat::Fiu,
        TraceFormat::Ftrace,
    ] {
        let lines: String = requests
            .iter()
            .enumerate()
            .map(|(time, (sector, sectors, is_read))| {
                let (offset, length) = (sector * 512, sectors * 512);
                let (letter, number) = if *is_read { ('R', 0) } else { ('W', 1) };
                match format {
                    TraceFormat::Alibaba => format!("7,{letter},{offset},{length},{time}\n"),
                    TraceFormat::Tencent => format!("{time},{sector},{sectors},{number},7\n"),
                    TraceFormat::Systor => format!("{time}.5,0.25,{letter},7,{offset},{length}\n"),
                    TraceFormat::Fiu => format!("{time} 1 a b {sector} {sectors} {letter} 8 0\n"),
                    _ => format!(
                        "a-1 [000] . {time}.5: block_rq_issue: 8,0 {letter} {length} () \
                         {sector} + {sectors} [a]\n"
                    ),
                }
            })
            .collect();
        let reader = TraceReader::new(lines.as_bytes(), format, &TraceOptions::default())
            .expect("no header");
        let found: Vec<Request> = reader.map(|request| request.expect("a sound line")).collect();
        assert_eq!(found.iter().map(|request| request.length_bytes).sum::<u64>(), sum, "{format}");
        for (request, (sector, sectors, is_read)) in found.iter().zip(&requests) {
            assert_eq!(request.offset_bytes, sector * 512, "{format}");
            assert_eq!(request.length_bytes, u64::from(*sectors) * 512, "{format}");
            assert_eq!(request.kind == RequestKind::Read, *is_read, "{format}");
        }
    }
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

//! Checks each format against samples: of the tool itself where there is one, else of its source.
//!
//! In `tests/fixtures`, Linux 6.18 recorded `kernel.blktrace.0` and `.1` of ext4 on a loop device,
//! and `kernel.txt` is what blkparse 1.2.0 makes of them: two independent readings of a true trace.
//! The other three `.blktrace` files are put together by hand after the kernel's header, to have
//! all that matters in few events. They hold the same ones, but version 8 has one more. Of
//! `little-endian.blktrace`, blkparse makes `blkparse.txt` and, with `-t`, `blkparse-t.txt`. fio
//! 3.33 wrote `fio-3.33.log`.

mod blkparse;
mod blktrace;
mod completions;
mod detect;
mod device_log;
mod dm_log_writes;
mod fio;
mod merge;
mod msr;
mod printed;
mod published;
mod request_log;

use ssdlab_trace::{
    Flags, Request, RequestKind, TraceFormat, TraceOptions, TraceReader, TraceStage,
};

const LITTLE_ENDIAN: &[u8] = include_bytes!("../fixtures/little-endian.blktrace");
const BIG_ENDIAN: &[u8] = include_bytes!("../fixtures/big-endian.blktrace");
const VERSION_8: &[u8] = include_bytes!("../fixtures/version-8.blktrace");
const KERNEL: [&[u8]; 2] = [
    include_bytes!("../fixtures/kernel.blktrace.0"),
    include_bytes!("../fixtures/kernel.blktrace.1"),
];
const KERNEL_TEXT: &[u8] = include_bytes!("../fixtures/kernel.txt");
const BLKPARSE: &[u8] = include_bytes!("../fixtures/blkparse.txt");
const BLKPARSE_T: &[u8] = include_bytes!("../fixtures/blkparse-t.txt");
const FIO: &[u8] = include_bytes!("../fixtures/fio-3.33.log");

/// The requests of a trace, and the error that ends it.
fn read(
    trace: &[u8],
    format: TraceFormat,
    options: &TraceOptions,
) -> (Vec<Request>, Option<String>) {
    match TraceReader::new(trace, format, options) {
        Ok(reader) => drain(reader),
        Err(error) => (Vec::new(), Some(error.to_string())),
    }
}

fn drain(
    reader: impl Iterator<Item = Result<Request, ssdlab_trace::TraceError>>,
) -> (Vec<Request>, Option<String>) {
    let mut requests = Vec::new();
    let mut ending = None;
    for result in reader {
        assert!(ending.is_none(), "something comes after an error");
        match result {
            Ok(request) => requests.push(request),
            Err(error) => ending = Some(error.to_string()),
        }
    }
    (requests, ending)
}

/// The requests of a trace that has no faults.
fn requests(trace: &[u8], format: TraceFormat, options: &TraceOptions) -> Vec<Request> {
    let (requests, error) = read(trace, format, options);
    assert_eq!(error, None);
    requests
}

/// How a trace with default options ends.
fn ending(trace: &[u8], format: TraceFormat) -> String {
    read(trace, format, &TraceOptions::default()).1.expect("an error")
}

fn queued() -> TraceOptions {
    TraceOptions { stage: TraceStage::Queued, ..TraceOptions::default() }
}

fn drive(name: &str) -> TraceOptions {
    TraceOptions { drive: Some(name.to_owned()), ..TraceOptions::default() }
}

fn request(submitted_ns: u64, kind: RequestKind, offset_bytes: u64, length_bytes: u64) -> Request {
    let flags = Flags::empty();
    Request {
        submitted_ns,
        completed_ns: None,
        kind,
        offset_bytes,
        length_bytes,
        flags,
        origin: None,
    }
}

fn with(flags: Flags, request: Request) -> Request {
    Request { flags, ..request }
}

fn completed(completed_ns: u64, request: Request) -> Request {
    Request { completed_ns: Some(completed_ns), ..request }
}

/// What the fixtures of blktrace and blkparse issue.
fn issued() -> Vec<Request> {
    vec![
        completed(2000, with(Flags::SYNC, request(0, RequestKind::Write, 2048 * 512, 4096))),
        with(Flags::READAHEAD, request(1500, RequestKind::Read, 4096 * 512, 128 << 10)),
        request(3500, RequestKind::Flush, 0, 0),
        with(
            Flags::SYNC | Flags::METADATA | Flags::FUA,
            request(4500, RequestKind::Write, 8192 * 512, 8192),
        ),
        with(Flags::SYNC, request(5500, RequestKind::Discard, 512 << 20, 1 << 30)),
        completed(7900, with(Flags::METADATA, request(7000, RequestKind::Read, 512, 512))),
    ]
}

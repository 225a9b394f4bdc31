//! How many requests a second each format gives, from memory and on one core.

use std::fmt::Write;
use std::hint::black_box;
use std::time::Instant;

use ssdlab_trace::{
    Flags, Request, RequestKind, RequestLogWriter, TraceFormat, TraceOptions, TraceReader,
};

/// How many requests a trace holds.
const REQUESTS: u64 = 1_000_000;

/// The best of so many readings is reported: others only ever make it slower.
const ROUNDS: usize = 5;

fn main() {
    let blktrace = blktrace(&[ISSUED]);
    report("blktrace, issued requests only", &blktrace, TraceFormat::Blktrace);
    drop(blktrace);
    let all = blktrace_as_recorded();
    report("blktrace, all events", &all, TraceFormat::Blktrace);
    drop(all);
    report("blkparse, issued requests only", blkparse().as_bytes(), TraceFormat::Blkparse);
    report("msr-cambridge", msr().as_bytes(), TraceFormat::MsrCambridge);
    report("fio version 3", fio().as_bytes(), TraceFormat::FioLog);
    report("ssdlab", &request_log(), TraceFormat::RequestLog);
}

fn report(name: &str, trace: &[u8], format: TraceFormat) {
    let seconds = (0..ROUNDS).map(|_| {
        let start = Instant::now();
        let reader = TraceReader::new(black_box(trace), format, &TraceOptions::default()).unwrap();
        let mut read = 0;
        for request in reader {
            black_box(request.unwrap());
            read += 1;
        }
        assert_eq!(read, REQUESTS);
        start.elapsed().as_secs_f64()
    });
    let best = seconds.fold(f64::INFINITY, f64::min);
    println!(
        "{name}: {:.1} million requests/s, {:.2} GB/s",
        REQUESTS as f64 / best / 1e6,
        trace.len() as f64 / best / 1e9
    );
}

/// An event's action in blktrace: 7 (issued) of a synchronous write by a filesystem.
const ISSUED: u32 = 7 | (0x014a << 16);

/// Queued, got a request, inserted, issued and completed: what one write leaves in a trace.
fn blktrace_as_recorded() -> Vec<u8> {
    let of_queue = 0x011a << 16;
    blktrace(&[1 | of_queue, 4 | of_queue, 0xc | of_queue, ISSUED, 8 | (0x018a << 16)])
}

/// Writes of 4 KiB, each with these events.
fn blktrace(actions: &[u32]) -> Vec<u8> {
    let mut trace = Vec::new();
    for number in 0..REQUESTS {
        for action in actions {
            trace.extend(0x6561_7407_u32.to_le_bytes());
            trace.extend(0_u32.to_le_bytes());
            trace.extend((number * 1000).to_le_bytes());
            trace.extend((number * 8).to_le_bytes());
            trace.extend(4096_u32.to_le_bytes());
            trace.extend(action.to_le_bytes());
            trace.extend(4162_u32.to_le_bytes());
            trace.extend((8_u32 << 20).to_le_bytes());
            trace.extend([0; 8]);
        }
    }
    trace
}

fn blkparse() -> String {
    let mut trace = String::new();
    for number in 0..REQUESTS {
        let (seconds, micros, sector) = (number / 1_000_000, number % 1_000_000, number * 8);
        writeln!(
            trace,
            "  8,0    1 {number:8} {seconds:5}.{micros:06}000  4162  D  WS {sector} + 8 [kworker]"
        )
        .unwrap();
    }
    trace
}

fn msr() -> String {
    let mut trace = String::new();
    for number in 0..REQUESTS {
        let ticks = 128_166_372_003_061_629 + number * 1000;
        writeln!(trace, "{ticks},usr,0,Write,{},4096,41286", number * 4096).unwrap();
    }
    trace
}

fn fio() -> String {
    let mut trace = "fio version 3 iolog\n0 drive.img add\n1 drive.img open\n".to_owned();
    for number in 0..REQUESTS {
        writeln!(trace, "{} drive.img write {} 4096", number * 100, number * 4096).unwrap();
    }
    trace
}

fn request_log() -> Vec<u8> {
    let mut writer = RequestLogWriter::new(Vec::new(), 1 << 40).unwrap();
    for number in 0..REQUESTS {
        let request = Request {
            submitted_ns: number * 1000,
            completed_ns: Some(number * 1000 + 500),
            kind: RequestKind::Write,
            offset_bytes: number * 4096,
            length_bytes: 4096,
            flags: Flags::SYNC,
            origin: None,
        };
        writer.append(&request).unwrap();
    }
    writer.finish().unwrap()
}

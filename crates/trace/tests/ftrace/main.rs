//! Checks how requests are made of what the kernel reports: true reports, and made ones.
//!
//! `tests/fixtures/ftrace` has what tracefs of Linux 6.18 described and recorded of ext4 on a loop
//! device that was mounted, written, trimmed and unmounted: the descriptions, the sub-buffers of
//! two processors, and in `text` the same events as the kernel itself prints them.

mod accounting;
mod kernel;
mod properties;
mod recorder;
mod sub_buffers;

use ssdlab_trace::Request;
use ssdlab_trace::ftrace::{Assembler, TracedDevice};

const HEADER_PAGE: &str = include_str!("../fixtures/ftrace/header_page");

/// In the order of `ssdlab_trace::ftrace::EVENTS`.
const FORMATS: [&str; 4] = [
    include_str!("../fixtures/ftrace/block_bio_queue"),
    include_str!("../fixtures/ftrace/block_rq_issue"),
    include_str!("../fixtures/ftrace/block_rq_requeue"),
    include_str!("../fixtures/ftrace/block_rq_complete"),
];

const PROCESSORS: [&[u8]; 2] =
    [include_bytes!("../fixtures/ftrace/raw.0"), include_bytes!("../fixtures/ftrace/raw.1")];

const TEXT: &str = include_str!("../fixtures/ftrace/text");

/// A whole disk of this number.
fn disk(number: u32) -> TracedDevice {
    TracedDevice { disk: number, partition: None, sectors: 0..1 << 40 }
}

/// All requests that can be had at this moment.
fn popped(assembler: &mut Assembler) -> Vec<Request> {
    std::iter::from_fn(|| assembler.pop()).collect()
}

/// All requests there are.
fn ended(mut assembler: Assembler) -> Vec<Request> {
    assembler.end();
    popped(&mut assembler)
}

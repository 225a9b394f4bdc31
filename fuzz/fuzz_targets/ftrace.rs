//! What tracefs describes and records: texts, and sub-buffers read by them or by a true layout.

#![no_main]

use libfuzzer_sys::fuzz_target;
use ssdlab_trace::ftrace::{Assembler, Layout, Target, device_number};

const HEADER_PAGE: &str =
    include_str!("../../crates/trace/tests/fixtures/ftrace/header_page");
const FORMATS: [&str; 4] = [
    include_str!("../../crates/trace/tests/fixtures/ftrace/block_bio_queue"),
    include_str!("../../crates/trace/tests/fixtures/ftrace/block_rq_issue"),
    include_str!("../../crates/trace/tests/fixtures/ftrace/block_rq_requeue"),
    include_str!("../../crates/trace/tests/fixtures/ftrace/block_rq_complete"),
];

fuzz_target!(|input: (&str, &str, &[u8])| {
    let (header_page, format, sub_buffer) = input;
    for layout in [
        Layout::parse(header_page, [format; 4]),
        Layout::parse(HEADER_PAGE, [format; 4]),
        Layout::parse(HEADER_PAGE, FORMATS),
    ] {
        let Ok(layout) = layout else { continue };
        let target = Target { disk: device_number(7, 0), partition: None, sectors: 8..1 << 40 };
        let mut assembler = Assembler::new(layout, target);
        let _ = assembler.take(sub_buffer);
        assembler.end();
        while assembler.pop().is_some() {}
    }
});

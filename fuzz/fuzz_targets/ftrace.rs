//! What tracefs describes and records: sub-buffers read by a true layout, and by one that has a
//! text from the input, up to its first NUL, as the header page or as every event's format.

#![no_main]

use libfuzzer_sys::fuzz_target;
use ssdlab_trace::ftrace::{Assembler, RecordLayout, TracedDevice, device_number};

const HEADER_PAGE: &str = include_str!("../../crates/trace/tests/fixtures/ftrace/header_page");
const FORMATS: [&str; 4] = [
    include_str!("../../crates/trace/tests/fixtures/ftrace/block_bio_queue"),
    include_str!("../../crates/trace/tests/fixtures/ftrace/block_rq_issue"),
    include_str!("../../crates/trace/tests/fixtures/ftrace/block_rq_requeue"),
    include_str!("../../crates/trace/tests/fixtures/ftrace/block_rq_complete"),
];

fuzz_target!(|bytes: &[u8]| {
    if let Ok(layout) = RecordLayout::parse(HEADER_PAGE, FORMATS) {
        read(layout, bytes);
    }
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    let Ok(text) = str::from_utf8(&bytes[..end]) else { return };
    for layout in [RecordLayout::parse(text, FORMATS), RecordLayout::parse(HEADER_PAGE, [text; 4])]
    {
        layout.into_iter().for_each(|layout| read(layout, &bytes[end..]));
    }
});

fn read(layout: RecordLayout, sub_buffer: &[u8]) {
    let target = TracedDevice { disk: device_number(7, 0), partition: None, sectors: 8..1 << 40 };
    let mut assembler = Assembler::new(layout, target);
    let _ = assembler.take(sub_buffer);
    assembler.end();
    while assembler.pop().is_some() {}
}

//! The trace readers: by content, by every format in turn, and merged.

#![no_main]

use libfuzzer_sys::fuzz_target;
use ssdlab_trace::{Format, Options, Reader, Stage, merge};

fuzz_target!(|bytes: &[u8]| {
    for stage in [Stage::Issued, Stage::Queued] {
        let options = Options { stage, drive: None };
        if let Ok(reader) = Reader::detect(bytes, &options) {
            reader.for_each(drop);
        }
        for format in Format::ALL {
            let (first, second) = bytes.split_at(bytes.len() / 2);
            let readers = [first, second].map(|part| Reader::new(part, format, &options));
            merge(readers.into_iter().flatten().collect()).for_each(drop);
            if let Ok(reader) = Reader::new(bytes, format, &options) {
                reader.for_each(drop);
            }
        }
    }
});

//! The trace readers: by content, by every format in turn, and merged. Requests are what they are
//! said to be: in order of time, completed after they were submitted, and within 64 bits.

#![no_main]

use libfuzzer_sys::fuzz_target;
use ssdlab_trace::{Format, Kind, Options, Reader, Request, Stage, TraceError, merge};

fuzz_target!(|bytes: &[u8]| {
    for stage in [Stage::Issued, Stage::Queued] {
        let options = Options { stage, drive: None };
        if let Ok(reader) = Reader::detect(bytes, &options) {
            check(reader);
        }
        for format in Format::ALL {
            let (first, second) = bytes.split_at(bytes.len() / 2);
            let readers = [first, second].map(|part| Reader::new(part, format, &options));
            check(merge(readers.into_iter().flatten().collect()));
            if let Ok(reader) = Reader::new(bytes, format, &options) {
                check(reader);
            }
        }
    }
});

fn check(requests: impl Iterator<Item = Result<Request, TraceError>>) {
    let mut last_ns = 0;
    for request in requests.flatten() {
        assert!(request.submitted_ns >= last_ns, "{request:?} after {last_ns}");
        last_ns = request.submitted_ns;
        assert!(request.completed_ns.is_none_or(|time| time >= last_ns), "{request:?}");
        assert!(request.offset_bytes.checked_add(request.length_bytes).is_some(), "{request:?}");
        assert_eq!(request.kind == Kind::Flush, request.length_bytes == 0, "{request:?}");
    }
}

//! Baselines: whatever is read says the same when it is written and read again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use ssdlab_results::Baseline;

fuzz_target!(|text: &str| {
    if let Ok(baseline) = Baseline::parse(text) {
        assert_eq!(Baseline::parse(&baseline.to_string()), Ok(baseline));
    }
});

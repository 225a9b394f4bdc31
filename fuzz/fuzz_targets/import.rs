//! The readers of other programs' results, by content.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| ssdlab_results::import::fuzz(bytes));

//! The record reader: what is accepted reads back as it was written.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| ssdlab_results::fuzz_records(bytes));

//! Archives: what is accepted makes a tree inside its directory, from bytes that are there.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| ssdlab_workload::fuzz_archive(bytes));

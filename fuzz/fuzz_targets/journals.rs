//! Undo journals: what is accepted prints as it was read, loses its last changes one by one as
//! undoing cuts it, and changes nothing but what runs change.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| ssdlab_host::undo::fuzz_journal(bytes));

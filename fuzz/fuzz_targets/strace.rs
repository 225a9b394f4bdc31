//! The reader of strace's output: whatever it says, what is recorded can be performed.

#![no_main]

use libfuzzer_sys::fuzz_target;
use ssdlab_operations::{ProgramStart, StraceRecorder, Tree};

fuzz_target!(|bytes: &[u8]| {
    let setting = ProgramStart { directory: b"/d", umask: 0o022 };
    let mut recorder = StraceRecorder::new(bytes, setting, Tree::default());
    let mut tree = Tree::default();
    while let Ok(Some(operation)) = recorder.next_operation() {
        tree.apply(&operation).expect("what is recorded fits");
    }
});

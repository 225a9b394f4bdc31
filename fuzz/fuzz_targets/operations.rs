//! The reader of operation logs: whatever is accepted reads back as it was written, and performing
//! it on a tree does not fail in any other way than by not fitting.

#![no_main]

use libfuzzer_sys::fuzz_target;
use ssdlab_operations::{LogReader, LogWriter, Tree};

fuzz_target!(|bytes: &[u8]| {
    let Ok(mut log) = LogReader::new(bytes) else { return };
    let mut tree = Tree::default();
    let (mut before, mut operations) = (Vec::new(), Vec::new());
    while let Ok(Some(entry)) = log.next_entry() {
        let _ = tree.add(&entry);
        before.push(entry);
    }
    while let Ok(Some(operation)) = log.next_operation() {
        let _ = tree.apply(&operation);
        operations.push(operation);
    }
    let mut writer =
        LogWriter::new(Vec::new(), log.header(), &before).expect("memory takes everything");
    for operation in &operations {
        writer.append(operation).expect("memory takes everything");
    }
    let written = writer.finish().expect("memory takes everything");
    let mut again = LogReader::new(&written[..]).expect("what is written can be read");
    for operation in operations {
        assert_eq!(again.next_operation().expect("what is written can be read"), Some(operation));
    }
    let entries: Vec<_> = tree.entries().collect();
    assert!(Tree::new(&entries).is_ok());
});

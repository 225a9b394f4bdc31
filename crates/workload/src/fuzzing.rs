//! Fuzzing entry points: this room's readers, with invariants of accepted input.

use std::fs::File;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::path::Path;

use rustix::fs::{MemfdFlags, memfd_create};
use ssdlab_host::interrupt::Interrupt;
use ssdlab_operations::{Operation, Tree};
use ssdlab_plan::schedule::FileHashes;

use super::archive;
use super::content::Content;

/// Reads bytes as an archive. An accepted archive makes every directory before its contents, makes
/// no name twice, never leaves its directory, and has its contents within the decoded archive.
pub fn fuzz_archive(bytes: &[u8]) {
    let memory = memfd_create("archive", MemfdFlags::CLOEXEC).expect("memory for a small file");
    let mut file = File::from(memory);
    file.write_all(bytes).expect("memory takes everything");
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    let never = Interrupt::default();
    let read = archive::read(Path::new(&path), 1.0, &FileHashes::new(), &never);
    let Ok(archive) = read else { return };

    let tar_bytes = archive.tar.metadata().expect("an open file has metadata").len();
    let mut tree = Tree::default();
    let mut start = None;
    for (operation, content) in archive.script.steps() {
        tree.apply(operation).expect("an archive that is accepted fits its directory");
        match operation {
            Operation::Open { create, .. } => {
                assert_eq!(create.map(|mode| mode & !0o777), Some(0));
                let Content::Archive { offset } = content else { panic!("{content:?}") };
                start = Some(offset);
            }
            Operation::Write(transfer) => {
                let end = start.and_then(|start| transfer.end().checked_add(start));
                assert!(end.is_some_and(|end| end <= tar_bytes));
            }
            _ => {}
        }
    }
}

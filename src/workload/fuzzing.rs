//! What the fuzzers call: readers of this room, with what must hold of whatever they accept.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::path::Path;

use rustix::fs::{MemfdFlags, memfd_create};

use super::operation::{Content, Operation};
use super::{archive, bonnie_program};
use crate::plan::schedule::Hashes;

/// Reads text as what bonnie++ printed.
pub fn fuzz_bonnie(printed: &str) {
    let _ = bonnie_program::parse(printed);
}

/// Reads bytes as an archive. What is accepted makes every directory before what lies in it, makes
/// no name twice, leaves its directory nowhere, and has its contents within the decoded archive.
pub fn fuzz_archive(bytes: &[u8]) {
    let memory = memfd_create("archive", MemfdFlags::CLOEXEC).expect("memory for a small file");
    let mut file = File::from(memory);
    file.write_all(bytes).expect("memory takes everything");
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    let Ok(archive) = archive::read(Path::new(&path), 1.0, &Hashes::new()) else { return };

    let tar_bytes = archive.tar.metadata().expect("an open file has metadata").len();
    let mut is_folder = BTreeMap::from([("", true)]);
    for operation in &archive.operations {
        let path = match operation {
            Operation::MakeDir { path } | Operation::Symlink { path, .. } => path,
            Operation::WriteFile { path, bytes, content, mode, .. } => {
                let Content::Archive { offset } = content else { panic!("{content:?}") };
                assert!(offset.checked_add(*bytes).is_some_and(|end| end <= tar_bytes));
                assert_eq!(mode & !0o777, 0);
                path
            }
            Operation::HardLink { path, existing } => {
                assert_eq!(is_folder.get(&**existing), Some(&false));
                path
            }
            other => panic!("an archive does not do this: {other:?}"),
        };
        let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
        assert!(!matches!(name, "" | "." | ".."), "{path}");
        assert_eq!(is_folder.get(parent), Some(&true), "{path}");
        let is_folder_itself = matches!(operation, Operation::MakeDir { .. });
        assert_eq!(is_folder.insert(path, is_folder_itself), None, "{path}");
    }
}

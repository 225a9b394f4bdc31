//! The names of files as they are made and deleted: those that live for a moment are gone before
//! [`file_handle`] could look them up.
//!
//! Source: fanotify(7) with `FAN_REPORT_DFID_NAME_TARGET` (Linux 5.17) on a whole filesystem. The
//! kernel merges events of one name and reports no times, so what an event gives is a name, and
//! the order of the files that had one inode number. The ends of files are reported without names,
//! so that those count in that order, too, which never had one (`O_TMPFILE`), or had it before and
//! lost it to a rename. It needs `CAP_SYS_ADMIN`.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::file_handle::{self, FileHandle, HandledFile};

/// `sizeof(struct fanotify_event_metadata)`.
const HEAD_BYTES: usize = 24;
/// `sizeof(struct fanotify_event_info_header)`, and the identifier of the filesystem behind it.
const INFO_HEAD_BYTES: usize = 4 + 8;
const BUFFER_BYTES: usize = 64 << 10;
/// The most folders whose paths are kept.
const MOST_FOLDERS: usize = 10_000;

/// A file or a folder that was made or deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportedFile {
    /// Which.
    pub file: HandledFile,
    /// `None` if only its end was reported.
    pub path: Option<PathBuf>,
}

/// Watches a filesystem for names. Only names and ends of files are reported, and nothing is held
/// up.
#[derive(Debug)]
pub struct NameWatch {
    queue: File,
    /// Where it is mounted.
    path: PathBuf,
    /// Paths of folders as they were last.
    folders: BTreeMap<FileHandle, PathBuf>,
}

/// What the kernel reports of a file: its name in a folder, or that it is no more.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FileEvent {
    file: HandledFile,
    name: Option<(FileHandle, OsString)>,
}

impl NameWatch {
    /// Watches the filesystem that is mounted somewhere.
    pub fn on(path: &Path) -> io::Result<Self> {
        let mount = File::open(path)?;
        let flags = libc::FAN_CLASS_NOTIF
            | libc::FAN_CLOEXEC
            | libc::FAN_NONBLOCK
            | libc::FAN_UNLIMITED_QUEUE
            | libc::FAN_REPORT_DFID_NAME_TARGET;
        // SAFETY: the call takes no pointers.
        let descriptor = unsafe { libc::fanotify_init(flags, 0) };
        if descriptor < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the kernel has just opened it for this process.
        let queue = unsafe { File::from_raw_fd(descriptor) };
        let how = libc::FAN_MARK_ADD | libc::FAN_MARK_FILESYSTEM;
        // Folders, too: files may have their numbers afterwards.
        let what = libc::FAN_CREATE | libc::FAN_DELETE | libc::FAN_DELETE_SELF | libc::FAN_ONDIR;
        let (group, folder) = (queue.as_raw_fd(), mount.as_raw_fd());
        // SAFETY: a missing path means the open folder.
        let done = unsafe { libc::fanotify_mark(group, how, what, folder, std::ptr::null()) };
        if done < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Self { queue, path: path.to_owned(), folders: BTreeMap::new() })
    }

    /// What was reported since the last call, in order.
    pub fn take(&mut self) -> io::Result<Vec<ReportedFile>> {
        let mut found = Vec::new();
        let mut fresh = BTreeMap::new();
        let mut buffer = vec![0; BUFFER_BYTES];
        loop {
            match (&self.queue).read(&mut buffer) {
                Ok(0) => break,
                Ok(length) => {
                    // Kept open, it could not be unmounted.
                    let mount = File::open(&self.path).ok();
                    for FileEvent { file, name } in events(&buffer[..length]) {
                        let path = name.map(|(folder, name)| {
                            let folder = fresh.entry(folder);
                            folder
                                .or_insert_with_key(|key| self.folder(mount.as_ref(), key))
                                .join(name)
                        });
                        found.push(ReportedFile { file, path });
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        if self.folders.len() + fresh.len() > MOST_FOLDERS {
            self.folders.clear();
        }
        self.folders.extend(fresh);
        Ok(found)
    }

    /// The path of a folder, as it was when it was last there.
    fn folder(&self, mount: Option<&File>, handle: &FileHandle) -> PathBuf {
        let now = mount.and_then(|mount| file_handle::path_by(mount, handle).ok()?);
        let last = || self.folders.get(handle).cloned();
        now.or_else(last).unwrap_or_else(|| self.path.join("(deleted)"))
    }
}

/// The events in what a read returned.
fn events(mut bytes: &[u8]) -> Vec<FileEvent> {
    let mut found = Vec::new();
    while let Some(length) = bytes.first_chunk().map(|first| u32::from_ne_bytes(*first)) {
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let Some(event) = bytes.get(HEAD_BYTES..length) else { break };
        found.extend(event_of(event));
        bytes = &bytes[length..];
    }
    found
}

/// An event by the records behind its head: the folder's handle with the name, and the file's. A
/// folder's end names itself, as `.`.
fn event_of(mut records: &[u8]) -> Option<FileEvent> {
    let (mut name, mut file) = (None, None);
    while let [kind, _, low, high, ..] = *records {
        let length = usize::from(u16::from_ne_bytes([low, high]));
        let record = records.get(INFO_HEAD_BYTES..length)?;
        let (handle, end) = FileHandle::parse(record)?;
        match kind {
            libc::FAN_EVENT_INFO_TYPE_DFID_NAME => {
                let text = record[end..].split(|byte| *byte == 0).next()?;
                name = Some((handle, OsStr::from_bytes(text).to_owned()));
            }
            libc::FAN_EVENT_INFO_TYPE_FID => file = handle.file(),
            _ => {}
        }
        records = &records[length..];
    }
    match name {
        Some((folder, name)) if name == "." => Some(FileEvent { file: folder.file()?, name: None }),
        name => Some(FileEvent { file: file?, name }),
    }
}

#[cfg(test)]
mod tests;

//! Deletes everything in a directory, and fills a filesystem with zeros, which scripts cannot
//! express.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, OwnedFd};

use crate::engine::{Aligned, BLOCK_BYTES};
use rustix::fs::{
    Advice, AtFlags, Dir, FileType, Mode, OFlags, fadvise, fdatasync, openat, statat, unlinkat,
};
use rustix::io::Errno;

use super::WorkloadError;
use super::calls::FailedCall;
use super::player::{CALLS_PER_CHECK, DIRECTORY, Player, write_all};

/// The size of a file of zeros, and of the system call that writes it.
const ZEROS_BYTES: usize = 16 << 20;

const CREATE: OFlags = OFlags::WRONLY
    .union(OFlags::CREATE)
    .union(OFlags::EXCL)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

impl Player<'_> {
    /// Deletes everything in the directory, like `rm -rf`: each directory is read, and its entries
    /// are unlinked in the order in which the filesystem lists them.
    pub fn delete_all(&mut self) -> Result<(), WorkloadError> {
        let directory = openat(&self.directory, ".", DIRECTORY, Mode::empty())
            .map_err(WorkloadError::operation("open", "."))?;
        self.empty(&directory)
    }

    /// Writes files of zeros, this many bytes in total; each is synced before the next, to bound
    /// dirty memory.
    pub fn fill_with_zeros(&mut self, bytes: u64, is_direct: bool) -> Result<(), WorkloadError> {
        let flags = if is_direct { CREATE | OFlags::DIRECT } else { CREATE };
        let mut zeros = Aligned::new(ZEROS_BYTES);
        let mut left = usize::try_from(bytes).unwrap_or(usize::MAX).next_multiple_of(BLOCK_BYTES);
        for number in 0_u32.. {
            if left == 0 {
                break;
            }
            self.check_rules()?;
            let name = format!("zeros-{number}");
            let error = WorkloadError::operation("write", &name);
            let piece = left.min(ZEROS_BYTES);
            openat(&self.directory, name.as_str(), flags, Mode::RUSR)
                .and_then(|file| {
                    write_all(&file, &zeros.bytes()[..piece])?;
                    if is_direct {
                        return Ok(());
                    }
                    fdatasync(&file)?;
                    fadvise(&file, 0, None, Advice::DontNeed)
                })
                .map_err(error)?;
            left -= piece;
        }
        Ok(())
    }

    /// Empties a directory. Entries are collected first, because the read position may become
    /// invalid when a directory changes.
    fn empty(&mut self, directory: &OwnedFd) -> Result<(), WorkloadError> {
        let shown = |name: &CStr| name.to_string_lossy().into_owned();
        let error = |step, name: &CStr| WorkloadError::operation(step, &shown(name));
        for some in entries(directory)
            .map_err(WorkloadError::operation("list", "a directory"))?
            .chunks(CALLS_PER_CHECK)
        {
            self.check_rules()?;
            for (index, (name, kind)) in some.iter().enumerate() {
                if *kind == FileType::Directory {
                    self.unlink(some)?;
                    let inner = openat(directory, name, DIRECTORY, Mode::empty())
                        .map_err(error("open", name))?;
                    self.empty(&inner)?;
                    unlinkat(directory, name, AtFlags::REMOVEDIR).map_err(error("remove", name))?;
                } else if let Some(calls) = &mut self.calls {
                    calls.unlinkat(index, directory.as_fd(), name.to_bytes(), AtFlags::empty());
                } else {
                    unlinkat(directory, name, AtFlags::empty()).map_err(error("remove", name))?;
                }
            }
            self.unlink(some)?;
        }
        Ok(())
    }

    /// Makes the calls that wait to unlink some of these.
    fn unlink(&mut self, some: &[(CString, FileType)]) -> Result<(), WorkloadError> {
        let Some(calls) = &mut self.calls else { return Ok(()) };
        let made = calls.make().map(drop);
        made.map_err(|FailedCall { owner, errno }| {
            WorkloadError::operation("remove", &some[owner].0.to_string_lossy())(errno)
        })
    }
}

/// The names in a directory, and what each is, in the order of the directory.
pub(super) fn entries(directory: &OwnedFd) -> Result<Vec<(CString, FileType)>, Errno> {
    let mut entries = Vec::new();
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        if name == c"." || name == c".." {
            continue;
        }
        let kind = match entry.file_type() {
            // Some filesystems do not store the type in the directory.
            FileType::Unknown => {
                let stat = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
                FileType::from_raw_mode(stat.st_mode)
            }
            kind => kind,
        };
        entries.push((name.to_owned(), kind));
    }
    Ok(entries)
}

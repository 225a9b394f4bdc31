//! Atomic file replacement: readers see either the old or the complete new contents, even if the
//! program or the machine crashes in between.

use std::fs::Permissions;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::files::sync_folder;
use super::missing::if_there;

/// The write buffer: reports of long runs are large.
const BUFFER_BYTES: usize = 1 << 18;

/// A file that gets its name when it is complete. Dropped earlier, it leaves nothing.
#[derive(Debug)]
pub struct WholeFile {
    file: BufWriter<NamedTempFile>,
    path: PathBuf,
}

impl WholeFile {
    /// Begins a file in its target folder. An existing object of that name must be a regular file:
    /// a link may point anywhere, and a device may be a disk in use.
    pub fn begin(path: &Path) -> io::Result<Self> {
        check_place(path)?;
        let file = NamedTempFile::new_in(folder_of(path))?;
        Ok(Self { file: BufWriter::with_capacity(BUFFER_BYTES, file), path: path.to_owned() })
    }

    /// Sets its length; what was never written reads as zeros and takes no space.
    pub fn set_len(&mut self, bytes: u64) -> io::Result<()> {
        self.file.flush()?;
        self.file.get_ref().as_file().set_len(bytes)
    }

    /// Renames the file to its name, with the permissions of the one it replaces, and syncs both.
    pub fn keep(self) -> io::Result<()> {
        let file = self.file.into_inner()?;
        check_place(&self.path)?;
        let replaced = self.path.symlink_metadata().ok().map(|found| found.permissions().mode());
        let mode = replaced.map_or_else(|| 0o666 & !umask(), |mode| mode & 0o777);
        file.as_file().set_permissions(Permissions::from_mode(mode))?;
        file.as_file().sync_all()?;
        file.persist(&self.path)?;
        sync_folder(folder_of(&self.path))
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for WholeFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

/// Writes a file incrementally but atomically.
pub fn write(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut file = WholeFile::begin(path)?;
    write(&mut file)?;
    file.keep()
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn check_place(path: &Path) -> io::Result<()> {
    match if_there(path.symlink_metadata())? {
        Some(found) if found.is_symlink() => {
            Err(io::Error::other("there is a symbolic link; name its target"))
        }
        Some(found) if !found.is_file() => {
            Err(io::Error::other("there is something that is not a regular file"))
        }
        _ => Ok(()),
    }
}

/// The umask of this process, from proc(5); the usual one if it cannot be read.
fn umask() -> u32 {
    let status = procfs::process::Process::myself().and_then(|process| process.status());
    status.ok().and_then(|status| status.umask).unwrap_or(0o022)
}

#[cfg(test)]
mod tests;

//! Opens regular files safely where others chose the name or created the file. Opening a FIFO would
//! block until a writer appears, and reading a device may never end. In a run's folder, which
//! others may be able to write to, symbolic links are refused too, as they may point outside.

use std::fs::{File, FileType, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;

use super::bounded;
use super::missing::if_there;

/// The maximum size of a run's files that are read whole, in bytes. A schedule of 100,000 trials
/// has some 20 MB.
pub const MOST_BYTES: u64 = 256 << 20;

/// How much of a program's output is read.
const END_BYTES: u64 = 64 << 10;

/// Opens a file named by the user for reading; links are followed.
pub fn open(path: &Path) -> io::Result<File> {
    check(path.metadata()?.file_type())?;
    open_checked(path, OpenOptions::new().read(true), OFlags::NONBLOCK)
}

/// Opens a file named by the user for reading; it may also be a pipe, which is waited for.
pub fn open_or_pipe(path: &Path) -> io::Result<File> {
    if path.metadata()?.file_type().is_fifo() { File::open(path) } else { open(path) }
}

/// Says what a path that exists leads to, unless that is a regular file.
pub fn other_kind(path: &Path) -> Option<&'static str> {
    kind(path.metadata().ok()?.file_type())
}

/// Opens a file for reading, refusing links.
pub fn open_own(path: &Path) -> io::Result<File> {
    open_own_with(path, OpenOptions::new().read(true))
}

/// Opens or creates a file with these options, refusing links.
pub fn open_own_with(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    if let Some(found) = if_there(path.symlink_metadata())? {
        check(found.file_type())?;
    }
    open_checked(path, options, OFlags::NOFOLLOW | OFlags::NONBLOCK)
}

/// Opens a file that has just been checked to be regular, because merely opening a device may have
/// effects. A replacement made since then neither blocks nor passes.
fn open_checked(path: &Path, options: &mut OpenOptions, flags: OFlags) -> io::Result<File> {
    let file = options.custom_flags(flags.bits().cast_signed()).open(path)?;
    check(file.metadata()?.file_type())?;
    Ok(file)
}

/// Reads a whole file of at most [`MOST_BYTES`], refusing links.
pub fn read_own(path: &Path) -> io::Result<Vec<u8>> {
    bounded::read(open_own(path)?, MOST_BYTES)
}

/// The end of a program's output, which may be long.
pub fn read_end_of_own(path: &Path) -> io::Result<String> {
    let mut file = open_own(path)?;
    let length_bytes = file.metadata()?.len();
    file.seek(SeekFrom::Start(length_bytes.saturating_sub(END_BYTES)))?;
    let mut bytes = Vec::new();
    file.take(END_BYTES).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn check(found: FileType) -> io::Result<()> {
    match kind(found) {
        None => Ok(()),
        Some(kind) => {
            let says = format!("it is {kind}, not a regular file");
            Err(io::Error::new(io::ErrorKind::InvalidInput, says))
        }
    }
}

/// What it is called, unless it is a regular file.
fn kind(found: FileType) -> Option<&'static str> {
    let kinds: [(bool, &'static str); 6] = [
        (found.is_symlink(), "a symbolic link"),
        (found.is_dir(), "a folder"),
        (found.is_fifo(), "a FIFO"),
        (found.is_socket(), "a socket"),
        (found.is_char_device(), "a character device"),
        (found.is_block_device(), "a block device"),
    ];
    kinds.into_iter().find(|(is_so, _)| *is_so).map(|(_, kind)| kind)
}

#[cfg(test)]
mod tests;

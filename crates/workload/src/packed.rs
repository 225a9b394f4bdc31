//! The files of a directory as a tar archive, as far as they can be read: after a power cut, not
//! all need be.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use tar::{Builder, EntryType, Header};

/// Archives all that is below a directory, in the order of names. `unreadable` is called with each
/// name of which something is missing in the archive, and why. An error says that the archive
/// itself cannot be written.
pub fn pack(
    root: &Path,
    archive: impl Write,
    unreadable: impl FnMut(&Path, &io::Error),
) -> io::Result<()> {
    let mut packer = Packer { root, builder: Builder::new(archive), unreadable };
    packer.folder(Path::new(""))?;
    packer.builder.into_inner()?.flush()
}

struct Packer<'a, W: Write, F> {
    root: &'a Path,
    builder: Builder<W>,
    unreadable: F,
}

/// What is archived under a name.
enum Item {
    Folder,
    /// A file, as many bytes of it as can be read, and why the rest cannot.
    File(File, u64, Option<io::Error>),
    Link(PathBuf),
}

impl<W: Write, F: FnMut(&Path, &io::Error)> Packer<'_, W, F> {
    /// Adds what is in a folder.
    fn folder(&mut self, folder: &Path) -> io::Result<()> {
        let names = match names(&self.root.join(folder)) {
            Ok(names) => names,
            Err(error) => {
                (self.unreadable)(folder, &error);
                return Ok(());
            }
        };
        names.into_iter().try_for_each(|name| self.add(&folder.join(name)))
    }

    fn add(&mut self, name: &Path) -> io::Result<()> {
        let (mut header, item) = match item(&self.root.join(name)) {
            Ok(found) => found,
            Err(error) => {
                (self.unreadable)(name, &error);
                return Ok(());
            }
        };
        match item {
            Item::Folder => {
                self.builder.append_data(&mut header, name, io::empty())?;
                self.folder(name)
            }
            Item::File(file, bytes, missing) => {
                if let Some(error) = missing {
                    (self.unreadable)(name, &error);
                }
                header.set_size(bytes);
                self.builder.append_data(&mut header, name, file.take(bytes))
            }
            Item::Link(target) => self.builder.append_link(&mut header, name, target),
        }
    }
}

fn names(folder: &Path) -> io::Result<Vec<OsString>> {
    let names = fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name()));
    let mut names: Vec<OsString> = names.collect::<io::Result<_>>()?;
    names.sort_unstable();
    Ok(names)
}

fn item(path: &Path) -> io::Result<(Header, Item)> {
    let metadata = path.symlink_metadata()?;
    let mut header = Header::new_gnu();
    header.set_metadata(&metadata);
    header.set_size(0);
    let item = match header.entry_type() {
        EntryType::Directory => Item::Folder,
        EntryType::Symlink => Item::Link(fs::read_link(path)?),
        EntryType::Regular if metadata.is_file() => {
            let (bytes, missing) = readable(File::open(path)?);
            Item::File(File::open(path)?, bytes, missing)
        }
        _ => return Err(io::Error::other("neither a file, a folder nor a symbolic link")),
    };
    Ok((header, item))
}

/// How many bytes of a file can be read, and why no more.
fn readable(mut file: File) -> (u64, Option<io::Error>) {
    let mut chunk = vec![0; 1 << 16];
    let mut bytes = 0;
    loop {
        match file.read(&mut chunk) {
            Ok(0) => return (bytes, None),
            Ok(length) => bytes += length as u64,
            Err(error) => return (bytes, Some(error)),
        }
    }
}

#[cfg(test)]
mod tests;

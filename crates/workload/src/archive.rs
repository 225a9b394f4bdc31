//! Tar archives: decoded and checked before the clock starts, so that unpacking only copies.
//!
//! An archive is untrusted and is unpacked by root: an entry that would be, or lead, outside the
//! directory is refused, and so is what tar itself would silently overwrite.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Component, Path, PathBuf};

use miette::Diagnostic;
use ssdlab_host::interrupt::{Interrupt, Interruptible};
use ssdlab_operations::Entry;
use ssdlab_plan::schedule::FileHashes;
use tar::EntryType;
use thiserror::Error;

use super::bounds::{self, Budget, ExceededLimit};
use super::content::Content;
use super::decode;
use super::input::{self, InputError};
use super::script::{Script, relative};

/// The maximum size of the headers of one entry: its names, and attributes, which are skipped.
const MOST_HEADER_BYTES: usize = 1 << 20;

/// The longest file name, in bytes (`NAME_MAX`), and the longest path (`PATH_MAX`, with the
/// terminating byte).
const NAME_BYTES: usize = 255;
const PATH_BYTES: usize = 4096;

/// The part of a name shown in messages, in characters.
const SHOWN: usize = 200;

/// An archive that cannot be unpacked.
#[derive(Debug, Error, Diagnostic)]
pub enum ArchiveError {
    /// The file cannot be used.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Input(#[from] InputError),
    /// It could not be read.
    #[error("cannot read the archive {}: {cause}", path.display())]
    #[diagnostic(help(
        "tar archives may be compressed by gzip, xz or zstd; `tar tf` shows whether it is \
         complete"
    ))]
    Unreadable { path: PathBuf, cause: io::Error },
    /// An entry is dangerous or cannot be made.
    #[error("the archive {} has `{entry}`, which {why}", path.display())]
    #[diagnostic(help("nothing was unpacked; make an archive without that entry"))]
    Refused {
        path: PathBuf,
        entry: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// It exceeds the limits on memory.
    #[error("the archive {} has {excess}, at entry {number}, `{entry}`", path.display())]
    #[diagnostic(help("nothing was unpacked; archive only a part of the tree"))]
    TooMuch {
        path: PathBuf,
        /// Which entry it is, from 1.
        number: usize,
        entry: String,
        /// What is too much.
        excess: ExceededLimit,
    },
    /// The headers of an entry are longer than any name.
    #[error(
        "the archive {}: the headers of entry {number} are longer than {MOST_HEADER_BYTES} bytes",
        path.display()
    )]
    #[diagnostic(help("nothing was unpacked; make an archive without that entry's attributes"))]
    LongHeaders {
        path: PathBuf,
        /// Which entry it is, from 1.
        number: usize,
    },
}

/// An archive ready to unpack: the operations, and the files' bytes.
#[derive(Debug)]
pub struct Archive {
    /// Unpacks it.
    pub script: Script,
    /// The plain tar, in memory.
    pub tar: File,
}

/// The plain tar of an archive, in memory.
pub fn plain(path: &Path, interrupt: &Interrupt) -> io::Result<File> {
    let file = input::private(path, &FileHashes::new(), interrupt).map_err(io::Error::other)?;
    decode::plain(file, interrupt)
}

/// Reads an archive; of its entries only the first `share` (0 to 1) is kept.
pub fn read(
    path: &Path,
    share: f64,
    hashes: &FileHashes,
    interrupt: &Interrupt,
) -> Result<Archive, ArchiveError> {
    let unreadable = |cause| ArchiveError::Unreadable { path: path.to_owned(), cause };
    let file = input::private(path, hashes, interrupt)?;
    let tar = decode::plain(file, interrupt).map_err(unreadable)?;
    let mut script = script(&tar, path, Budget::default(), interrupt)?;
    if script.operations.is_empty() {
        return Err(unreadable(io::Error::new(io::ErrorKind::InvalidData, "it is empty")));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "share is 0 to 1")]
    let kept = (script.starts() as f64 * share).ceil() as usize;
    script.truncate(kept.max(1));
    Ok(Archive { script, tar })
}

/// What unpacks a plain tar, as far as the budget goes.
fn script(
    tar: &File,
    path: &Path,
    budget: Budget,
    interrupt: &Interrupt,
) -> Result<Script, ArchiveError> {
    let unreadable = |cause| ArchiveError::Unreadable { path: path.to_owned(), cause };
    let length = tar.metadata().map_err(unreadable)?.len();
    let left = Cell::new(MOST_HEADER_BYTES);
    let mut unpacking = Unpacking { budget, ..Unpacking::default() };
    let headers = Headers { tar, read: Interruptible::new(tar, interrupt), left: &left };
    let mut archive = tar::Archive::new(headers);
    for (index, entry) in archive.entries_with_seek().map_err(unreadable)?.enumerate() {
        let number = index + 1;
        let unreadable = |cause| match left.get() {
            0 => ArchiveError::LongHeaders { path: path.to_owned(), number },
            _ => unreadable(cause),
        };
        let mut entry = entry.map_err(unreadable)?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let added = check_form(&mut entry)
            .and_then(|()| check_whole(&entry, length))
            .and_then(|()| unpacking.add(&entry, &name));
        let (path, entry) = (|| path.to_owned(), || name.chars().take(SHOWN).collect());
        match added {
            Ok(()) => left.set(MOST_HEADER_BYTES),
            Err(UnpackError::Unreadable(cause)) => return Err(unreadable(cause)),
            Err(UnpackError::Refused(why)) => {
                return Err(ArchiveError::Refused { path: path(), entry: entry(), why });
            }
            Err(UnpackError::TooMuch(excess)) => {
                let (path, entry) = (path(), entry());
                return Err(ArchiveError::TooMuch { path, number, entry, excess });
            }
        }
    }
    if let Some(link) = unpacking.link_through_a_link() {
        let why = "is a link that leads through another link";
        return Err(ArchiveError::Refused { path: path.to_owned(), entry: link, why });
    }
    Ok(unpacking.script)
}

/// A tar whose headers are read and contents skipped. The library reads names of any claimed
/// length, so at most `left` bytes are read of one entry.
struct Headers<'a> {
    tar: &'a File,
    read: Interruptible<'a, &'a File>,
    left: &'a Cell<usize>,
}

impl Read for Headers<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = buffer.len().min(self.left.get());
        if most == 0 && !buffer.is_empty() {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let length = self.read.read(&mut buffer[..most])?;
        self.left.set(self.left.get() - length);
        Ok(length)
    }
}

impl Seek for Headers<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.tar.seek(to)
    }
}

enum UnpackError {
    Unreadable(io::Error),
    Refused(&'static str),
    TooMuch(ExceededLimit),
}

impl From<ExceededLimit> for UnpackError {
    fn from(excess: ExceededLimit) -> Self {
        Self::TooMuch(excess)
    }
}

impl From<io::Error> for UnpackError {
    fn from(cause: io::Error) -> Self {
        Self::Unreadable(cause)
    }
}

/// Refuses forms of entries that would be unpacked incorrectly.
fn check_form<R: Read>(entry: &mut tar::Entry<'_, R>) -> Result<(), UnpackError> {
    let link = entry.link_name_bytes().map(|name| std::str::from_utf8(&name).is_ok());
    if std::str::from_utf8(&entry.path_bytes()).is_err() || link == Some(false) {
        return Err(UnpackError::Refused("has a name that is not UTF-8"));
    }
    for extension in entry.pax_extensions()?.into_iter().flatten() {
        if extension?.key_bytes().starts_with(b"GNU.sparse") {
            return Err(UnpackError::Refused("is stored sparsely (tar --sparse)"));
        }
    }
    Ok(())
}

/// Refuses an entry whose contents are missing.
fn check_whole<R: Read>(entry: &tar::Entry<'_, R>, length: u64) -> Result<(), UnpackError> {
    match entry.raw_file_position().checked_add(entry.size()) {
        Some(end) if end <= length => Ok(()),
        _ => Err(UnpackError::Unreadable(io::ErrorKind::UnexpectedEof.into())),
    }
}

#[derive(Default)]
struct Unpacking {
    budget: Budget,
    script: Script,
    directories: BTreeSet<String>,
    /// Symbolic links, each with the paths that it passes through.
    links: BTreeMap<String, Vec<String>>,
    others: BTreeSet<String>,
}

impl Unpacking {
    fn add<R: Read>(&mut self, entry: &tar::Entry<'_, R>, name: &str) -> Result<(), UnpackError> {
        let kind = entry.header().entry_type();
        if kind == EntryType::XGlobalHeader {
            return Ok(());
        }
        let path = inside(name, "lies outside the directory")?;
        if path.is_empty() {
            return Ok(()); // "./", the archive's own root
        }
        if kind.is_dir() {
            return self.add_directory(&path);
        }
        self.add_parents(&path)?;
        self.budget.take_operation(path.len())?;
        let is_new = !self.directories.contains(&path) && self.others.insert(path.clone());
        if !is_new {
            return Err(UnpackError::Refused("occurs twice"));
        }
        let name = relative(&path);
        let (mut content, mut modified_s) = (Content::Zeros, None);
        let made = match kind {
            EntryType::Symlink => {
                let (target, through) = link_target(entry, &path)?;
                let gone_through: usize = through.iter().map(String::len).sum();
                self.budget.take_names(target.len() + gone_through)?;
                self.links.insert(path, through);
                Entry::Symlink { path: name, target: target.into_bytes().into() }
            }
            EntryType::Link => {
                let existing = self.existing(entry)?;
                self.budget.take_names(existing.len())?;
                Entry::Link { path: name, existing: relative(&existing) }
            }
            EntryType::Regular | EntryType::Continuous => {
                content = Content::Archive { offset: entry.raw_file_position() };
                modified_s = entry.header().mtime().ok().and_then(|s| i64::try_from(s).ok());
                let mode = entry.header().mode()? & 0o777;
                Entry::File { mode, size_bytes: entry.size(), path: name }
            }
            EntryType::GNUSparse => {
                return Err(UnpackError::Refused("is stored sparsely (tar --sparse)"));
            }
            _ => return Err(UnpackError::Refused("is neither file, directory nor link")),
        };
        self.script.make(&made, content, modified_s);
        Ok(())
    }

    fn add_directory(&mut self, path: &str) -> Result<(), UnpackError> {
        if self.directories.contains(path) {
            return Ok(());
        }
        self.add_parents(path)?;
        if self.others.contains(path) {
            return Err(UnpackError::Refused("occurs twice"));
        }
        self.budget.take_operation(path.len())?;
        self.directories.insert(path.to_owned());
        self.script.make_directory(path);
        Ok(())
    }

    /// Makes directories that an archive implies; a link in their place would lead the entry
    /// elsewhere.
    fn add_parents(&mut self, path: &str) -> Result<(), UnpackError> {
        let Some((parent, _)) = path.rsplit_once('/') else {
            return Ok(());
        };
        if self.links.contains_key(parent) {
            return Err(UnpackError::Refused("lies behind a symbolic link"));
        }
        if self.others.contains(parent) {
            return Err(UnpackError::Refused("lies in a file"));
        }
        self.add_directory(parent)
    }

    /// A symbolic link whose target passes through another link: names alone do not tell where it
    /// leads.
    fn link_through_a_link(&self) -> Option<String> {
        let leads =
            |through: &Vec<String>| through.iter().any(|step| self.links.contains_key(step));
        self.links.iter().find(|(_, through)| leads(through)).map(|(link, _)| link.clone())
    }

    fn existing<R: Read>(&self, entry: &tar::Entry<'_, R>) -> Result<String, UnpackError> {
        let bytes =
            entry.link_name_bytes().ok_or(UnpackError::Refused("is a link without a target"))?;
        let existing = inside(&String::from_utf8_lossy(&bytes), LEADS_OUT)?;
        if !self.others.contains(&existing) {
            return Err(UnpackError::Refused("is a link to a file that does not precede it"));
        }
        // The same target leads elsewhere from another directory.
        if self.links.contains_key(&existing) {
            return Err(UnpackError::Refused("is a hard link to a symbolic link"));
        }
        Ok(existing)
    }
}

/// What is wrong with a link out of the directory, and with a path that is too long for system
/// calls.
const LEADS_OUT: &str = "is a link that leads outside the directory";
const TOO_LONG: &str = "has a path, or is a link to one, of more than 4095 bytes";

/// The target of a symbolic link, which must not lead out of the directory, and the paths that it
/// passes through.
fn link_target<R: Read>(
    entry: &tar::Entry<'_, R>,
    path: &str,
) -> Result<(String, Vec<String>), UnpackError> {
    let bytes =
        entry.link_name_bytes().ok_or(UnpackError::Refused("is a link without a target"))?;
    let target = String::from_utf8_lossy(&bytes).into_owned();
    let parent = path.rsplit_once('/').map_or(".", |(parent, _)| parent);
    if target.starts_with('/') || target.is_empty() {
        return Err(UnpackError::Refused(LEADS_OUT));
    }
    if target.len() >= PATH_BYTES {
        return Err(UnpackError::Refused(TOO_LONG));
    }
    // Each step is a path itself.
    bounds::check_depth(target.split('/').count())?;
    inside(&format!("{parent}/{target}"), LEADS_OUT)?;
    let ends = target.match_indices('/').map(|(end, _)| &target[..end]);
    let through = ends.map(|step| inside(&format!("{parent}/{step}"), LEADS_OUT));
    let through = through.collect::<Result<Vec<String>, UnpackError>>()?;
    Ok((target, through))
}

/// A path without `.` and `..`; refused as `outside` if it is absolute or leaves the directory.
fn inside(path: &str, outside: &'static str) -> Result<String, UnpackError> {
    let mut parts: Vec<&str> = Vec::new();
    for component in Path::new(path).components() {
        match component {
            Component::Normal(part) => {
                let part =
                    part.to_str().ok_or(UnpackError::Refused("has a name that is not UTF-8"))?;
                if part.len() > NAME_BYTES || part.contains('\0') {
                    return Err(UnpackError::Refused("has a name that no file can have"));
                }
                parts.push(part);
            }
            Component::CurDir => {}
            Component::ParentDir => {
                parts.pop().ok_or(UnpackError::Refused(outside))?;
            }
            Component::RootDir | Component::Prefix(_) => return Err(UnpackError::Refused(outside)),
        }
    }
    bounds::check_depth(parts.len())?;
    let joined = parts.join("/");
    if joined.len() >= PATH_BYTES {
        return Err(UnpackError::Refused(TOO_LONG));
    }
    Ok(joined)
}

#[cfg(test)]
mod tests;

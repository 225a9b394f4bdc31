//! Tar archives: decoded and checked before the clock starts, so that unpacking only copies.
//!
//! An archive is somebody else's data and is unpacked by root: an entry that would land, or
//! lead, outside the directory is refused, and so is what tar itself would overwrite silently.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use miette::Diagnostic;
use tar::EntryType;
use thiserror::Error;

use super::bounds::{self, Budget, Excess};
use super::decode;
use super::input::{self, InputError};
use super::operation::{Content, Operation};
use crate::plan::schedule::Hashes;

/// The most bytes of the headers of one entry: its names, and attributes that are passed over.
const MOST_HEADER_BYTES: usize = 1 << 20;

/// The longest name of a file, in bytes (`NAME_MAX`), and of a path (`PATH_MAX`, with the byte that
/// ends it).
const NAME_BYTES: usize = 255;
const PATH_BYTES: usize = 4096;

/// How much of a name a message shows, in characters.
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
        "tar archives are read plain or compressed by gzip, xz or zstd; `tar tf` shows whether it \
         is whole"
    ))]
    Unreadable {
        /// The archive.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// An entry is dangerous or cannot be made.
    #[error("the archive {} holds `{entry}`, which {why}", path.display())]
    #[diagnostic(help("nothing was unpacked; make an archive without that entry"))]
    Refused {
        /// The archive.
        path: PathBuf,
        /// The entry.
        entry: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// It comes to more than memory is meant for.
    #[error("the archive {} comes to {excess}, at entry {number}, `{entry}`", path.display())]
    #[diagnostic(help("nothing was unpacked; make an archive of a part of the tree"))]
    TooMuch {
        /// The archive.
        path: PathBuf,
        /// Which entry it is, from 1.
        number: usize,
        /// The entry.
        entry: String,
        /// What is too much.
        excess: Excess,
    },
    /// The headers of an entry are longer than any name.
    #[error(
        "the archive {}: the headers of entry {number} are longer than {MOST_HEADER_BYTES} bytes",
        path.display()
    )]
    #[diagnostic(help("nothing was unpacked; make an archive without that entry's attributes"))]
    LongHeaders {
        /// The archive.
        path: PathBuf,
        /// Which entry it is, from 1.
        number: usize,
    },
}

/// An archive ready to unpack: what to do, and where the files' bytes are.
#[derive(Debug)]
pub struct Archive {
    /// The operations that unpack it.
    pub operations: Vec<Operation>,
    /// The plain tar, in memory.
    pub tar: File,
}

/// Reads an archive; of its entries only the first `share` (0 to 1) is kept.
pub fn read(path: &Path, share: f64, hashes: &Hashes) -> Result<Archive, ArchiveError> {
    let unreadable = |cause| ArchiveError::Unreadable { path: path.to_owned(), cause };
    let tar = decode::plain(input::private(path, hashes)?).map_err(unreadable)?;
    let mut operations = operations(&tar, path)?;
    if operations.is_empty() {
        return Err(unreadable(io::Error::new(io::ErrorKind::InvalidData, "it is empty")));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "share is 0 to 1")]
    let kept = (operations.len() as f64 * share).ceil() as usize;
    operations.truncate(kept.max(1));
    Ok(Archive { operations, tar })
}

/// The operations that unpack a plain tar.
fn operations(tar: &File, path: &Path) -> Result<Vec<Operation>, ArchiveError> {
    let unreadable = |cause| ArchiveError::Unreadable { path: path.to_owned(), cause };
    let length = tar.metadata().map_err(unreadable)?.len();
    let left = Cell::new(MOST_HEADER_BYTES);
    let mut unpacking = Unpacking::default();
    let mut archive = tar::Archive::new(Headers { tar, left: &left });
    for (index, entry) in archive.entries_with_seek().map_err(unreadable)?.enumerate() {
        let number = index + 1;
        let mut entry = entry.map_err(|cause| match left.get() {
            0 => ArchiveError::LongHeaders { path: path.to_owned(), number },
            _ => unreadable(cause),
        })?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let added = check_form(&mut entry)
            .and_then(|()| check_whole(&entry, length))
            .and_then(|()| unpacking.add(&entry, &name));
        let (path, entry) = (|| path.to_owned(), || name.chars().take(SHOWN).collect());
        match added {
            Ok(()) => left.set(MOST_HEADER_BYTES),
            Err(Trouble::Unreadable(cause)) => return Err(unreadable(cause)),
            Err(Trouble::Refused(why)) => {
                return Err(ArchiveError::Refused { path: path(), entry: entry(), why });
            }
            Err(Trouble::TooMuch(excess)) => {
                let (path, entry) = (path(), entry());
                return Err(ArchiveError::TooMuch { path, number, entry, excess });
            }
        }
    }
    if let Some(link) = unpacking.link_through_a_link() {
        let why = "is a link that leads through another link";
        return Err(ArchiveError::Refused { path: path.to_owned(), entry: link, why });
    }
    Ok(unpacking.operations)
}

/// A tar of which headers are read and contents passed over. The library takes in a name as long as
/// it claims to be: of one entry no more is read than `left`.
struct Headers<'a> {
    tar: &'a File,
    left: &'a Cell<usize>,
}

impl Read for Headers<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = buffer.len().min(self.left.get());
        if most == 0 && !buffer.is_empty() {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let length = self.tar.read(&mut buffer[..most])?;
        self.left.set(self.left.get() - length);
        Ok(length)
    }
}

impl Seek for Headers<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.tar.seek(to)
    }
}

enum Trouble {
    Unreadable(io::Error),
    Refused(&'static str),
    TooMuch(Excess),
}

impl From<Excess> for Trouble {
    fn from(excess: Excess) -> Self {
        Self::TooMuch(excess)
    }
}

impl From<io::Error> for Trouble {
    fn from(cause: io::Error) -> Self {
        Self::Unreadable(cause)
    }
}

/// Refuses forms of entries that would be unpacked as something else than they are.
fn check_form<R: Read>(entry: &mut tar::Entry<'_, R>) -> Result<(), Trouble> {
    let link = entry.link_name_bytes().map(|name| std::str::from_utf8(&name).is_ok());
    if std::str::from_utf8(&entry.path_bytes()).is_err() || link == Some(false) {
        return Err(Trouble::Refused("has a name that is not UTF-8"));
    }
    for extension in entry.pax_extensions()?.into_iter().flatten() {
        if extension?.key_bytes().starts_with(b"GNU.sparse") {
            return Err(Trouble::Refused("is stored sparsely (tar --sparse)"));
        }
    }
    Ok(())
}

/// Refuses an entry whose contents the archive does not have.
fn check_whole<R: Read>(entry: &tar::Entry<'_, R>, length: u64) -> Result<(), Trouble> {
    match entry.raw_file_position().checked_add(entry.size()) {
        Some(end) if end <= length => Ok(()),
        _ => Err(Trouble::Unreadable(io::ErrorKind::UnexpectedEof.into())),
    }
}

#[derive(Default)]
struct Unpacking {
    budget: Budget,
    operations: Vec<Operation>,
    directories: BTreeSet<String>,
    /// Symbolic links, each with the paths that following it goes through.
    links: BTreeMap<String, Vec<String>>,
    others: BTreeSet<String>,
}

impl Unpacking {
    fn add<R: Read>(&mut self, entry: &tar::Entry<'_, R>, name: &str) -> Result<(), Trouble> {
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
            return Err(Trouble::Refused("is there twice"));
        }
        let shared: Arc<str> = path.as_str().into();
        let operation = match kind {
            EntryType::Symlink => {
                let (target, through) = link_target(entry, &path)?;
                let gone_through: usize = through.iter().map(String::len).sum();
                self.budget.take_names(target.len() + gone_through)?;
                self.links.insert(path, through);
                Operation::Symlink { path: shared, target }
            }
            EntryType::Link => {
                let existing = self.existing(entry)?;
                Operation::HardLink { path: shared, existing }
            }
            EntryType::Regular | EntryType::Continuous => Operation::WriteFile {
                path: shared,
                bytes: entry.size(),
                content: Content::Archive { offset: entry.raw_file_position() },
                mode: entry.header().mode()? & 0o777,
                mtime_s: entry.header().mtime().ok().and_then(|s| i64::try_from(s).ok()),
            },
            EntryType::GNUSparse => {
                return Err(Trouble::Refused("is stored sparsely (tar --sparse)"));
            }
            _ => return Err(Trouble::Refused("is neither file, directory nor link")),
        };
        self.operations.push(operation);
        Ok(())
    }

    fn add_directory(&mut self, path: &str) -> Result<(), Trouble> {
        if self.directories.contains(path) {
            return Ok(());
        }
        self.add_parents(path)?;
        if self.others.contains(path) {
            return Err(Trouble::Refused("is there twice"));
        }
        self.budget.take_operation(path.len())?;
        self.directories.insert(path.to_owned());
        self.operations.push(Operation::MakeDir { path: path.into() });
        Ok(())
    }

    /// Directories that an archive takes for granted are made; a link in their place would
    /// lead the entry elsewhere.
    fn add_parents(&mut self, path: &str) -> Result<(), Trouble> {
        let Some((parent, _)) = path.rsplit_once('/') else {
            return Ok(());
        };
        if self.links.contains_key(parent) {
            return Err(Trouble::Refused("lies behind a symbolic link"));
        }
        if self.others.contains(parent) {
            return Err(Trouble::Refused("lies in a file"));
        }
        self.add_directory(parent)
    }

    /// A symbolic link whose way leads over another one: where that ends, no name tells.
    fn link_through_a_link(&self) -> Option<String> {
        let leads =
            |through: &Vec<String>| through.iter().any(|step| self.links.contains_key(step));
        self.links.iter().find(|(_, through)| leads(through)).map(|(link, _)| link.clone())
    }

    fn existing<R: Read>(&self, entry: &tar::Entry<'_, R>) -> Result<Arc<str>, Trouble> {
        let bytes = entry.link_name_bytes().ok_or(Trouble::Refused("is a link to nothing"))?;
        let existing = inside(&String::from_utf8_lossy(&bytes), LEADS_OUT)?;
        if !self.others.contains(&existing) {
            return Err(Trouble::Refused("is a link to a file that does not come before it"));
        }
        Ok(existing.into())
    }
}

/// What is wrong with a link out of the directory, and with a path that no system call takes.
const LEADS_OUT: &str = "is a link that leads outside the directory";
const TOO_LONG: &str = "has a path, or is a link to one, of more than 4095 bytes";

/// The text of a symbolic link, which must not lead out of the directory, and the paths that
/// following it goes through before its end.
fn link_target<R: Read>(
    entry: &tar::Entry<'_, R>,
    path: &str,
) -> Result<(Arc<str>, Vec<String>), Trouble> {
    let bytes = entry.link_name_bytes().ok_or(Trouble::Refused("is a link to nothing"))?;
    let target = String::from_utf8_lossy(&bytes).into_owned();
    let parent = path.rsplit_once('/').map_or(".", |(parent, _)| parent);
    if target.starts_with('/') || target.is_empty() {
        return Err(Trouble::Refused(LEADS_OUT));
    }
    if target.len() >= PATH_BYTES {
        return Err(Trouble::Refused(TOO_LONG));
    }
    // Each step of the way is a path of its own.
    bounds::check_depth(target.split('/').count())?;
    inside(&format!("{parent}/{target}"), LEADS_OUT)?;
    let ends = target.match_indices('/').map(|(end, _)| &target[..end]);
    let through = ends.map(|step| inside(&format!("{parent}/{step}"), LEADS_OUT));
    let through = through.collect::<Result<Vec<String>, Trouble>>()?;
    Ok((target.into(), through))
}

/// A path without `.` and `..`; refused as `outside` if it is absolute or climbs out on its way.
fn inside(path: &str, outside: &'static str) -> Result<String, Trouble> {
    let mut parts: Vec<&str> = Vec::new();
    for component in Path::new(path).components() {
        match component {
            Component::Normal(part) => {
                let part = part.to_str().ok_or(Trouble::Refused("has a name that is not UTF-8"))?;
                if part.len() > NAME_BYTES || part.contains('\0') {
                    return Err(Trouble::Refused("has a name that no file can have"));
                }
                parts.push(part);
            }
            Component::CurDir => {}
            Component::ParentDir => {
                parts.pop().ok_or(Trouble::Refused(outside))?;
            }
            Component::RootDir | Component::Prefix(_) => return Err(Trouble::Refused(outside)),
        }
    }
    bounds::check_depth(parts.len())?;
    let joined = parts.join("/");
    if joined.len() >= PATH_BYTES {
        return Err(Trouble::Refused(TOO_LONG));
    }
    Ok(joined)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::fs::FileExt;

    fn entry(builder: &mut tar::Builder<Vec<u8>>, name: &str, kind: EntryType, rest: &str) {
        let mut header = tar::Header::new_gnu();
        // Written by hand: the library itself refuses to make what is to be refused here.
        header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_entry_type(kind);
        header.set_mode(0o644);
        let data = if kind == EntryType::Regular { rest } else { "" };
        if kind != EntryType::Regular {
            header.as_old_mut().linkname[..rest.len()].copy_from_slice(rest.as_bytes());
        }
        header.set_size(data.len() as u64);
        header.set_cksum();
        builder.append(&header, data.as_bytes()).unwrap();
    }

    fn tarball(entries: &[(&str, EntryType, &str)]) -> Vec<u8> {
        let mut builder = tar::Builder::new(Vec::new());
        for (name, kind, rest) in entries {
            entry(&mut builder, name, *kind, rest);
        }
        builder.into_inner().unwrap()
    }

    fn read_bytes(bytes: &[u8]) -> Result<Archive, ArchiveError> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        read(file.path(), 1.0, &Hashes::new())
    }

    const PLAIN: [(&str, EntryType, &str); 5] = [
        ("./top/", EntryType::Directory, ""),
        ("top/a.c", EntryType::Regular, "int a;"),
        ("deep/er/b.c", EntryType::Regular, "int b;"),
        ("top/l", EntryType::Symlink, "../deep/er/b.c"),
        ("latest", EntryType::Symlink, "top/a.c"),
    ];

    #[test]
    fn parents_are_made_and_contents_kept() {
        let archive = read_bytes(&tarball(&PLAIN)).unwrap();
        let made: Vec<_> = archive
            .operations
            .iter()
            .filter_map(|operation| match operation {
                Operation::MakeDir { path } => Some(&**path),
                _ => None,
            })
            .collect();
        assert_eq!(made, ["top", "deep", "deep/er"]);
        let mut bytes = [0; 6];
        for operation in &archive.operations {
            if let Operation::WriteFile {
                content: Content::Archive { offset },
                bytes: 6,
                path,
                ..
            } = operation
            {
                archive.tar.read_exact_at(&mut bytes, *offset).unwrap();
                let expected = if path.ends_with("a.c") { b"int a;" } else { b"int b;" };
                assert_eq!(&bytes, expected);
            }
        }
        assert_eq!(archive.operations.len(), 7);
    }

    #[test]
    fn compressions_are_recognised_by_content() {
        let plain = tarball(&PLAIN);
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&plain).unwrap();
        let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 1);
        xz.write_all(&plain).unwrap();
        let zstd = ruzstd::encoding::compress_to_vec(
            &plain[..],
            ruzstd::encoding::CompressionLevel::Fastest,
        );
        for bytes in [gzip.finish().unwrap(), xz.finish().unwrap(), zstd] {
            assert_eq!(read_bytes(&bytes).unwrap().operations.len(), 7);
        }
    }

    #[test]
    fn what_climbs_out_is_refused() {
        use EntryType::{Directory, Link, Regular, Symlink};
        let cases: [&[(&str, EntryType, &str)]; 10] = [
            &[("a/d", Symlink, ".."), ("l", Symlink, "a/d/../x")],
            &[("../x", Regular, "")],
            &[("a/../../x", Regular, "")],
            &[("/etc/x", Regular, "")],
            &[("l", Symlink, "/etc")],
            &[("d/l", Symlink, "../../x")],
            &[("l", Symlink, "d"), ("l/x", Regular, "")],
            &[("l", Link, "../x")],
            &[("l", Link, "not-there")],
            &[("l", Symlink, "d"), ("l", Directory, "")],
        ];
        for entries in cases {
            let error = read_bytes(&tarball(entries)).unwrap_err();
            assert!(matches!(error, ArchiveError::Refused { .. }), "{entries:?}: {error}");
        }
        let device = [("n", EntryType::Char, "")];
        assert!(read_bytes(&tarball(&device)).is_err());
    }

    #[test]
    fn broken_archives_are_errors() {
        let plain = tarball(&PLAIN);
        for bytes in [&b""[..], b"not a tar", &plain[..700], &[0x1f, 0x8b, 0, 0], &[0xfd, b'7']] {
            assert!(matches!(read_bytes(bytes), Err(ArchiveError::Unreadable { .. })));
        }
        assert!(read(Path::new("/no/such.tar"), 1.0, &Hashes::new()).is_err());
    }

    /// An archive of empty files, whose names are as long as they like.
    fn named(names: impl Iterator<Item = String>) -> Vec<u8> {
        let mut builder = tar::Builder::new(Vec::new());
        let mut header = tar::Header::new_gnu();
        header.set_size(0);
        header.set_mode(0o644);
        for name in names {
            builder.append_data(&mut header, name, &b""[..]).unwrap();
        }
        builder.into_inner().unwrap()
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        gzip.write_all(bytes).unwrap();
        gzip.finish().unwrap()
    }

    #[test]
    fn a_deep_path_is_refused_with_its_depth() {
        let deep = |names: usize| named(std::iter::once(vec!["d"; names].join("/")));
        assert_eq!(read_bytes(&deep(128)).unwrap().operations.len(), 128);
        let error = read_bytes(&deep(129)).unwrap_err().to_string();
        assert!(error.contains("at entry 1, `d/d") && error.contains("129 names"), "{error}");
        let link = [("l", EntryType::Symlink, "a/../a/../a/../a/../a/../a/../a/../a")];
        assert!(read_bytes(&tarball(&link)).is_ok());
    }

    /// Some kilobytes of archive come to gigabytes of names, as each path takes the directories on
    /// it for granted.
    #[test]
    fn small_archives_of_many_names_are_refused() {
        let rest = format!("/{}", "d".repeat(30)).repeat(127);
        let bomb = gzip(&named((0..2_000).map(|number| format!("{number}{rest}"))));
        assert!(bomb.len() < 100_000, "{}", bomb.len());
        let error = read_bytes(&bomb).unwrap_err();
        let ArchiveError::TooMuch { excess: Excess::NameBytes, number, .. } = error else {
            panic!("{error}")
        };
        // By then the names have 256 MiB.
        assert!((1_000..1_200).contains(&number), "{number}");
    }

    /// A header that promises a name of any length.
    #[test]
    fn a_long_name_is_read_no_further_than_names_go() {
        for kind in [EntryType::GNULongName, EntryType::GNULongLink, EntryType::XHeader] {
            let mut builder = tar::Builder::new(Vec::new());
            let mut header = tar::Header::new_gnu();
            header.set_entry_type(kind);
            header.set_size(3 << 20);
            header.set_cksum();
            builder.append(&header, io::repeat(b'x').take(3 << 20)).unwrap();
            let error = read_bytes(&gzip(&builder.into_inner().unwrap())).unwrap_err();
            assert!(matches!(error, ArchiveError::LongHeaders { number: 1, .. }), "{error}");
        }
    }

    /// The size in a header is only what somebody has written there.
    #[test]
    fn an_entry_that_is_longer_than_its_archive_is_an_error() {
        let mut header = tar::Header::new_gnu();
        header.set_size(1 << 50);
        header.set_path("x").unwrap();
        header.set_cksum();
        let error = read_bytes(header.as_bytes()).unwrap_err();
        assert!(matches!(error, ArchiveError::Unreadable { .. }), "{error}");
    }

    /// The bytes of files come from what was read, whatever the archive is by then.
    #[test]
    fn a_plain_archive_is_copied() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&tarball(&[("a", EntryType::Regular, "before")])).unwrap();
        let archive = read(file.path(), 1.0, &Hashes::new()).unwrap();
        file.as_file().write_all_at(b"after!", 512).unwrap();
        let mut bytes = [0; 6];
        archive.tar.read_exact_at(&mut bytes, 512).unwrap();
        assert_eq!(&bytes, b"before");
    }

    #[test]
    fn a_share_keeps_the_front() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&tarball(&PLAIN)).unwrap();
        assert_eq!(read(file.path(), 0.5, &Hashes::new()).unwrap().operations.len(), 4);
    }
}

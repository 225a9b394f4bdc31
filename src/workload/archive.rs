//! Tar archives: decoded and checked before the clock starts, so that unpacking only copies.
//!
//! An archive is somebody else's data and is unpacked by root: an entry that would land, or
//! lead, outside the directory is refused, and so is what tar itself would overwrite silently.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use miette::Diagnostic;
use rustix::fs::{MemfdFlags, memfd_create};
use tar::EntryType;
use thiserror::Error;

use super::operation::{Content, Operation};
use crate::host::memory;

/// An archive that cannot be unpacked.
#[derive(Debug, Error, Diagnostic)]
pub enum ArchiveError {
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
}

/// An archive ready to unpack: what to do, and where the files' bytes are.
#[derive(Debug)]
pub struct Archive {
    /// The operations that unpack it.
    pub operations: Vec<Operation>,
    /// The plain tar: the archive itself, which has just been read and so lies in the page cache,
    /// or its decoded form in memory.
    pub tar: File,
}

/// Reads an archive; of its entries only the first `share` (0 to 1) is kept.
pub fn read(path: &Path, share: f64) -> Result<Archive, ArchiveError> {
    let unreadable = |cause| ArchiveError::Unreadable { path: path.to_owned(), cause };
    if !path.is_file() {
        let message = "it is not there, or not a file";
        return Err(unreadable(io::Error::new(io::ErrorKind::InvalidInput, message)));
    }
    let file = File::open(path).map_err(unreadable)?;
    let tar = plain(file).map_err(unreadable)?;
    let mut unpacking = Unpacking::default();
    let mut archive = tar::Archive::new(BufReader::with_capacity(1 << 20, &tar));
    for entry in archive.entries().map_err(unreadable)? {
        let mut entry = entry.map_err(unreadable)?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        match check_form(&mut entry).and_then(|()| unpacking.add(&entry, &name)) {
            Ok(()) => {}
            Err(Trouble::Unreadable(cause)) => return Err(unreadable(cause)),
            Err(Trouble::Refused(why)) => {
                return Err(ArchiveError::Refused { path: path.to_owned(), entry: name, why });
            }
        }
    }
    if let Some(link) = unpacking.link_through_a_link() {
        let why = "is a link that leads through another link";
        return Err(ArchiveError::Refused { path: path.to_owned(), entry: link, why });
    }
    let mut operations = unpacking.operations;
    if operations.is_empty() {
        return Err(unreadable(io::Error::new(io::ErrorKind::InvalidData, "it is empty")));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "share is 0 to 1")]
    let kept = (operations.len() as f64 * share).ceil() as usize;
    operations.truncate(kept.max(1));
    Ok(Archive { operations, tar })
}

/// The plain tar of an archive. The compression is recognised by the first bytes, not by the name;
/// what is compressed is decoded into memory, up to half of what is free.
fn plain(mut file: File) -> io::Result<File> {
    let mut magic = Vec::new();
    file.by_ref().take(6).read_to_end(&mut magic)?;
    file.rewind()?;
    let stream = BufReader::with_capacity(1 << 20, &file);
    let mut decoder: Box<dyn Read> = match &magic[..] {
        [0x1f, 0x8b, ..] => Box::new(flate2::bufread::MultiGzDecoder::new(stream)),
        [0xfd, b'7', b'z', b'X', b'Z', 0] => {
            Box::new(liblzma::bufread::XzDecoder::new_multi_decoder(stream))
        }
        [0x28, 0xb5, 0x2f, 0xfd, ..] => {
            Box::new(ruzstd::decoding::StreamingDecoder::new(stream).map_err(io::Error::other)?)
        }
        _ => return Ok(file),
    };
    let mut plain = File::from(memfd_create("archive", MemfdFlags::CLOEXEC)?);
    let most = memory::available_bytes() / 2;
    let length = io::copy(&mut decoder.by_ref().take(most), &mut plain)?;
    if length == most && decoder.read(&mut [0])? > 0 {
        let message = format!("decoded, it is larger than {most} bytes, half of the free memory");
        return Err(io::Error::new(io::ErrorKind::OutOfMemory, message));
    }
    drop(decoder);
    plain.rewind()?;
    Ok(plain)
}

enum Trouble {
    Unreadable(io::Error),
    Refused(&'static str),
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

#[derive(Default)]
struct Unpacking {
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
        let path = inside(name).ok_or(Trouble::Refused("lies outside the directory"))?;
        if path.is_empty() {
            return Ok(()); // "./", the archive's own root
        }
        if kind.is_dir() {
            return self.add_directory(&path);
        }
        self.add_parents(&path)?;
        let is_new = !self.directories.contains(&path) && self.others.insert(path.clone());
        if !is_new {
            return Err(Trouble::Refused("is there twice"));
        }
        let shared: Arc<str> = path.as_str().into();
        let operation = match kind {
            EntryType::Symlink => {
                let (target, through) = link_target(entry, &path)?;
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
        let existing = inside(&String::from_utf8_lossy(&bytes))
            .ok_or(Trouble::Refused("is a link that leads outside the directory"))?;
        if !self.others.contains(&existing) {
            return Err(Trouble::Refused("is a link to a file that does not come before it"));
        }
        Ok(existing.into())
    }
}

/// The text of a symbolic link, which must not lead out of the directory, and the paths that
/// following it goes through before its end.
fn link_target<R: Read>(
    entry: &tar::Entry<'_, R>,
    path: &str,
) -> Result<(Arc<str>, Vec<String>), Trouble> {
    const OUT: Trouble = Trouble::Refused("is a link that leads outside the directory");
    let bytes = entry.link_name_bytes().ok_or(Trouble::Refused("is a link to nothing"))?;
    let target = String::from_utf8_lossy(&bytes).into_owned();
    let parent = path.rsplit_once('/').map_or(".", |(parent, _)| parent);
    inside(&format!("{parent}/{target}"))
        .filter(|_| !target.starts_with('/') && !target.is_empty())
        .ok_or(OUT)?;
    let steps: Vec<&str> = target.split('/').collect();
    let through = (1..steps.len())
        .map(|count| inside(&format!("{parent}/{}", steps[..count].join("/"))).ok_or(OUT))
        .collect::<Result<Vec<String>, Trouble>>()?;
    Ok((target.into(), through))
}

/// A path without `.` and `..`; `None` if it is absolute or climbs out on its way, or cannot be
/// a path at all.
fn inside(path: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();

    for component in Path::new(path).components() {
        match component {
            Component::Normal(part) => parts.push(part.to_str()?),
            Component::CurDir => {}
            Component::ParentDir => {
                parts.pop()?;
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    let joined = parts.join("/");
    (joined.len() < 4096 && !joined.contains('\0')).then_some(joined)
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
        read(file.path(), 1.0)
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
        assert!(read(Path::new("/no/such.tar"), 1.0).is_err());
    }

    #[test]
    fn a_share_keeps_the_front() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&tarball(&PLAIN)).unwrap();
        assert_eq!(read(file.path(), 0.5).unwrap().operations.len(), 4);
    }
}

//! The origin of a lab kernel: the choice of a source, and its record.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use ssdlab_host::files::checksum;

use super::error::KernelError;

/// The versions of Linux that the patch was made for. The first was used most, the newest least.
const VERSIONS: std::ops::RangeInclusive<(u32, u32)> = (6, 1)..=(6, 12);
const NEWEST: (u32, u32) = (7, 3);

/// The origin of a kernel in the cache.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelOrigin {
    /// The kernel's identity.
    pub identity: String,
    /// The identity of the files it was built by.
    pub recipe: String,
    pub source: LinuxSource,
    /// The compiler, as it calls itself.
    pub compiler: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinuxSource {
    /// Where it is.
    pub path: PathBuf,
    /// What it is.
    pub kind: SourceKind,
    /// A tarball's SHA-256. A tree has none: it may change at any time.
    pub sha256: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SourceKind {
    /// A compressed archive.
    Tarball,
    /// An unpacked tree.
    Tree,
}

impl LinuxSource {
    /// A tarball or a tree that the user named.
    pub fn named(path: &Path) -> Result<Self, KernelError> {
        let unreadable = |cause| KernelError::Source { path: path.to_owned(), cause };
        let whole = fs::canonicalize(path).map_err(unreadable)?;
        if whole.is_dir() {
            return Ok(Self { path: whole, kind: SourceKind::Tree, sha256: None });
        }
        let sha256 = Some(checksum(&whole).map_err(unreadable)?);
        Ok(Self { path: whole, kind: SourceKind::Tarball, sha256 })
    }

    /// The best tarball that a distribution's package has put into `folder`.
    pub fn installed(folder: &Path) -> Result<Self, KernelError> {
        let found = tarballs(folder);
        let suitable = found.iter().filter(|(v, _)| VERSIONS.contains(v) || *v == NEWEST);
        let best = suitable.max_by_key(|(v, _)| (v == VERSIONS.start(), *v != NEWEST, *v));
        if let Some((_, path)) = best {
            return Self::named(path);
        }
        let names = found.iter().filter_map(|(_, path)| path.file_name());
        let names: Vec<_> = names.map(|name| name.to_string_lossy()).collect();
        let found = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        Err(KernelError::NoSource { folder: folder.to_owned(), found })
    }
}

/// The tarball of a version such as `6.12` that a distribution's package has put into a folder.
pub fn tarball(folder: &Path, level: &str) -> Option<PathBuf> {
    let mut parts = level.split(['.', '-']).map(|part| part.parse().ok());
    let wanted = (parts.next()??, parts.next()??);
    let found = tarballs(folder).into_iter().find(|(version, _)| *version == wanted);
    found.map(|(_, path)| path)
}

/// The tarballs that distributions' packages have put into a folder, by version.
fn tarballs(folder: &Path) -> Vec<((u32, u32), PathBuf)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<_> = entries
        .filter_map(|entry| Some((version(entry.file_name().to_str()?)?, entry.path())))
        .collect();
    found.sort();
    found
}

/// The version in a name such as `linux-source-6.1.tar.xz` or `linux-source-6.8.0.tar.bz2`.
fn version(name: &str) -> Option<(u32, u32)> {
    let (version, _) = name.strip_prefix("linux-source-")?.split_once(".tar.")?;
    let mut numbers = version.split('.').map(|number| number.parse().ok());
    Some((numbers.next()??, numbers.next()??))
}

#[cfg(test)]
mod tests;

//! Defines paths that stay within a directory.

use std::fmt;
use std::sync::Arc;

/// The longest path, in bytes: Linux's `PATH_MAX` without the terminating byte.
const LONGEST_BYTES: usize = 4095;

/// The longest name in a path, in bytes: Linux's `NAME_MAX`.
const LONGEST_NAME_BYTES: usize = 255;

/// A path relative to the recorded directory, which itself is `.`.
///
/// Its components are separated by `/` and not empty, `.` or `..`. Each has at most 255 bytes, the
/// path at most 4095, of any value but NUL. Clones share the bytes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RelativePath(Arc<[u8]>);

impl RelativePath {
    /// The path of these bytes, if they are valid.
    pub fn new(bytes: &[u8]) -> Option<Self> {
        let is_name = |name: &[u8]| {
            !matches!(name, b"" | b"." | b"..")
                && name.len() <= LONGEST_NAME_BYTES
                && !name.contains(&0)
        };
        let is_path = bytes == b"." || bytes.split(|byte| *byte == b'/').all(is_name);
        (is_path && bytes.len() <= LONGEST_BYTES).then(|| Self(bytes.into()))
    }

    /// The recorded directory.
    pub fn top() -> Self {
        Self(Arc::from(*b"."))
    }

    /// The path as passed to the kernel.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The names along the path; none for the directory itself.
    pub fn names(&self) -> impl Iterator<Item = &[u8]> {
        self.0.split(|byte| *byte == b'/').filter(|name| *name != b".")
    }

    /// The path of this name in the directory at this path.
    pub fn join(&self, name: &[u8]) -> Option<Self> {
        if self.0.as_ref() == b"." {
            return Self::new(name);
        }
        Self::new(&[&self.0, name].join(&b'/'))
    }

    /// Whether this is the other path or below it.
    pub fn is_within(&self, other: &Self) -> bool {
        let mut names = self.names();
        other.names().all(|name| names.next() == Some(name))
    }
}

impl fmt::Debug for RelativePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for RelativePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.escape_ascii())
    }
}

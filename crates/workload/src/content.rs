//! File contents as recipes: they are generated when written or compared, never stored.

use std::fs::File;
use std::os::unix::fs::FileExt;

use rustix::io::Errno;
use ssdlab_operations::RelativePath;

use super::synthetic::bonnie;
use super::synthetic::content::ContentPool;
use super::synthetic::random::mix;

/// The contents of a file: a function of the offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Nothing but zeros.
    Zeros,
    /// Text that compresses like C source.
    Text {
        /// Makes this file's bytes differ from every other file's.
        seed: u64,
    },
    /// Bytes that do not compress.
    Binary {
        /// Makes this file's bytes differ from every other file's.
        seed: u64,
    },
    /// Bytes of a decoded tar archive.
    Archive {
        /// The offset of the file's bytes in the archive.
        offset: u64,
    },
    /// Bytes as Bonnie's tests leave them.
    Bonnie(bonnie::BonnieData),
}

impl Content {
    /// The contents that stand for what a recorded program writes into a file with this name.
    pub fn of_name(path: &RelativePath) -> Self {
        let seed = path.as_bytes().iter().fold(0, |seed, byte| mix(seed ^ u64::from(*byte)));
        Self::Text { seed }
    }
}

#[derive(Debug)]
pub struct FileContents {
    /// For synthetic files.
    pub pool: ContentPool,
    /// The plain tar that an archive's files are in.
    pub archive: Option<File>,
}

impl FileContents {
    /// The bytes of a file from `offset` on.
    pub fn fill(&self, content: Content, offset: u64, chunk: &mut [u8]) -> Result<(), Errno> {
        match content {
            Content::Zeros => chunk.fill(0),
            Content::Text { seed } => self.pool.fill_text(seed, offset, chunk),
            Content::Binary { seed } => self.pool.fill_binary(seed, offset, chunk),
            Content::Bonnie(data) => data.fill(offset, chunk),
            Content::Archive { offset: start } => {
                // An archive's script always comes with the archive.
                let tar = self.archive.as_ref().ok_or(Errno::BADF)?;
                tar.read_exact_at(chunk, start + offset).map_err(|_| Errno::IO)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
impl FileContents {
    /// With an archive that holds `from the archive`. The pool is made once for all tests: without
    /// optimisation that takes a tenth of a second.
    pub fn sample() -> Self {
        static POOL: std::sync::LazyLock<ContentPool> =
            std::sync::LazyLock::new(|| ContentPool::new(1));
        let mut archive = tempfile::tempfile().unwrap();
        std::io::Write::write_all(&mut archive, b"from the archive").unwrap();
        Self { pool: POOL.clone(), archive: Some(archive) }
    }
}

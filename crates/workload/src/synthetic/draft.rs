//! A script under construction, for workloads that imitate programs.

use super::random::RandomStream;
use crate::content::Content;
use crate::script::Script;

/// A script, and the seeds of the contents in it.
#[derive(Debug)]
pub(super) struct Draft {
    pub script: Script,
    random: RandomStream,
}

impl Draft {
    pub(super) fn new(random: RandomStream) -> Self {
        Self { script: Script::default(), random }
    }

    /// Writes a text file.
    pub(super) fn text(&mut self, path: &str, bytes: u64) {
        let seed = self.random.bits();
        self.write(path, bytes, Content::Text { seed }, 0o644);
    }

    /// Writes an executable text file.
    pub(super) fn program_text(&mut self, path: &str, bytes: u64) {
        let seed = self.random.bits();
        self.write(path, bytes, Content::Text { seed }, 0o755);
    }

    /// Writes a file that does not compress.
    pub(super) fn binary(&mut self, path: &str, bytes: u64) {
        let seed = self.random.bits();
        self.write(path, bytes, Content::Binary { seed }, 0o644);
    }

    /// Writes a file of object code.
    ///
    /// Object code compresses 3.6:1 (zlib level 6, runs of 128 KiB, every eighth module of Debian's
    /// kernel 6.1.192), a little less than text. One incompressible file in 16 among text files has
    /// the same effect: 1 / (15/16 / 4.3 + 1/16) = 3.6.
    pub(super) fn object(&mut self, path: &str, bytes: u64) {
        if self.random.one_in(16) {
            self.binary(path, bytes);
        } else {
            self.text(path, bytes);
        }
    }

    fn write(&mut self, path: &str, bytes: u64, content: Content, mode: u32) {
        self.script.make_file(path, mode, bytes, content, None);
    }
}

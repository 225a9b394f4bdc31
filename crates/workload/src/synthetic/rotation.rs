//! A log that a program appends to, and that logrotate(8) rotates.
//!
//! In the order of logrotate with `create`, `size`, `rotate` and `compress`: old logs are renamed,
//! the oldest first; the log is renamed; a new log is created; the renamed one is compressed; the
//! log that is one too many is deleted. Then the program opens the new log.

use ssdlab_operations::cuts::contents::RECORD_BYTES;
use ssdlab_plan::rotation::Rotate;

use super::random::mix;
use crate::content::Content;
use crate::script::Script;
use crate::steps::ScriptStep;

/// The log; old ones are this with a dot, their age and perhaps `.gz`.
const LOG: &str = "rotated.log";

/// The permission bits of logs.
const MODE: u32 = 0o640;

/// The size of a log for each byte of it compressed: what zlib makes of the text in it, about
/// (`Draft::object`).
const COMPRESSED: u64 = 4;

/// Records, and the rotations between them.
#[derive(Debug)]
pub struct Rotation {
    work: Rotate,
    seed: u64,
    /// The number of records appended.
    appended: u32,
    /// The log's size in bytes.
    log_bytes: u64,
    /// Whether the program has to open the log.
    is_new: bool,
    rotations: u64,
}

impl Rotation {
    /// All records of a phase.
    pub fn new(work: Rotate, seed: u64) -> Self {
        Self { work, seed, appended: 0, log_bytes: 0, is_new: true, rotations: 0 }
    }

    fn append(&mut self) -> Script {
        let mut script = Script::default();
        if std::mem::take(&mut self.is_new) {
            let seed = mix(self.seed ^ self.rotations);
            script.open_to_append(LOG, MODE, Content::Text { seed });
        }
        script.append(self.log_bytes, RECORD_BYTES as u64);
        self.log_bytes += RECORD_BYTES as u64;
        self.appended += 1;
        script
    }

    fn rotate(&mut self) -> Script {
        let mut script = Script::default();
        script.close();
        let kept = self.rotations.min(self.work.keep.into());
        let old = |age: u64| {
            let end = if self.work.compress { ".gz" } else { "" };
            format!("{LOG}.{age}{end}")
        };
        for age in (1..=kept).rev() {
            script.rename(&old(age), &old(age + 1));
        }
        let newest = format!("{LOG}.1");
        script.rename(LOG, &newest);
        script.make_file(LOG, MODE, 0, Content::Zeros, None);
        if self.work.compress {
            let content = Content::Binary { seed: mix(self.seed ^ self.rotations) };
            script.read(&newest);
            script.make_file(&old(1), MODE, self.log_bytes / COMPRESSED, content, None);
            script.unlink(&newest);
        }
        if kept == u64::from(self.work.keep) {
            script.unlink(&old(kept + 1));
        }
        self.log_bytes = 0;
        self.is_new = true;
        self.rotations += 1;
        script
    }
}

impl Iterator for Rotation {
    type Item = ScriptStep;

    fn next(&mut self) -> Option<ScriptStep> {
        if self.log_bytes >= self.work.size_bytes {
            return Some(ScriptStep::between(self.rotate()));
        }
        (self.appended < self.work.records).then(|| ScriptStep::operation(self.append()))
    }
}

#[cfg(test)]
mod tests;

//! Churn: scripts that age a filesystem according to a profile, from a seed.
//!
//! First the files fill the filesystem to the profile's level; from then on each write is preceded
//! by deletions. Fragmentation comes from the syncs between batches: a file written in several
//! batches finds the space after its last part taken.

use std::mem;
use std::sync::Arc;

use ssdlab_operations::Operation;
use ssdlab_plan::Profile;

use super::distribution::{SizeQuantiles, scale};
use super::random::{RandomPurpose, RandomStream};
use crate::content::Content;
use crate::script::Script;

/// Rounds per turnover, in which the volume of the level is written once.
pub const ROUNDS_PER_TURNOVER: u32 = 4;

/// Batches in a round; each ends with a sync.
const BATCHES: u64 = 16;

/// Space is allocated in blocks of this many bytes.
const BLOCK_BYTES: u64 = 4096;

/// No file is larger than this fraction of the level: deleting it would leave the filesystem half
/// empty.
const LARGEST_PART: u64 = 64;

/// How often to look for an existing young file before taking any.
const LOOKS: u32 = 16;

/// The permission bits of files.
const FILE_MODE: u32 = 0o600;

#[derive(Debug)]
struct File {
    path: Arc<str>,
    bytes: u64,
}

/// A file that is still growing.
#[derive(Debug)]
struct Growing {
    file: File,
    written_bytes: u64,
}

/// The generator.
#[derive(Debug)]
pub struct Churn {
    profile: &'static Profile,
    sizes: SizeQuantiles,
    random: RandomStream,
    level_bytes: u64,
    directories: Vec<Arc<str>>,
    /// The directory of new files.
    directory: usize,
    /// By age, oldest first; `None` if deleted since the last batch.
    files: Vec<Option<File>>,
    live: usize,
    growing: Vec<Growing>,
    used_bytes: u64,
    written_bytes: u64,
    /// The bytes to write by the end of the batch.
    due_bytes: u64,
    named: u64,
    script: Script,
}

impl Churn {
    /// For a new filesystem with this many free bytes.
    pub fn new(profile: &'static Profile, free_bytes: u64, seed: u64) -> Self {
        let level_bytes = scale(free_bytes, profile.fill_percent, 100);
        let sizes = profile.sizes.map(|bytes| bytes.min(level_bytes / LARGEST_PART));
        let mut churn = Self {
            profile,
            sizes: SizeQuantiles(sizes),
            random: RandomStream::new(seed, RandomPurpose::Churn),
            level_bytes,
            directories: Vec::new(),
            directory: 0,
            files: Vec::new(),
            live: 0,
            growing: Vec::new(),
            used_bytes: 0,
            written_bytes: 0,
            due_bytes: 0,
            named: 0,
            script: Script::default(),
        };
        churn.make_directories();
        churn
    }

    /// Bytes passed to write(2) by all scripts so far.
    pub fn written_bytes(&self) -> u64 {
        self.written_bytes
    }

    /// The files that exist after all scripts so far.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        let growing = self.growing.iter().map(|growing| &growing.file);
        self.files.iter().flatten().chain(growing).map(|file| &*file.path)
    }

    /// The next round. Files contain zeros.
    pub fn round(&mut self) -> Script {
        for _ in 0..BATCHES {
            self.files.retain(Option::is_some);
            let rounds = u64::from(ROUNDS_PER_TURNOVER);
            self.due_bytes += self.level_bytes / (rounds * BATCHES);
            self.grow();
            while self.written_bytes < self.due_bytes {
                self.decide();
            }
            self.script.operations.push(Operation::SyncFilesystem);
        }
        mem::take(&mut self.script)
    }

    /// A uniform tree with enough directories for the files of a full filesystem.
    fn make_directories(&mut self) {
        const SAMPLE: u64 = 4096;
        let mean_bytes = self.sizes.spread(SAMPLE).map(taken).sum::<u64>() / SAMPLE;
        let files = self.level_bytes / mean_bytes.max(1);
        for number in 0..(files / self.profile.directory_files).max(1) {
            let parent = number.checked_sub(1).map(|below| below / self.profile.subdirectories);
            let parent =
                parent.and_then(|parent| self.directories.get(usize::try_from(parent).ok()?));
            let path: Arc<str> = match parent {
                Some(parent) => format!("{parent}/d{number}").into(),
                None => format!("d{number}").into(),
            };
            self.script.make_directory(&path);
            self.directories.push(path);
        }
    }

    /// The next piece of every growing file.
    fn grow(&mut self) {
        for mut growing in mem::take(&mut self.growing) {
            let left = growing.file.bytes - growing.written_bytes;
            let bytes = left.min(self.profile.piece_bytes);
            self.write(&growing.file.path, growing.written_bytes, bytes);
            growing.written_bytes += bytes;
            if bytes < left {
                self.growing.push(growing);
            } else {
                self.keep(growing.file);
            }
        }
    }

    fn decide(&mut self) {
        let Profile { append_percent, overwrite_percent, .. } = *self.profile;
        let drawn = self.random.below(100);
        if self.live == 0 || drawn >= append_percent + overwrite_percent {
            self.create();
        } else if drawn < append_percent {
            self.append();
        } else {
            self.overwrite();
        }
    }

    /// Programs make several files in one directory before moving to another.
    fn create(&mut self) {
        if self.random.one_in(self.profile.directory_files) {
            self.directory = self.random.index(self.directories.len());
        }
        let bytes = self.sizes.draw(&mut self.random);
        self.make_room(taken(bytes));
        self.used_bytes += taken(bytes);
        let path = format!("{}/f{}", self.directories[self.directory], self.named).into();
        self.named += 1;
        let file = File { path, bytes };
        let grows = self.random.below(100) < self.profile.growing_percent;
        let at_once = if grows { bytes.min(self.profile.piece_bytes) } else { bytes };
        self.write(&file.path, 0, at_once);
        if at_once < bytes {
            self.growing.push(Growing { file, written_bytes: at_once });
        } else {
            self.keep(file);
        }
    }

    /// The appended part has a file's size, but at most the current size of the file.
    fn append(&mut self) {
        let drawn = self.sizes.draw(&mut self.random);
        // Making room may delete the file it is made for.
        self.make_room(taken(drawn) + BLOCK_BYTES);
        let Some(index) = self.any() else { return };
        let Some(file) = &mut self.files[index] else { return };
        let bytes = drawn.min(file.bytes);
        let (path, offset) = (Arc::clone(&file.path), file.bytes);
        file.bytes += bytes;
        self.used_bytes += taken(file.bytes) - taken(offset);
        self.write(&path, offset, bytes);
    }

    fn overwrite(&mut self) {
        let drawn = self.sizes.draw(&mut self.random);
        let Some(index) = self.any() else { return };
        let Some(File { path, bytes }) = &self.files[index] else { return };
        let (path, file_bytes) = (Arc::clone(path), *bytes);
        let bytes = drawn.min(file_bytes);
        let blocks = (file_bytes - bytes) / BLOCK_BYTES + 1;
        let offset = self.random.below(blocks) * BLOCK_BYTES;
        self.write(&path, offset, bytes);
    }

    fn write(&mut self, path: &Arc<str>, offset: u64, bytes: u64) {
        self.written_bytes += bytes;
        self.script.update(path, FILE_MODE, offset, bytes, Content::Zeros);
    }

    fn keep(&mut self, file: File) {
        self.files.push(Some(file));
        self.live += 1;
    }

    fn make_room(&mut self, bytes: u64) {
        while self.used_bytes + bytes > self.level_bytes
            && let Some(index) = self.condemned()
        {
            if let Some(file) = self.files[index].take() {
                self.live -= 1;
                self.used_bytes -= taken(file.bytes);
                self.script.unlink(&file.path);
            }
        }
    }

    fn condemned(&mut self) -> Option<usize> {
        if self.random.below(100) < self.profile.young_percent {
            let young = self.files.len().div_ceil(10);
            for _ in 0..LOOKS.min(u32::try_from(young).unwrap_or(LOOKS)) {
                let index = self.files.len() - 1 - self.random.index(young);
                if self.files[index].is_some() {
                    return Some(index);
                }
            }
        }
        self.any()
    }

    /// Any file that is there.
    fn any(&mut self) -> Option<usize> {
        if self.live == 0 {
            return None;
        }
        loop {
            let index = self.random.index(self.files.len());
            if self.files[index].is_some() {
                return Some(index);
            }
        }
    }
}

/// The space taken by a file of this size: even an empty one has an inode.
fn taken(bytes: u64) -> u64 {
    bytes.next_multiple_of(BLOCK_BYTES).max(BLOCK_BYTES)
}

#[cfg(test)]
mod tests;

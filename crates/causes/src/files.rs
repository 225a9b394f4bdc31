//! Who dirtied each file since it was last written.
//!
//! By range where a filesystem tells the file's range of what it writes; else by weights of the
//! whole file. While a file is being written back, new changes do not count towards it.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::actor::Actor;
use crate::ranges::RangeMap;
use crate::shares::CauseShares;
use crate::tasks::Causer;

/// What is not touched for so long is forgotten: by default dirty pages are written after 30 s.
const FORGOTTEN_AFTER_NS: u64 = 3600 * 1_000_000_000;
/// The most inode numbers whose reuse is counted.
const MOST_LIVES: usize = 1 << 20;
/// More than a number can have had when counts are dropped.
const DROPPED_LIVES: u32 = 1 << 24;

#[derive(Debug, Default)]
struct FileCauses {
    /// Who dirtied which bytes last.
    dirty: RangeMap<Causer>,
    /// Bytes changed since `flushing` or the last write.
    weights: CauseShares,
    /// What is being written back, until a pass over the whole file ends.
    flushing: CauseShares,
    /// Who was charged last.
    last: CauseShares,
    /// Whether it was written since `weights` were made.
    is_written: bool,
    touched_ns: u64,
}

/// All files of a filesystem that were dirty during the recording.
#[derive(Debug, Default)]
pub struct Files {
    by_inode: BTreeMap<u64, FileCauses>,
    /// How often each number was freed.
    lives: BTreeMap<u64, u32>,
    /// The life of those that were not freed since their counts were dropped.
    first_life: u32,
    /// The time of the current event.
    pub now_ns: u64,
}

impl Files {
    /// Somebody changed a range of a file, in bytes: weights of the whole file.
    pub fn changed(&mut self, inode: u64, actor: &Actor, range: Range<u64>) {
        let file = self.file(inode);
        file.begin_anew();
        for (part, causes) in actor.changes(range) {
            file.weights.add_split(part.end - part.start, &causes);
        }
    }

    /// Somebody changed a range of a file, in bytes: weights, and who changed which range.
    pub fn changed_range(&mut self, inode: u64, actor: &Actor, range: Range<u64>) {
        self.changed(inode, actor, range.clone());
        let file = self.file(inode);
        for (part, causes) in actor.changes(range) {
            if let Some(causer) = causes.largest() {
                file.dirty.put(part, causer);
            }
        }
    }

    /// Whether a byte is known to be dirty.
    pub fn is_dirty_at(&self, inode: u64, offset: u64) -> bool {
        let file = self.by_inode.get(&inode);
        file.is_some_and(|file| !file.dirty.within(&(offset..offset + 1)).is_empty())
    }

    /// Whether a causer has changed the file since it was last written.
    pub fn is_changed_by(&self, inode: u64, causer: Causer) -> bool {
        let file = self.by_inode.get(&inode);
        file.is_some_and(|file| !file.is_written && file.weights.has(causer))
    }

    /// Takes who dirtied a range that goes to the device, weighted by bytes. What has no owner
    /// belongs to that of the range before it: large folios are reported by their first page.
    pub fn take_range(&mut self, inode: u64, range: &Range<u64>) -> CauseShares {
        let Some(file) = self.by_inode.get_mut(&inode) else { return CauseShares::default() };
        file.is_written = true;
        let mut found = CauseShares::default();
        let mut last = None;
        let mut at = range.start;
        for (piece, causer) in file.dirty.cut(range) {
            found.add(last.unwrap_or(causer), piece.start - at);
            found.add(causer, piece.end - piece.start);
            (last, at) = (Some(causer), piece.end);
        }
        if let Some(last) = last {
            found.add(last, range.end.saturating_sub(at));
        }
        found.or(|| file.causes())
    }

    /// Who is behind a file: of what is being written, else of what is dirty, else of what was.
    pub fn causes(&self, inode: u64) -> CauseShares {
        self.by_inode.get(&inode).map(FileCauses::causes).unwrap_or_default()
    }

    /// A part of the file was written: later changes begin anew.
    pub fn written(&mut self, inode: u64) {
        if let Some(file) = self.by_inode.get_mut(&inode) {
            // A pass over the file tells them apart by itself.
            file.is_written |= file.flushing.is_empty();
        }
    }

    /// A pass of writing back begins.
    pub fn flush_began(&mut self, inode: u64) {
        if let Some(file) = self.by_inode.get_mut(&inode) {
            let weights = std::mem::take(&mut file.weights);
            file.flushing.merge(&weights);
        }
    }

    /// A pass over the whole file ended.
    pub fn flush_completed(&mut self, inode: u64) {
        if let Some(file) = self.by_inode.get_mut(&inode)
            && !file.flushing.is_empty()
        {
            file.last = std::mem::take(&mut file.flushing);
        }
    }

    /// A file is deleted by somebody, who is behind what follows from it.
    pub fn deleted_by(&mut self, inode: u64, causer: Causer) {
        let file = self.file(inode);
        file.dirty.clear();
        (file.weights, file.flushing) = (CauseShares::all(causer), CauseShares::default());
        file.is_written = true;
    }

    /// An inode was freed: its number will be another file's.
    pub fn freed(&mut self, inode: u64) {
        self.by_inode.remove(&inode);
        if self.lives.len() >= MOST_LIVES {
            self.lives.clear();
            self.first_life = self.first_life.saturating_add(DROPPED_LIVES);
        }
        *self.lives.entry(inode).or_default() += 1;
    }

    /// Which file of its number an inode is: how often that was freed, or more than it can have
    /// been if that is no longer known.
    pub fn life(&self, inode: u64) -> u32 {
        self.first_life.saturating_add(self.lives.get(&inode).copied().unwrap_or(0))
    }

    /// Forgets what was not touched for long.
    pub fn forget(&mut self) {
        let now_ns = self.now_ns;
        self.by_inode.retain(|_, file| now_ns.saturating_sub(file.touched_ns) < FORGOTTEN_AFTER_NS);
    }

    fn file(&mut self, inode: u64) -> &mut FileCauses {
        let file = self.by_inode.entry(inode).or_default();
        file.touched_ns = self.now_ns;
        file
    }
}

impl FileCauses {
    fn begin_anew(&mut self) {
        if std::mem::take(&mut self.is_written) && !self.weights.is_empty() {
            self.last = std::mem::take(&mut self.weights);
        }
    }

    fn causes(&self) -> CauseShares {
        let known = [&self.flushing, &self.weights, &self.last];
        known.into_iter().find(|shares| !shares.is_empty()).cloned().unwrap_or_default()
    }
}

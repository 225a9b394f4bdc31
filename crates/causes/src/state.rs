//! A mounted filesystem: what the bios to it carry.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use ssdlab_filesystem::{BlockKind, Layout};

use crate::actor::{Actor, FileParts};
use crate::blocks::MetadataCauses;
use crate::event::{CauseEvent, EventPoint, PAGE_BYTES, SECTOR_BYTES, WantedEvent};
use crate::files::Files;
use crate::ledger::{Inode, WrittenKind};
use crate::shares::CauseShares;
use crate::tasks::Causer;

/// The sectors of a touched block, which has the bytes of a page.
pub const BLOCK_SECTORS: u64 = PAGE_BYTES / SECTOR_BYTES;
/// The most threads whose work is kept.
const MOST_THREADS: usize = 1 << 16;

/// A device of a filesystem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// The disk, by its place in the watch.
    pub device: usize,
    /// The filesystem's sectors on the disk.
    pub sectors: Range<u64>,
    /// btrfs's number of the device; 0 elsewhere.
    pub id: u64,
}

/// What a bio's sectors are, and who is behind them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SectorMark {
    pub kind: WrittenKind,
    pub inode: Option<Inode>,
    pub causes: CauseShares,
}

/// What a filesystem makes of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FilesystemFinding {
    /// Sectors of a member, counted from the filesystem's start, carry this.
    Marked { member: usize, sectors: Range<u64>, mark: SectorMark },
    /// Somebody asked for bytes of a file to be written.
    Asked { causer: Causer, inode: Inode, bytes: u64 },
    /// Somebody asked for a file to be synced.
    Synced { causer: Causer, inode: Inode },
    /// A file was deleted: its number may be another's from now on.
    Deleted { inode: Inode },
    /// A commit that somebody waited for, and the journal's bytes in it that others caused.
    Committed { causer: Causer, carried_bytes: u64 },
}

/// A filesystem's own knowledge: its events, and what they mean.
pub trait FilesystemModel: Any + fmt::Debug + Send {
    /// The events that it wants beside those that all want.
    fn events(&self) -> Vec<WantedEvent>;

    /// Takes an event of the filesystem.
    fn take(&mut self, state: &mut FilesystemState, actor: &Actor, event: &CauseEvent);

    /// Marks what a part of a bio carries.
    fn queued(&mut self, state: &mut FilesystemState, actor: &Actor, bio: &BioPart);

    /// Whether data is marked before its bios are queued.
    fn marks_early(&self) -> bool {
        false
    }
}

/// A part of a bio that lies within one area of the layout, or outside all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BioPart {
    pub member: usize,
    /// Counted from the filesystem's start.
    pub sectors: Range<u64>,
    pub is_metadata: bool,
    pub area: Option<BlockKind>,
}

impl BioPart {
    /// The touched blocks that it overlaps.
    pub fn blocks(&self) -> Range<u64> {
        self.sectors.start / BLOCK_SECTORS..self.sectors.end.div_ceil(BLOCK_SECTORS)
    }
}

/// What a thread is doing.
#[derive(Debug, Default)]
struct Work {
    /// The file whose pages it writes now, and who is behind that if it is not the whole file's.
    writes: Option<(u64, Option<CauseShares>)>,
    /// The inode that it named last.
    at: Option<u64>,
    /// Direct I/O that has not yet been seen to write.
    direct: Option<(u64, FileParts)>,
}

/// A mounted filesystem.
#[derive(Debug)]
pub struct FilesystemState {
    /// Its place in the watch.
    number: usize,
    /// Its devices.
    pub members: Vec<Member>,
    /// Its fixed areas; unknown if its devices cannot be read.
    pub layout: Layout,
    pub files: Files,
    pub blocks: MetadataCauses,
    work: BTreeMap<u32, Work>,
    findings: Vec<FilesystemFinding>,
}

impl FilesystemState {
    pub fn new(number: usize, members: Vec<Member>, layout: Layout) -> Self {
        let (files, blocks, work) = Default::default();
        Self { number, members, layout, files, blocks, work, findings: Vec::new() }
    }

    /// Whether anything is known of its layout.
    pub fn has_layout(&self) -> bool {
        !self.layout.areas().is_empty()
    }

    /// Takes what was found.
    pub fn take_findings(&mut self) -> Vec<FilesystemFinding> {
        std::mem::take(&mut self.findings)
    }

    /// A file that is in no tree.
    pub fn inode(&self, number: u64) -> Inode {
        self.inode_in(0, number)
    }

    /// A file in a tree.
    pub fn inode_in(&self, tree: u64, number: u64) -> Inode {
        Inode { filesystem: self.number, tree, number, life: self.files.life(number) }
    }

    /// Marks sectors, counted from the filesystem's start.
    pub fn mark(&mut self, member: usize, sectors: Range<u64>, mark: SectorMark) {
        if !sectors.is_empty() {
            self.findings.push(FilesystemFinding::Marked { member, sectors, mark });
        }
    }

    /// Marks a part of a bio that is no file's.
    pub fn mark_metadata(
        &mut self,
        part: &BioPart,
        kind: impl Into<WrittenKind>,
        causes: CauseShares,
    ) {
        let mark = SectorMark { kind: kind.into(), inode: None, causes };
        self.mark(part.member, part.sectors.clone(), mark);
    }

    /// Somebody asked for a range of a file to be written.
    pub fn asked(&mut self, inode: Inode, actor: &Actor, range: Range<u64>) {
        self.asked_in_parts(inode, &actor.changes(range));
    }

    fn asked_in_parts(&mut self, inode: Inode, parts: &[(Range<u64>, CauseShares)]) {
        for (part, causes) in parts {
            self.asked_by(inode, part.end - part.start, causes);
        }
    }

    /// Some causers asked for bytes of a file to be written.
    pub fn asked_by(&mut self, inode: Inode, bytes: u64, causes: &CauseShares) {
        let findings = &mut self.findings;
        causes.split(bytes, |causer, bytes| {
            findings.push(FilesystemFinding::Asked { causer, inode, bytes });
        });
    }

    /// Somebody asked for a file to be synced.
    pub fn synced(&mut self, inode: Inode, actor: &Actor) {
        self.findings.push(FilesystemFinding::Synced { causer: actor.causer, inode });
    }

    /// A file is gone, and its number may be another's from now on.
    pub fn deleted(&mut self, number: u64) {
        self.findings.push(FilesystemFinding::Deleted { inode: self.inode(number) });
    }

    /// A commit that somebody waited for.
    pub fn committed(&mut self, causer: Causer, carried_bytes: u64) {
        self.findings.push(FilesystemFinding::Committed { causer, carried_bytes });
    }

    /// Who is behind what a thread does now; nobody if that is not known.
    pub fn cause(&self, actor: &Actor) -> CauseShares {
        let work = self.work.get(&actor.thread);
        let writes = work.and_then(|work| work.writes.as_ref());
        if let Some((_, Some(causes))) = writes {
            return causes.clone();
        }
        let at = || work.and_then(|work| work.at).filter(|_| actor.is_kernel);
        let inode = writes.map(|(inode, _)| *inode).or_else(at);
        inode.map(|inode| self.files.causes(inode)).unwrap_or_default().or(|| actor.own())
    }

    /// Whether a page of a file is dirtied by a worker that could not write it yet: it is charged
    /// already.
    pub fn is_redirtied(&self, actor: &Actor, inode: u64) -> bool {
        actor.is_kernel && !self.files.causes(inode).is_empty()
    }

    /// A thread begins to write a file's pages.
    pub fn begins_to_write(&mut self, actor: &Actor, inode: u64) {
        self.work_of(actor).writes = Some((inode, None));
    }

    /// A thread has written a file's pages.
    pub fn ends_to_write(&mut self, actor: &Actor) {
        if let Some(work) = self.work.get_mut(&actor.thread) {
            work.writes = None;
        }
    }

    /// Whether a thread is writing a file's pages.
    pub fn is_writing(&self, actor: &Actor) -> bool {
        self.work.get(&actor.thread).is_some_and(|work| work.writes.is_some())
    }

    /// A thread names the inode that it works for.
    pub fn works_at(&mut self, actor: &Actor, inode: u64) {
        self.work_of(actor).at = Some(inode);
    }

    /// The inode that a thread named last.
    pub fn worked_at(&self, actor: &Actor) -> Option<u64> {
        self.work.get(&actor.thread)?.at
    }

    fn work_of(&mut self, actor: &Actor) -> &mut Work {
        if self.work.len() >= MOST_THREADS {
            self.work.retain(|_, work| work.writes.is_some() || work.direct.is_some());
        }
        self.work.entry(actor.thread).or_default()
    }

    /// Takes what every filesystem has in common; false if the model has to take it, too.
    pub fn take_common(&mut self, actor: &Actor, event: &CauseEvent) -> bool {
        let [inode, offset, length, ..] = event.numbers;
        match event.point {
            EventPoint::DirectBegan => {
                let parts = actor.changes(offset..offset.saturating_add(length));
                self.work_of(actor).direct = Some((inode, parts));
                return false;
            }
            EventPoint::DirectEnded => {
                if let Some(work) = self.work.get_mut(&actor.thread) {
                    // An interrupt may complete another thread's.
                    work.direct.take_if(|(own, _)| *own == inode);
                    work.writes.take_if(|(own, causes)| *own == inode && causes.is_some());
                }
            }
            _ => return false,
        }
        true
    }

    /// A bio is queued: direct I/O that queues a write is one.
    pub fn direct_writes(&mut self, actor: &Actor) {
        let Some(work) = self.work.get_mut(&actor.thread) else { return };
        let Some((inode, parts)) = work.direct.take() else { return };
        let mut causes = CauseShares::default();
        for (part, shares) in &parts {
            causes.add_split(part.end - part.start, shares);
        }
        work.writes = Some((inode, Some(causes)));
        let inode = self.inode(inode);
        self.asked_in_parts(inode, &parts);
    }

    /// Marks data that its filesystem did not mark before: of the file that the thread writes or
    /// has named.
    pub fn mark_data(&mut self, actor: &Actor, part: &BioPart) {
        let work = self.work.get(&actor.thread);
        let of_work = |work: &Work| work.writes.as_ref().map(|(inode, _)| *inode).or(work.at);
        let inode = work.and_then(of_work);
        let own = work.and_then(|work| work.writes.as_ref()?.1.clone());
        let of_file = || inode.map(|inode| self.files.causes(inode)).unwrap_or_default();
        let causes = own.unwrap_or_else(of_file).or(|| self.cause(actor));
        let causes = causes.or(|| CauseShares::all(Causer::BEFORE));
        if let Some(inode) = inode {
            self.files.written(inode);
        }
        let inode = inode.map(|inode| self.inode(inode));
        let mark = SectorMark { kind: BlockKind::Data.into(), inode, causes };
        self.mark(part.member, part.sectors.clone(), mark);
    }

    /// Marks metadata written in place: of those who changed its blocks since it was last written,
    /// else of `others`.
    pub fn mark_in_place(&mut self, part: &BioPart, kind: BlockKind, others: CauseShares) {
        let mut causes = CauseShares::default();
        for block in part.blocks() {
            causes.merge(&self.blocks.take(block));
        }
        self.mark_metadata(part, kind, causes.or(|| others));
    }

    /// Divides a bio at the borders of areas.
    pub fn parts(&self, member: usize, sectors: Range<u64>, is_metadata: bool) -> Vec<BioPart> {
        let mut at = sectors.start;
        let bytes = |sectors: u64| sectors.saturating_mul(SECTOR_BYTES);
        let split = self.layout.split(bytes(at), bytes(sectors.end - sectors.start));
        split
            .map(|(length, kind)| {
                let start = at;
                at += length / SECTOR_BYTES;
                BioPart { member, sectors: start..at, is_metadata, area: kind }
            })
            .collect()
    }
}

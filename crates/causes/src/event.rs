//! The events of the kernel from which causes are derived, as their reader delivers them.
//!
//! Which event serves a purpose is decided by what the kernel has below `events`, never by its
//! version: a [`WantedEvent`] names alternatives, best first.

use std::ops::Range;

/// The bytes of a sector, as the block layer counts.
pub const SECTOR_BYTES: u64 = 512;
/// The bytes of a page.
pub const PAGE_BYTES: u64 = 4096;
/// The most numbers that an event has here.
pub const MOST_NUMBERS: usize = 6;

/// What an event reports. The comment gives the numbers of its [`CauseEvent`], in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EventPoint {
    /// A thread was started: its number, clone(2) flags; the text is the program.
    NewTask,
    /// A program was executed; the text is its path.
    Executed,
    /// A process moved to a cgroup: process, hierarchy; the text is the path.
    Attached,
    /// sync(2) or syncfs(2) began.
    SyncEntered,
    /// sync(2) or syncfs(2) ended.
    SyncLeft,
    /// A bio was queued: sector, sectors, letters.
    Queued,
    /// A request, or a part of it, was completed: sector, sectors, letters.
    Completed,
    /// A bio to one device goes to another: sector, sectors, the other device and sector.
    Remapped,
    /// A folio was dirtied: inode, page.
    FolioDirtied,
    /// A worker begins to write back an inode: inode.
    WritebackBegan,
    /// A worker has written back an inode: inode.
    WritebackEnded,
    /// Direct I/O began, a read or a write: inode, offset, length.
    DirectBegan,
    /// Direct I/O was submitted, or has completed: inode.
    DirectEnded,
    /// ext4 copied data into the page cache: inode, offset, bytes.
    ExtWritten,
    /// ext4 begins to write a file's pages: inode, most pages, first and last byte.
    ExtFlushBegan,
    /// ext4 has written a file's pages: inode, result, pages written.
    ExtFlushEnded,
    /// ext4 changed an inode: inode.
    ExtInodeDirtied,
    /// ext4 freed an inode, whose number will be reused: inode.
    ExtInodeFreed,
    /// fsync(2) began on ext4: inode.
    ExtSyncBegan,
    /// fsync(2) ended on ext4: inode.
    ExtSyncEnded,
    /// A handle was closed: transaction, blocks first dirtied by it.
    JournalHandle,
    /// A transaction's commit began: transaction.
    CommitBegan,
    /// A transaction's commit ended: transaction.
    CommitEnded,
    /// jbd2 writes a file's data before it commits, without writepages (Linux 6.1): inode.
    JournalData,
    /// XFS buffered a write(2): inode, offset, length.
    XfsWritten,
    /// A file's range goes to the device: inode, offset, length, address and offset of the extent.
    IoendAdded,
    /// XFS works for an inode in this thread: inode.
    XfsAtWork,
    /// XFS changed a buffer of metadata: sector, sectors.
    XfsBufferLogged,
    /// XFS logged an inode for the first time since a checkpoint: inode.
    XfsInodePinned,
    /// A log ticket ended: its reservation.
    XfsTicketEnded,
    /// An inode leaves memory, deleted or with space behind its end: inode.
    XfsInodeLeft,
    /// A worker does what is left to do for an inode that left memory: inode.
    XfsInactivating,
    /// The inode that is inactivated was deleted, and is freed.
    XfsInodeFreed,
    /// fsync(2) on XFS: inode.
    XfsSynced,
    /// btrfs placed a file's range: inode, offset, logical address, length, length on disk, tree.
    BtrfsPlaced,
    /// A worker finishes an ordered extent: inode.
    BtrfsFinished,
    /// btrfs copied a tree's block: tree, new address.
    BtrfsCopied,
    /// btrfs commits a transaction.
    BtrfsCommitted,
    /// btrfs allocated a chunk, whose place must be read anew.
    BtrfsChunkAdded,
    /// fsync(2) on btrfs: inode.
    BtrfsSynced,
    /// F2FS submits a page: inode, page, new block, type.
    F2fsPlaced,
}

impl EventPoint {
    /// What tells the device or filesystem that an event is about.
    pub(crate) const fn source(self) -> SourceKey {
        match self {
            Self::NewTask
            | Self::Executed
            | Self::Attached
            | Self::SyncEntered
            | Self::SyncLeft => SourceKey::Thread,
            Self::FolioDirtied | Self::WritebackBegan | Self::WritebackEnded => SourceKey::Backing,
            Self::BtrfsPlaced
            | Self::BtrfsFinished
            | Self::BtrfsCopied
            | Self::BtrfsCommitted
            | Self::BtrfsChunkAdded
            | Self::BtrfsSynced => SourceKey::Fsid,
            Self::Queued
            | Self::Completed
            | Self::Remapped
            | Self::DirectBegan
            | Self::DirectEnded
            | Self::ExtWritten
            | Self::ExtFlushBegan
            | Self::ExtFlushEnded
            | Self::ExtInodeDirtied
            | Self::ExtInodeFreed
            | Self::ExtSyncBegan
            | Self::ExtSyncEnded
            | Self::JournalHandle
            | Self::CommitBegan
            | Self::CommitEnded
            | Self::JournalData
            | Self::XfsWritten
            | Self::IoendAdded
            | Self::XfsAtWork
            | Self::XfsBufferLogged
            | Self::XfsInodePinned
            | Self::XfsTicketEnded
            | Self::XfsInodeLeft
            | Self::XfsInactivating
            | Self::XfsInodeFreed
            | Self::XfsSynced
            | Self::F2fsPlaced => SourceKey::Device,
        }
    }
}

/// The field that says which device or filesystem an event is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceKey {
    /// None: it is about a thread.
    Thread,
    /// `dev`, the number of a block device or of a mounted filesystem: 12 bits major, 20 minor.
    Device,
    /// `fsid`, of which the first eight bytes are compared.
    Fsid,
    /// `name`, that of the backing device; see [`bdi_number`].
    Backing,
}

impl SourceKey {
    /// The field's name.
    pub fn field(self) -> Option<&'static str> {
        match self {
            Self::Thread => None,
            Self::Device => Some("dev"),
            Self::Fsid => Some("fsid"),
            Self::Backing => Some("name"),
        }
    }
}

/// An event to record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WantedEvent {
    /// What it reports.
    pub point: EventPoint,
    /// Its folders below `events`, best first: the first that the kernel has is used.
    pub names: &'static [&'static str],
    /// What tells its device or filesystem.
    pub key: SourceKey,
    /// The fields of its numbers. Of an array, the first eight bytes are the number.
    pub numbers: &'static [&'static str],
    /// The field of its text.
    pub text: Option<&'static str>,
}

impl WantedEvent {
    pub(crate) const fn new(
        point: EventPoint,
        names: &'static [&'static str],
        numbers: &'static [&'static str],
    ) -> Self {
        Self { point, names, key: point.source(), numbers, text: None }
    }

    pub(crate) const fn with_text(self, field: &'static str) -> Self {
        Self { text: Some(field), ..self }
    }

    /// What is not known where the kernel has none of its names.
    pub fn lacking(&self) -> &'static str {
        match self.point {
            EventPoint::NewTask | EventPoint::Executed => "programs started during the recording",
            EventPoint::Attached => "processes that change their cgroup",
            EventPoint::SyncEntered | EventPoint::SyncLeft => {
                "who only asked for a sync of others' files"
            }
            EventPoint::Queued | EventPoint::Completed => "anything: requests are not reported",
            EventPoint::Remapped => "which layer's request becomes which request of the disk",
            EventPoint::FolioDirtied => "who changed a mapped file",
            EventPoint::DirectBegan | EventPoint::DirectEnded => "the files of direct I/O",
            EventPoint::IoendAdded => "data by page; it is charged by file",
            EventPoint::JournalHandle => "who changed metadata",
            EventPoint::ExtInodeFreed | EventPoint::XfsInactivating | EventPoint::XfsInodeFreed => {
                "files that have one inode number after another"
            }
            EventPoint::BtrfsChunkAdded => {
                "where chunks lie that are allocated during the recording"
            }
            _ => "causes in some detail",
        }
    }
}

/// An event, decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CauseEvent {
    /// When, on the monotonic clock.
    pub time_ns: u64,
    /// The thread in which it happened.
    pub thread: u32,
    /// What it reports.
    pub point: EventPoint,
    /// The device or filesystem, by its [`SourceKey`].
    pub key: u64,
    /// Its numbers; those that it lacks are 0.
    pub numbers: [u64; MOST_NUMBERS],
    pub text: Option<Box<str>>,
}

impl CauseEvent {
    /// The inode and the range of the file that a thread changes by this event.
    pub(crate) fn changed_range(&self) -> Option<(u64, Range<u64>)> {
        let [inode, second, third, ..] = self.numbers;
        match self.point {
            EventPoint::ExtWritten | EventPoint::XfsWritten | EventPoint::DirectBegan => {
                Some((inode, second..second.saturating_add(third)))
            }
            EventPoint::FolioDirtied => Some((inode, page_range(second))),
            _ => None,
        }
    }
}

/// The bytes of a page of a file.
pub fn page_range(page: u64) -> Range<u64> {
    let start = page.saturating_mul(PAGE_BYTES);
    start..start.saturating_add(PAGE_BYTES)
}

/// The key of a device by its number, `8:0`, or of another backing device by its name, `btrfs-1`.
pub fn bdi_number(name: &str) -> u64 {
    if let Some((major, minor)) = name.split_once(':') {
        let number = major.parse::<u64>().ok().zip(minor.parse::<u64>().ok());
        return number.map_or(u64::MAX, |(major, minor)| (major << 20) | minor);
    }
    let (kind, number) = name.rsplit_once('-').unwrap_or((name, ""));
    let kind = kind.bytes().fold(1, |sum: u64, byte| (sum * 31 + u64::from(byte)) & 0xff_ffff);
    number.parse::<u64>().map_or(u64::MAX, |number| (kind << 40) | (number & 0xff_ffff_ffff))
}

/// What a request or bio does, by the letters of `blk_fill_rwbs` in `kernel/trace/blktrace.c`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockOperation {
    /// It counts as written; filesystems mark their metadata.
    Write {
        is_metadata: bool,
    },
    Discard,
    /// A read, a flush or another command.
    Other,
}

impl BlockOperation {
    /// Of the first eight letters. Write-zeroes count as writes, and so does a secure erase.
    pub fn of(letters: u64) -> Self {
        let letters = letters.to_le_bytes();
        let letters = letters.split(|letter| *letter == 0).next().unwrap_or_default();
        let is_metadata = letters.contains(&b'M');
        match letters.strip_prefix(b"F").unwrap_or(letters) {
            [b'W' | b'N', ..] | [b'D', b'E', ..] => Self::Write { is_metadata },
            [b'D', ..] => Self::Discard,
            _ => Self::Other,
        }
    }
}

/// The events of the block layer, of tasks and of the page cache, which every filesystem needs.
pub const COMMON: &[WantedEvent] = &[
    WantedEvent::new(EventPoint::NewTask, &["task/task_newtask"], &["pid", "clone_flags"])
        .with_text("comm"),
    WantedEvent::new(EventPoint::Executed, &["sched/sched_process_exec"], &[])
        .with_text("filename"),
    WantedEvent::new(EventPoint::Attached, &["cgroup/cgroup_attach_task"], &["pid", "dst_root"])
        .with_text("dst_path"),
    WantedEvent::new(EventPoint::SyncEntered, &["syscalls/sys_enter_sync"], &[]),
    WantedEvent::new(EventPoint::SyncLeft, &["syscalls/sys_exit_sync"], &[]),
    WantedEvent::new(EventPoint::SyncEntered, &["syscalls/sys_enter_syncfs"], &[]),
    WantedEvent::new(EventPoint::SyncLeft, &["syscalls/sys_exit_syncfs"], &[]),
    WantedEvent::new(
        EventPoint::Queued,
        &["block/block_bio_queue"],
        &["sector", "nr_sector", "rwbs"],
    ),
    WantedEvent::new(
        EventPoint::Completed,
        &["block/block_rq_complete"],
        &["sector", "nr_sector", "rwbs"],
    ),
    WantedEvent::new(
        EventPoint::Remapped,
        &["block/block_bio_remap"],
        &["sector", "nr_sector", "old_dev", "old_sector"],
    ),
    WantedEvent::new(
        EventPoint::FolioDirtied,
        &["writeback/writeback_dirty_folio", "writeback/writeback_dirty_page"],
        &["ino", "index"],
    ),
    WantedEvent::new(
        EventPoint::WritebackBegan,
        &["writeback/writeback_single_inode_start"],
        &["ino"],
    ),
    WantedEvent::new(EventPoint::WritebackEnded, &["writeback/writeback_single_inode"], &["ino"]),
];

/// Direct I/O through iomap, which several filesystems use.
pub const DIRECT: &[WantedEvent] = &[
    WantedEvent::new(
        EventPoint::DirectBegan,
        &["iomap/iomap_dio_rw_begin"],
        &["ino", "pos", "count"],
    ),
    WantedEvent::new(EventPoint::DirectEnded, &["iomap/iomap_dio_rw_queued"], &["ino"]),
    WantedEvent::new(EventPoint::DirectEnded, &["iomap/iomap_dio_complete"], &["ino"]),
];

#[cfg(test)]
mod tests;

//! Who caused each byte that the kernel wrote to a block device: trace events in, a ledger out.
//!
//! A completed request takes away the marks that its sectors carry. A bio puts a mark on its
//! sectors when it is queued: the kind of the bytes, the file, and the causers with their weights.
//! Shares are whole bytes, so the rows of the ledger add up to the device's counter by
//! construction, and an event that is missing shows up as a row, never as a wrong sum.
//!
//! | part | knows |
//! |---|---|
//! | [`Tasks`] | who a thread is: program and cgroup |
//! | `files` | who dirtied a file since it was last written |
//! | `blocks` | who changed a block of metadata, and who joined a transaction |
//! | `ext`, `xfs`, `btrfs`, `f2fs`, `generic` | the events of a filesystem, and what they mean |
//! | `state` | what a bio to a filesystem carries |
//! | [`Device`] | the marks of a disk, its completions, and its ledger |
//! | [`Watch`] | which filesystem is on which disk, and through which loop device it writes |
//!
//! Nothing here does I/O or reads a clock. Everything that is kept is bounded by what is dirty, by
//! what is in flight, or by a limit.

mod actor;
mod blocks;
mod btrfs;
mod device;
mod event;
mod ext;
mod f2fs;
mod files;
mod generic;
mod ledger;
mod ranges;
mod readings;
mod shares;
mod state;
mod tasks;
mod watch;
mod xfs;

pub use btrfs::{BtrfsChunk, BtrfsGeometry};
pub use device::{Device, DeviceSpec};
pub use event::{CauseEvent, EventPoint, MOST_NUMBERS, SourceKey, WantedEvent, bdi_number};
pub use ledger::{Amounts, AttributedWrites, CommitsAsked, Inode, LedgerKey, WrittenKind};
pub use readings::{CounterBalance, WrittenReading};
pub use shares::CauseShares;
pub use state::Member;
pub use tasks::{Causer, CauserName, CauserRole, RunningTask, Tasks};
pub use watch::{FilesystemSpec, LoopLayer, ModelSpec, Watch};

#[cfg(test)]
mod tests;

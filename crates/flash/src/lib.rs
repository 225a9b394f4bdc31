//! A simulated SSD: commands go in, completions come out, in virtual time.
//!
//! A [`Drive`] is made from a [`Specification`], which a [`drive_file`] describes; a few real
//! drives are among the [`presets`]. [`Drive::submit`] performs one command. Everything is a
//! function of the specification, the seed and the commands with their times: no clock, no input,
//! no output; integer nanoseconds and integer ratios; so equal input gives equal output on every
//! machine. The state can be inspected at any time, and a clone is a snapshot.
//!
//! From the host down to the cells: the [`drive`] takes commands over its link, keeps pages in its
//! write buffer, and has its flash translation layer (FTL) place them; the FTL asks the flash
//! ([`Nand`]) to read, program and erase, and the [`FlashArray`] says what that costs in time and
//! wear. Contents are not stored: pages are identified by address.
//!
//! A [`Preparation`] makes a drive and brings it into a state ([`Drive::condition`]), and
//! [`play()`] performs the requests of a [`pattern`] on it. The drive reports what it did: its
//! [`FlashActivity`] between two moments, its [`Moments`], and its [`WearSummary`].

mod activity;
mod bast;
pub mod bench;
mod block_mapped;
mod blockwise;
mod command;
mod condition;
mod counters;
mod dies;
pub mod drive;
pub mod drive_file;
pub mod evidence;
mod fast;
pub mod figures;
mod free;
mod ftl;
pub mod grounded;
mod levelling;
mod link;
mod map_cache;
mod moments;
mod nand;
mod page_mapped;
pub mod pattern;
pub mod plausible;
mod play;
pub mod power_cut;
mod prefetch;
pub mod presets;
pub mod probe;
mod random;
mod rated;
pub mod simulation;
mod sparse;
pub mod specification;
mod stream;
mod units;
mod wear;
mod write_buffer;

pub use activity::{FlashActivity, FlashTotals};
pub use command::{Command, Completion, Extent, Refusal, SECTOR_BYTES, Stream};
pub use condition::{Condition, ConditionError, ConditioningOutcome, Preparation, unwatched};
pub use counters::{FlashCounters, FlashOperations, HostCounters, OperationReason};
pub use drive::Drive;
pub use drive_file::DriveFileError;
pub use grounded::{EvidencedValue, grounded};
pub use moments::{DriveSample, MomentSpacing, Moments};
pub use nand::{FlashArray, Nand};
pub use pattern::{DriveWorkload, Pattern, RequestGenerator};
pub use plausible::{Draw, DrawnDrive, Plausible};
pub use play::{PlayedRequest, play};
pub use power_cut::{
    LoggedRequest, PowerCut, PowerCuts, RequestLogError, RevertedSectors, SectorContents, Survivor,
};
pub use rated::{MeasuredDrive, Ratings, measured, rated};
pub use specification::{Flush, Levelling, PowerFault, Specification};
pub use units::{Block, LogicalPage, MILLION, Nanos, PageRun, PhysicalPage};
pub use wear::{Lifetime, WearBin, WearSummary};

//! A simulated SSD: commands go in, completions come out, in virtual time.
//!
//! A [`Drive`] is made from a [`Specification`], which a [`drive_file`] describes; a few real
//! drives are among the [`presets`]. [`Drive::submit`] does one command. Everything is a
//! function of the specification, the seed and the commands with their times: no clock, no
//! input, no output; integer nanoseconds and integer ratios; so equal input gives equal output on
//! every machine. The state can be looked into at any time, and a clone of it is a snapshot.
//!
//! From the host down to the cells: the [`drive`] takes commands over its link, keeps pages in
//! its write buffer, and has a translation layer find places for them; the layer asks the flash
//! ([`Nand`]) to read, program and erase, and the [`Array`] says what that takes in time and wear.
//! Contents are not stored: what a page holds is known by where it is.
//!
//! [`Drive::condition`] brings a drive into a state, and [`play()`] performs the requests of a
//! [`pattern`] on it.

mod array;
mod bast;
mod block_mapped;
mod blockwise;
mod command;
mod condition;
mod course;
pub mod drive;
pub mod drive_file;
mod fast;
mod free;
mod layer;
mod levelling;
mod link;
mod map_cache;
mod nand;
mod page_mapped;
pub mod pattern;
mod play;
mod prefetch;
pub mod presets;
mod random;
pub mod specification;
mod units;
mod wear;
mod write_buffer;

pub use array::{Array, Operations, Work};
pub use command::{Command, Completion, Extent, Refusal, SECTOR_BYTES, Stream};
pub use condition::{Condition, Conditioned, unwatched};
pub use course::{Apart, Course, Moment};
pub use drive::{Asked, Drive};
pub use drive_file::DriveFileError;
pub use nand::{Nand, Why};
pub use pattern::{Pattern, Requests, Workload};
pub use play::{Played, play};
pub use specification::{Levelling, Specification};
pub use units::{Block, LogicalPage, Nanos, Place, Run};
pub use wear::{WearBin, WearSummary};

//! Block traces, each as one stream of requests to one drive.
//!
//! Whoever recorded a trace chose its format; whoever replays it wants to know only what was asked
//! of the drive, and when. [`Reader`] makes [`Request`]s out of any [`Format`], [`merge()`] joins
//! the files of one trace (blktrace writes one for each processor), and [`RequestLogWriter`] writes
//! ssdlab's own format. [`ftrace`] makes requests of what the running kernel reports, as it does.
//! What the requests of a trace come to is a [`Summary`], and how they were spread over time and
//! over the drive a [`Course`].
//!
//! The same rules hold for every format that is read:
//!
//! - **Time** begins at 0 with the first request. A request never comes before the one ahead of it
//!   in the trace: a time that goes backwards is raised to the last one, and counted ([`Clamped`]).
//! - **One drive.** Offsets on several drives mean nothing together. A trace of several drives is
//!   refused until one is chosen ([`Options::drive`]).
//! - **One stage.** The Linux block layer reports a request as it is queued and again as it is
//!   issued to the drive; one of them is read ([`Options::stage`]).
//! - **Nothing is guessed.** What cannot be understood is an error with its position, and ends the
//!   stream. The requests before it are good. What moves no data and is no flush is left out.
//!
//! Everything here is pure: input is any [`BufRead`](std::io::BufRead), no file is opened and no
//! clock is read. No input makes it panic, and memory does not grow with the length of a trace.

mod blkparse;
mod blktrace;
mod course;
mod error;
mod field;
mod fio;
mod format;
pub mod ftrace;
mod in_flight;
mod input;
mod lines;
mod merge;
mod msr;
mod reader;
mod records;
mod request;
mod request_log;
mod rwbs;
mod selection;
mod spread;
mod summary;

pub use course::{Course, Patch, Step};
pub use error::{Position, TraceError};
pub use format::Format;
pub use merge::{Merge, merge};
pub use reader::{Clamped, Reader};
pub use request::{Flags, Kind, Origin, Request};
pub use request_log::RequestLogWriter;
pub use selection::{Options, Stage};
pub use spread::Spread;
pub use summary::{InFlight, OfKind, Summary, Tally};

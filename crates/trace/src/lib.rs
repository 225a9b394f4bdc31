//! Block traces, each as one stream of requests to one drive.
//!
//! A replay only needs to know what was asked of the drive, and when, regardless of the format.
//! [`TraceReader`] makes [`Request`]s out of any [`TraceFormat`], [`merge()`] joins the files of
//! one trace (blktrace writes one per processor), and [`RequestLogWriter`] writes ssdlab's own
//! format. [`ftrace`] assembles requests from the events of a running kernel, and a
//! [`DeviceLogReader`] has the data of writes as well. A [`TraceSummary`] aggregates the requests
//! of a trace, and a [`TraceTimeline`] shows their distribution over time and over the drive.
//!
//! The same rules apply to every format:
//!
//! - **Time** begins at 0 with the first request. Requests are in time order: a time that goes
//!   backwards is raised to the last one, and counted ([`ClampedTimes`]).
//! - **One drive.** A trace of several drives is refused until one is chosen
//!   ([`TraceOptions::drive`]).
//! - **One stage.** The Linux block layer reports a request when it is queued and again when it is
//!   issued to the drive; one of the two is read ([`TraceOptions::stage`]).
//! - **Completions** are those of the trace: of each request, or as separate events, which are
//!   matched with the submissions by what they cover.
//! - **Nothing is guessed.** What cannot be parsed is an error with its position, and ends the
//!   stream; the requests before it are valid. What neither moves data nor flushes is skipped.
//!
//! Everything here is pure: input is any [`BufRead`](std::io::BufRead), no file is opened and no
//! clock is read. No input causes a panic, and memory does not grow with the length of a trace.

mod alibaba;
mod biosnoop;
mod blkparse;
mod blktrace;
mod by_submission;
mod detect;
mod dm_log_writes;
mod error;
mod event;
mod events;
mod field;
mod fio;
mod fiu;
mod format;
pub mod ftrace;
mod in_flight;
mod lines;
mod merge;
mod msr;
mod pairs;
mod reader;
mod records;
mod request;
mod request_log;
mod selection;
mod spread;
mod summary;
mod systor;
mod tencent;
mod text;
mod timeline;
mod trace_pipe;

pub use dm_log_writes::{DeviceLogEntry, DeviceLogReader};
pub use error::{Position, TraceError};
pub use event::TraceStage;
pub use events::ClampedTimes;
pub use format::TraceFormat;
pub use merge::{Merge, merge};
pub use reader::TraceReader;
pub use request::{Flags, Request, RequestKind, WriteOrigin};
pub use request_log::RequestLogWriter;
pub use selection::TraceOptions;
pub use spread::SizeSpread;
pub use summary::{OfKind, QueueDepth, Tally, TraceSummary};
pub use timeline::{Patch, TimelineStep, TraceTimeline};

//! Defines how requests are assembled from the block-layer events of a running kernel.
//!
//! The kernel's tracefs describes its ring buffers in text ([`RecordLayout`]) and provides them as
//! sub-buffers, one processor at a time. An [`Assembler`] takes those, merges their events into one
//! order, and pairs issues with completions. Only the ring buffer's own format is assumed; the
//! fields of events differ between kernels.
//!
//! A request is what the drive received: merged, split, and in issue order. Some properties are
//! only known from the bios, as they were queued: whether they ask for durability
//! ([`Flags::PREFLUSH`], [`Flags::FUA`]) and which bytes are filesystem metadata ([`WriteOrigin`]).
//! So a request has the flags of all bios it carries, besides its own. A flush that the kernel
//! sends to honour them is a separate request; a replay must not flush again.
//!
//! Bytes of every kind, flushes, reads and discards agree with `/sys/block/*/stat` if write-zeroes
//! count as writes. The kernel counts more writes: it includes empty ones that only ask for a
//! flush. Drivers without a request queue (device mapper, md, zram) report no requests.
//!
//! Sources: `include/trace/events/block.h` for the events, `block/blk-mq.c` and `block/blk-core.c`
//! for when they occur, `kernel/trace/ring_buffer.c` for the buffers.
//!
//! [`Flags::PREFLUSH`]: crate::Flags::PREFLUSH
//! [`Flags::FUA`]: crate::Flags::FUA
//! [`WriteOrigin`]: crate::WriteOrigin

mod assembler;
mod block;
mod error;
mod event_format;
mod fields;
mod in_flight;
mod marks;
mod sub_buffer;

pub use assembler::{Assembler, LostEvents};
pub use block::{EVENTS, RecordLayout, TracedDevice, device_number};
pub use error::FtraceError;
pub use event_format::{EventFormat, SubBufferLayout, record_head};
pub use sub_buffer::{TraceRecord, TraceRecords};

//! Defines how requests are made of what the block layer of a running kernel reports.
//!
//! The kernel's tracefs describes its ring buffers in text ([`Layout`]) and hands them out as
//! sub-buffers, processor by processor. An [`Assembler`] takes those, brings their events into one
//! order, and pairs what was issued with what was completed. Nothing of a layout is known
//! beforehand but what the ring buffer itself fixes; fields differ from kernel to kernel.
//!
//! A request is what the drive was asked for: merged, split, and in the order in which it was
//! issued. Some of what was asked of the block layer is gone by then, and known only of the bios
//! that a request is made of, as they were queued: whether they ask for durability
//! ([`Flags::PREFLUSH`], [`Flags::FUA`]) and which bytes are of the filesystem's own structures
//! ([`Origin`]). So a request has those flags of every bio it carries, besides its own. A flush
//! that the kernel sends to honour them is a request of its own; whoever replays must not flush
//! again.
//!
//! Compared with the growth of `/sys/block/*/stat`, bytes of every kind, flushes, reads and
//! discards are the same, where write-zeroes count as writes. The kernel counts more writes: an
//! empty one that only asks for a flush is a write to it, and no request. Drivers without a request
//! queue (device mapper, md, zram) report no requests.
//!
//! Sources: `include/trace/events/block.h` for the events, `block/blk-mq.c` and `block/blk-core.c`
//! for when they are reported, `kernel/trace/ring_buffer.c` for the buffers.
//!
//! [`Flags::PREFLUSH`]: crate::Flags::PREFLUSH
//! [`Flags::FUA`]: crate::Flags::FUA
//! [`Origin`]: crate::Origin

mod assembler;
mod block;
mod error;
mod fields;
mod in_flight;
mod marks;
mod pairing;
mod sub_buffer;

pub use assembler::{Assembler, Lost};
pub use block::{EVENTS, Layout, Target, device_number};
pub use error::FtraceError;

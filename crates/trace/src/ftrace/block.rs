//! Defines the block-layer events that make up requests, and how records are parsed as such.
//!
//! Source: `include/trace/events/block.h`. All of them have a device, a sector, a number of
//! sectors, and letters for the operation (`blk_fill_rwbs` in `kernel/trace/blktrace.c`):
//!
//! - A flush is `FF`; its sector is meaningless.
//! - Anything else without sectors moves no data: a flush that is not split off yet, or a command
//!   that bypasses the block layer.
//! - `N` with sectors is write-zeroes: kernels before 6.18 have no letters for it, and without
//!   zones nothing else is `N`. Later ones use `WZ`.
//! - `Z` is specific to zoned drives, and refused.

use std::ops::Range;

use super::FtraceError;
use super::fields::{Field, RecordFormat};
use super::sub_buffer::{SubBufferHead, TraceRecord, TraceRecords};
use crate::error::excerpt;
use crate::field::SECTOR_BYTES;
use crate::request::operation;
use crate::{Flags, RequestKind};

/// The events that an [`Assembler`](super::Assembler) needs, of the tracefs system `block`.
pub const EVENTS: [&str; 4] =
    ["block_bio_queue", "block_rq_issue", "block_rq_requeue", "block_rq_complete"];

/// The device whose requests are recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TracedDevice {
    /// The whole disk's [number](device_number), found in requests.
    pub disk: u32,
    /// The partition's number, found in bios to it; `None` if the target is the disk.
    pub partition: Option<u32>,
    /// The target's 512-byte sectors on the disk.
    pub sectors: Range<u64>,
}

/// The number of a device as events have it: 12 bits major and 20 bits minor.
pub fn device_number(major: u32, minor: u32) -> u32 {
    (major << 20) | (minor & 0xf_ffff)
}

impl TracedDevice {
    /// The `filter` for each of [`EVENTS`] that excludes other devices.
    pub fn filter(&self) -> String {
        let partition = self.partition.map(|number| format!(" || dev == {number}"));
        format!("dev == {}{}", self.disk, partition.unwrap_or_default())
    }

    fn has(&self, device: u64) -> bool {
        device == u64::from(self.disk) || self.partition.map(u64::from) == Some(device)
    }
}

/// The stage of an event's request or bio.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockStep {
    /// A bio was queued.
    Queued,
    /// A request was sent to the driver.
    Issued,
    /// The driver returned a request, to be issued again.
    Requeued,
    /// A request, or its first part, was completed.
    Completed,
}

/// One event of the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockEvent {
    pub time_ns: u64,
    pub step: BlockStep,
    pub kind: RequestKind,
    pub flags: Flags,
    /// Its start on the disk; 0 for a flush.
    pub sector: u64,
    /// Its number of sectors; 0 only for a flush.
    pub sectors: u64,
}

/// The layout of this kernel's records.
#[derive(Debug, Clone)]
pub struct RecordLayout {
    head: SubBufferHead,
    events: [EventLayout; 4],
}

#[derive(Debug, Clone)]
struct EventLayout {
    step: BlockStep,
    id: u64,
    id_field: Field,
    device: Field,
    sector: Field,
    sectors: Field,
    letters: Field,
}

impl RecordLayout {
    /// Parses `events/header_page` and the `format` of each of [`EVENTS`].
    pub fn parse(header_page: &str, formats: [&str; 4]) -> Result<Self, FtraceError> {
        let [queue, issue, requeue, complete] = formats;
        let event = |index: usize, text, step| {
            EventLayout::parse(RecordFormat { file: EVENTS[index], text }, step)
        };
        Ok(Self {
            head: SubBufferHead::parse(header_page)?,
            events: [
                event(0, queue, BlockStep::Queued)?,
                event(1, issue, BlockStep::Issued)?,
                event(2, requeue, BlockStep::Requeued)?,
                event(3, complete, BlockStep::Completed)?,
            ],
        })
    }

    /// The size of a sub-buffer in bytes, which is the unit of reading.
    pub fn sub_buffer_bytes(&self) -> usize {
        self.head.sub_buffer_bytes()
    }

    pub(super) fn records<'a>(
        &self,
        sub_buffer: &'a [u8],
    ) -> Result<TraceRecords<'a>, FtraceError> {
        self.head.records(sub_buffer)
    }

    /// The event of a record, if it belongs to the target and moves data or flushes.
    #[inline]
    pub(super) fn event(
        &self,
        record: &TraceRecord,
        target: &TracedDevice,
    ) -> Result<Option<BlockEvent>, FtraceError> {
        let is_of = |layout: &&EventLayout| layout.id_field.number(record.data) == Some(layout.id);
        let Some(layout) = self.events.iter().find(is_of) else {
            return Ok(None);
        };
        layout.event(record, target)
    }
}

impl EventLayout {
    fn parse(description: RecordFormat, step: BlockStep) -> Result<Self, FtraceError> {
        Ok(Self {
            step,
            id: description.number("ID")?.into(),
            id_field: description.integer("common_type")?,
            device: description.integer("dev")?,
            sector: description.integer("sector")?,
            sectors: description.integer("nr_sector")?,
            letters: description.bytes("rwbs")?,
        })
    }

    #[inline]
    fn event(
        &self,
        record: &TraceRecord,
        target: &TracedDevice,
    ) -> Result<Option<BlockEvent>, FtraceError> {
        let cut = || {
            let expected = "one that reaches to its last field";
            FtraceError::malformed("the length of a record", expected, record.data.len())
        };
        let number = |field: Field| field.number(record.data).ok_or_else(cut);
        if !target.has(number(self.device)?) {
            return Ok(None);
        }
        let letters = self.letters.bytes(record.data).ok_or_else(cut)?;
        let letters = letters.split(|letter| *letter == 0).next().unwrap_or_default();
        let (sector, sectors) = (number(self.sector)?, number(self.sectors)?);
        let (time_ns, step) = (record.time_ns, self.step);
        if let Some(letters) = letters.strip_prefix(b"FF") {
            let (_, flags) = operation(letters);
            return Ok(Some(BlockEvent {
                time_ns,
                step,
                kind: RequestKind::Flush,
                flags,
                sector: 0,
                sectors: 0,
            }));
        }
        // Commands that bypass the block layer have no offset, and may report the highest sector
        // number.
        let is_countable = |end: u64| end <= u64::MAX / SECTOR_BYTES;
        if sectors == 0 || !sector.checked_add(sectors).is_some_and(is_countable) {
            return Ok(None);
        }
        let (kind, flags) = operation(letters);
        let kind = match (kind, letters) {
            (Some(kind), _) => kind,
            (None, [b'N', ..]) => RequestKind::WriteZeroes,
            (None, _) => {
                return Err(FtraceError::Malformed {
                    what: "the operation",
                    expected: "R, W, WZ, D, N or FF, as of a drive without zones",
                    found: excerpt(letters),
                });
            }
        };
        Ok(Some(BlockEvent { time_ns, step, kind, flags, sector, sectors }))
    }
}

//! Defines the binary format of blktrace(8): one file per processor, in time order.
//!
//! Source: `include/uapi/linux/blktrace_api.h` for the layout, `kernel/trace/blktrace.c` for what
//! the kernel writes. A trace is a sequence of events in the byte order of the machine that
//! recorded it, which the first field reveals. An event is a `struct blk_io_trace` of 48 bytes
//! (version 7) or, of newer kernels, a `struct blk_io_trace2` of 64 bytes (version 8), and then
//! `pdu_len` bytes.
//!
//! How events are interpreted:
//!
//! - An event of completion or return is about a request that was issued or queued before, or the
//!   first part of one. Other events, and messages of the tracer, are skipped.
//! - So are commands that bypass the block layer (`BLK_TC_PC`, for example from smartctl): the
//!   kernel records no offset for them.
//! - An event without bytes is a flush if `BLK_TC_FLUSH` is set, and skipped otherwise, as are zone
//!   resets.
//! - With bytes, `BLK_TC_FLUSH` is [`Flags::PREFLUSH`].
//! - Discards and secure discards are both `BLK_TC_DISCARD`.
//! - Version 7 does not distinguish write-zeroes from writes; they are read as writes. Version 8
//!   does.
//! - Requests specific to zoned drives are refused.

use std::io::BufRead;

use zerocopy::byteorder::{BE, ByteOrder, LE, U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, Unaligned};

use crate::error::TraceFault;
use crate::event::{TraceEvent, TraceStep};
use crate::field::bytes_before;
use crate::records::BinaryRecords;
use crate::selection::Selection;
use crate::{Flags, Position, Request, RequestKind, TraceError, TraceFormat, TraceStage};

/// `BLK_IO_TRACE_MAGIC`; its lowest byte is the version.
const MAGIC: u32 = 0x6561_7400;

// `enum blktrace_cat`: the bits of an action above its lowest 16.
const WRITE: u64 = 1 << 1;
const FLUSH: u64 = 1 << 2;
const SYNC: u64 = 1 << 3;
const PC: u64 = 1 << 9;
const NOTIFY: u64 = 1 << 10;
const AHEAD: u64 = 1 << 11;
const META: u64 = 1 << 12;
const DISCARD: u64 = 1 << 13;
const FUA: u64 = 1 << 15;
const ZONED: u64 = 0b11_1111 << 16;
const WRITE_ZEROES: u64 = 1 << 22;

// `enum blktrace_act`.
const TA_QUEUE: u64 = 1;
const TA_REQUEUE: u64 = 6;
const TA_ISSUE: u64 = 7;
const TA_COMPLETE: u64 = 8;
const TA_CGROUP: u64 = 1 << 8;

/// `struct blk_io_trace` after its magic.
#[derive(FromBytes, IntoBytes, Immutable, Unaligned)]
#[repr(C)]
struct Version7<O: ByteOrder> {
    sequence: U32<O>,
    time: U64<O>,
    sector: U64<O>,
    bytes: U32<O>,
    action: U32<O>,
    pid: U32<O>,
    device: U32<O>,
    cpu: U32<O>,
    error: U16<O>,
    pdu_len: U16<O>,
}

/// `struct blk_io_trace2` after its magic.
#[derive(FromBytes, IntoBytes, Immutable, Unaligned)]
#[repr(C)]
struct Version8<O: ByteOrder> {
    sequence: U32<O>,
    time: U64<O>,
    sector: U64<O>,
    bytes: U32<O>,
    pid: U32<O>,
    action: U64<O>,
    device: U32<O>,
    cpu: U32<O>,
    error: U16<O>,
    pdu_len: U16<O>,
    pad: [u8; 12],
}

/// The relevant fields of an event, of any version and byte order.
struct Fields {
    time_ns: u64,
    sector: u64,
    bytes: u32,
    action: u64,
    device: u32,
    pdu_len: u16,
}

impl<O: ByteOrder> From<Version7<O>> for Fields {
    fn from(event: Version7<O>) -> Self {
        Self {
            time_ns: event.time.get(),
            sector: event.sector.get(),
            bytes: event.bytes.get(),
            action: event.action.get().into(),
            device: event.device.get(),
            pdu_len: event.pdu_len.get(),
        }
    }
}

impl<O: ByteOrder> From<Version8<O>> for Fields {
    fn from(event: Version8<O>) -> Self {
        Self {
            time_ns: event.time.get(),
            sector: event.sector.get(),
            bytes: event.bytes.get(),
            action: event.action.get(),
            device: event.device.get(),
            pdu_len: event.pdu_len.get(),
        }
    }
}

/// Whether a trace with this beginning is from blktrace, of any version.
pub fn looks_like(first_bytes: &[u8]) -> bool {
    let magic = MAGIC.to_be_bytes();
    match first_bytes {
        [a, b, c, d, ..] => [*a, *b, *c] == magic[..3] || [*d, *c, *b] == magic[..3],
        _ => false,
    }
}

/// The requests of a trace, with times on the clock of the trace.
#[derive(Debug)]
pub struct Blktrace<R> {
    records: BinaryRecords<R>,
    pub selection: Selection,
    /// The last device and whether it is selected: it seldom changes, and formatting its name takes
    /// time.
    device: Option<(u32, bool)>,
}

impl<R: BufRead> Blktrace<R> {
    pub fn new(input: R, selection: Selection) -> Self {
        Self {
            records: BinaryRecords::new(input, TraceFormat::Blktrace, 1),
            selection,
            device: None,
        }
    }

    pub fn next(&mut self) -> Result<Option<TraceEvent>, TraceError> {
        while let Some(fields) = self.fields()? {
            self.records.skip(fields.pdu_len.into())?;
            let Some(step) = step(&fields) else { continue };
            if !self.takes(&fields, step)? {
                continue;
            }
            let found = request(&fields).map_err(|fault| self.records.fault(fault))?;
            if let Some(request) = found {
                return Ok(Some(TraceEvent { step, device: fields.device.into(), request }));
            }
        }
        Ok(None)
    }

    fn fields(&mut self) -> Result<Option<Fields>, TraceError> {
        let Some(magic) = self.records.start::<[u8; 4]>()? else {
            return Ok(None);
        };
        let (le, be) = (u32::from_le_bytes(magic), u32::from_be_bytes(magic));
        let event = match (le ^ MAGIC, be ^ MAGIC) {
            (7, _) => self.records.rest::<Version7<LE>>()?.into(),
            (_, 7) => self.records.rest::<Version7<BE>>()?.into(),
            (8, _) => self.records.rest::<Version8<LE>>()?.into(),
            (_, 8) => self.records.rest::<Version8<BE>>()?.into(),
            (found @ 0..=0xff, _) | (_, found @ 0..=0xff) => {
                let (format, known) = (TraceFormat::Blktrace, "7 or 8");
                return Err(TraceError::UnknownVersion { format, found, known });
            }
            _ => {
                let expected = "0x65617400 + version, in either byte order";
                return Err(self.records.fault(TraceFault::new("the magic", expected, &magic)));
            }
        };
        Ok(Some(event))
    }

    /// Whether the event is selected.
    #[inline]
    fn takes(&mut self, fields: &Fields, step: TraceStep) -> Result<bool, TraceError> {
        if let TraceStep::Submitted(Some(stage)) = step
            && !self.selection.takes_stage(stage)
        {
            return Ok(false);
        }
        match (self.device, step) {
            (Some((device, taken)), _) if device == fields.device => Ok(taken),
            (_, TraceStep::Submitted(_)) => {
                let taken = self.selection.takes_drive(&name(fields.device))?;
                self.device = Some((fields.device, taken));
                Ok(taken)
            }
            _ => self.selection.takes(step, &name(fields.device)),
        }
    }

    pub fn position(&self) -> Position {
        self.records.position()
    }
}

/// A device number is 12 bits major and 20 bits minor, as inside the kernel.
fn name(device: u32) -> Vec<u8> {
    format!("{},{}", device >> 20, device & 0xf_ffff).into_bytes()
}

/// What an event says of a request, if it is about one that the block layer handles.
fn step(event: &Fields) -> Option<TraceStep> {
    if (event.action >> 16) & (NOTIFY | PC) != 0 {
        return None;
    }
    match event.action & 0xffff & !TA_CGROUP {
        TA_QUEUE => Some(TraceStep::Submitted(Some(TraceStage::Queued))),
        TA_ISSUE => Some(TraceStep::Submitted(Some(TraceStage::Issued))),
        TA_COMPLETE => Some(TraceStep::Completed),
        TA_REQUEUE => Some(TraceStep::Returned),
        _ => None,
    }
}

/// The request, or the part of one, that an event is about, if it moves data or flushes.
fn request(event: &Fields) -> Result<Option<Request>, TraceFault> {
    let categories = event.action >> 16;
    let is = |category| categories & category != 0;
    let mut flags = Flags::empty();
    flags.set(Flags::SYNC, is(SYNC));
    flags.set(Flags::METADATA, is(META));
    flags.set(Flags::FUA, is(FUA));
    flags.set(Flags::READAHEAD, is(AHEAD));
    let kind = match event.bytes {
        0 if is(FLUSH) => RequestKind::Flush,
        0 => return Ok(None),
        _ if is(ZONED) => {
            let expected = "one of a drive without zones";
            return Err(TraceFault::new(
                "the category",
                expected,
                format!("{categories:#x}").as_bytes(),
            ));
        }
        _ if is(DISCARD) => RequestKind::Discard,
        _ if is(WRITE_ZEROES) => RequestKind::WriteZeroes,
        _ if is(WRITE) => RequestKind::Write,
        _ => RequestKind::Read,
    };
    flags.set(Flags::PREFLUSH, is(FLUSH) && kind != RequestKind::Flush);
    Ok(Some(Request {
        submitted_ns: event.time_ns,
        completed_ns: None,
        kind,
        // A flush has no offset; some kernels report the last sector.
        offset_bytes: if kind == RequestKind::Flush { 0 } else { bytes_before(event.sector)? },
        length_bytes: event.bytes.into(),
        flags,
        origin: None,
    }))
}

//! Parses the letters with which the block layer describes an operation (`RWBS`).
//!
//! Source: `blk_fill_rwbs` in `kernel/trace/blktrace.c`, and `fill_rwbs` of blkparse.

use crate::{Flags, RequestKind};

/// The meaning of an RWBS field: [`Flags::PREFLUSH`] if `F` comes first, the kind, and other flags.
pub fn operation(rwbs: &[u8]) -> (Option<RequestKind>, Flags) {
    let (mut flags, operation) = match rwbs.strip_prefix(b"F") {
        Some(rest) => (Flags::PREFLUSH, rest),
        None => (Flags::empty(), rwbs),
    };
    let (kind, letters) = match operation {
        [b'R', letters @ ..] => (Some(RequestKind::Read), letters),
        [b'W', b'Z', letters @ ..] => (Some(RequestKind::WriteZeroes), letters),
        [b'W', letters @ ..] => (Some(RequestKind::Write), letters),
        [b'D', letters @ ..] => (Some(RequestKind::Discard), letters),
        [b'N', letters @ ..] => (None, letters),
        _ => (None, operation),
    };
    for letter in letters {
        flags |= match letter {
            b'F' => Flags::FUA,
            b'A' => Flags::READAHEAD,
            b'S' => Flags::SYNC,
            b'M' => Flags::METADATA,
            _ => Flags::empty(),
        };
    }
    (kind, flags)
}

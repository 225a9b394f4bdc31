//! Classifies the bytes of one request.
//!
//! An area of the layout gives the kind of all bytes in it. For bytes outside areas, the kernel
//! reports how many belong to files, to directories and to the filesystem's own structures; the
//! layout gives the kind of those structures, or each block reveals it by its first bytes.

use crate::{ByKind, Written};
use ssdlab_filesystem::layout::Kind;
use ssdlab_trace::{Origin, Request};

use super::{Known, LedgerError};

/// How many bytes at the start of a block identify it.
const HEAD_BYTES: usize = 512;

/// Attributes requests.
pub struct Attribution<'a> {
    known: Known<'a>,
}

/// Bytes of each kind, indexed by [`Kind`].
#[derive(Default)]
struct Bytes([u64; Kind::ALL.len()]);

impl Bytes {
    fn add(&mut self, kind: Kind, bytes: u64) {
        self.0[kind as usize] += bytes;
    }
}

impl<'a> Attribution<'a> {
    pub fn new(known: Known<'a>) -> Self {
        Self { known }
    }

    /// Adds a request to the written bytes; it counts towards the kind of most of its bytes.
    pub fn add(&mut self, request: &Request, to: &mut ByKind) -> Result<(), LedgerError> {
        let bytes = self.bytes(request)?;
        let most = bytes.0.iter().copied().max().unwrap_or(0);
        let first = Kind::ALL.into_iter().find(|kind| bytes.0[*kind as usize] == most);
        for kind in Kind::ALL {
            let requests = u64::from(first == Some(kind));
            *to.of_mut(kind) += Written { bytes: bytes.0[kind as usize], requests };
        }
        Ok(())
    }

    fn bytes(&mut self, request: &Request) -> Result<Bytes, LedgerError> {
        let mut bytes = Bytes::default();
        let mut outside = Vec::new();
        let mut at = request.offset_bytes;
        let mut structures_inside = 0;
        let layout = self.known.layout;
        for (length, kind) in layout.split(request.offset_bytes, request.length_bytes) {
            match kind {
                Some(kind) => {
                    bytes.add(kind, length);
                    structures_inside += if kind == layout.files { 0 } else { length };
                }
                None => outside.push((at, length)),
            }
            at += length;
        }
        let outside_bytes: u64 = outside.iter().map(|(_, length)| length).sum();
        let Some(Origin { directory_bytes, metadata_bytes }) = request.origin else {
            bytes.add(Kind::Unattributed, outside_bytes);
            return Ok(bytes);
        };
        let directories = directory_bytes.min(outside_bytes);
        let structures =
            metadata_bytes.saturating_sub(structures_inside).min(outside_bytes - directories);
        bytes.add(Kind::Directory, directories);
        bytes.add(layout.files, outside_bytes - directories - structures);
        self.structures(structures, &outside, &mut bytes)?;
        Ok(bytes)
    }

    /// Adds bytes of the filesystem's own structures, which lie somewhere in these ranges.
    fn structures(
        &mut self,
        structures: u64,
        ranges: &[(u64, u64)],
        bytes: &mut Bytes,
    ) -> Result<(), LedgerError> {
        let mut left = structures;
        if let Some(tell) = self.known.teller {
            let block_bytes = self.known.layout.block_bytes.max(1);
            for (offset, length) in ranges {
                let mut at = *offset;
                while at < offset + length && left > 0 {
                    let piece =
                        (block_bytes - at % block_bytes).min(offset + length - at).min(left);
                    if let Some(kind) = tell(&self.head(at)?) {
                        bytes.add(kind, piece);
                        left -= piece;
                    }
                    at += piece;
                }
            }
        }
        bytes.add(self.known.layout.metadata, left);
        Ok(())
    }

    fn head(&mut self, offset_bytes: u64) -> Result<[u8; HEAD_BYTES], LedgerError> {
        let mut head = [0; HEAD_BYTES];
        let read = (self.known.read)(offset_bytes, &mut head);
        read.map_err(|cause| LedgerError::Device { offset_bytes, cause })?;
        Ok(head)
    }
}

//! Defines the memory of a request: what the device may read, what it may write, and the status
//! byte.
//!
//! A driver may divide header, data and status among descriptors in any way (VIRTIO 1.2, 2.7.4), so
//! everything here counts bytes, not descriptors. The chain comes from the guest and may be
//! anything: a loop, invalid addresses, an invalid table.

use std::ops::Deref;

use virtio_queue::DescriptorChain;
use vm_memory::{Bytes, GuestAddress, GuestMemory, Permissions};

/// The segments of header and status, in addition to the data.
const BESIDES_DATA: usize = 2;

/// A piece of guest memory.
#[derive(Debug, Clone, Copy)]
struct Piece {
    address: GuestAddress,
    length: usize,
}

/// Pieces of guest memory, treated as one range of bytes.
#[derive(Debug, Default)]
pub struct Pieces {
    pieces: Vec<Piece>,
    length: usize,
}

/// The memory of a request.
#[derive(Debug, Default)]
pub struct Buffers {
    /// What the device reads: the header, and data to write to the disk.
    pub readable: Pieces,
    /// What the device writes, except the status.
    pub writable: Pieces,
}

/// Why a chain is not processed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChainError {
    /// It has no valid status byte.
    Unanswerable,
    /// The status byte is at this address.
    Answer(GuestAddress),
}

impl Pieces {
    /// The number of bytes.
    pub const fn length(&self) -> usize {
        self.length
    }

    /// Whether all of it exists in the guest's memory.
    pub fn exist<M: GuestMemory>(&self, memory: &M, access: Permissions) -> bool {
        self.pieces.iter().all(|piece| memory.check_range(piece.address, piece.length, access))
    }

    /// Copies bytes out of guest memory, after `skip` bytes. Returns whether all of them exist; if
    /// not, the copy is invalid.
    pub fn load<M: GuestMemory>(&self, memory: &M, skip: usize, into: &mut [u8]) -> bool {
        let mut at = 0;
        self.parts(skip, into.len()).all(|piece| {
            let Ok(slices) = memory.get_slices(piece.address, piece.length, Permissions::Read)
            else {
                return false;
            };
            let end = at + piece.length;
            for slice in slices.map_while(Result::ok) {
                at += slice.copy_to(&mut into[at..end]);
            }
            at == end
        }) && at == into.len()
    }

    /// Copies bytes to the start of this memory. Returns whether there was room for all of them.
    pub fn store<M: GuestMemory>(&self, memory: &M, from: &[u8]) -> bool {
        let mut at = 0;
        self.parts(0, from.len()).all(|piece| {
            let part = &from[at..at + piece.length];
            at += piece.length;
            memory.write_slice(part, piece.address).is_ok()
        }) && at == from.len()
    }

    /// The pieces of `length` bytes after `skip` bytes, as far as there are any.
    fn parts(&self, mut skip: usize, mut length: usize) -> impl Iterator<Item = Piece> {
        self.pieces.iter().filter_map(move |piece| {
            let skipped = skip.min(piece.length);
            skip -= skipped;
            let taken = length.min(piece.length - skipped);
            length -= taken;
            let address = GuestAddress(piece.address.0.wrapping_add(skipped as u64));
            (taken > 0).then_some(Piece { address, length: taken })
        })
    }

    fn clear(&mut self) {
        self.pieces.clear();
        self.length = 0;
    }

    fn push(&mut self, address: GuestAddress, length: usize) {
        self.pieces.push(Piece { address, length });
        self.length += length;
    }

    /// Takes the last byte off.
    fn pop_byte(&mut self) -> Option<GuestAddress> {
        let last = self.pieces.last_mut()?;
        let end = last.address.0.checked_add(last.length.checked_sub(1)? as u64)?;
        last.length -= 1;
        self.length -= 1;
        Some(GuestAddress(end))
    }
}

impl Buffers {
    /// Collects the memory of a chain of at most `segments` pieces, besides header and status.
    /// Returns the address of the status.
    pub fn walk<M>(
        &mut self,
        chain: DescriptorChain<M>,
        segments: u32,
    ) -> Result<GuestAddress, ChainError>
    where
        M: Deref + Clone,
        M::Target: GuestMemory + Sized,
    {
        self.readable.clear();
        self.writable.clear();
        let most = segments as usize + BESIDES_DATA;
        let memory = chain.clone();
        let (mut is_sound, mut is_whole, mut ends_writable) = (true, false, false);
        for (index, descriptor) in chain.enumerate() {
            // The iterator ends a loop only after as many steps as the table is long.
            if index == most {
                is_whole = false;
                break;
            }
            let length = descriptor.len() as usize;
            ends_writable = descriptor.is_write_only();
            is_sound &= length > 0 && (ends_writable || self.writable.pieces.is_empty());
            let side = if ends_writable { &mut self.writable } else { &mut self.readable };
            side.push(descriptor.addr(), length);
            is_whole = !descriptor.has_next();
        }
        if !is_whole || !ends_writable {
            return Err(ChainError::Unanswerable);
        }
        let status = self.writable.pop_byte().ok_or(ChainError::Unanswerable)?;
        if !memory.memory().check_range(status, 1, Permissions::Write) {
            return Err(ChainError::Unanswerable);
        }
        if is_sound { Ok(status) } else { Err(ChainError::Answer(status)) }
    }
}

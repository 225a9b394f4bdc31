//! Defines a table of numbers that takes memory only where it has been written.
//!
//! A drive of 1 TB has 244 million pages, of which a trial writes a few. So 0 means that there is
//! nothing, and the table is memory that the machine provides, as zeros, on first use. Which parts
//! have been written is known, so that clones copy nothing else and searches pass over the rest.

use std::ops::{Index, Range};

use crate::prefetch::prefetch;

/// The entries of a part: 64 KiB of memory.
pub(crate) const PART: u32 = 1 << 14;

/// A table of numbers that are 0 at first.
#[derive(Debug)]
pub(crate) struct Sparse {
    entries: Vec<u32>,
    /// Whether anything in a part was written.
    written: Vec<bool>,
}

impl Sparse {
    pub fn new(length: usize) -> Self {
        Self { entries: vec![0; length], written: vec![false; length.div_ceil(PART as usize)] }
    }

    /// The bytes that it takes once all of it is written.
    pub fn most_bytes(&self) -> usize {
        size_of_val(&self.entries[..])
    }

    /// Whether anything was written into a part.
    pub fn is_written(&self, part: u32) -> bool {
        self.written[part as usize]
    }

    pub fn of(&self, range: Range<usize>) -> &[u32] {
        &self.entries[range]
    }

    #[inline]
    pub fn set(&mut self, index: usize, number: u32) {
        self.entries[index] = number;
        self.written[index / PART as usize] = true;
    }

    /// Takes a number out; 0 is left.
    #[inline]
    pub fn take(&mut self, index: usize) -> u32 {
        let number = self.entries[index];
        // Writing a 0 over a 0 would cost memory.
        if number != 0 {
            self.entries[index] = 0;
        }
        number
    }

    /// Entries next to each other, to be written.
    #[inline]
    pub fn of_mut(&mut self, range: Range<usize>) -> &mut [u32] {
        let part = PART as usize;
        self.written[range.start / part..range.end.div_ceil(part)].fill(true);
        &mut self.entries[range]
    }

    #[inline]
    pub fn prefetch(&self, index: usize) {
        prefetch(&self.entries, index);
    }
}

impl Index<usize> for Sparse {
    type Output = u32;

    #[inline]
    fn index(&self, index: usize) -> &u32 {
        &self.entries[index]
    }
}

impl Clone for Sparse {
    fn clone(&self) -> Self {
        let mut entries = vec![0; self.entries.len()];
        let parts = entries.chunks_mut(PART as usize).zip(self.entries.chunks(PART as usize));
        for ((new, old), _) in parts.zip(&self.written).filter(|(_, written)| **written) {
            new.copy_from_slice(old);
        }
        Self { entries, written: self.written.clone() }
    }
}

//! Memory as direct I/O wants it: whole blocks, at a block's boundary.

/// Enough for every filesystem and drive that this program meets, in bytes.
pub const BLOCK_BYTES: usize = 4096;

/// Whole blocks of memory.
#[derive(Debug)]
pub struct Aligned {
    memory: Vec<u8>,
    start: usize,
    length: usize,
}

impl Aligned {
    /// Room for so many bytes, all zeros.
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        let length = bytes.next_multiple_of(BLOCK_BYTES);
        let memory = vec![0; length + BLOCK_BYTES];
        let start = memory.as_ptr().align_offset(BLOCK_BYTES);
        Self { memory, start, length }
    }

    /// The blocks.
    pub fn bytes(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..self.start + self.length]
    }
}

#[cfg(test)]
mod tests;

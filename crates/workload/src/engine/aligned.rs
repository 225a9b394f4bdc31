//! Memory for direct I/O: whole, aligned blocks.

/// The alignment in bytes, sufficient for all supported filesystems and drives.
pub const BLOCK_BYTES: usize = 4096;

/// Whole blocks of memory.
#[derive(Debug)]
pub struct Aligned {
    memory: Vec<u8>,
    start: usize,
    length: usize,
}

impl Aligned {
    /// At least this many bytes, all zeros.
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

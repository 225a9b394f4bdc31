//! The sequential tests: by character, by chunk, and rewriting.
//!
//! Each pass opens the file before its clock starts. Its clock ends when the file has been synced
//! and closed, even after reading (`CFileOp::Close` in `bon_io.cpp`, `TestFileOps` in
//! `bonnie++.cpp`). One timed operation is a chunk, even by character.

use std::os::fd::OwnedFd;

use rustix::fs::{Advice, AtFlags, Mode, OFlags, fadvise, fsync, openat, unlinkat};
use rustix::io::{Errno, write};

use super::super::player::{read_exact, write_all, write_all_at};
use super::super::{PhaseOutcome, WorkloadError};
use super::clock::PassClock;
use crate::synthetic::bonnie::BonnieData;

/// The large file.
pub(super) const FILE: &str = "bonnie";

/// The permission bits of every file (`CFileOp::m_open`, `COpenTest::create_a_file`).
pub(super) const FILE_MODE: u32 = 0o600;

/// A test on the file, and what it has moved so far.
pub(super) struct FileTransfer<'a> {
    pub clock: PassClock<'a>,
    directory: &'a OwnedFd,
    is_cold: bool,
    buffer: Vec<u8>,
    bytes: u64,
    written_bytes: u64,
}

impl<'a> FileTransfer<'a> {
    pub fn new(
        directory: &'a OwnedFd,
        chunk_bytes: usize,
        is_cold: bool,
        clock: PassClock<'a>,
    ) -> Self {
        let buffer = vec![0; chunk_bytes];
        Self { clock, directory, is_cold, buffer, bytes: 0, written_bytes: 0 }
    }

    /// `seq_output_char`: a new file, one byte per write(2) (`CFileOp::write_block_byte`; the
    /// putc(3) of older versions is gone).
    pub fn write_characters(&mut self, chunks: u64) -> Result<(), WorkloadError> {
        BonnieData::Characters.fill(0, &mut self.buffer);
        while self.clock.is_short() {
            let file = self.create()?;
            self.clock.start();
            for _ in 0..chunks {
                for byte in &self.buffer {
                    write_byte(&file, *byte).map_err(error("write"))?;
                }
                self.clock.lap()?;
            }
            self.close(file)?;
            self.moved(chunks, true);
        }
        Ok(())
    }

    /// `seq_output_block`: a new file, one chunk per write(2).
    pub fn write_chunks(&mut self, chunks: u64) -> Result<(), WorkloadError> {
        while self.clock.is_short() {
            let file = self.create()?;
            self.buffer.fill(0);
            self.clock.start();
            let mut changed = 0;
            for _ in 0..chunks {
                self.buffer[changed] = self.buffer[changed].wrapping_add(1);
                changed = (changed + 1) % self.buffer.len();
                write_all(&file, &self.buffer).map_err(error("write"))?;
                self.clock.lap()?;
            }
            self.close(file)?;
            self.moved(chunks, true);
        }
        Ok(())
    }

    /// `rewrite`: reads each chunk, increments a byte, and writes it back in place. Returns how
    /// often the file was rewritten.
    pub fn rewrite(&mut self, chunks: u64) -> Result<u64, WorkloadError> {
        while self.clock.is_short() {
            let file = self.open()?;
            self.clock.start();
            let (mut changed, mut offset) = (0, 0);
            for _ in 0..chunks {
                read_exact(&file, &mut self.buffer).map_err(error("read"))?;
                self.buffer[changed] = self.buffer[changed].wrapping_add(1);
                changed = (changed + 1) % self.buffer.len();
                write_all_at(&file, &self.buffer, offset).map_err(error("rewrite"))?;
                offset += self.buffer.len() as u64;
                self.clock.lap()?;
            }
            self.close(file)?;
            self.moved(chunks, true);
        }
        Ok(self.clock.passes().into())
    }

    /// `seq_input_char`: one byte per read(2) (`CFileOp::read_block_byte`).
    pub fn read_characters(&mut self, chunks: u64) -> Result<(), WorkloadError> {
        while self.clock.is_short() {
            let file = self.open()?;
            self.clock.start();
            for _ in 0..chunks {
                for byte in self.buffer.chunks_exact_mut(1) {
                    read_exact(&file, byte).map_err(error("read"))?;
                }
                self.clock.lap()?;
            }
            self.close(file)?;
            self.moved(chunks, false);
        }
        Ok(())
    }

    /// `seq_input_block`: one chunk per read(2).
    pub fn read_chunks(&mut self, chunks: u64) -> Result<(), WorkloadError> {
        while self.clock.is_short() {
            let file = self.open()?;
            self.clock.start();
            for _ in 0..chunks {
                read_exact(&file, &mut self.buffer).map_err(error("read"))?;
                self.clock.lap()?;
            }
            self.close(file)?;
            self.moved(chunks, false);
        }
        Ok(())
    }

    /// What was done. A rewritten byte counts once, as in bonnie++.
    pub fn done(self) -> PhaseOutcome {
        PhaseOutcome {
            counted: Some(self.clock.counted(self.bytes)),
            ..PhaseOutcome::wrote(self.written_bytes)
        }
    }

    /// A new file in place of an old one, which is unlinked before the clock starts.
    fn create(&self) -> Result<OwnedFd, WorkloadError> {
        match unlinkat(self.directory, FILE, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(errno) => return Err(error("remove")(errno)),
        }
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        openat(self.directory, FILE, flags, Mode::from_raw_mode(FILE_MODE)).map_err(error("create"))
    }

    fn open(&self) -> Result<OwnedFd, WorkloadError> {
        open(self.directory, self.is_cold)
    }

    /// Ends a pass.
    fn close(&mut self, file: OwnedFd) -> Result<(), WorkloadError> {
        fsync(&file).map_err(error("sync"))?;
        drop(file);
        self.clock.stop();
        Ok(())
    }

    fn moved(&mut self, chunks: u64, is_written: bool) {
        let bytes = chunks * self.buffer.len() as u64;
        self.bytes += bytes;
        if is_written {
            self.written_bytes += bytes;
        }
    }
}

/// Opens the file; with `is_cold` nothing of it is in the page cache.
pub(super) fn open(directory: &OwnedFd, is_cold: bool) -> Result<OwnedFd, WorkloadError> {
    let flags = OFlags::RDWR | OFlags::CLOEXEC;
    let file = openat(directory, FILE, flags, Mode::empty()).map_err(error("open"))?;
    if is_cold {
        fadvise(&file, 0, None, Advice::DontNeed).map_err(error("forget"))?;
    }
    Ok(file)
}

/// Names the file in errors.
pub(super) fn error(step: &'static str) -> impl FnOnce(Errno) -> WorkloadError {
    move |errno| WorkloadError::operation(step, FILE)(errno)
}

fn write_byte(file: &OwnedFd, byte: u8) -> Result<(), Errno> {
    match write(file, &[byte]) {
        Ok(1) => Ok(()),
        _ => write_all(file, &[byte]),
    }
}

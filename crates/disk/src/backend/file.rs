//! Defines a disk in a sparse file: what is discarded takes no room on the machine's own disk.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;
use ssdlab_flash::{Extent, Nanos, SECTOR_BYTES};

use super::{Backend, BackendError};

/// How many zeros are written at once where no hole can be punched.
const ZEROS_BYTES: usize = 1 << 13;

/// A disk in a sparse file. Commands take no virtual time.
#[derive(Debug)]
pub struct SparseFile {
    file: File,
    capacity_bytes: u64,
}

impl SparseFile {
    /// A disk in a file that is open for reading and writing, as large as the file is. A rest of
    /// the file that fills no sector of 512 bytes is left out.
    pub fn new(file: File) -> Result<Self, BackendError> {
        let length_bytes = file.metadata().map_err(fault("find the size of", 0, 0))?.len();
        Ok(Self { file, capacity_bytes: length_bytes / SECTOR_BYTES * SECTOR_BYTES })
    }

    /// Makes bytes zeros, by a hole where the file system can have one.
    fn clear(&self, extent: Extent) -> Result<(), BackendError> {
        let Extent { offset_bytes, length_bytes } = extent.within(self.capacity_bytes)?;
        if length_bytes == 0 {
            return Ok(());
        }
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        match fallocate(&self.file, flags, offset_bytes, length_bytes) {
            Ok(()) => Ok(()),
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => self.write_zeros(extent),
            Err(errno) => {
                Err(fault("punch a hole for", offset_bytes, length_bytes)(io::Error::from(errno)))
            }
        }
    }

    fn write_zeros(&self, extent: Extent) -> Result<(), BackendError> {
        let zeros = [0; ZEROS_BYTES];
        let mut done = 0;
        while done < extent.length_bytes {
            let length = (extent.length_bytes - done).min(ZEROS_BYTES as u64);
            let zeros = &zeros[..usize::try_from(length).expect("it is at most ZEROS_BYTES")];
            let offset_bytes = extent.offset_bytes + done;
            self.file.write_all_at(zeros, offset_bytes).map_err(fault(
                "write",
                offset_bytes,
                length,
            ))?;
            done += length;
        }
        Ok(())
    }
}

/// What a machine's error becomes.
fn fault(
    doing: &'static str,
    offset_bytes: u64,
    length_bytes: u64,
) -> impl FnOnce(io::Error) -> BackendError {
    move |cause| BackendError::File { doing, offset_bytes, length_bytes, cause }
}

impl Backend for SparseFile {
    fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    fn read(
        &mut self,
        now: Nanos,
        offset_bytes: u64,
        into: &mut [u8],
    ) -> Result<Nanos, BackendError> {
        let length_bytes = into.len() as u64;
        Extent { offset_bytes, length_bytes }.within(self.capacity_bytes)?;
        self.file.read_exact_at(into, offset_bytes).map_err(fault(
            "read",
            offset_bytes,
            length_bytes,
        ))?;
        Ok(now)
    }

    fn write(&mut self, now: Nanos, offset_bytes: u64, from: &[u8]) -> Result<Nanos, BackendError> {
        let length_bytes = from.len() as u64;
        Extent { offset_bytes, length_bytes }.within(self.capacity_bytes)?;
        self.file.write_all_at(from, offset_bytes).map_err(fault(
            "write",
            offset_bytes,
            length_bytes,
        ))?;
        Ok(now)
    }

    fn discard(&mut self, now: Nanos, extent: Extent) -> Result<Nanos, BackendError> {
        self.clear(extent)?;
        Ok(now)
    }

    fn flush(&mut self, now: Nanos) -> Result<Nanos, BackendError> {
        self.file.sync_data().map_err(fault("make safe", 0, self.capacity_bytes))?;
        Ok(now)
    }
}

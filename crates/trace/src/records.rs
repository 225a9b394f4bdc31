//! Defines how binary records are read, and distinguishes a truncated record from the end of the
//! trace.

use std::io::{self, BufRead, ErrorKind, Read};

use zerocopy::{FromBytes, IntoBytes};

use crate::error::TraceFault;
use crate::lines::fill;
use crate::{Position, TraceError, TraceFormat};

/// The records of a binary trace.
#[derive(Debug)]
pub struct BinaryRecords<R> {
    input: R,
    format: TraceFormat,
    /// The number of bytes read so far.
    read_bytes: u64,
    position: Position,
}

impl<R: BufRead> BinaryRecords<R> {
    /// Records counted from `first`: 0 if there is a header, otherwise 1.
    pub fn new(input: R, format: TraceFormat, first: u64) -> Self {
        let position = Position::Record { record: first, offset_bytes: 0 };
        Self { input, format, read_bytes: 0, position }
    }

    /// The start of the next record; `None` at the end of the trace.
    pub fn start<T: FromBytes + IntoBytes>(&mut self) -> Result<Option<T>, TraceError> {
        if let Position::Record { record, offset_bytes } = &mut self.position {
            *record += u64::from(self.read_bytes > 0);
            *offset_bytes = self.read_bytes;
        }
        match fill(&mut self.input) {
            Ok([]) => Ok(None),
            Ok(_) => self.rest().map(Some),
            Err(cause) => Err(self.unreadable(cause)),
        }
    }

    /// More of the current record.
    #[inline]
    pub fn rest<T: FromBytes + IntoBytes>(&mut self) -> Result<T, TraceError> {
        let mut value = T::new_zeroed();
        match self.input.read_exact(value.as_mut_bytes()) {
            Ok(()) => {
                self.read_bytes += size_of::<T>() as u64;
                Ok(value)
            }
            // Of a file, it is never the reader's own error.
            Err(cause) if cause.kind() == ErrorKind::UnexpectedEof => Err(self.truncated()),
            Err(cause) => Err(self.unreadable(cause)),
        }
    }

    /// Takes bytes of the current record. Memory is used for those that exist, not for all that a
    /// damaged record claims.
    pub fn take(&mut self, bytes: usize) -> Result<Vec<u8>, TraceError> {
        let mut taken = Vec::new();
        let read = self.input.by_ref().take(bytes as u64).read_to_end(&mut taken);
        self.passed(bytes as u64, read.map(|read| read as u64))?;
        Ok(taken)
    }

    /// Skips bytes of the current record.
    pub fn skip(&mut self, bytes: usize) -> Result<(), TraceError> {
        let read = io::copy(&mut self.input.by_ref().take(bytes as u64), &mut io::sink());
        self.passed(bytes as u64, read)
    }

    /// Counts bytes that were read, which must be all that were wanted.
    fn passed(&mut self, wanted: u64, read: io::Result<u64>) -> Result<(), TraceError> {
        let read = read.map_err(|cause| self.unreadable(cause))?;
        self.read_bytes += read;
        if read == wanted { Ok(()) } else { Err(self.truncated()) }
    }
}

impl<R> BinaryRecords<R> {
    /// The position of the current record.
    pub fn position(&self) -> Position {
        self.position
    }

    /// The error for a fault in the current record.
    pub fn fault(&self, fault: TraceFault) -> TraceError {
        fault.at(self.format, self.position)
    }

    fn truncated(&self) -> TraceError {
        TraceError::Truncated { format: self.format, position: self.position }
    }

    fn unreadable(&self, cause: io::Error) -> TraceError {
        TraceError::Read { format: self.format, position: self.position, cause }
    }
}

//! Defines how binary records are read, and distinguishes a truncated record from the end of the
//! trace.

use std::io::{self, BufRead};

use zerocopy::{FromBytes, IntoBytes};

use crate::error::Fault;
use crate::input::fill;
use crate::{Format, Position, TraceError};

/// The records of a binary trace.
#[derive(Debug)]
pub struct Records<R> {
    input: R,
    format: Format,
    /// The number of bytes read so far.
    read_bytes: u64,
    position: Position,
}

impl<R: BufRead> Records<R> {
    /// Records counted from `first`: 0 if there is a header, otherwise 1.
    pub fn new(input: R, format: Format, first: u64) -> Self {
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
        match fill(&mut self.input) {
            Ok(buffer) => {
                if let Ok((value, _)) = T::read_from_prefix(buffer) {
                    self.input.consume(size_of::<T>());
                    self.read_bytes += size_of::<T>() as u64;
                    return Ok(value);
                }
            }
            Err(cause) => return Err(self.unreadable(cause)),
        }
        let mut value = T::new_zeroed();
        let mut missing = value.as_mut_bytes();
        while !missing.is_empty() {
            let read = self.piece(missing.len(), |piece| {
                missing[..piece.len()].copy_from_slice(piece);
            })?;
            missing = &mut missing[read..];
        }
        Ok(value)
    }

    /// Takes bytes of the current record. Memory is used for those that exist, not for all that a
    /// damaged record claims.
    pub fn take(&mut self, bytes: usize) -> Result<Vec<u8>, TraceError> {
        let mut taken = Vec::new();
        while taken.len() < bytes {
            self.piece(bytes - taken.len(), |piece| taken.extend_from_slice(piece))?;
        }
        Ok(taken)
    }

    /// Skips bytes of the current record.
    pub fn skip(&mut self, bytes: usize) -> Result<(), TraceError> {
        let mut left = bytes;
        while left > 0 {
            left -= self.piece(left, |_| ())?;
        }
        Ok(())
    }

    /// Passes on buffered bytes, from 1 to `most`, and returns their number.
    fn piece(&mut self, most: usize, take: impl FnOnce(&[u8])) -> Result<usize, TraceError> {
        let bytes = match fill(&mut self.input) {
            Ok([]) => {
                return Err(TraceError::Truncated { format: self.format, position: self.position });
            }
            Ok(buffer) => {
                let piece = buffer.get(..most).unwrap_or(buffer);
                take(piece);
                piece.len()
            }
            Err(cause) => return Err(self.unreadable(cause)),
        };
        self.input.consume(bytes);
        self.read_bytes += bytes as u64;
        Ok(bytes)
    }
}

impl<R> Records<R> {
    /// The position of the current record.
    pub fn position(&self) -> Position {
        self.position
    }

    /// The error for a fault in the current record.
    pub fn fault(&self, fault: Fault) -> TraceError {
        fault.at(self.format, self.position)
    }

    fn unreadable(&self, cause: io::Error) -> TraceError {
        TraceError::Read { format: self.format, position: self.position, cause }
    }
}

//! Operation logs, read into memory within bounds.

use std::io::{self, BufRead, BufReader};

use flate2::bufread::MultiGzDecoder;
use ssdlab_host::interrupt::Interrupt;
use ssdlab_operations::{Entry, LogReader, Operation};
use ssdlab_plan::recordings::{self, Recording};
use ssdlab_plan::schedule::FileHashes;

use super::bounds::Budget;
use super::{WorkloadError, input};

/// The magic bytes of gzip (RFC 1952).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// The entries of a directory and the operations on it.
pub type OperationLog = (Vec<Entry>, Vec<Operation>);

/// The text of a log, compressed or not.
pub fn text(
    recording: &Recording,
    hashes: &FileHashes,
    interrupt: &Interrupt,
) -> Result<Box<dyn BufRead>, WorkloadError> {
    match recording {
        Recording::Shipped(name) => {
            let found = recordings::find(name).expect("a sound schedule names one that is shipped");
            Ok(Box::new(found.log))
        }
        Recording::File(path) => {
            Ok(Box::new(BufReader::new(input::private(path, hashes, interrupt)?)))
        }
    }
}

/// Reads a log, compressed or not, within the budget of all logs.
pub fn read(mut input: impl BufRead, budget: &mut Budget) -> io::Result<OperationLog> {
    if input.fill_buf()?.starts_with(&GZIP) {
        plain(BufReader::new(MultiGzDecoder::new(input)), budget)
    } else {
        plain(input, budget)
    }
}

fn plain(input: impl BufRead, budget: &mut Budget) -> io::Result<OperationLog> {
    let mut reader = LogReader::new(input).map_err(io::Error::other)?;
    let (mut entries, mut operations) = (Vec::new(), Vec::new());
    let mut take = |bytes| {
        let too_much = |excess| {
            io::Error::other(format!("with it, all logs of the plan have {excess}; record less"))
        };
        budget.take_operation(bytes).map_err(too_much)
    };
    while let Some(entry) = reader.next_entry().map_err(io::Error::other)? {
        take(entry.name_bytes())?;
        entries.push(entry);
    }
    while let Some(operation) = reader.next_operation().map_err(io::Error::other)? {
        take(operation.name_bytes())?;
        operations.push(operation);
    }
    Ok((entries, operations))
}

#[cfg(test)]
mod tests;

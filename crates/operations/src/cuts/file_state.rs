//! The states in which a file is found.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::contents::{self, REPLACED_BYTES, logged};

/// What is wrong with a file's contents.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "Fault")]
pub enum Damage {
    /// There is no such file.
    Missing,
    /// It cannot be read.
    Unreadable,
    /// It has no bytes.
    Empty,
    /// It ends too early, or a page of it is partly old.
    Torn,
    /// It has zeros where there should be something else.
    Zeros,
    /// It has what nobody wrote there.
    Garbage,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// The state in which a file is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Found")]
pub struct FileState {
    /// The version whose contents are whole; of a log, its whole records; of a database, the
    /// commits that are there after recovery.
    pub version: Option<u32>,
    /// What is wrong; of a log, behind its whole records.
    pub fault: Option<Damage>,
}

impl FileState {
    /// A file with this fault, and without a version.
    pub const fn faulty(fault: Damage) -> Self {
        Self { version: None, fault: Some(fault) }
    }

    /// A file that is as it should be in this version.
    pub const fn whole(version: u32) -> Self {
        Self { version: Some(version), fault: None }
    }

    pub fn of_replaced(file: u32, bytes: &[u8]) -> Self {
        if bytes.is_empty() {
            return Self::faulty(Damage::Empty);
        }
        let Some(version) = contents::version(bytes) else {
            let is_zeros = bytes.iter().all(|byte| *byte == 0);
            return Self::faulty(if is_zeros { Damage::Zeros } else { Damage::Garbage });
        };
        let expected = contents::replaced(file, version);
        if bytes == expected {
            return Self::whole(version);
        }
        Self::faulty(if bytes.len() > REPLACED_BYTES {
            Damage::Garbage
        } else {
            fault(bytes, &expected).unwrap_or(Damage::Torn)
        })
    }

    /// The state of the log, with these bytes, in records of so many.
    pub fn of_log(bytes: &[u8], record_bytes: usize) -> Self {
        let records = bytes.chunks_exact(record_bytes).zip(0..);
        let whole = records.take_while(|(found, number)| **found == logged(*number, record_bytes));
        let count = u32::try_from(whole.count()).unwrap_or(u32::MAX);
        let rest = &bytes[count as usize * record_bytes..];
        let expected = (count..).flat_map(|number| logged(number, record_bytes));
        let fault = (!rest.is_empty()).then(|| {
            let expected: Vec<u8> = expected.take(rest.len()).collect();
            fault(rest, &expected).unwrap_or(Damage::Torn)
        });
        Self { version: Some(count), fault }
    }
}

/// How bytes differ from the expected ones.
pub(super) fn fault(found: &[u8], expected: &[u8]) -> Option<Damage> {
    let mut differing = found.iter().zip(expected).filter(|(found, expected)| found != expected);
    let first = differing.next()?;
    let is_zeros = *first.0 == 0 && differing.all(|(found, _)| *found == 0);
    Some(if is_zeros { Damage::Zeros } else { Damage::Garbage })
}

#[cfg(test)]
mod tests;

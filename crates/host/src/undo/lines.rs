//! The lines of an undo journal: the first names its machine, every other is a change. An invalid
//! line does not keep the others from being read.

use std::io;

use crate::machine::Machine;
use serde::{Deserialize, Serialize};

use super::Change;

/// How much of a line a message shows, in characters.
const SHOWN: usize = 300;

/// The first line of a journal.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct JournalHeader {
    /// The kernel's id of the boot it was written in.
    pub boot: String,
    /// The machine; `None` in journals of earlier versions means the one that reads them.
    pub machine: Option<Machine>,
}

/// Where a line of a journal is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LinePlace {
    /// Its first byte.
    pub offset: u64,
    /// Its length in bytes, with its line break.
    pub bytes: usize,
}

impl LinePlace {
    /// The byte after it.
    pub fn end(&self) -> u64 {
        self.offset + self.bytes as u64
    }
}

/// A line that is not a change, or not one that a run makes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct UnsoundLine {
    /// The line, from 1.
    pub number: usize,
    /// Where it is.
    pub place: LinePlace,
    /// Its text, shortened for messages.
    pub text: String,
    /// What is wrong with it.
    pub why: String,
}

/// Parses the first line.
pub(super) fn header(line: &[u8]) -> io::Result<JournalHeader> {
    Ok(serde_json::from_slice(line)?)
}

/// The complete lines of a journal.
pub(super) fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"))
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct JournalContents {
    /// The changes that remain to be undone.
    pub changes: Vec<(LinePlace, Change)>,
    /// The lines that are none.
    pub unsound: Vec<UnsoundLine>,
}

/// Parses the journal of the run of this marker. Changes that ended with an earlier boot are left
/// out: their names may mean something else by now. An invalid line does not keep the others from
/// being undone: each undo checks for itself whether it is possible.
pub(super) fn parse(text: &[u8], boot: &str, marker: &str) -> io::Result<JournalContents> {
    let mut lines = lines(text);
    let mut parsed = JournalContents::default();
    let Some(first) = lines.next() else { return Ok(parsed) };
    let header = header(first)?;
    let mut offset = first.len() as u64;
    for (index, line) in lines.enumerate() {
        let place = LinePlace { offset, bytes: line.len() };
        offset += line.len() as u64;
        if line.trim_ascii().is_empty() {
            continue;
        }
        let change = serde_json::from_slice(line).map_err(|cause| cause.to_string());
        match change.and_then(|change: Change| sound(change, marker)) {
            Ok(change) if header.boot == boot || change.outlives_a_crash() => {
                parsed.changes.push((place, change));
            }
            Ok(_) => {}
            Err(why) => {
                let shown = String::from_utf8_lossy(line.trim_ascii()).into_owned();
                let text = shown.chars().filter(|c| !c.is_control()).take(SHOWN).collect();
                parsed.unsound.push(UnsoundLine { number: index + 2, place, text, why });
            }
        }
    }
    Ok(parsed)
}

fn sound(change: Change, marker: &str) -> Result<Change, String> {
    change.check(marker).map_err(|error| error.to_string())?;
    Ok(change)
}

#[cfg(test)]
mod tests;

//! Lines of records, and how they are parsed.

use std::io::Read;
use std::path::Path;

use rayon::prelude::*;
use serde::Deserialize;
use serde::de::{DeserializeOwned, Error as _};
use ssdlab_plan::Schedule;
use ssdlab_plan::schedule::SCHEDULE_SCHEMA;

use super::error::{StoreError, at};
use super::record::{RECORD_SCHEMA, Record};

/// How much of the records is read at a time, in bytes: enough work for all processors.
const PART_BYTES: u64 = 8 << 20;

/// How many records are parsed at a time; those that are not kept are dropped with them.
const PARSED_RECORDS: usize = 4096;

/// More than any record has, in bytes: a longer line is not read to its end.
pub(super) const LONGEST_LINE_BYTES: usize = 256 << 20;

/// Parses the records of a file, a part at a time; returns those that are kept, and an incomplete
/// last line beside them. A line longer than `longest_bytes` by more than a part is refused.
pub(super) fn parse_records(
    path: &Path,
    file: impl Read,
    longest_bytes: usize,
    mut is_kept: impl FnMut(&Record) -> bool,
) -> Result<(Vec<Record>, Vec<u8>), StoreError> {
    let mut file = file.take(PART_BYTES);
    let (mut records, mut lines) = (Vec::new(), 0);
    let mut part = Vec::new();
    // The rest of a part is the beginning of the next part's first line.
    loop {
        let left = part.len();
        if file.read_to_end(&mut part).map_err(at("read", path))? == 0 {
            break;
        }
        // The rest of the previous part has no line break.
        let whole = match whole_lines(&part[left..]) {
            0 => 0,
            new => left + new,
        };
        if whole == 0 && part.len() > longest_bytes {
            let cause = serde_json::Error::custom("it is longer than any record");
            return Err(StoreError::Corrupt { path: path.to_owned(), line: lines + 1, cause });
        }
        // Without its line break: errors behind it would be on a second line.
        let own = part[..whole].split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end);
        let mut own = (lines + 1..).zip(own).filter(|(_, line)| !line.is_empty());
        loop {
            // A parsed record has more bytes than its line.
            let some: Vec<(usize, &[u8])> = own.by_ref().take(PARSED_RECORDS).collect();
            if some.is_empty() {
                break;
            }
            let parse = |(line, text): &(usize, &[u8])| versioned(path, *line, text);
            let parsed: Vec<Result<Record, StoreError>> = some.par_iter().map(parse).collect();
            for record in parsed {
                let mut record = record?;
                if is_kept(&record) {
                    // It stays in memory; drop the spare capacity of a grown vector.
                    record.phases.shrink_to_fit();
                    records.push(record);
                }
            }
        }
        lines += part[..whole].split_inclusive(|byte| *byte == b'\n').count();
        part.drain(..whole);
        file.set_limit(PART_BYTES);
    }
    Ok((records, part))
}

/// The length up to and including the last line break.
pub(super) fn whole_lines(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1)
}

/// What files hold with the version of their format.
pub(super) trait Versioned: DeserializeOwned {
    /// The newest version that this program reads.
    const NEWEST: u32;

    fn schema(&self) -> u32;
}

impl Versioned for Record {
    const NEWEST: u32 = RECORD_SCHEMA;

    fn schema(&self) -> u32 {
        self.schema
    }
}

impl Versioned for Schedule {
    const NEWEST: u32 = SCHEDULE_SCHEMA;

    fn schema(&self) -> u32 {
        self.schema
    }
}

/// Parses JSON with a schema number, and refuses one that is too new.
pub(super) fn versioned<T: Versioned>(
    path: &Path,
    line: usize,
    text: &[u8],
) -> Result<T, StoreError> {
    #[derive(Deserialize)]
    struct Version {
        schema: u64,
    }
    let newer = |found| StoreError::Newer { path: path.to_owned(), found, known: T::NEWEST };
    match serde_json::from_slice::<T>(text) {
        Ok(parsed) if parsed.schema() > T::NEWEST => Err(newer(parsed.schema().into())),
        Ok(parsed) => Ok(parsed),
        // A newer format may have other fields.
        Err(cause) => match serde_json::from_slice(text) {
            Ok(Version { schema }) if schema > u64::from(T::NEWEST) => Err(newer(schema)),
            _ => Err(StoreError::Corrupt { path: path.to_owned(), line, cause }),
        },
    }
}

/// The fuzzer's entry point: accepted records must round-trip.
#[doc(hidden)]
pub fn fuzz_records(bytes: &[u8]) {
    let path = Path::new("records.jsonl");
    let Ok((records, _)) = parse_records(path, bytes, LONGEST_LINE_BYTES, |_| true) else { return };
    for record in records {
        let line = serde_json::to_string(&record).expect("a record is plain data");
        let again: Record =
            versioned(path, 1, line.as_bytes()).expect("what is written can be read");
        assert_eq!(serde_json::to_string(&again).expect("a record is plain data"), line);
    }
}

//! Bonnie's tests: what a plan says about them, what each needs, and their sizes made explicit.
//!
//! Names, defaults and definitions are those of bonnie++ 2.00 (`bonnie.h`, `bonnie++.cpp`), so that
//! its numbers are comparable with ours.

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_quantity::{Bytes, Span};
use toml::Spanned;

use super::error::PlanFault;
use super::lab_kind::LabKind;
use super::limits::{MOST_FILES, fault_of_bytes, first_false};

/// bonnie++ 2.00: `DefaultChunkSize`, `DefaultSeeks`, `DefaultSeekProcCount`, `DirectoryUnit` and
/// `MinTime`.
const CHUNK_BYTES: u64 = 8 << 10;
const SEEKS: u32 = 8192;
const SEEKERS: u32 = 5;
const FILES_UNIT: u64 = 1024;
const LEAST_NS: u64 = 500_000_000;

/// bonnie++ takes twice the machine's memory; here the caches are dropped instead. In the virtual
/// lab, where a system call costs some 20 µs of real time and there is no noise to average out,
/// less is enough.
const SIZE_BYTES: u64 = 1 << 30;
const VIRTUAL_SIZE_BYTES: u64 = 256 << 20;
/// bonnie++ 2.00: `DefaultByteIO`, 3 MiB; in the virtual lab less, for the same reason.
const CHAR_BYTES: u64 = 3 << 20;
const VIRTUAL_CHAR_BYTES: u64 = 128 << 10;
/// bonnie++ 2.00: `DefaultDirectorySize`, in units of 1024 files.
const FILES: u64 = 16;

/// The chunk sizes that bonnie++ accepts.
const CHUNKS: Range<u64> = 256..(1 << 20) + 1;

/// The largest of the small files.
const LARGEST_FILE_BYTES: u64 = u32::MAX as u64;

/// Upper limits: names are kept in memory, and every seeker is a thread.
const MOST_SEEKERS: u32 = 256;
const MOST_SEEKS: u32 = 10_000_000;
const MOST_DIRECTORIES: u64 = 99_999;

/// Bonnie's tests, in the order it performs them.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum BonnieTest {
    /// Writes a new file, one byte per write(2).
    SeqOutputChar,
    /// Writes a new file, one chunk per write(2).
    SeqOutputBlock,
    /// Reads each chunk, changes a byte of it and writes it back.
    Rewrite,
    /// Reads the file, one byte per read(2).
    SeqInputChar,
    /// Reads the file, one chunk per read(2).
    SeqInputBlock,
    /// Reads chunks at random offsets and rewrites one in ten.
    RandomSeek,
    /// Creates files with ascending names.
    SeqCreate,
    /// Stats each file in directory order, and reads it if it is not empty.
    SeqStat,
    /// Deletes each file in directory order.
    SeqDelete,
    /// Creates files with random names.
    RandomCreate,
    /// Stats each file in random order, and reads it if it is not empty.
    RandomStat,
    /// Deletes each file in random order.
    RandomDelete,
}

ssdlab_operations::words! {
    BonnieTest {
        SeqOutputChar: "seq_output_char",
        SeqOutputBlock: "seq_output_block",
        Rewrite: "rewrite",
        SeqInputChar: "seq_input_char",
        SeqInputBlock: "seq_input_block",
        RandomSeek: "random_seek",
        SeqCreate: "seq_create",
        SeqStat: "seq_stat",
        SeqDelete: "seq_delete",
        RandomCreate: "random_create",
        RandomStat: "random_stat",
        RandomDelete: "random_delete",
    }
}

impl BonnieTest {
    /// Whether it reads from the device. bonnie++ asks for files larger than the memory; here the
    /// caches are dropped before it.
    pub fn reads(self) -> bool {
        self.is_of_the_file() && !matches!(self, Self::SeqOutputChar | Self::SeqOutputBlock)
    }

    /// Whether it works on the one large file, not on many small ones.
    pub fn is_of_the_file(self) -> bool {
        self <= Self::RandomSeek
    }

    /// The test whose files it works on.
    pub(super) fn needs(self) -> Option<Self> {
        match self {
            Self::SeqOutputChar | Self::SeqOutputBlock | Self::SeqCreate | Self::RandomCreate => {
                None
            }
            Self::Rewrite | Self::SeqInputChar | Self::SeqInputBlock | Self::RandomSeek => {
                Some(Self::SeqOutputBlock)
            }
            Self::SeqStat | Self::SeqDelete => Some(Self::SeqCreate),
            Self::RandomStat | Self::RandomDelete => Some(Self::RandomCreate),
        }
    }

    /// The test that deletes the files it makes.
    pub(super) fn undone_by(self) -> Option<Self> {
        match self {
            Self::SeqCreate => Some(Self::SeqDelete),
            Self::RandomCreate => Some(Self::RandomDelete),
            _ => None,
        }
    }
}

/// The sizes of Bonnie's tests, as a plan says them.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WrittenBonnie {
    /// The size of the file (`-s`; default 1 GiB; 256 MiB in the virtual lab).
    #[schemars(with = "Option<Bytes>")]
    #[schemars(example = &"2 GiB")]
    pub size: Option<Spanned<Bytes>>,
    /// How much of the file one system call reads or writes (default 8 KiB).
    #[schemars(with = "Option<Bytes>")]
    #[schemars(example = &"16 KiB")]
    pub chunk: Option<Spanned<Bytes>>,
    /// How much of the file the per-character tests write and read (`-f`; default 3 MiB; 128 KiB in
    /// the virtual lab).
    #[schemars(example = &"1 MiB")]
    pub char_size: Option<Bytes>,
    /// Seeks (default 8192).
    #[schemars(with = "Option<u32>")]
    #[schemars(example = 4000)]
    pub seeks: Option<Spanned<u32>>,
    /// Threads that seek at the same time (default 5).
    #[schemars(with = "Option<u32>")]
    #[schemars(example = 3)]
    pub seekers: Option<Spanned<u32>>,
    /// Files to create (`-n`; default `"16"`): `NUMBER:MAX:MIN:DIRECTORIES`, the number in units
    /// of 1024, the sizes in bytes.
    #[schemars(with = "Option<String>")]
    #[schemars(example = &"16:4096:0:4")]
    pub files: Option<Spanned<String>>,
    /// Whether to sync after each seek that writes, each file creation and each deletion (`-b`;
    /// default false).
    #[serde(default)]
    #[schemars(example = true)]
    pub fsync_each: bool,
    /// The minimum duration of a test: shorter tests are repeated until they have taken this long
    /// (default 500 ms, below which bonnie++ prints no number; 0 in the virtual lab, whose clock
    /// has no noise).
    #[schemars(example = &"1 s")]
    pub least: Option<Span>,
}

/// The sizes of Bonnie's tests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bonnie {
    /// The size of the file in bytes: whole chunks.
    pub size_bytes: u64,
    /// A chunk in bytes: a power of two.
    pub chunk_bytes: u64,
    /// How much of the file is written and read by character, in bytes: whole chunks, no more
    /// than the file has.
    pub char_bytes: u64,
    pub seeks: u32,
    /// Threads that seek.
    pub seekers: u32,
    pub files: u64,
    /// The smallest and the largest of them, in bytes.
    pub file_bytes: (u64, u64),
    /// Directories that they are spread over.
    pub directories: u64,
    /// Whether each change is synced.
    pub fsync_each: bool,
    /// How long a test takes at least, in ns.
    pub least_ns: u64,
}

impl Bonnie {
    /// What exceeds the limits of plans, if anything.
    pub(super) fn fault(&self) -> Option<String> {
        let chunk = self.chunk_bytes;
        let (smallest, largest) = self.file_bytes;
        let is_number = |number, most| (1..=most).contains(&number);
        let fault = first_false([
            (chunk.is_power_of_two() && CHUNKS.contains(&chunk), "a chunk's size is out of range"),
            (chunk <= self.size_bytes, "Bonnie's file is smaller than a chunk"),
            (
                is_number(self.char_bytes, self.size_bytes),
                "Bonnie's characters do not fit its file",
            ),
            (is_number(self.seeks.into(), MOST_SEEKS.into()), "too many or no seeks"),
            (is_number(self.seekers.into(), MOST_SEEKERS.into()), "too many or no seekers"),
            (is_number(self.files, MOST_FILES), "Bonnie's tests take 1 to 5000000 files"),
            (is_number(self.directories, MOST_DIRECTORIES), "too many or no directories"),
            (smallest <= largest && largest <= LARGEST_FILE_BYTES, "a file's size is out of range"),
        ]);
        fault.or_else(|| fault_of_bytes(self.size_bytes))
    }

    /// A lower bound of the space the tests take: each file and half a block.
    pub(super) fn needed_bytes(&self) -> u64 {
        let (smallest, largest) = self.file_bytes;
        let each = u64::midpoint(smallest, largest) + 2048;
        self.size_bytes.saturating_add(self.files.saturating_mul(each))
    }
}

/// Makes the sizes explicit.
pub(super) fn resolve(
    written: &WrittenBonnie,
    scale: impl Fn(u64) -> u64,
    lab: LabKind,
) -> Result<Bonnie, PlanFault> {
    let chunk_bytes = written.chunk.as_ref().map_or(CHUNK_BYTES, |chunk| chunk.get_ref().0);
    if !chunk_bytes.is_power_of_two() || !CHUNKS.contains(&chunk_bytes) {
        let at = written.chunk.as_ref().map_or(0..0, Spanned::span);
        return Err(PlanFault::at(
            at,
            format!("bonnie++ does not accept a chunk of {chunk_bytes} bytes"),
            "give a power of two from 256 bytes to 1 MiB",
        ));
    }
    let is_virtual = lab == LabKind::Virtual;
    let default = if is_virtual { VIRTUAL_SIZE_BYTES } else { SIZE_BYTES };
    let size = written.size.as_ref().map_or(default, |size| size.get_ref().0);
    if size > i64::MAX.unsigned_abs() / 2 {
        let at = written.size.as_ref().map_or(0..0, Spanned::span);
        return Err(PlanFault::at(
            at,
            format!("a file cannot be {size} bytes long"),
            "give a smaller size",
        ));
    }
    let whole = |bytes: u64| (bytes / chunk_bytes).max(1) * chunk_bytes;
    let size_bytes = whole(scale(size));
    let default = if is_virtual { VIRTUAL_CHAR_BYTES } else { CHAR_BYTES };
    let char_bytes = whole(scale(written.char_size.map_or(default, |size| size.0)));
    let least_ns = match written.least {
        Some(span) => span.nanos(),
        None if is_virtual => 0,
        None => LEAST_NS,
    };
    let (files, file_bytes, directories) = files(written.files.as_ref(), scale)?;
    Ok(Bonnie {
        size_bytes,
        chunk_bytes,
        char_bytes: char_bytes.min(size_bytes),
        seeks: within(written.seeks.as_ref(), SEEKS, MOST_SEEKS, "seeks")?,
        seekers: within(written.seekers.as_ref(), SEEKERS, MOST_SEEKERS, "seekers")?,
        files,
        file_bytes,
        directories,
        fsync_each: written.fsync_each,
        least_ns,
    })
}

fn within(
    written: Option<&Spanned<u32>>,
    default: u32,
    most: u32,
    what: &str,
) -> Result<u32, PlanFault> {
    let Some(written) = written else { return Ok(default) };
    let number = *written.get_ref();
    if (1..=most).contains(&number) {
        return Ok(number);
    }
    Err(PlanFault::at(
        written.span(),
        format!("{number} {what} are out of range"),
        format!("give 1 to {most}"),
    ))
}

/// Files, their smallest and largest size, and directories.
type Files = (u64, (u64, u64), u64);

/// Reads `NUMBER:MAX:MIN:DIRECTORIES`, of which all but the first may be left out.
fn files(
    written: Option<&Spanned<String>>,
    scale: impl Fn(u64) -> u64,
) -> Result<Files, PlanFault> {
    let Some(written) = written else { return Ok((scale(FILES * FILES_UNIT), (0, 0), 1)) };
    let text = written.get_ref();
    let wrong = |why: &str| {
        PlanFault::at(
            written.span(),
            format!("files = \"{text}\": {why}"),
            "write NUMBER:MAX:MIN:DIRECTORIES, such as \"16:4096:0:1\": 16 * 1024 files of 0 to \
             4096 bytes in one directory",
        )
    };
    let parts: Result<Vec<u64>, _> = text.split(':').map(str::parse).collect();
    let Ok(parts) = parts else { return Err(wrong("not all parts are numbers")) };
    if parts.len() > 4 {
        return Err(wrong("there are more than four numbers"));
    }
    let part = |index: usize, default| parts.get(index).copied().unwrap_or(default);
    let (number, largest, smallest, directories) = (part(0, 0), part(1, 0), part(2, 0), part(3, 1));
    let files = scale(number.saturating_mul(FILES_UNIT));
    if number == 0 || files > MOST_FILES {
        return Err(wrong(&format!("the number of files must be 1 to {MOST_FILES}")));
    }
    if smallest > largest || largest > LARGEST_FILE_BYTES {
        return Err(wrong("the smallest size exceeds the largest, or that exceeds 4 GiB"));
    }
    if !(1..=MOST_DIRECTORIES).contains(&directories) {
        return Err(wrong(&format!("directories must be 1 to {MOST_DIRECTORIES}")));
    }
    Ok((files, (smallest, largest), directories))
}

#[cfg(test)]
mod tests;

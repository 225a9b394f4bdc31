//! Phases that read and write files (`do = "io"`): their form in a plan, and what it means.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_quantity::{Bytes, PerSecond, Share, Span};

use super::error::PlanFault;
use super::limits::{NO_WORK, fault_of_bytes, first_false};

/// The file's name if the plan gives none.
const FILE: &str = "data";

/// The most files of a phase: each is opened before the first operation.
const MOST_FILES: u32 = 256;

/// Block sizes that bypass the page cache are whole multiples of this, in bytes.
const DIRECT_BYTES: u32 = 4096;

/// Blocks at offsets of their own are whole multiples of this, in bytes.
const SECTOR_BYTES: u32 = 512;

/// The largest block in bytes, the deepest queue, and the memory of both in bytes.
const LARGEST_BLOCK_BYTES: u64 = 64 << 20;
const DEEPEST: u32 = 1024;
const MOST_BUFFER_BYTES: u64 = 1 << 30;

/// Reads and writes of files, as a plan writes them.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WrittenIo {
    /// The file's name in the trial's directory (default `data`). The file is written before the
    /// first phase; phases that give the same name share it.
    #[schemars(example = &"log")]
    pub file: Option<String>,
    /// The number of files that operations use in turn (default 1). Several are named `data-1`,
    /// `data-2` and so on.
    #[schemars(example = 4)]
    pub files: Option<u32>,
    /// The size of each file before the first phase. Required, but for `pattern = "append"`, which
    /// begins with an empty file by default.
    #[schemars(example = &"1 GiB")]
    pub size: Option<Bytes>,
    /// The access pattern (default `random`).
    #[serde(default)]
    #[schemars(example = &"sequential")]
    pub pattern: IoPattern,
    /// The share of operations that read (default `0 %`: all write).
    #[schemars(example = &"70 %")]
    pub reads: Option<Share>,
    /// The block size, or several with their weights: `["4 KiB: 3", "64 KiB: 1"]` (default
    /// `4 KiB`). Appended records may have any size, others are multiples of 512 bytes.
    #[schemars(example = ["4 KiB: 3","64 KiB: 1"])]
    pub block: Option<Sizes>,
    /// What the file holds before the first phase, and what is written to it (default `random`).
    #[serde(default)]
    #[schemars(example = &"text")]
    pub contents: IoContents,
    /// The number of operations in flight (default 1).
    #[schemars(example = 32)]
    pub depth: Option<u32>,
    /// Whether the page cache is bypassed (default false).
    #[serde(default)]
    #[schemars(example = true)]
    pub direct: bool,
    /// When written data are made durable: `none`, `end` or `every N writes` (default `none`).
    #[serde(default)]
    #[schemars(with = "String")]
    #[schemars(example = &"every 16 writes")]
    pub sync: IoSyncPolicy,
    /// How they are made durable (default `fdatasync`).
    #[schemars(example = &"fsync")]
    pub sync_by: Option<SyncBy>,
    /// The phase ends after this much has been read and written.
    #[schemars(example = &"256 MiB")]
    pub amount: Option<Bytes>,
    /// The phase ends after this many operations.
    #[schemars(example = 10000)]
    pub operations: Option<u64>,
    /// The phase ends after this time.
    #[schemars(example = &"10 s")]
    pub time: Option<Span>,
    /// The rate at which operations fall due (`"1000/s"`), whether or not earlier ones have
    /// completed; latency is then measured from the time an operation was due (default: an
    /// operation starts when another completes).
    #[schemars(example = &"1000/s")]
    pub rate: Option<PerSecond>,
}

/// One block size, or several.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a size, or a list of sizes: \"4 KiB\"")]
pub enum Sizes {
    /// All blocks are of it.
    One(String),
    /// Each with its weight.
    Mix(Vec<String>),
}

/// The order in which places of a file are visited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "Pattern")]
pub enum IoPattern {
    /// Every offset is equally likely.
    #[default]
    Random,
    /// Consecutive offsets.
    Sequential,
    /// The end of the file, which grows (`O_APPEND`).
    Append,
}

/// What files hold. No two blocks of 4 KiB are equal, except of zeros.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum IoContents {
    /// Random bytes, which do not compress.
    #[default]
    Random,
    /// Text that compresses to about a third, as that of a synthetic tree does.
    Text,
    /// Zeros, which compress to almost nothing.
    Zeros,
}

/// How written data are made durable.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum SyncBy {
    /// By fdatasync(2): the data, and of the metadata what reading them needs.
    #[default]
    #[serde(rename = "fdatasync")]
    Fdatasync,
    /// By fsync(2): the data and all metadata, such as times.
    #[serde(rename = "fsync")]
    Fsync,
    /// By opening the file with this flag: each write(2) returns as if followed by fdatasync(2),
    /// whose time is a part of the write's.
    #[serde(rename = "O_DSYNC")]
    ODsync,
}

/// When what was written is made to last.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum IoSyncPolicy {
    #[default]
    Never,
    /// When all operations are done.
    AtEnd,
    /// After so many writes.
    Every(u64),
}

impl TryFrom<String> for IoSyncPolicy {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let every = || {
            let number = text.strip_prefix("every")?.trim_end_matches('s').strip_suffix("write")?;
            number.trim().parse().ok().filter(|number| *number > 0)
        };
        match (text.as_str(), every()) {
            ("none", _) => Ok(Self::Never),
            ("end", _) => Ok(Self::AtEnd),
            (_, Some(number)) => Ok(Self::Every(number)),
            _ => Err(format!(
                "\"{text}\" is not a sync policy; write \"none\", \"end\" or \"every 16 writes\""
            )),
        }
    }
}

impl From<IoSyncPolicy> for String {
    fn from(policy: IoSyncPolicy) -> Self {
        policy.to_string()
    }
}

impl fmt::Display for IoSyncPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Never => f.write_str("none"),
            Self::AtEnd => f.write_str("end"),
            Self::Every(number) => write!(f, "every {number} writes"),
        }
    }
}

/// Reads and writes of files, with everything explicit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Io {
    /// The file's name in the trial's directory; several are this name, a hyphen and a number.
    pub file: String,
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub files: u32,
    /// The size of each before the first phase, in bytes.
    pub size_bytes: u64,
    /// The order of places.
    pub pattern: IoPattern,
    /// The share of operations that read, 0 to 1.
    pub read_share: f64,
    pub blocks: Vec<BlockSize>,
    /// What they hold, and what is written to them.
    #[serde(default, skip_serializing_if = "is_default")]
    pub contents: IoContents,
    /// Operations under way at the same time.
    pub depth: u32,
    /// Whether the page cache is bypassed.
    pub direct: bool,
    /// When what was written is made to last.
    pub sync: IoSyncPolicy,
    /// How it is.
    #[serde(default, skip_serializing_if = "is_default")]
    pub sync_by: SyncBy,
    /// When it ends.
    pub end: IoEnd,
    /// The time between two operations of an open load, in ns; none for a closed one.
    pub period_ns: Option<u64>,
}

/// A block size and how often it occurs, written as `"4 KiB: 3"` or `"4 KiB"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockSize {
    pub bytes: u32,
    /// How often, relative to the others.
    pub weight: u32,
}

/// When a phase that counts its operations ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IoEnd {
    /// When so many bytes have been read and written.
    Bytes(u64),
    /// After so many operations.
    Operations(u64),
    /// After so many ns.
    Time(u64),
}

impl FromStr for BlockSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (size, weight) = text.split_once(':').unwrap_or((text, "1"));
        let bytes: Bytes = size.trim().parse()?;
        let weight = weight.trim().parse().ok().filter(|weight| *weight > 0);
        let is_possible = |bytes: &u32| (1..=LARGEST_BLOCK_BYTES).contains(&u64::from(*bytes));
        let bytes = u32::try_from(bytes.0).ok().filter(is_possible);
        match (bytes, weight) {
            (Some(bytes), Some(weight)) => Ok(Self { bytes, weight }),
            (None, _) => Err(format!(
                "\"{text}\" is not a block size: it must be above 0 and at most {}",
                Bytes(LARGEST_BLOCK_BYTES)
            )),
            (_, None) => {
                Err(format!("\"{text}\" has no weight: a number above 0, as in \"4 KiB: 3\""))
            }
        }
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

const fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_one(files: &u32) -> bool {
    *files == 1
}

/// Rounds up to whole blocks; on overflow, the largest number, which no file may have.
fn whole(bytes: u64, block: u64) -> u64 {
    bytes.checked_next_multiple_of(block).unwrap_or(u64::MAX)
}

/// Resolves a plan's table; `scaled` multiplies the file's size and the amount of work.
pub(super) fn resolve(
    written: &WrittenIo,
    at: &Range<usize>,
    scaled: impl Fn(u64) -> u64,
) -> Result<Io, PlanFault> {
    let fault = |message: String, help: &str| PlanFault::at(at.clone(), message, help);
    let sizes = match &written.block {
        Some(Sizes::One(size)) => std::slice::from_ref(size),
        Some(Sizes::Mix(sizes)) => sizes,
        None => &["4 KiB".to_owned()][..],
    };
    let blocks = sizes.iter().map(|text| text.parse()).collect::<Result<Vec<BlockSize>, _>>();
    let blocks = blocks.map_err(|message| fault(message, "for example block = \"4 KiB\""))?;
    let Some(largest) = blocks.iter().map(|block| block.bytes).max() else {
        return Err(fault("there is no block size".to_owned(), "for example block = \"4 KiB\""));
    };
    let appends = written.pattern == IoPattern::Append;
    if let Some(block) = blocks.iter().find(|block| !appends && !block.is_whole()) {
        return Err(fault(
            format!("a block of {} bytes is not a multiple of 512 bytes", block.bytes),
            "choose another size; only records that are appended may have any",
        ));
    }
    if appends && written.reads.is_some_and(|share| share.0 > 0.0) {
        return Err(fault(
            "there is nothing to read behind the end of a file".to_owned(),
            "omit `reads`, or choose another pattern than \"append\"",
        ));
    }
    if written.direct && blocks.iter().any(|block| !block.bytes.is_multiple_of(DIRECT_BYTES)) {
        return Err(fault(
            "with direct I/O block sizes must be multiples of 4 KiB".to_owned(),
            "choose other sizes, or omit `direct`",
        ));
    }
    let depth = written.depth.unwrap_or(1);
    if !is_depth(depth, largest) {
        return Err(fault(
            format!("a depth of {depth} is out of range"),
            "choose 1 to 1024, with less than 1 GiB of outstanding blocks",
        ));
    }
    let file = written.file.clone().unwrap_or_else(|| FILE.to_owned());
    check_name(&file).map_err(|message| fault(message, "for example file = \"data\""))?;
    let files = written.files.unwrap_or(1);
    if !(1..=MOST_FILES).contains(&files) {
        return Err(fault(format!("{files} files are out of range"), "choose 1 to 256"));
    }
    let Some(size) = written.size.or(appends.then_some(Bytes(0))) else {
        return Err(fault(
            "the size of the file is not defined".to_owned(),
            "for example size = \"1 GiB\"; only pattern = \"append\" needs none",
        ));
    };
    let sync_by = sync_by(written).map_err(|(message, help)| fault(message.to_owned(), help))?;
    let end = IoEnd::of(written.amount, written.operations, written.time)
        .ok_or_else(|| {
            fault(
                "the end of the phase is not defined".to_owned(),
                "give one of amount = \"1 GiB\", operations = 10000, time = \"10 s\"",
            )
        })?
        .scaled(&scaled);
    Ok(Io {
        file,
        files,
        // Room for whole blocks, and if they are not appended for at least one of the largest.
        size_bytes: whole(scaled(size.0), u64::from(largest)),
        pattern: written.pattern,
        read_share: written.reads.map_or(0.0, |share| share.0),
        blocks,
        contents: written.contents,
        depth,
        direct: written.direct,
        sync: written.sync,
        sync_by,
        end,
        period_ns: written.rate.map(PerSecond::period_ns),
    })
}

/// How what is written is made durable; the error is what is wrong, and what to write instead.
fn sync_by(written: &WrittenIo) -> Result<SyncBy, (&'static str, &'static str)> {
    match (written.sync_by, written.sync) {
        (Some(_), IoSyncPolicy::Never) => Err((
            "`sync_by` says how data are made durable, but not when",
            "add sync = \"every 1 write\", or omit `sync_by`",
        )),
        (Some(SyncBy::ODsync), IoSyncPolicy::AtEnd | IoSyncPolicy::Every(2..)) => Err((
            "with O_DSYNC each write is made durable",
            "write sync = \"every 1 write\", or choose sync_by = \"fdatasync\"",
        )),
        (sync_by, _) => Ok(sync_by.unwrap_or_default()),
    }
}

impl Io {
    /// The names of its files in the trial's directory.
    pub fn names(&self) -> impl Iterator<Item = String> {
        let name = |number| match self.files {
            1 => self.file.clone(),
            _ => format!("{}-{number}", self.file),
        };
        (1..=self.files).map(name)
    }

    /// The largest of its blocks, in bytes; 0 without any.
    pub fn largest_block_bytes(&self) -> u32 {
        self.blocks.iter().map(|block| block.bytes).max().unwrap_or(0)
    }

    /// The mean of its blocks, by their weights, in bytes; 0 without any.
    pub fn mean_block_bytes(&self) -> u64 {
        let weights: u64 = self.blocks.iter().map(|block| u64::from(block.weight)).sum();
        let of = |block: &BlockSize| u128::from(block.bytes) * u128::from(block.weight);
        let sum: u128 = self.blocks.iter().map(of).sum();
        u64::try_from(sum / u128::from(weights.max(1))).unwrap_or(u64::MAX)
    }

    /// A lower bound of the bytes by which its files grow.
    pub fn appended_bytes(&self) -> u64 {
        let smallest = self.blocks.iter().map(|block| block.bytes).min().unwrap_or(0);
        match (self.pattern, self.end) {
            (IoPattern::Append, IoEnd::Bytes(bytes)) => bytes,
            (IoPattern::Append, IoEnd::Operations(number)) => {
                number.saturating_mul(smallest.into())
            }
            _ => 0,
        }
    }

    /// What exceeds the limits of plans, if anything.
    pub(super) fn fault(&self) -> Option<String> {
        if let Err(fault) = check_name(&self.file) {
            return Some(fault);
        }
        let appends = self.pattern == IoPattern::Append;
        let largest = self.largest_block_bytes();
        let is_possible = |block: &BlockSize| block.is_possible() && (appends || block.is_whole());
        let fits = appends || u64::from(largest) <= self.size_bytes;
        let is_direct =
            |block: &BlockSize| !self.direct || block.bytes.is_multiple_of(DIRECT_BYTES);
        let fault = first_false([
            (self.blocks.iter().all(is_possible), "a block's size or weight is impossible"),
            (0 < largest && fits, "no block fits into its file"),
            ((1..=MOST_FILES).contains(&self.files), "its number of files is out of range"),
            (self.blocks.iter().all(is_direct), "its blocks do not suit direct I/O"),
            (is_depth(self.depth, largest), "its depth is out of range"),
            ((0.0..=1.0).contains(&self.read_share), "its share of reads is out of range"),
            (!appends || self.read_share <= 0.0, "nothing can be read behind the end of a file"),
            (
                self.sync_by != SyncBy::ODsync || self.sync == IoSyncPolicy::Every(1),
                "with O_DSYNC each write is made durable",
            ),
            (self.period_ns != Some(0), "its rate is out of range"),
            (self.end.has_work(), NO_WORK),
        ]);
        fault.or_else(|| fault_of_bytes(self.size_bytes.saturating_mul(self.files.into())))
    }
}

impl BlockSize {
    fn is_possible(self) -> bool {
        (1..=LARGEST_BLOCK_BYTES).contains(&u64::from(self.bytes)) && self.weight > 0
    }

    /// Whether it can be at an offset of its own.
    const fn is_whole(self) -> bool {
        self.bytes.is_multiple_of(SECTOR_BYTES)
    }
}

fn is_depth(depth: u32, largest_bytes: u32) -> bool {
    (1..=DEEPEST).contains(&depth)
        && u64::from(depth) * u64::from(largest_bytes) <= MOST_BUFFER_BYTES
}

impl IoEnd {
    /// The end, if exactly one is given.
    pub(super) fn of(
        amount: Option<Bytes>,
        operations: Option<u64>,
        time: Option<Span>,
    ) -> Option<Self> {
        match (amount, operations, time) {
            (Some(amount), None, None) => Some(Self::Bytes(amount.0)),
            (None, Some(operations), None) => Some(Self::Operations(operations)),
            (None, None, Some(time)) => Some(Self::Time(time.nanos())),
            _ => None,
        }
    }

    /// Whether there is anything before it.
    pub(super) fn has_work(self) -> bool {
        let (Self::Bytes(amount) | Self::Operations(amount) | Self::Time(amount)) = self;
        amount > 0
    }

    pub(super) fn scaled(self, scaled: impl Fn(u64) -> u64) -> Self {
        match self {
            Self::Bytes(bytes) => Self::Bytes(scaled(bytes)),
            Self::Operations(operations) => Self::Operations(scaled(operations)),
            Self::Time(nanos) => Self::Time(scaled(nanos)),
        }
    }
}

/// A name is one plain file in the trial's directory.
fn check_name(name: &str) -> Result<(), String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if name.is_empty() || name.len() > 64 || !name.chars().all(is_plain) {
        return Err(format!("`{name}` is not a valid file name: use letters, digits, `-` and `_`"));
    }
    Ok(())
}

#[cfg(test)]
mod tests;

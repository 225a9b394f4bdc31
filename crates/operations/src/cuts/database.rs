//! A database that keeps its promises by a log: what it writes, and what recovery makes of it.
//!
//! Modelled on `PostgreSQL`, whose manual explains it in "Reliability and the Write-Ahead Log": a
//! commit's record is written to a log and synced; the pages that it changed are written in place
//! at the next checkpoint, and synced; a control file, smaller than a sector, then says from where
//! the log is needed. Recovery repeats the log from there, as long as its records are whole.
//!
//! A page that is larger than what a drive writes at once may be torn, and records of changes do
//! not repair it: [`TornPages`] says what does. Every sector names its page and the commit that
//! last changed it, so that old, new, torn and lost pages can be told apart.
//!
//! Which pages a commit changes follows from the seed in the control file: everything that is
//! written can be computed again.

use std::collections::{BTreeMap, BTreeSet};

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::contents::RECORD_BYTES;
use super::file_state::{Damage, FileState};

/// The unit in which the log is written: the block that the last record ended in is written again
/// with the next one. `PostgreSQL`'s default (`XLOG_BLCKSZ`).
pub const LOG_BLOCK_BYTES: usize = 8192;

/// The control file's bytes: one sector, which is never torn.
pub const CONTROL_BYTES: usize = SECTOR;

/// The files of a database, in its directory.
pub const CONTROL: &str = "control";
/// See [`CONTROL`].
pub const LOG: &str = "log";
/// See [`CONTROL`].
pub const TABLE: &str = "table";
/// See [`CONTROL`].
pub const DOUBLE_WRITE: &str = "double-write";

/// What is checked as one: no drive tears less.
const SECTOR_BYTES: u32 = 512;
const SECTOR: usize = SECTOR_BYTES as usize;

/// The first bytes of the control file, of a record of the log, and of a page's sectors.
const CONTROL_MAGIC: [u8; 8] = *b"ssdlabC1";
const RECORD_MAGIC: [u8; 8] = *b"ssdlabL1";
const SECTOR_MAGIC: [u8; 8] = *b"ssdlabP1";

/// What repairs a page that a power cut has torn.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub enum TornPages {
    /// Nothing: `PostgreSQL` with `full_page_writes` off.
    #[serde(rename = "nothing")]
    Nothing,
    /// The log, which gets the whole page when it is first changed after a checkpoint:
    /// `PostgreSQL`'s `full_page_writes`.
    #[default]
    #[serde(rename = "full pages")]
    FullPages,
    /// A copy in another file, which is written and synced before the page: `InnoDB`'s doublewrite
    /// buffer.
    #[serde(rename = "double write")]
    DoubleWrite,
}

impl TornPages {
    /// Its name in plans.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::FullPages => "full pages",
            Self::DoubleWrite => "double write",
        }
    }
}

/// The constants of a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DatabaseShape {
    pub page_bytes: u32,
    pub table_pages: u32,
    /// The pages that each commit changes.
    pub pages: u32,
    /// The number of commits from one checkpoint to the next.
    pub checkpoint_every: u32,
    /// What repairs torn pages.
    pub torn_pages: TornPages,
}

impl DatabaseShape {
    /// The bytes of the log, which is written from its beginning again when it is full: what the
    /// commits from one checkpoint to the next need, and two blocks that they share with others.
    pub fn log_bytes(&self) -> u64 {
        let whole = u64::from(self.pages) * u64::from(self.page_bytes);
        let images = if self.torn_pages == TornPages::FullPages { whole } else { 0 };
        let record = images.saturating_add(RECORD_BYTES as u64);
        let records = record.saturating_mul(self.checkpoint_every.into());
        let blocks = records.div_ceil(LOG_BLOCK_BYTES as u64) + 2;
        blocks.saturating_mul(LOG_BLOCK_BYTES as u64)
    }

    pub fn table_bytes(&self) -> u64 {
        u64::from(self.table_pages) * u64::from(self.page_bytes)
    }

    /// The bytes of the copies of pages that are about to be written.
    pub fn double_write_bytes(&self) -> u64 {
        let dirty = u64::from(self.checkpoint_every) * u64::from(self.pages);
        let dirty = dirty.min(self.table_pages.into());
        let is_used = self.torn_pages == TornPages::DoubleWrite;
        if is_used { dirty * u64::from(self.page_bytes) } else { 0 }
    }

    /// The bytes of all its files.
    pub fn bytes(&self) -> u64 {
        let all = [self.table_bytes(), self.log_bytes(), self.double_write_bytes()];
        all.into_iter().fold(CONTROL_BYTES as u64, u64::saturating_add)
    }

    /// A page, last changed by a commit.
    pub fn page(&self, number: u32, commit: u32) -> Vec<u8> {
        let sectors = 0..self.page_bytes / SECTOR_BYTES;
        sectors.flat_map(|index| self.sector(number, commit, index)).collect()
    }

    /// A sector of a page: a header, and a pseudorandom function of it.
    fn sector(&self, number: u32, commit: u32, index: u32) -> [u8; SECTOR] {
        let own = [self.torn_pages as u32, number, commit, index];
        filled(SECTOR_MAGIC, own)
    }

    /// The commit that last changed a page with these bytes, if it is whole.
    fn commit_of(&self, number: u32, bytes: &[u8]) -> Result<u32, Damage> {
        if bytes.len() < self.page_bytes as usize {
            return Err(Damage::Torn);
        }
        let sectors = (0..).zip(bytes.chunks_exact(SECTOR));
        let commits: Vec<Result<u32, Damage>> = sectors
            .map(|(index, sector)| {
                let commit = u32::from_le_bytes([sector[16], sector[17], sector[18], sector[19]]);
                let is_zeros = sector.iter().all(|byte| *byte == 0);
                let fault = if is_zeros { Damage::Zeros } else { Damage::Garbage };
                let is_whole = *sector == self.sector(number, commit, index);
                is_whole.then_some(commit).ok_or(fault)
            })
            .collect();
        if let Some(fault) = commits.iter().filter_map(|commit| commit.err()).max() {
            return Err(fault);
        }
        match commits[0] {
            first if commits.iter().all(|commit| *commit == first) => first,
            _ => Err(Damage::Torn),
        }
    }

    /// The pages that a commit changes, in the order of their numbers.
    fn changed(&self, seed: u64, commit: u32) -> BTreeSet<u32> {
        let mut random = SplitMix64::seed_from_u64(seed ^ u64::from(commit));
        let mut pages = BTreeSet::new();
        while pages.len() < self.pages as usize {
            let page = random.next_u64() % u64::from(self.table_pages);
            pages.insert(u32::try_from(page).expect("it is below the number of pages"));
        }
        pages
    }
}

/// A header of a magic and some fields, and pseudorandom bytes that follow from it.
fn filled<const N: usize>(magic: [u8; 8], fields: [u32; 4]) -> [u8; N] {
    let mut bytes = [0; N];
    bytes[..8].copy_from_slice(&magic);
    let mut seed = 0;
    for (place, field) in fields.into_iter().enumerate() {
        bytes[8 + 4 * place..12 + 4 * place].copy_from_slice(&field.to_le_bytes());
        seed = SplitMix64::seed_from_u64(seed ^ u64::from(field)).next_u64();
    }
    SplitMix64::seed_from_u64(seed).fill_bytes(&mut bytes[24..]);
    bytes
}

/// What the control file says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checkpoint {
    /// Decides which pages commits change.
    pub seed: u64,
    /// The last commit whose pages are all in the table, safely.
    pub commit: u32,
    /// The bytes of the log up to there.
    pub log_bytes: u64,
}

impl Checkpoint {
    /// The contents of the control file.
    pub fn to_bytes(self) -> [u8; CONTROL_BYTES] {
        let mut bytes = [0; CONTROL_BYTES];
        bytes[..8].copy_from_slice(&CONTROL_MAGIC);
        bytes[8..16].copy_from_slice(&self.seed.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.log_bytes.to_le_bytes());
        bytes[24..28].copy_from_slice(&self.commit.to_le_bytes());
        bytes
    }

    /// Reads the control file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Damage> {
        let Some(bytes) = bytes.first_chunk::<CONTROL_BYTES>() else {
            return Err(if bytes.is_empty() { Damage::Empty } else { Damage::Torn });
        };
        if *bytes == [0; CONTROL_BYTES] {
            return Err(Damage::Zeros);
        }
        let number = |at: usize| u64::from_le_bytes(std::array::from_fn(|index| bytes[at + index]));
        let commit = u32::from_le_bytes(std::array::from_fn(|index| bytes[24 + index]));
        let own = Self { seed: number(8), commit, log_bytes: number(16) };
        if own.to_bytes() == *bytes { Ok(own) } else { Err(Damage::Garbage) }
    }
}

/// The commits after a checkpoint, in order.
#[derive(Debug, Clone)]
pub struct Commits {
    shape: DatabaseShape,
    seed: u64,
    last: u32,
    end_bytes: u64,
    /// The pages whose images the log has got since the checkpoint.
    imaged: BTreeSet<u32>,
}

/// What a commit writes to the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitRecord {
    /// The commit, from 1 on.
    pub commit: u32,
    /// The pages that it changes.
    pub pages: BTreeSet<u32>,
    /// Where it begins in a log without end; the file holds it at the remainder by its size.
    pub at_bytes: u64,
    /// The record, followed by the images of pages.
    pub bytes: Vec<u8>,
}

impl Commits {
    pub fn after(shape: DatabaseShape, checkpoint: Checkpoint) -> Self {
        let Checkpoint { seed, commit: last, log_bytes: end_bytes } = checkpoint;
        Self { shape, seed, last, end_bytes, imaged: BTreeSet::new() }
    }

    /// The next one.
    pub fn commit(&mut self) -> CommitRecord {
        let commit = self.last + 1;
        let pages = self.shape.changed(self.seed, commit);
        let mut bytes = filled::<RECORD_BYTES>(RECORD_MAGIC, [commit, 0, 0, 0]).to_vec();
        if self.shape.torn_pages == TornPages::FullPages {
            for page in &pages {
                if self.imaged.insert(*page) {
                    bytes.extend(self.shape.page(*page, commit));
                }
            }
        }
        let at_bytes = self.end_bytes;
        (self.last, self.end_bytes) = (commit, at_bytes + bytes.len() as u64);
        CommitRecord { commit, pages, at_bytes, bytes }
    }

    /// A checkpoint here: what follows begins anew.
    pub fn checkpoint(&mut self) -> Checkpoint {
        self.imaged.clear();
        Checkpoint { seed: self.seed, commit: self.last, log_bytes: self.end_bytes }
    }
}

/// The contents of a database's files.
#[derive(Debug, Clone, Default)]
pub struct DatabaseFiles {
    pub control: Vec<u8>,
    pub log: Vec<u8>,
    pub table: Vec<u8>,
    /// The copies of pages; empty if there are none.
    pub double_write: Vec<u8>,
}

impl FileState {
    /// What recovery makes of a database: its version is the last commit such that no change up to
    /// it is lost, its fault that of a page which nothing repairs.
    pub fn of_database(shape: DatabaseShape, files: &DatabaseFiles) -> Self {
        let checkpoint = match Checkpoint::from_bytes(&files.control) {
            Ok(checkpoint) => checkpoint,
            Err(fault) => return Self::faulty(fault),
        };
        let (last, rebuilt) = replayed(shape, checkpoint, &files.log);
        let copies = copies(shape, &files.double_write);
        let mut newest = vec![0; shape.table_pages as usize];
        for commit in 1..=checkpoint.commit {
            for page in shape.changed(checkpoint.seed, commit) {
                newest[page as usize] = commit;
            }
        }
        let mut found = Self { version: Some(last), fault: None };
        for (number, newest) in (0..).zip(newest) {
            if rebuilt.contains(&number) {
                continue;
            }
            let at = number as usize * shape.page_bytes as usize;
            let page = files.table.get(at..at + shape.page_bytes as usize).unwrap_or_default();
            let copy = |fault| copies.get(&number).copied().ok_or(fault);
            match shape.commit_of(number, page).or_else(copy) {
                Err(fault) => found.fault = found.fault.max(Some(fault)),
                // A page is written after the log: this one has changes that the log has lost.
                Ok(commit) if commit > last => found.fault = found.fault.max(Some(Damage::Garbage)),
                Ok(commit) if commit < newest => {
                    let changes =
                        |change: &u32| shape.changed(checkpoint.seed, *change).contains(&number);
                    let gone = (commit + 1..=newest).find(changes);
                    found.version = found.version.min(gone.map(|gone| gone - 1));
                }
                Ok(_) => {}
            }
        }
        found
    }
}

/// The last commit that the log repeats, and the pages that it holds as a whole.
fn replayed(shape: DatabaseShape, checkpoint: Checkpoint, log: &[u8]) -> (u32, BTreeSet<u32>) {
    let mut commits = Commits::after(shape, checkpoint);
    let (mut last, mut rebuilt) = (checkpoint.commit, BTreeSet::new());
    let capacity = shape.log_bytes();
    while log.len() as u64 == capacity {
        let CommitRecord { commit, pages, at_bytes, bytes } = commits.commit();
        let is_whole = (at_bytes..)
            .zip(&bytes)
            .all(|(at, byte)| usize::try_from(at % capacity).is_ok_and(|at| log[at] == *byte));
        if !is_whole {
            break;
        }
        last = commit;
        if shape.torn_pages == TornPages::FullPages {
            rebuilt.extend(pages);
        }
    }
    (last, rebuilt)
}

/// The commits that last changed the pages of which there is a whole copy. Behind the copies of the
/// last checkpoint there may be older ones of the same pages.
fn copies(shape: DatabaseShape, double_write: &[u8]) -> BTreeMap<u32, u32> {
    let mut copies = BTreeMap::new();
    for copy in double_write.chunks_exact(shape.page_bytes as usize) {
        let number = u32::from_le_bytes([copy[12], copy[13], copy[14], copy[15]]);
        if let Ok(commit) = shape.commit_of(number, copy) {
            let newest = copies.entry(number).or_insert(commit);
            *newest = commit.max(*newest);
        }
    }
    copies
}

#[cfg(test)]
mod tests;

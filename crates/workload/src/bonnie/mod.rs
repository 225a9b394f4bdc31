//! Bonnie's tests, as bonnie++ 2.00 defines them, on the trial's directory.
//!
//! Each test documents what its clock includes, what one timed operation is, and what it reads and
//! writes, with the file of bonnie++ that defines it. Differences, and reasons:
//!
//! - A test that takes less than `least` is repeated; its rate is over all passes. bonnie++ prints
//!   `+++++` below half a second.
//! - The file stays, so that it can be verified; bonnie++ deletes it after the seeks.
//! - bonnie++ calls sync(2), which syncs every filesystem of the machine; this syncs only its own.
//! - Before a test that reads the file, the caches are dropped; bonnie++ requires a file of twice
//!   the memory. The small files keep their cache state, as in bonnie++.
//! - All latencies are kept; bonnie++ keeps the longest.

mod clock;
mod files;
mod seeks;
#[cfg(test)]
mod tests;
mod transfers;

use std::os::fd::OwnedFd;
use std::time::Duration;

use ssdlab_host::program::Rules;
use ssdlab_plan::{self as plan, BonnieTest};

use self::clock::PassClock;
use self::files::FileSet;
use self::transfers::{FILE, FILE_MODE, FileTransfer};
use super::content::Content;
use super::player::open_directory;
use super::script::Script;
use super::synthetic::bonnie::{BonnieData, BonnieOrder, Chunks, Seeks, small_files};
use super::{PhaseContext, PhaseOutcome, WorkloadError};

/// Bonnie's tests, for one trial after another.
#[derive(Debug)]
pub(super) struct BonnieRunner {
    sizes: plan::Bonnie,
    seed: u64,
    left: Left,
}

/// What the tests have left in the directory.
#[derive(Debug, Default)]
struct Left {
    file: Option<BonnieData>,
    sequential: Option<FileSet>,
    random: Option<FileSet>,
}

impl BonnieRunner {
    /// Tests of these sizes.
    pub fn new(sizes: plan::Bonnie) -> Self {
        Self { sizes, seed: 0, left: Left::default() }
    }

    /// Begins a trial.
    pub fn seed(&mut self, seed: u64) {
        self.seed = seed;
        self.left = Left::default();
    }

    /// The directory was emptied.
    pub fn forget(&mut self) {
        self.left = Left::default();
    }

    /// Performs a test; with `is_cold` its file must not be in the page cache.
    pub fn perform(
        &mut self,
        test: BonnieTest,
        is_cold: bool,
        place: PhaseContext<'_>,
    ) -> Result<PhaseOutcome, WorkloadError> {
        let directory = open_directory(place.directory)?;
        let clock = PassClock::new(place.rules, Duration::from_nanos(self.sizes.least_ns));
        if test.is_of_the_file() {
            return self.on_the_file(test, is_cold, &directory, place.rules, clock);
        }
        let order = match test {
            BonnieTest::SeqCreate | BonnieTest::SeqStat | BonnieTest::SeqDelete => {
                BonnieOrder::Sequential
            }
            _ => BonnieOrder::Random,
        };
        let left = match order {
            BonnieOrder::Sequential => &mut self.left.sequential,
            BonnieOrder::Random => &mut self.left.random,
        };
        let sizes = &self.sizes;
        let mut files = match left.take() {
            Some(files) => files,
            None => FileSet::new(sizes, order, self.seed, &directory)?,
        };
        let done = match test {
            BonnieTest::SeqCreate | BonnieTest::RandomCreate => files.create(clock, place)?,
            BonnieTest::SeqStat | BonnieTest::RandomStat => files.stat(clock)?,
            _ => return files.delete(clock, place),
        };
        *left = Some(files);
        Ok(done)
    }

    fn on_the_file(
        &mut self,
        test: BonnieTest,
        is_cold: bool,
        directory: &OwnedFd,
        rules: Rules<'_>,
        clock: PassClock<'_>,
    ) -> Result<PhaseOutcome, WorkloadError> {
        let sizes = &self.sizes;
        let chunk_bytes = usize::try_from(sizes.chunk_bytes).expect("it is 1 MiB at the most");
        let chunks = sizes.size_bytes / sizes.chunk_bytes;
        let char_chunks = sizes.char_bytes / sizes.chunk_bytes;
        let mut transfer = FileTransfer::new(directory, chunk_bytes, is_cold, clock);
        let none = Seeks { seed: self.seed, chunks, made: 0 };
        let fresh = Chunks { chunk_bytes, rewrites: 0, seeks: none };
        let mut held = match self.left.file {
            Some(BonnieData::Chunks(chunks)) => chunks,
            _ => fresh,
        };
        match test {
            BonnieTest::SeqOutputChar => {
                transfer.write_characters(char_chunks)?;
                self.left.file = Some(BonnieData::Characters);
                return Ok(transfer.done());
            }
            BonnieTest::SeqOutputBlock => {
                transfer.write_chunks(chunks)?;
                held = fresh;
            }
            BonnieTest::Rewrite => held.rewrites += transfer.rewrite(chunks)?,
            BonnieTest::SeqInputChar => transfer.read_characters(char_chunks)?,
            BonnieTest::SeqInputBlock => transfer.read_chunks(chunks)?,
            _ => {
                let seekers = seeks::Seekers { sizes, held, rules, directory, is_cold };
                let (done, made) = seekers.seek(transfer.clock)?;
                held.seeks.made = made;
                self.left.file = Some(BonnieData::Chunks(held));
                return Ok(done);
            }
        }
        self.left.file = Some(BonnieData::Chunks(held));
        Ok(transfer.done())
    }

    /// A script that produces the directory's current state.
    pub fn leaves(&self) -> Script {
        let mut script = Script::default();
        let file = |script: &mut Script, path: &str, bytes, data| {
            script.make_file(path, FILE_MODE, bytes, Content::Bonnie(data), None);
        };
        if let Some(data) = self.left.file {
            let bytes = match data {
                BonnieData::Characters => self.sizes.char_bytes,
                BonnieData::Chunks(_) => self.sizes.size_bytes,
            };
            file(&mut script, FILE, bytes, data);
        }
        for (order, left) in [
            (BonnieOrder::Sequential, &self.left.sequential),
            (BonnieOrder::Random, &self.left.random),
        ] {
            if left.is_none() {
                continue;
            }
            let top = files::top(order);
            script.make_directory(top);
            if self.sizes.directories > 1 {
                for number in 0..self.sizes.directories {
                    script.make_directory(&format!("{top}/{}", files::inner(number)));
                }
            }
            for small in small_files(&self.sizes, order, self.seed) {
                let path = format!("{top}/{}", files::path(&self.sizes, &small));
                file(&mut script, &path, small.bytes, BonnieData::Characters);
            }
        }
        script
    }
}

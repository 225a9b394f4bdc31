//! Phases that commit as a database server does (`do = "database"`): their form in a plan, and what
//! it means.

use std::fmt;
use std::ops::Range;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_operations::cuts::database::{DatabaseShape, TornPages};
use ssdlab_quantity::{Bytes, Span};

use super::error::PlanFault;
use super::limits::{first_false, small, sound};
use super::think::think_ns;

/// The defaults.
const SIZE: Bytes = Bytes(64 << 20);
const PAGE: Bytes = Bytes(8 << 10);
const PAGES: u32 = 4;
const CHECKPOINT_EVERY: u32 = 200;

/// The sizes of pages of `PostgreSQL`, `InnoDB` and others.
const PAGE_BYTES: std::ops::RangeInclusive<u32> = 4 << 10..=64 << 10;

/// The largest database: all of it is read after every power cut.
const MOST_BYTES: u64 = 4 << 30;

/// The most commits of one phase: each power cut is judged against all of them.
const MOST_COMMITS: u32 = 1_000_000;

/// A database, as a plan writes it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WrittenDatabase {
    /// The size of the table, which is written before the first phase (default 64 MiB). The log,
    /// with room for what the commits between two checkpoints write, is allocated then, too, and
    /// recycled.
    #[schemars(example = &"256 MiB")]
    pub size: Option<Bytes>,
    /// The size of a page: a power of two from 4 to 64 KiB (default 8 KiB, as in `PostgreSQL`;
    /// `InnoDB` has 16 KiB).
    #[schemars(example = &"16 KiB")]
    pub page: Option<Bytes>,
    /// The number of pages, at random places, that each commit changes (default 4).
    #[schemars(example = 8)]
    pub pages: Option<u32>,
    /// The number of commits. Each appends a record of 500 bytes to the log, which is written in
    /// blocks of 8 KiB, and waits for `fdatasync`.
    #[schemars(example = 1000)]
    pub commits: u32,
    /// The number of commits from one checkpoint to the next (default 200). The commit before a
    /// checkpoint waits until the changed pages are written and synced.
    #[schemars(example = 500)]
    pub checkpoint_every: Option<u32>,
    /// What repairs pages that a power cut has torn (default `full pages`).
    #[serde(default)]
    #[schemars(example = &"double write")]
    pub torn_pages: TornPages,
    /// The time from the end of a commit to the next (default 100 ms).
    #[schemars(example = &"1 ms")]
    pub think: Option<Span>,
}

/// A database, with everything explicit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Database {
    /// Its constants.
    pub shape: DatabaseShape,
    pub commits: u32,
    /// The time between two commits, in ns.
    pub think_ns: u64,
}

impl fmt::Display for Database {
    /// As a plan writes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { shape, commits, think_ns } = self;
        let DatabaseShape { page_bytes, pages, checkpoint_every, torn_pages, .. } = shape;
        let size = shape.table_bytes();
        let think = Span(Duration::from_nanos(*think_ns));
        let torn_pages = torn_pages.name();
        write!(
            f,
            "database = {{ size = {size}, page = {page_bytes}, pages = {pages}, \
             commits = {commits}, checkpoint_every = {checkpoint_every}, \
             torn_pages = \"{torn_pages}\", think = \"{think}\" }}"
        )
    }
}

impl Database {
    /// What exceeds the limits of plans, if anything.
    pub(super) fn fault(&self) -> Option<String> {
        let DatabaseShape { page_bytes, table_pages, pages, checkpoint_every, .. } = self.shape;
        let is_page = page_bytes.is_power_of_two() && PAGE_BYTES.contains(&page_bytes);
        first_false([
            (is_page, "`page` must be a power of two from 4 KiB to 64 KiB"),
            (
                // Pages are drawn until they differ, which is fast only while they are few.
                0 < pages && pages <= table_pages / 4,
                "`pages` must be from 1 to a quarter of the table's pages",
            ),
            (0 < checkpoint_every, "`checkpoint_every` must be at least 1"),
            (self.shape.bytes() <= MOST_BYTES, "a database can have 4 GiB, with its log"),
            (0 < self.commits && self.commits <= MOST_COMMITS, "1 to 1000000 commits are possible"),
        ])
    }

    /// The system calls that it makes, about: a commit writes and syncs the log, and its pages are
    /// written once.
    pub fn calls(&self) -> u64 {
        u64::from(self.commits).saturating_mul(2 + u64::from(self.shape.pages))
    }
}

/// Resolves a plan's table; `scaled` multiplies the number of commits.
pub(super) fn resolve(
    written: &WrittenDatabase,
    at: &Range<usize>,
    scaled: impl Fn(u64) -> u64,
) -> Result<Database, PlanFault> {
    let page_bytes = written.page.unwrap_or(PAGE).0;
    let table_pages = written.size.unwrap_or(SIZE).0.checked_div(page_bytes).unwrap_or(0);
    let shape = DatabaseShape {
        page_bytes: small(page_bytes),
        table_pages: small(table_pages),
        pages: written.pages.unwrap_or(PAGES),
        checkpoint_every: written.checkpoint_every.unwrap_or(CHECKPOINT_EVERY),
        torn_pages: written.torn_pages,
    };
    let commits = small(scaled(written.commits.into()));
    let database = Database { shape, commits, think_ns: think_ns(written.think) };
    let help = "for example database = { commits = 1000, torn_pages = \"double write\" }";
    sound(database, database.fault(), at, help)
}

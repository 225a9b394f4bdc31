//! Phases that commit transactions as `SQLite` does (`do = "transactions"`): their form in a plan,
//! and what it means.

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_quantity::{Bytes, PerSecond, Rate, Span};

use super::error::PlanFault;
use super::io::IoEnd;
use super::limits::{NO_WORK, fault_of_bytes, first_false};
use super::think::think_ns;

/// A page in bytes: `SQLite`'s default since 3.12.0 (2016).
pub const PAGE_BYTES: usize = 4096;

/// The database's name in the trial's directory.
pub const DATABASE: &str = "database";

/// The name of the file that is written beside the transactions, and its maximum size in bytes.
pub const STREAM: &str = "stream";
/// See [`STREAM`].
pub const STREAM_BYTES: u64 = 1 << 30;

/// The defaults.
const DATABASE_BYTES: Bytes = Bytes(16 << 20);
const PAGES: u64 = 4;

/// Transactions, as a plan writes them.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WrittenTransactions {
    /// The size of the database, which is written before the first phase (default 16 MiB).
    #[schemars(example = &"64 MiB")]
    pub database: Option<Bytes>,
    /// The number of 4 KiB pages that each transaction changes, besides the database's first page
    /// (default 4).
    #[schemars(example = 8)]
    pub pages: Option<u64>,
    /// How a transaction is made atomic (default `rollback`).
    #[serde(default)]
    #[schemars(example = &"wal")]
    pub journal: JournalMode,
    /// When a transaction is synced, as in `SQLite`'s `PRAGMA synchronous` (default `full`).
    #[serde(default)]
    #[schemars(example = &"normal")]
    pub synchronous: Synchronous,
    /// The phase ends after this many transactions.
    #[schemars(example = 120)]
    pub number: Option<u64>,
    /// The phase ends after this time.
    #[schemars(example = &"1 min")]
    pub time: Option<Span>,
    /// The time from the end of a transaction to the next (default 100 ms).
    #[schemars(example = &"500 ms")]
    pub think: Option<Span>,
    /// The rate at which transactions fall due (`"10/s"`), whether or not earlier ones have
    /// completed; latency is then measured from the time a transaction was due.
    #[schemars(example = &"2/s")]
    pub rate: Option<PerSecond>,
    /// The rate at which another thread writes to another file at the same time, through the page
    /// cache (`"32 MB/s"`; default: there is no such thread).
    #[schemars(example = &"8 MB/s")]
    pub beside: Option<Rate>,
}

/// How a transaction is made atomic.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum JournalMode {
    /// The old pages are saved in a journal file; deleting that file commits the transaction.
    #[default]
    Rollback,
    /// The new pages are appended to a log, which is periodically checkpointed into the database.
    Wal,
}

/// When a transaction is synced.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Synchronous {
    /// Before the next one begins. In WAL mode a power cut loses no committed transaction; with a
    /// rollback journal it may lose the last one, as the deletion of the journal is not synced
    /// (`SQLite`'s EXTRA would).
    #[default]
    Full,
    /// Less often: in WAL mode, only when the log is checkpointed.
    Normal,
    /// Never.
    Off,
}

/// Transactions, with everything explicit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Transactions {
    pub database_pages: u64,
    /// Pages that a transaction changes, besides the first.
    pub pages: u64,
    /// How a transaction is made atomic.
    pub journal: JournalMode,
    /// When it is synced.
    #[serde(default)]
    pub synchronous: Synchronous,
    /// When it ends.
    pub end: IoEnd,
    /// The time between the end of a transaction and the next of a closed load, in ns.
    pub think_ns: u64,
    /// The time between two transactions of an open load, in ns; none for a closed one.
    pub period_ns: Option<u64>,
    /// Bytes a second that another thread writes meanwhile.
    pub beside_bytes_per_second: Option<u64>,
}

impl Transactions {
    /// What exceeds the limits of plans, if anything.
    pub(super) fn fault(&self) -> Option<String> {
        let fault = first_false([
            (
                are_few(self.pages, self.database_pages),
                "the number of pages per transaction is out of range",
            ),
            (!matches!(self.end, IoEnd::Bytes(_)), "transactions do not end after bytes"),
            (self.period_ns != Some(0), "its rate is out of range"),
            (self.beside_bytes_per_second != Some(0), "the rate of `beside` is out of range"),
            (self.end.has_work(), NO_WORK),
        ]);
        fault.or_else(|| fault_of_bytes(self.database_pages.saturating_mul(PAGE_BYTES as u64)))
    }

    /// The time from one to the next, as far as the plan determines it, in ns.
    pub fn pause_ns(&self) -> u64 {
        self.period_ns.unwrap_or(self.think_ns)
    }

    /// A lower bound of how long they take, in ns: while they are due or, in a closed load, while
    /// somebody thinks.
    pub fn lasts_ns(&self) -> u64 {
        match self.end {
            IoEnd::Operations(number) => number.saturating_mul(self.pause_ns()),
            IoEnd::Time(ns) => ns,
            IoEnd::Bytes(_) => 0,
        }
    }

    /// A lower bound of the bytes written beside them. At most [`STREAM_BYTES`] of them exist at a
    /// time.
    pub fn streamed_bytes(&self) -> u64 {
        (self.lasts_ns() / 1_000_000_000).saturating_mul(self.beside_bytes_per_second.unwrap_or(0))
    }
}

/// Whether a transaction can change so many pages. All but the first are drawn until they differ,
/// which is fast only while they are few.
fn are_few(pages: u64, database_pages: u64) -> bool {
    0 < pages && pages <= database_pages / 4
}

/// Resolves a plan's table; `scaled` multiplies the amount of work.
pub(super) fn resolve(
    written: &WrittenTransactions,
    at: &Range<usize>,
    scaled: impl Fn(u64) -> u64,
) -> Result<Transactions, PlanFault> {
    let fault = |message: String, help: &str| PlanFault::at(at.clone(), message, help);
    let end = IoEnd::of(None, written.number, written.time).ok_or_else(|| {
        let help = "give one of number = 500, time = \"60 s\"";
        fault("the end of the phase is not defined".to_owned(), help)
    })?;
    if written.think.is_some() && written.rate.is_some() {
        return Err(fault(
            "transactions are either due at a `rate`, or follow each other after a `think` time"
                .to_owned(),
            "omit one of the two",
        ));
    }
    let database = written.database.unwrap_or(DATABASE_BYTES);
    let pages = written.pages.unwrap_or(PAGES);
    let database_pages = database.0 / PAGE_BYTES as u64;
    if !are_few(pages, database_pages) {
        return Err(fault(
            format!("a transaction cannot change {pages} pages of {database}"),
            "`pages` must be from 1 to a quarter of the database's 4 KiB pages",
        ));
    }
    Ok(Transactions {
        database_pages,
        pages,
        journal: written.journal,
        synchronous: written.synchronous,
        end: end.scaled(scaled),
        think_ns: think_ns(written.think),
        period_ns: written.rate.map(PerSecond::period_ns),
        beside_bytes_per_second: written.beside.map(|rate| rate.0),
    })
}

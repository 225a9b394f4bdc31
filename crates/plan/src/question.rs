//! Questions that are asked without a plan file, and the plan that each of them makes.
//!
//! The plan is text, as a person would write it: what is wrong with the question is what is wrong
//! with that plan, and whoever wants to ask more precisely saves and changes it.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use clap::ValueEnum;
use ssdlab_quantity::listed;
use toml::Value;

use super::metric::{self, Aggregation, Better};

/// What is asked: which of some treatments is the best at some work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The treatments; the others are compared with the first.
    pub treatments: Vec<AskedFilesystem>,
    pub work: QuestionWork,
    /// The simulated drives, by name or file; empty for the default of plans.
    pub drives: Vec<String>,
    /// The metrics, the first of which ranks treatments; empty for those of the work.
    pub metrics: Vec<String>,
}

/// A filesystem and its mount options: `ext4:noatime,commit=60`. Whether there are such is checked
/// with the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedFilesystem {
    filesystem: String,
    options: Option<String>,
}

impl FromStr for AskedFilesystem {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        let (filesystem, options) = match text.split_once(':') {
            Some((filesystem, options)) => {
                (filesystem, Some(options).filter(|own| !own.is_empty()))
            }
            None => (text, None),
        };
        Ok(Self { filesystem: filesystem.to_owned(), options: options.map(str::to_owned) })
    }
}

impl fmt::Display for AskedFilesystem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.filesystem)?;
        self.options.iter().try_for_each(|options| write!(f, " with {options}"))
    }
}

/// Work that can be asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum QuestionWork {
    /// Deliver 1,000 messages into Maildirs, as Postfix does.
    Maildir,
    /// Commit 10,000 times, as a database server does.
    Database,
    /// Commit 10,000 transactions as `SQLite` does, with a write-ahead log.
    Sqlite,
    /// Unpack a kernel tree, and delete it.
    KernelTree,
    /// Clone, build and clean a kernel.
    KernelBuild,
    /// Append a line a second to a log for ten minutes; nobody syncs it.
    Log,
    /// Append 10,000 records to a log, each synced.
    SyncedLog,
    /// Overwrite a file of 256 MiB at random: 4 KiB each, 32 at a time, past the page cache.
    RandomWrites,
}

/// Of work that waits for each operation: the mean does not hang on a few, as the percentile does.
const LATENCIES: &[&str] = &["latency.mean_ns", "latency.p99_ns", "written_bytes"];

impl QuestionWork {
    /// Its name, as it is asked for.
    fn name(self) -> String {
        let value = self.to_possible_value().expect("no work is left out");
        value.get_name().to_owned()
    }

    /// What one is good at who does it best.
    fn gerund(self) -> &'static str {
        match self {
            Self::Maildir => "delivering mail",
            Self::Database => "committing to a database",
            Self::Sqlite => "committing to SQLite",
            Self::KernelTree => "unpacking and deleting a kernel tree",
            Self::KernelBuild => "building a kernel",
            Self::Log => "keeping a log that nobody syncs",
            Self::SyncedLog => "keeping a log whose records are synced",
            Self::RandomWrites => "random writes",
        }
    }

    /// Its phases, as a plan writes them.
    fn phases(self) -> &'static [&'static str] {
        match self {
            Self::Maildir => &[r#"{ do = "maildir", maildir = { messages = 1_000 } }"#],
            Self::Database => {
                &[r#"{ do = "database", database = { commits = 10_000, think = "1 ms" } }"#]
            }
            Self::Sqlite => &["{ do = \"transactions\", transactions = { journal = \"wal\", \
                               number = 10_000, think = \"1 ms\" } }"],
            Self::KernelTree => {
                &[r#"{ do = "unpack", sync = true }"#, r#"{ do = "delete", sync = true }"#]
            }
            Self::KernelBuild => &[
                r#"{ do = "clone", sync = true }"#,
                r#"{ do = "make", sync = true }"#,
                r#"{ do = "clean", sync = true }"#,
            ],
            Self::Log => {
                &[r#"{ do = "append", sync = true, append = { records = 600, think = "1 s" } }"#]
            }
            Self::SyncedLog => &["{ do = \"append\", append = { records = 10_000, \
                                  sync_every = 1, think = \"1 ms\" } }"],
            Self::RandomWrites => &["{ do = \"io\", io = { size = \"256 MiB\", depth = 32, \
                                     direct = true, operations = 50_000 } }"],
        }
    }

    /// What is measured of it.
    fn metrics(self) -> &'static [&'static str] {
        match self {
            Self::Maildir | Self::Database | Self::Sqlite | Self::SyncedLog => LATENCIES,
            Self::KernelTree | Self::KernelBuild => &["time_ns", "written_bytes"],
            Self::Log => &["written_bytes", "flushes"],
            Self::RandomWrites => &["ops_per_second", "latency.p99_ns", "written_bytes"],
        }
    }
}

impl Question {
    /// The name of its plan.
    pub fn name(&self) -> String {
        format!("ask-{}", self.work.name())
    }

    /// The question, in words.
    fn sentence(&self) -> String {
        let on = match &self.drives[..] {
            [] => String::new(),
            drives => format!(" on {}", listed(drives)),
        };
        let work = self.work.gerund();
        match &self.treatments[..] {
            [only] => format!("How good is {only} at {work}{on}?"),
            several => {
                let several: Vec<String> = several.iter().map(ToString::to_string).collect();
                format!("Which of {} is the best at {work}{on}?", listed(&several))
            }
        }
    }

    fn metrics(&self) -> Vec<&str> {
        if self.metrics.is_empty() {
            return self.work.metrics().to_vec();
        }
        self.metrics.iter().map(String::as_str).collect()
    }

    /// Whether its first metric can say which treatment is the best.
    fn ranks(&self) -> bool {
        let first = metric::of(self.metrics()[0]);
        let is_of_one = self.work.phases().len() == 1;
        let has_amount = is_of_one || first.together != Aggregation::Never;
        self.treatments.len() > 1 && first.better != Better::Neither && has_amount
    }
}

impl fmt::Display for Question {
    /// Writes the plan.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |text: &str| Value::from(text);
        writeln!(f, "# Made by `ssdlab ask`. Save it in a file, and run it: ssdlab run FILE\n")?;
        writeln!(f, "name = {}", text(&self.name()))?;
        writeln!(f, "question = {}", text(&self.sentence()))?;
        writeln!(f, "metrics = {}", Value::from(self.metrics()))?;
        for AskedFilesystem { filesystem, options } in &self.treatments {
            writeln!(f, "\n[[treatments]]\nfilesystem = {}", text(filesystem))?;
            options.iter().try_for_each(|options| writeln!(f, "mount = {}", text(options)))?;
        }
        if !self.drives.is_empty() {
            let drives = Value::from(self.drives.clone());
            writeln!(f, "\n[virtual.factors]\ndrive = {drives}")?;
        }
        writeln!(f, "\n[workload]\nphases = [")?;
        self.work.phases().iter().try_for_each(|phase| writeln!(f, "    {phase},"))?;
        writeln!(f, "]")?;
        if self.ranks() { writeln!(f, "\n[ranking]") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests;

//! `ssdlab list`: what a plan can name, and what runs on this machine.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use miette::Report;
use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_filesystem as filesystem;
use ssdlab_filesystem::Filesystem;
use ssdlab_host::sysfs;
use ssdlab_host::toolbox::Toolbox;
use ssdlab_kernel as kernel;
use ssdlab_lab as lab;
use ssdlab_plan::metric::{self, Metric};
use ssdlab_plan::shipped::{self, QuestionEra};
use ssdlab_plan::{self as plan, Factor, HOSTS, SCHEDULERS};
use ssdlab_report as report;

use super::exit::{Exit, UsageError};
use super::{input, output};

/// The version of the `--json` output.
const LIST_SCHEMA: u32 = 1;

/// Arguments of `ssdlab list`.
#[derive(Debug, Args)]
pub struct ListCommand {
    /// What to list (default: everything).
    #[arg(value_enum)]
    what: Option<What>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum What {
    Plans,
    Filesystems,
    Features,
    Factors,
    Schedulers,
    Hosts,
    Workloads,
    Metrics,
}

impl What {
    /// All but features, which are a table.
    const LISTS: [Self; 7] = [
        Self::Plans,
        Self::Filesystems,
        Self::Factors,
        Self::Schedulers,
        Self::Hosts,
        Self::Workloads,
        Self::Metrics,
    ];

    fn entries(self) -> Vec<Entry> {
        match self {
            Self::Plans => plans(),
            Self::Filesystems => entries(filesystems()),
            Self::Features => Vec::new(),
            Self::Factors => entries(factor_rows()),
            Self::Schedulers => entries(schedulers()),
            Self::Hosts => entries(hosts()),
            Self::Workloads => entries(workloads()),
            Self::Metrics => entries(metrics()),
        }
    }
}

/// Names, each with a description.
pub type NamedRows = Vec<(String, String)>;

/// What `ssdlab list --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Listed")]
pub struct ListOutput {
    /// The version of this format.
    schema: u32,
    /// The lists that were asked for, by what they are of.
    lists: BTreeMap<String, Vec<Entry>>,
}

/// Something that a plan can name, or a plan.
#[derive(Debug, Serialize, JsonSchema)]
struct Entry {
    name: String,
    /// What it is; of a plan, its question.
    says: String,
    /// Of plans: which they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<Group>,
}

/// Which plans.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Group {
    /// Shipped: what was asked in 2009 and 2011.
    Founding,
    /// Shipped: what people have asked since.
    Today,
    /// The plan files of the current folder.
    Yours,
}

impl Group {
    const ALL: [Self; 3] = [Self::Founding, Self::Today, Self::Yours];

    fn says(self) -> &'static str {
        match self {
            Self::Founding => "founding: asked in 2009 and 2011",
            Self::Today => "today: asked since then, in issues and forums",
            Self::Yours => "yours: the plan files in this folder",
        }
    }
}

impl From<QuestionEra> for Group {
    fn from(asked: QuestionEra) -> Self {
        match asked {
            QuestionEra::Founding => Self::Founding,
            QuestionEra::Today => Self::Today,
        }
    }
}

impl ListCommand {
    pub fn run(&self) -> Result<Exit, Report> {
        match (self.what, self.json) {
            (Some(What::Features), true) => {
                return Err(UsageError::report(
                    "features of filesystems are a table, not a list",
                    "omit --json",
                ));
            }
            (Some(What::Features), false) => {
                let all = filesystem::ALL.map(|filesystem| (filesystem, BTreeMap::new()));
                output::print(&(report::features(&all, output::style()) + "\n"));
            }
            (_, true) => {
                let named = |(what, entries)| (name(what), entries);
                let lists = self.lists().into_iter().map(named).collect();
                output::print_json(&ListOutput { schema: LIST_SCHEMA, lists });
            }
            (_, false) => output::print(&self.text()),
        }
        Ok(Exit::Done)
    }

    /// The lists that were asked for.
    fn lists(&self) -> Vec<(What, Vec<Entry>)> {
        let lists = What::LISTS.into_iter();
        let asked = lists.filter(|what| self.what.is_none_or(|only| only == *what));
        asked.map(|what| (what, what.entries())).collect()
    }

    fn text(&self) -> String {
        let mut out = String::new();
        for (what, entries) in self.lists() {
            if self.what.is_none() {
                let _ = writeln!(out, "{}", name(what));
            }
            let width = entries.iter().map(|entry| entry.name.len()).max().unwrap_or(0);
            for entry in entries.iter().filter(|entry| entry.group.is_none()) {
                let _ = writeln!(out, "  {:width$}  {}", entry.name, entry.says);
            }
            for group in Group::ALL {
                let mut of = entries.iter().filter(|entry| entry.group == Some(group)).peekable();
                if of.peek().is_some() {
                    let _ = writeln!(out, "  {}", group.says());
                }
                for entry in of {
                    let _ = writeln!(out, "    {:width$}  {}", entry.name, entry.says);
                }
            }
        }
        out
    }
}

fn name(what: What) -> String {
    format!("{what:?}").to_lowercase()
}

fn entries(rows: NamedRows) -> Vec<Entry> {
    let entry = |(name, says)| Entry { name, says, group: None };
    rows.into_iter().map(entry).collect()
}

fn plans() -> Vec<Entry> {
    let question = |text: &str| plan::parse("", text).map(|plan| plan.own_question());
    let shipped = shipped::all().map(|plan| Entry {
        name: plan.name.to_owned(),
        says: question(plan.text).unwrap_or_default(),
        group: Some(plan.asked.into()),
    });
    shipped.chain(plan_files(Path::new("."))).collect()
}

/// The plan files of a folder, by name. Other TOML files, and plans with faults, are left out.
fn plan_files(folder: &Path) -> Vec<Entry> {
    let files = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let is_toml = |path: &PathBuf| path.extension().is_some_and(|end| end == "toml");
    let plan = |path: PathBuf| {
        let question = plan::parse("", &input::read(&path).ok()?).ok()?.own_question();
        let name = path.file_name()?.to_str()?.to_owned();
        Some(Entry { name, says: question, group: Some(Group::Yours) })
    };
    let files = files.map(|file| file.path()).filter(|path| is_toml(path) && path.is_file());
    let mut plans: Vec<Entry> = files.filter_map(plan).collect();
    plans.sort_by(|one, other| one.name.cmp(&other.name));
    plans
}

/// Which filesystems run on this machine's kernel, and which on the lab kernel.
fn filesystems() -> NamedRows {
    let lab_kernel = kernel::info(None).map(|info| info.filesystems);
    let missing = |filesystem: &Filesystem, of_kernel: &[&str]| {
        lab::missing_in_guest(filesystem, of_kernel, &Toolbox::for_guests(filesystem.programs()))
    };
    let in_guests = |filesystem: &Filesystem| match &lab_kernel {
        Err(_) => missing(filesystem, &[filesystem.name, "fuse"])
            .or_else(|| Some("there is no lab kernel (`ssdlab kernel info`)".to_owned())),
        Ok(known) => missing(filesystem, known),
    };
    let state = |filesystem: &&Filesystem| {
        let state = match (lab::missing(filesystem), in_guests(filesystem)) {
            (None, None) => "runs here and in the virtual lab".to_owned(),
            (None, Some(reason)) => format!("runs here; not in the virtual lab: {reason}"),
            (Some(reason), None) => format!("runs in the virtual lab only: {reason}"),
            (Some(one), Some(other)) if one == other => format!("does not run here: {one}"),
            (Some(one), Some(other)) => format!("does not run here: {one}, and {other}"),
        };
        (filesystem.name.to_owned(), state)
    };
    filesystem::ALL.iter().map(state).collect()
}

/// The factors, with their levels.
pub fn factor_rows() -> NamedRows {
    Factor::ALL.map(|factor| (factor.name().to_owned(), factor.levels())).into()
}

fn schedulers() -> NamedRows {
    let loaded = sysfs::loaded_schedulers();
    let state = |name: &str| {
        if loaded.iter().any(|word| word == name) {
            "runs here"
        } else {
            "not loaded here; the kernel may have it as a module"
        }
    };
    SCHEDULERS.map(|name| (name.to_owned(), state(name).to_owned())).to_vec()
}

fn hosts() -> NamedRows {
    HOSTS.each_ref().map(|host| (host.name.clone(), host.description.clone())).to_vec()
}

fn workloads() -> NamedRows {
    let rows = [
        (
            "unpack, delete",
            "a file tree: synthetic, shaped like kernel sources, or from a tar archive",
        ),
        (
            "clone, make, clean",
            "the file operations of a kernel build, or a real build of a git repository",
        ),
        ("read", "the files of a tree, in the order of its directories or at random, each timed"),
        (
            "io",
            "reads and writes of files, or records appended to them, through io_uring, each timed",
        ),
        ("transactions", "small transactions as SQLite commits them, each timed"),
        ("append", "records appended to a log, synced every so many"),
        ("replace", "files replaced by renaming new ones over them, synced or not"),
        (
            "database",
            "commits to a log, and at checkpoints to pages, as a database server makes them",
        ),
        ("sequences", "every sequence of one or two operations on a few names, and a sync"),
        ("maildir", "messages delivered into Maildirs by Postfix or Dovecot, and fetched by POP3"),
        ("rotate", "records appended to a log, which logrotate rotates"),
        ("replay", "the file operations of a program, from a log made by `ssdlab record`"),
        ("sync, fstrim, idle, remount", "auxiliary phases between others"),
        ("command", "any program, in the trial's directory"),
        ("fio", "a fio job file"),
        (
            "bonnie",
            "Bonnie's tests: a file written and read by character and by block, rewritten, and \
             randomly accessed; small files created, stat'ed and deleted",
        ),
    ];
    rows.map(|(name, text)| (name.to_owned(), text.to_owned())).to_vec()
}

fn metrics() -> NamedRows {
    metric::all().map(|metric| (metric.name.to_owned(), metric_meaning(metric))).collect()
}

/// What a metric means, and whether only claims can take it.
pub fn metric_meaning(metric: Metric) -> String {
    let says = metric.says;
    if metric.is_of_cuts() { format!("{says} (for claims only)") } else { says.to_owned() }
}

//! `ssdlab list`: what a plan can name, and what runs on this machine.

use std::collections::BTreeMap;
use std::fmt::Write;

use clap::{Args, ValueEnum};
use ssdlab_filesystem as filesystem;
use ssdlab_filesystem::{Filesystem, Setting};
use ssdlab_host::sysfs;
use ssdlab_kernel as kernel;
use ssdlab_lab as lab;
use ssdlab_plan::{self as plan, Factor, HOSTS, PROFILES, SCHEDULERS, metric, shipped};
use ssdlab_report as report;

use super::exit::Exit;
use super::output;

/// Arguments of `ssdlab list`.
#[derive(Debug, Args)]
pub struct List {
    /// What to list (default: everything).
    #[arg(value_enum)]
    what: Option<What>,
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

/// Names, each with a description.
pub type Rows = Vec<(String, String)>;

impl List {
    /// Runs the command.
    pub fn run(&self) -> Exit {
        let lists: [(What, fn() -> Rows); 7] = [
            (What::Plans, plans),
            (What::Filesystems, filesystems),
            (What::Factors, factors),
            (What::Schedulers, schedulers),
            (What::Hosts, hosts),
            (What::Workloads, workloads),
            (What::Metrics, metrics),
        ];
        if self.what == Some(What::Features) {
            let all = filesystem::ALL.map(|filesystem| (filesystem, BTreeMap::new()));
            output::print(&(report::features(&all, output::style()) + "\n"));
            return Exit::Done;
        }
        let mut out = String::new();
        for (what, rows) in lists {
            if self.what.is_some_and(|only| only != what) {
                continue;
            }
            if self.what.is_none() {
                let _ = writeln!(out, "{}", format!("{what:?}").to_lowercase());
            }
            let rows = rows();
            let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
            for (name, text) in rows {
                let _ = writeln!(out, "  {name:width$}  {text}");
            }
        }
        output::print(&out);
        Exit::Done
    }
}

fn plans() -> Rows {
    let question = |text: &str| plan::parse("", text).map(|plan| plan.question);
    shipped::ALL
        .iter()
        .map(|plan| (plan.name.to_owned(), question(plan.text).unwrap_or_default()))
        .collect()
}

/// Which filesystems run on this machine's kernel, and which on the lab kernel.
fn filesystems() -> Rows {
    let lab_kernel = kernel::info(None).map(|info| info.filesystems);
    let in_guests = |filesystem: &Filesystem| match &lab_kernel {
        Err(_) => lab::missing_in_guest(filesystem, &[filesystem.name, "fuse"])
            .or_else(|| Some("there is no lab kernel (`ssdlab kernel info`)".to_owned())),
        Ok(known) => lab::missing_in_guest(filesystem, known),
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
pub fn factors() -> Rows {
    let levels = |factor: Factor| match factor {
        Factor::Filesystem => filesystem::names().join(", "),
        Factor::Journal => "on, off (ext4)".to_owned(),
        Factor::Checksums => settings(|filesystem| &filesystem.checksums),
        Factor::Compression => settings(|filesystem| &filesystem.compression),
        Factor::Atime => "strictatime, relatime, noatime, chattr".to_owned(),
        Factor::Discard => "off, on, fstrim".to_owned(),
        Factor::Scheduler => SCHEDULERS.join(", "),
        Factor::SchedulerTunables => {
            "default, or kernel tunables with numbers (\"read_expire=100\")".to_owned()
        }
        Factor::Mkfs => "options for mkfs".to_owned(),
        Factor::Mount => "options for mount".to_owned(),
        Factor::Age => {
            let names =
                PROFILES.map(|profile| format!("{} ({})", profile.name, profile.description));
            format!("off, {}, \"mail to 0.7\" (a layout score)", names.join(", "))
        }
        Factor::Prefill | Factor::Stale => {
            "an amount (10 GB) or a share of the device (60 %)".to_owned()
        }
        Factor::WriteCache => "on, off".to_owned(),
        Factor::Drive => "a drive of `ssdlab drive list`, or a drive file (virtual lab)".to_owned(),
        Factor::Condition => {
            "purged, filled, overwritten:X, steady, aged:N (virtual lab)".to_owned()
        }
        Factor::PowerLossProtection => "on, off (virtual lab)".to_owned(),
        Factor::Flush => "honest, ignored (virtual lab)".to_owned(),
        Factor::WearLevelling => "none, dynamic, static, static:N (virtual lab)".to_owned(),
        Factor::Host => {
            HOSTS.each_ref().map(|host| host.name.as_str()).join(", ") + " (virtual lab)"
        }
        Factor::NodeFeature => "features of nodes, such as ssd=x25m (`--on slurm`)".to_owned(),
        Factor::Label => "the label of a treatment in imported results (not for plans)".to_owned(),
    };
    Factor::ALL.map(|factor| (factor.name().to_owned(), levels(factor))).into()
}

/// The levels of a factor whose levels are specific to filesystems.
fn settings(of: fn(&Filesystem) -> &Setting) -> String {
    let mut levels: Vec<(String, Vec<&str>)> = Vec::new();
    // `off` alone is not a choice.
    for filesystem in filesystem::ALL.iter().filter(|filesystem| of(filesystem).levels.len() > 1) {
        let names = of(filesystem).names().join(", ");
        match levels.iter_mut().find(|(others, _)| *others == names) {
            Some((_, filesystems)) => filesystems.push(filesystem.name),
            None => levels.push((names, vec![filesystem.name])),
        }
    }
    let row = |(levels, of): &(String, Vec<&str>)| format!("{levels} ({})", of.join(", "));
    levels.iter().map(row).collect::<Vec<_>>().join("; ")
}

fn schedulers() -> Rows {
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

fn hosts() -> Rows {
    HOSTS.each_ref().map(|host| (host.name.clone(), host.description.clone())).to_vec()
}

fn workloads() -> Rows {
    let rows = [
        (
            "unpack, delete",
            "a file tree: synthetic, shaped like kernel sources, or from a tar archive",
        ),
        (
            "clone, make, clean",
            "the file operations of a kernel build, or a real build of a git repository",
        ),
        ("io", "reads and writes of one file through io_uring, each operation timed"),
        ("transactions", "small transactions as SQLite commits them, each timed"),
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

fn metrics() -> Rows {
    metric::METRICS.map(|(name, _, text)| (name.to_owned(), text.to_owned())).to_vec()
}

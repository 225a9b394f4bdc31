//! `ssdlab host fit`: makes a host file for the computer it runs on.

use std::fmt::Write;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use miette::{IntoDiagnostic, Report};
use ssdlab_conductor::ComputingLab;
use ssdlab_conductor::computing::{self, ChargedCounts, MeasuredCosts, Times};
use ssdlab_filesystem::{self as filesystem, Filesystem};
use ssdlab_host::interrupt::Interrupt;
use ssdlab_host::meter::environment::{self, Environment};
use ssdlab_host::mounts;
use ssdlab_host::undo::Journal;
use ssdlab_kernel as kernel;

use super::exit::{Exit, UsageError};
use super::plan_arguments::KernelArgument;
use super::{output, restore};

/// How often the operations are performed here; the minimum time of each counts.
const ROUNDS: usize = 5;

/// The error of an operation above which a fit is poor.
const DOUBTFUL: f64 = 1.0;

/// The share by which a plausible host's time for all operations may be off, besides by the error
/// of the fit.
const TOLERANCE: f64 = 0.1;

/// The memory of the guest: far more than the operations dirty.
const MEMORY_BYTES: u64 = 4 << 30;

/// Arguments of `ssdlab host fit`.
#[derive(Debug, Args)]
pub struct FitHostCommand {
    /// A folder on a local filesystem that the virtual lab supports; about 100 MB are written to a
    /// new folder in it, which is removed afterwards.
    #[arg(long, value_name = "DIR", default_value = ".")]
    dir: PathBuf,
    #[command(flatten)]
    kernel: KernelArgument,
}

/// An operation: its counts, and its times here in each round, in ns.
struct Operation {
    name: String,
    counts: ChargedCounts,
    rounds: Vec<f64>,
}

impl Operation {
    fn least(&self) -> f64 {
        self.rounds.iter().copied().fold(f64::INFINITY, f64::min)
    }
}

impl FitHostCommand {
    pub fn run(&self) -> Result<Exit, Report> {
        let interrupt = &Interrupt::on_signals().into_diagnostic()?;
        let place = &self.place()?;
        let filesystem = on(place)?;
        let kernel = kernel::find(self.kernel.path())?;
        let mut journal = restore::journal()?;
        let mut lab =
            ComputingLab::open(kernel, filesystem, MEMORY_BYTES, interrupt, &mut journal)?;
        output::tell(&format!("the operations, {ROUNDS} times on {} here", filesystem.name));
        let mut rounds: Vec<Times> = Vec::new();
        for _ in 0..ROUNDS {
            rounds.push(self.round(place, &mut journal)?);
            if interrupt.is_set() {
                return Ok(Exit::Interrupted);
            }
        }
        output::tell("the same in the virtual lab, four times");
        let operations = operations(&rounds, lab.counts()?);
        journal.finish().into_diagnostic()?;
        let all: Vec<(ChargedCounts, f64)> =
            operations.iter().map(|of| (of.counts, of.least())).collect();
        let measured = MeasuredCosts::here();
        let block_ns = computing::fit_block(&all, &measured).ok_or_else(undetermined)?;
        let fitted = |of: &ChargedCounts| block_ns * of.blocks + measured.of(of);
        let errors = Errors::of(&operations, &fitted);
        output::tell(&told(&operations, &fitted));
        if errors.worst > DOUBTFUL {
            output::tell(
                "the fit is poor: measure again if this computer was busy; if it was not, a single \
                 cost per block does not describe it",
            );
        }
        let others = others(&operations, &measured);
        let together = Aggregation::of(&operations, &fitted);
        output::print(&file(filesystem, block_ns, &others, &measured, &errors, &together));
        Ok(Exit::Done)
    }

    /// The times of the operations in a new folder there, which is removed.
    fn round(&self, place: &Path, journal: &mut Journal) -> Result<Times, Report> {
        let before = journal.mark();
        let refused = |error| self.refused(&error);
        let folder = place.join(format!("ssdlab-{}", journal.marker()));
        journal.make_folder(&folder).map_err(refused)?;
        let times = computing::here(&folder).map_err(refused);
        journal.undo_to(before)?;
        times
    }

    fn refused(&self, error: &io::Error) -> Report {
        UsageError::report(
            format!("cannot perform the operations in {}: {error}", self.dir.display()),
            "name a folder with --dir that you may write to, with some 200 MB of free space",
        )
    }

    /// The folder by its absolute path, which a journal needs.
    fn place(&self) -> Result<PathBuf, Report> {
        fs::canonicalize(&self.dir).map_err(|error| {
            let says = format!("{}: {error}", self.dir.display());
            UsageError::report(says, "name a folder with --dir")
        })
    }
}

/// The filesystem that a folder is on, if the virtual lab has it.
fn on(folder: &Path) -> Result<&'static Filesystem, Report> {
    let kind = mounts::containing(folder).into_diagnostic()?.map(|mount| mount.kind);
    let found = kind.as_deref().and_then(filesystem::find).filter(|of| of.pool.is_none());
    found.ok_or_else(|| {
        let kind = kind.unwrap_or_else(|| "an unknown filesystem".to_owned());
        let able = filesystem::ALL.iter().filter(|of| of.pool.is_none()).map(|of| of.name);
        let able = able.collect::<Vec<_>>().join(", ");
        UsageError::report(
            format!("{} is on {kind}, which the virtual lab does not have", folder.display()),
            format!("name a folder on one of these with --dir: {able}"),
        )
    })
}

fn operations(rounds: &[Times], counts: Vec<ChargedCounts>) -> Vec<Operation> {
    let names: Vec<String> = rounds[0].iter().map(|(name, _)| name.clone()).collect();
    let of = |(index, (name, counts)): (usize, (String, ChargedCounts))| {
        let rounds = rounds.iter().map(|times| times[index].1 as f64).collect();
        Operation { name, counts, rounds }
    };
    names.into_iter().zip(counts).enumerate().map(of).collect()
}

/// Fits to each round alone, and to all operations but one.
fn others(operations: &[Operation], measured: &MeasuredCosts) -> Vec<f64> {
    let of_round = |round: usize| {
        let times: Vec<(ChargedCounts, f64)> =
            operations.iter().map(|of| (of.counts, of.rounds[round])).collect();
        computing::fit_block(&times, measured)
    };
    let without = |left_out: usize| {
        let kept = operations.iter().enumerate().filter(|(index, _)| *index != left_out);
        let times: Vec<(ChargedCounts, f64)> =
            kept.map(|(_, of)| (of.counts, of.least())).collect();
        computing::fit_block(&times, measured)
    };
    (0..ROUNDS).filter_map(of_round).chain((0..operations.len()).filter_map(without)).collect()
}

/// By how much the fitted times of operations differ from the measured ones, as shares of these:
/// what the fit minimises.
struct Errors {
    median: f64,
    worst: f64,
}

impl Errors {
    fn of(operations: &[Operation], fitted: &dyn Fn(&ChargedCounts) -> f64) -> Self {
        let error = |of: &Operation| (fitted(&of.counts) / of.least() - 1.0).abs();
        let mut errors: Vec<f64> = operations.iter().map(error).collect();
        errors.sort_by(f64::total_cmp);
        Self { median: errors[errors.len() / 2], worst: errors[errors.len() - 1] }
    }
}

/// All operations together.
struct Aggregation {
    ns: f64,
    counts: ChargedCounts,
    /// By which share the fitted time differs.
    error: f64,
}

impl Aggregation {
    fn of(operations: &[Operation], fitted: &dyn Fn(&ChargedCounts) -> f64) -> Self {
        let sum = |of: &dyn Fn(&Operation) -> f64| operations.iter().map(of).sum::<f64>();
        let counts = ChargedCounts {
            blocks: sum(&|of| of.counts.blocks),
            calls: sum(&|of| of.counts.calls),
            copied_kib: sum(&|of| of.counts.copied_kib),
            checksummed_kib: sum(&|of| of.counts.checksummed_kib),
        };
        let ns = sum(&Operation::least);
        Self { ns, counts, error: (fitted(&counts) / ns - 1.0).abs() }
    }
}

/// Each operation here and as fitted.
fn told(operations: &[Operation], fitted: &dyn Fn(&ChargedCounts) -> f64) -> String {
    let mut out = format!("{:20}{:>12}{:>12}", "", "here", "fitted");
    for of in operations {
        let [here, lab] = [of.least(), fitted(&of.counts)].map(|ns| format!("{:.1} ms", ns / 1e6));
        let _ = write!(out, "\n{:20}{here:>12}{lab:>12}", of.name);
    }
    out
}

fn undetermined() -> Report {
    UsageError::report(
        "the times that were measured do not determine what this computer takes",
        "try again while it has less to do",
    )
}

/// The host file.
fn file(
    filesystem: &Filesystem,
    block_ns: f64,
    others: &[f64],
    measured: &MeasuredCosts,
    errors: &Errors,
    together: &Aggregation,
) -> String {
    let Environment { cpu, kernel, .. } = environment::read(None, &[]);
    let kernel = kernel.split_whitespace().next().unwrap_or_default();
    let (name, on) = (filesystem.name, format!("{cpu}, Linux {kernel}"));
    let least = others.iter().copied().fold(0.99 * block_ns, f64::min);
    let most = others.iter().copied().fold(1.01 * block_ns, f64::max).max(least + 0.001);
    let whole = |value: f64| value.round().max(1.0);
    let mut out = format!(
        "# This computer, as `ssdlab host fit` found it. Fitted and measured times of operations\n\
         # differ by {:.0} % in the median, by {:.0} % at worst.\n\
         description = {}\n\n\
         ns_per_block = {:.3}\nns_per_call = {}\nmemory = \"4 GiB\"\n\n[ns_per_kib]\n",
        100.0 * errors.median,
        100.0 * errors.worst,
        toml_string(&format!("{on}, fitted to the processor time of {name} on it")),
        block_ns,
        whole(measured.call),
    );
    for (key, ns) in measured.per_kib.by_key() {
        let _ = writeln!(out, "{key} = {}", whole(ns));
    }
    let _ = write!(
        out,
        "\n[evidence.ns_per_block]\nbasis = \"fitted\"\nrange = [{least:.3}, {most:.3}]\n\
         fitted_to = [\"operations\"]\nsource = {}\n",
        toml_string(&format!(
            "{on}, the least of {ROUNDS} rounds; the range is that of fits to single rounds, and \
             to all operations but one"
        )),
    );
    let [least, most] = [(0.9 * measured.call).floor(), (1.2 * measured.call).ceil().max(2.0)];
    let _ = write!(
        out,
        "\n[evidence.ns_per_call]\nbasis = \"measured\"\nrange = [{least}, {most}]\n\
         source = \"getppid(2) there, which does next to nothing; what a call leaves cold is in \
         the cost of a block\"\n"
    );
    let _ = write!(
        out,
        "\n[evidence.memory]\nbasis = \"assumed\"\nrange = [\"2 GiB\", \"64 GiB\"]\n\
         source = \"the guest's memory is this machine's; it limits how much may be dirty\"\n"
    );
    for (key, ns) in measured.per_kib.by_key() {
        let [least, most] = [(ns / 2.0).floor(), (2.0 * ns).ceil().max(2.0)];
        let source = match key {
            "copy" => {
                "64 MiB there, 4 KiB at a time, from the cache; within the cache copying takes \
                 less, from memory to memory more"
            }
            "aes" => {
                "ssdlab's own implementation of AES-256 there, without the tweaks of XTS, 64 MiB, \
                 4 KiB at a time; the kernel's may take half or twice as long"
            }
            _ => {
                "ssdlab's own implementation there, 64 MiB, 4 KiB at a time; the kernel's may take \
                 half or twice as long"
            }
        };
        let _ = write!(
            out,
            "\n[evidence.\"ns_per_kib.{key}\"]\nbasis = \"measured\"\n\
             range = [{least}, {most}]\nsource = \"{source}\"\n"
        );
    }
    let Aggregation { ns, counts, error } = together;
    let ChargedCounts { blocks, calls, copied_kib, checksummed_kib } = counts;
    let _ = write!(
        out,
        "\n[figures.operations]\n\
         source = \"the processor time of a process for eleven operations on {name}, together\"\n\
         value = \"{:.0} us\"\nwithin = {:.2}\n\
         counts = {{ blocks = {blocks:.0}, calls = {calls:.0}, copy = {copied_kib:.0}, \
         crc32 = {checksummed_kib:.0} }}\n",
        ns / 1e3,
        (error + TOLERANCE).min(0.99),
    );
    out
}

/// A TOML string, as a processor's name may contain anything.
fn toml_string(text: &str) -> String {
    toml::Value::from(text).to_string()
}

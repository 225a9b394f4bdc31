//! The command line: one file per subcommand.

mod ask;
mod baseline;
mod cache;
mod charts;
mod check;
mod compare;
mod completions;
mod crashtest;
mod cut;
mod cut_device;
mod cut_files;
mod doctor;
mod drive;
mod drive_new;
mod elsewhere;
mod evidence;
mod executors;
mod exit;
mod flip;
mod flips;
mod guard;
mod guest;
mod help;
mod history;
mod host;
mod host_fit;
mod import;
mod input;
mod json;
mod judge;
mod junit;
mod kernel;
mod kernel_progress;
mod kernel_trial;
mod list;
mod man;
mod method;
mod model_output;
mod names;
mod node_drives;
mod output;
mod plan_arguments;
mod prediction;
mod probe;
mod progress;
mod record;
mod report;
mod restore;
mod results_folder;
mod run;
mod run_name;
mod schema;
mod sealing;
mod serve;
mod share;
mod simulate;
mod simulation_progress;
mod sweep;
mod trace;
mod trace_files;
mod watching;
mod who;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use miette::Report;
use ssdlab_host::meter::environment;

pub use self::exit::Exit;
pub use self::list::{factor_rows, metric_meaning};
pub use self::schema::JsonFormat;

/// Settles questions about filesystems on SSDs by controlled experiment.
#[derive(Debug, Parser)]
#[command(name = "ssdlab", version, override_usage = "ssdlab <COMMAND> [OPTIONS]")]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Show what writes to this machine's drives, and how they wear.
    ///
    /// Only reads: it makes no filesystem and opens no device for writing. Without root it says
    /// what was written since boot, by which service, container or guest as far as the kernel
    /// counts it, and what the drive tells of its wear. As root it also reads the drive's own log,
    /// through smartctl unless the drive has NVM Express; and with --for or a command it records
    /// which program, file and kind writes each byte.
    Who(who::WhoCommand),
    /// Check whether this machine is set up right for its drives.
    ///
    /// Only reads, and needs no root: it makes no filesystem, opens no device and changes nothing.
    /// What could be better is said with its reason and what to do. Exits with 0 if nothing is to
    /// be done, and with 1 if something is.
    Doctor(doctor::DoctorCommand),
    /// Measure the drive below a folder, and what it is fast enough for.
    ///
    /// Takes about a minute at most, writes less than 1 GB, and needs no root: it makes a file
    /// without a name in the folder, opens no device and changes nothing else. Says whether the
    /// drive is fast enough for etcd, Ceph and two databases by what is published of them, which
    /// shipped drive it is like, and what cannot be seen so. With --out it writes a drive file to
    /// start from.
    Probe(probe::ProbeCommand),
    /// Run a plan, or resume a run.
    Run(run::RunCommand),
    /// Ask which filesystem does some work best, without a plan file.
    Ask(ask::AskCommand),
    /// Cut the power while a program runs, and tell what it loses.
    ///
    /// Runs the program on real filesystems on a simulated drive, in virtual time and without
    /// privileges; cuts the power many times; and has the check look at what each cut leaves. Exits
    /// with 0 if nothing was found, 1 if something was.
    Crashtest(crashtest::CrashtestCommand),
    /// Record what a load costs on the drive, and check it in CI.
    ///
    /// Bytes, flushes, syncs and virtual times of a plan's treatments in the virtual lab, where
    /// they are the same on any machine.
    Baseline(baseline::BaselineCommand),
    /// Check a plan and show what it would do, without running it.
    Check(check::CheckCommand),
    /// Show a run's results, or export them.
    Report(report::ReportCommand),
    /// Compare the same treatments across several runs.
    Compare(compare::CompareCommand),
    /// List all runs.
    History(history::HistoryCommand),
    /// Check the method of a run: whether its numbers can be trusted.
    Method(method::MethodCommand),
    /// Find the values of models that flip verdicts (virtual lab).
    Flip(flip::FlipCommand),
    /// Judge a claim under the kernel of a tree, for `git bisect run`.
    ///
    /// Builds the tree's lab kernel, runs one trial of each treatment that the claim needs in the
    /// virtual lab, and exits with 0 if the claim holds, 1 if not, 125 if the kernel does not build
    /// or the claim cannot be judged under it, and 128 or more if anything else fails, which ends
    /// `git bisect run`.
    Judge(judge::JudgeCommand),
    /// Repeat one power cut of a run: what it left, and why.
    Cut(cut::CutCommand),
    /// Import results of fio, bonnie++, hyperfine or Phoronix as a run.
    Import(import::ImportCommand),
    /// Record a program's file operations, for replay in any lab.
    Record(record::RecordCommand),
    /// Run patterns or a trace on simulated drives.
    ///
    /// Runs every combination of drive, pattern, condition and seed.
    Simulate(simulate::SimulateCommand),
    /// Serve a simulated drive in real time, as a file or a virtual disk.
    Serve(serve::ServeCommand),
    /// Summarise and plot the requests of a run or of a block trace.
    Trace(trace::TraceCommand),
    /// List, show, check and make simulated drives.
    Drive(drive::DriveCommand),
    /// Show every published number, and what the models make of it.
    Evidence(evidence::EvidenceCommand),
    /// List and show the computers of the virtual lab.
    Host(host::HostCommand),
    /// Build and list lab kernels, which the virtual lab runs.
    Kernel(kernel::KernelCommand),
    /// Show or clear the cache of aged filesystems and lab kernels.
    Cache(cache::CacheCommand),
    /// List plans, filesystems, factors, workloads, metrics and more.
    List(list::ListCommand),
    /// Print the JSON schema of plans, or of `--json` output.
    Schema(schema::SchemaCommand),
    /// Undo the changes that a killed run left on this machine.
    Restore(restore::RestoreCommand),
    /// Print the completion script of a shell.
    Completions(completions::CompletionsCommand),
    /// Write the man pages to a folder.
    Man(man::Pages),
}

/// What ssdlab runs itself, in guests and in shells: commands that no help, completion or
/// suggestion names.
#[derive(Debug, Parser)]
#[command(name = "ssdlab")]
enum Internal {
    /// Print the names that completions offer.
    Names(names::NamesCommand),
    /// Run as the init process of a guest of the virtual lab.
    Guest(guest::GuestCommand),
}

/// The command line with its help.
pub fn command_line() -> clap::Command {
    help::explained(Cli::command())
}

/// Runs the program, which records name by `version`, and returns its exit code.
pub fn main(version: &'static str) -> ExitCode {
    environment::set_program(version);
    let first = std::env::args_os().nth(1).unwrap_or_default();
    let done = if Internal::command().find_subcommand(&first).is_some() {
        parsed(Internal::command()).map(|internal| run_internal(&internal))
    } else {
        parsed(command_line()).map(|cli: Cli| {
            let Some(command) = cli.command else {
                output::tell(help::FIRST_STEPS);
                return Ok(Exit::Wrong);
            };
            run(command)
        })
    };
    let failed = match done {
        Ok(Ok(exit)) => return exit.into(),
        Ok(Err(error)) => exit::explain(&error),
        Err(exit) => exit,
    };
    failed.of_command(&first).into()
}

/// Parses the arguments of this process. Otherwise prints what is wrong, or the help that was
/// asked for.
fn parsed<T: FromArgMatches>(line: clap::Command) -> Result<T, Exit> {
    let parsed = line.try_get_matches().and_then(|found| T::from_arg_matches(&found));
    parsed.map_err(|error| {
        let _ = error.print();
        // Help and version succeed; everything else is a wrong command line.
        if error.use_stderr() { Exit::Wrong } else { Exit::Done }
    })
}

fn run_internal(command: &Internal) -> Result<Exit, Report> {
    match command {
        Internal::Names(names) => Ok(names.run()),
        Internal::Guest(_) => guest::GuestCommand::run(),
    }
}

fn run(command: Command) -> Result<Exit, Report> {
    match command {
        Command::Who(who) => who.run(),
        Command::Doctor(doctor) => doctor.run(),
        Command::Probe(probe) => probe.run(),
        Command::Run(run) => run.run(),
        Command::Ask(ask) => ask.run(),
        Command::Crashtest(crashtest) => crashtest.run(),
        Command::Baseline(baseline) => baseline.run(),
        Command::Check(check) => check.run(),
        Command::Report(report) => report.run(),
        Command::Compare(compare) => compare.run(),
        Command::History(history) => history.run(),
        Command::Method(method) => method.run(),
        Command::Flip(flip) => flip.run(),
        Command::Judge(judge) => judge.run(),
        Command::Cut(cut) => cut.run(),
        Command::Import(import) => import.run(),
        Command::List(list) => list.run(),
        Command::Schema(schema) => Ok(schema.run()),
        Command::Record(record) => record.run(),
        Command::Simulate(simulate) => simulate.run(),
        Command::Trace(trace) => trace.run(),
        Command::Serve(serve) => serve.run(),
        Command::Drive(drive) => drive.run(),
        Command::Evidence(evidence) => Ok(evidence.run()),
        Command::Host(host) => host.run(),
        Command::Kernel(kernel) => kernel.run(),
        Command::Cache(cache) => cache.run(),
        Command::Restore(restore) => restore.run(),
        Command::Completions(completions) => Ok(completions.run(command_line())),
        Command::Man(pages) => pages.run(command_line()),
    }
}

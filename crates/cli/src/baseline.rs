//! `ssdlab baseline`: records what a program's load costs on the drive, and checks later that it
//! costs no more.

mod load;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use miette::{IntoDiagnostic, Report};
use ssdlab_advice::{self as advice, Allowance, Allowances, Cost, CostVerdict};
use ssdlab_host::interrupt::Interrupt;
use ssdlab_report::baseline_screen;
use ssdlab_results::{BASELINE_SCHEMA, Baseline, TreatmentCost};

use self::load::{MeasuredLoad, PlannedLoad, folder_of, parse, relative};
use super::exit::{Exit, UsageError};
use super::plan_arguments::KernelArgument;
use super::{input, output};

/// Arguments of `ssdlab baseline`.
#[derive(Debug, Args)]
pub struct BaselineCommand {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Measure what a plan's load costs, and keep it in a file with the plan.
    ///
    /// Runs one trial of each treatment in the virtual lab, without power cuts, and writes bytes,
    /// flushes, syncs and virtual times of each phase into a file to be committed.
    Record(RecordBaseline),
    /// Measure the load again, and compare what it costs.
    ///
    /// Exits with 0 if it costs no more than before, 1 if it does, and 2 if it cannot tell: the
    /// file is damaged, the load fails, or it was recorded with another ssdlab, lab kernel, mkfs or
    /// library. The program that the load runs is the one that is there now.
    Check(CheckBaseline),
}

#[derive(Debug, Args)]
struct RecordBaseline {
    /// A plan: a TOML file, or the name of a shipped plan; or a baseline, whose plan is recorded
    /// anew.
    plan: String,
    /// The file to write.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    kernel: KernelArgument,
}

#[derive(Debug, Args)]
struct CheckBaseline {
    /// A file that `ssdlab baseline record` has written.
    file: PathBuf,
    /// How much a cost may grow: bytes, flushes, syncs or time, by a share or a number (default:
    /// bytes=2%,flushes=0,syncs=0,time=5%).
    #[arg(long, value_name = "COST=MORE", value_delimiter = ',', value_parser = advice::allowance)]
    allow: Vec<(Cost, Allowance)>,
    /// Print the comparison as one JSON object.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    kernel: KernelArgument,
}

impl BaselineCommand {
    pub fn run(&self) -> Result<Exit, Report> {
        let interrupt = Interrupt::on_signals().into_diagnostic()?;
        match &self.what {
            What::Record(record) => record.run(&interrupt),
            What::Check(check) => check.run(&interrupt),
        }
    }
}

impl RecordBaseline {
    fn run(&self, interrupt: &Interrupt) -> Result<Exit, Report> {
        // What cannot be written is refused now instead of after the trials.
        drop(output::begin(&self.out)?);
        let load = PlannedLoad::named(&self.plan)?;
        let MeasuredLoad { treatments, made_with } = load.measure(self.kernel.path(), interrupt)?;
        let baseline = Baseline {
            schema: BASELINE_SCHEMA,
            folder: relative(&folder_of(&self.out)?, &load.base),
            plan: load.text,
            drives: load.drives,
            made_with,
            treatments,
        };
        output::save(&self.out, |out| write!(out, "{baseline}"))?;
        output::tell(&format!(
            "check it: ssdlab baseline check {}",
            output::quoted(&self.out.display().to_string())
        ));
        Ok(Exit::Done)
    }
}

impl CheckBaseline {
    fn run(&self, interrupt: &Interrupt) -> Result<Exit, Report> {
        let file = &self.file;
        let text = input::read(file).map_err(|error| {
            UsageError::report(
                format!("{}: {error}", file.display()),
                "name a file that `ssdlab baseline record PLAN --out FILE` has written",
            )
        })?;
        let baseline = parse(file, &text)?;
        let load = PlannedLoad::of(&baseline, file, &folder_of(file)?)?;
        let measured = load.measure(self.kernel.path(), interrupt)?;
        let command = format!(
            "ssdlab baseline record {0} --out {0}",
            output::quoted(&file.display().to_string())
        );
        check_comparable(&baseline, &measured, &command)?;
        check_parts(&baseline, &measured.treatments, file)?;
        let allowances = Allowances::with(&self.allow);
        let found = advice::compare_costs(&baseline, &measured.treatments, &allowances);
        if self.json {
            output::print_json(&found);
        } else {
            output::print_coloured(&baseline_screen(&found, &command, output::style()));
        }
        Ok(if found.outcome == CostVerdict::Worse { Exit::Failed } else { Exit::Done })
    }
}

/// Refuses to compare what was not measured with the same.
fn check_comparable(
    baseline: &Baseline,
    measured: &MeasuredLoad,
    command: &str,
) -> Result<(), Report> {
    let differing = advice::made_otherwise(&baseline.made_with, &measured.made_with);
    if differing.is_empty() {
        return Ok(());
    }
    let or_none = |what: Option<&str>| what.unwrap_or("none").to_owned();
    let line = |(name, recorded, found): &(&str, Option<&str>, Option<&str>)| {
        format!("  {name}: recorded {}, found {}", or_none(*recorded), or_none(*found))
    };
    let lines: Vec<String> = differing.iter().map(line).collect();
    Err(UsageError::report(
        format!(
            "the baseline was recorded with others of what is here, so that a difference would say \
             nothing about the program:\n{}",
            lines.join("\n")
        ),
        format!(
            "check it where these are the same, such as in the container that it was recorded in; \
             or record it anew with a program that is known to be good: {command}"
        ),
    ))
}

/// Refuses a file whose parts do not fit each other.
fn check_parts(baseline: &Baseline, found: &[TreatmentCost], file: &Path) -> Result<(), Report> {
    let names = |treatments: &[TreatmentCost]| {
        let phases =
            |of: &TreatmentCost| of.phases.iter().map(|phase| phase.name.clone()).collect();
        treatments.iter().map(phases).collect::<Vec<Vec<String>>>()
    };
    if names(&baseline.treatments) == names(found) {
        return Ok(());
    }
    Err(UsageError::report(
        format!("{} was changed: its treatments and phases are not its plan's", file.display()),
        "restore it from version control; after a change to the plan record it anew: ssdlab \
         baseline record PLAN --out FILE",
    ))
}

#[cfg(test)]
mod tests;

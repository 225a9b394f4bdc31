//! `ssdlab judge`: whether a claim holds under the kernel of a Linux tree, in the exit codes that
//! `git bisect run` expects.

mod case;

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use miette::{IntoDiagnostic, Report};
use ssdlab_conductor::Executor;
use ssdlab_host::interrupt::Interrupt;
use ssdlab_kernel::{self as kernel, KernelError, TreeKernel};
use ssdlab_results::{REQUEST_LOGS, Record};

use self::case::JudgedCase;
use super::executors::{self, RunOptions};
use super::exit::{Exit, Skipped};
use super::kernel_progress::KernelProgress;
use super::output;
use super::plan_arguments::Variation;

/// Arguments of `ssdlab judge`.
#[derive(Debug, Args)]
pub struct JudgeCommand {
    /// A plan: a TOML file, or the name of a shipped plan (`ssdlab list plans`).
    plan: String,
    /// The claim, by its id; if it applies to several treatments, with one in brackets, as reports
    /// name it.
    claim: String,
    /// The tree of Linux 6.1 to 6.12 or 7.3, which is only read.
    #[arg(long, value_name = "DIR", default_value = ".")]
    tree: PathBuf,
    /// Exit with 1 if the claim holds and with 0 if not: to find the commit since which it holds.
    #[arg(long)]
    invert: bool,
    #[command(flatten)]
    variation: Variation,
}

impl JudgeCommand {
    pub fn run(&self) -> Result<Exit, Report> {
        let case = JudgedCase::resolve(&self.plan, &self.claim, &self.variation)?;
        executors::check_models(&case.schedule)?;
        let interrupt = Interrupt::on_signals().into_diagnostic()?;
        let built = self.build(&interrupt)?;
        let records = measure(&case, &built, &interrupt)?;
        if interrupt.is_set() {
            return Ok(Exit::Interrupted);
        }
        let (holds, says) = case.judge(&records)?;
        output::print(&format!("{says}\n"));
        Ok(if holds == self.invert { Exit::Failed } else { Exit::Done })
    }

    fn build(&self, interrupt: &Interrupt) -> Result<TreeKernel, Report> {
        let mut shown = KernelProgress::new();
        let built = kernel::build_tree(&self.tree, interrupt, &mut |step| shown.tell(step));
        shown.finish();
        built.map_err(|error| match error {
            KernelError::Failed { .. }
            | KernelError::Lacking { .. }
            | KernelError::NoLabKernel { .. } => Skipped(error.to_string()).into(),
            error => error.into(),
        })
    }
}

/// Runs the trials of a case under a kernel.
fn measure(
    case: &JudgedCase,
    built: &TreeKernel,
    interrupt: &Interrupt,
) -> Result<Vec<Record>, Report> {
    let run_options = RunOptions { kernel: Some(&built.kernel.path), ..RunOptions::default() };
    executors::in_guests(&case.schedule, run_options, interrupt, |mut guests| {
        if let Some(reason) = case.setups().find_map(|setup| guests.missing(setup)) {
            return Err(Skipped(reason).into());
        }
        // The kinds of written bytes follow from the requests.
        guests.log_to(&built.folder.join(REQUEST_LOGS))?;
        Ok(guests.measure(BTreeMap::new(), case.schedule.trials.clone(), &mut |_| ()))
    })
}

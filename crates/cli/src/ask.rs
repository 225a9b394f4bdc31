//! `ssdlab ask`: asks which treatment is the best at some work, without a plan file.

use clap::Args;
use miette::Report;
use ssdlab_plan::{AskedFilesystem, Question, QuestionWork};

use super::exit::Exit;
use super::plan_arguments::PlanOverrides;
use super::run::RunArguments;
use super::{executors, output};

/// Options that change what is run, but not the plan that is printed.
const NOT_IN_PLAN: [&str; 10] =
    ["lab", "device", "dir", "capacity", "source", "set", "scale", "seed", "runs", "plausible"];

/// Arguments of `ssdlab ask`.
#[derive(Debug, Args)]
pub struct AskCommand {
    /// Filesystems, each with its mount options, if any. The others are compared with the first.
    #[arg(required = true, value_name = "FILESYSTEM[:OPTION,...]")]
    treatments: Vec<AskedFilesystem>,
    /// What is done on them.
    #[arg(long = "do", value_enum, value_name = "WORK")]
    work: QuestionWork,
    /// The metric that decides (default: by the work; `ssdlab list metrics`), or several, of which
    /// the first decides.
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    metric: Vec<String>,
    /// Print the plan that the question makes, checked, and do not run it; `ssdlab run` takes the
    /// options that change it.
    #[arg(long, conflicts_with_all = NOT_IN_PLAN)]
    print: bool,
    #[command(flatten)]
    changes: PlanOverrides,
    #[command(flatten)]
    running: RunArguments,
}

impl AskCommand {
    pub fn run(&self) -> Result<Exit, Report> {
        let question = Question {
            treatments: self.treatments.clone(),
            work: self.work,
            drives: self.changes.drives()?,
            metrics: self.metric.iter().map(|name| name.trim().to_owned()).collect(),
        };
        let plan = question.to_string();
        let resolved = self.changes.resolve(&question.name(), plan.clone())?;
        if self.print {
            executors::check(&resolved.schedule)?;
            output::print(&plan);
            return Ok(Exit::Done);
        }
        output::tell(&plan);
        self.running.run(resolved, None)
    }
}

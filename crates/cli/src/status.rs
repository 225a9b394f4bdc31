//! `ssdlab status`: progress of a run submitted to Slurm, from its records and the queue.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::PathBuf;

use clap::Args;
use comfy_table::{Table, presets};
use miette::Report;
use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_conductor::Submission;
use ssdlab_plan::schedule::Trial;
use ssdlab_results::{self as results, Attempts, Ending, Run};
use ssdlab_slurm::{Element, Slurm};

use super::cancel::submitted;
use super::exit::Exit;
use super::output;
use super::results_folder::Results;

/// The version of the `--json` output.
const STATUS_SCHEMA: u32 = 1;

/// Arguments of `ssdlab status`.
#[derive(Debug, Args)]
pub struct Status {
    /// The run's name or folder.
    run: PathBuf,
    #[command(flatten)]
    results: Results,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// The progress of a run.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Standing {
    /// The version of this format.
    schema: u32,
    /// The run's name.
    run: String,
    /// Why it ended; `interrupted` while it is running.
    ending: Ending,
    /// The minimum number of trials.
    expected: usize,
    /// Recorded trials.
    recorded: usize,
    /// Recorded trials in attempts' files that `ssdlab run` has not merged yet.
    unmerged: usize,
    /// Recorded trials that failed or are void.
    failed: usize,
    /// The elements that have not ended; absent if Slurm does not answer.
    queue: Option<Vec<Queued>>,
    /// Why Slurm does not answer.
    silent: Option<String>,
    /// Nodes on which finished attempts left changes that are not undone.
    not_undone: BTreeSet<String>,
}

/// An element that has not ended.
#[derive(Debug, Serialize, JsonSchema)]
struct Queued {
    /// The element.
    #[serde(flatten)]
    element: Element,
    /// Its trials.
    trials: usize,
    /// Its recorded trials.
    recorded: usize,
}

impl Status {
    /// Runs the command.
    pub fn run(&self) -> Result<Exit, Report> {
        let folder = submitted(&self.run, &self.results)?;
        let standing = look(&folder)?;
        if self.json {
            output::print_json(&standing);
        } else {
            output::print(&standing.text().expect("a String takes everything"));
        }
        Ok(Exit::Done)
    }
}

fn look(folder: &std::path::Path) -> Result<Standing, Report> {
    let contents = Run::read(folder)?;
    let mut attempts = Attempts::new(folder, &contents.records);
    let news = attempts.news(&contents.schedule)?;
    let unmerged = news.records.len();
    let records: Vec<_> = contents.records.into_iter().chain(news.records).collect();
    let submissions = Submission::all(folder).map_err(Report::msg)?;
    let names = submissions.keys().cloned().collect();
    let queue = Slurm::find(None).and_then(|slurm| slurm.queue(&names));
    let (queue, silent) = match queue {
        Ok(queue) => (Some(queue.elements), None),
        Err(error) => (None, Some(error.to_string())),
    };
    let is_recorded = |trial: &&Trial| {
        let is_of = |of: &Trial| of.block == trial.block && of.treatment == trial.treatment;
        records.iter().any(|record| is_of(&record.trial))
    };
    let queued = |element: Element| {
        let trials = submissions.get(&element.array).and_then(|of| of.elements.get(element.index));
        let trials = trials.map_or(&[][..], Vec::as_slice);
        let recorded = trials.iter().filter(is_recorded).count();
        Queued { element, trials: trials.len(), recorded }
    };
    let alive: Vec<String> = queue.iter().flatten().map(Element::attempt).collect();
    let found = attempts.not_undone()?;
    if let Some(unreadable) = found.unreadable.into_iter().next() {
        return Err(unreadable.into());
    }
    let left = found.left.into_iter().filter(|left| !alive.contains(&left.id.to_string()));
    let not_undone: BTreeSet<String> = left.map(|left| left.node).collect();
    let ill = |status| matches!(status, results::Status::Failed | results::Status::Void);
    Ok(Standing {
        schema: STATUS_SCHEMA,
        run: folder.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        ending: contents.ending,
        expected: contents.schedule.expected_trials(),
        recorded: records.len(),
        unmerged,
        failed: records.iter().filter(|record| ill(record.status)).count(),
        queue: queue.map(|elements| elements.into_iter().map(queued).collect()),
        silent,
        not_undone,
    })
}

impl Standing {
    fn text(&self) -> Result<String, std::fmt::Error> {
        let mut out = String::new();
        let of = match self.expected {
            // A run that is not precise enough continues beyond the minimum.
            expected if expected < self.recorded => String::new(),
            expected => format!("of {expected} "),
        };
        write!(out, "{}: {} {of}trials recorded", self.run, self.recorded)?;
        if self.unmerged > 0 {
            write!(out, ", {} of them not merged yet", self.unmerged)?;
        }
        if self.failed > 0 {
            write!(out, ", {} failed or void", self.failed)?;
        }
        writeln!(out)?;
        match (&self.queue, &self.silent) {
            (Some(queue), _) if queue.is_empty() => writeln!(out, "nothing is queued")?,
            (Some(queue), _) => writeln!(out, "{}", table(queue))?,
            (None, silent) => {
                writeln!(out, "the queue: {}", silent.as_deref().unwrap_or("unknown"))?;
            }
        }
        for node in &self.not_undone {
            writeln!(out, "{node}: changes of a killed trial are not undone")?;
        }
        let is_over = self.queue.as_ref().is_some_and(Vec::is_empty);
        if is_over && (self.unmerged > 0 || self.ending == Ending::Interrupted) {
            writeln!(out, "to resume: ssdlab run --resume {} --on slurm", self.run)?;
        }
        if !self.not_undone.is_empty() {
            writeln!(out, "to undo: ssdlab cancel {}", self.run)?;
        }
        Ok(out)
    }
}

fn table(queue: &[Queued]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["element", "state", "node", "recorded"]);
    for Queued { element, trials, recorded } in queue {
        let place = if element.node.is_empty() { &element.reason } else { &element.node };
        let recorded = format!("{recorded} of {trials}");
        table.add_row([&element.attempt(), &element.state, place, &recorded]);
    }
    table.to_string()
}

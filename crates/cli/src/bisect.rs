//! `ssdlab bisect`: the commit of a Linux tree that changed whether a claim holds.

mod asked;
mod examiner;
mod kept;
mod shown;
mod workshop;

use std::path::PathBuf;

use clap::Args;
use miette::{Diagnostic, IntoDiagnostic, Report};
use ssdlab_bisect::{BisectError, Bisection, Ends, History, Outcome, search};
use ssdlab_host::interrupt::Interrupt;
use ssdlab_host::program::ProgramError;
use thiserror::Error;

pub use self::kept::Search;
pub use self::workshop::folders;

use self::asked::Asked;
use self::examiner::Examining;
use self::kept::Kept;
use self::workshop::Workshop;
use super::exit::{Exit, Wrong};
use super::plan_arguments::Variation;
use super::results_folder::Results;
use super::{output, stages};

/// Arguments of `ssdlab bisect`.
#[derive(Debug, Args)]
pub struct Bisect {
    /// A plan: a TOML file, or the name of a shipped plan (`ssdlab list plans`).
    plan: String,
    /// The claim, by its id; if it applies to several treatments, with one in brackets, as reports
    /// name it.
    claim: String,
    /// A revision with one verdict: a commit, tag or branch.
    #[arg(long, value_name = "REV")]
    good: String,
    /// A later revision with another verdict.
    #[arg(long, value_name = "REV")]
    bad: String,
    /// A git tree of Linux 6.1 to 6.12, which is only read.
    #[arg(long, value_name = "DIR")]
    tree: PathBuf,
    #[command(flatten)]
    variation: Variation,
    #[command(flatten)]
    results: Results,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// An end of the search that cannot be judged.
#[derive(Debug, Error, Diagnostic)]
#[error("{end} cannot be judged: {reason}")]
#[diagnostic(help(
    "mend that, or name another revision; the same command goes on with what was found"
))]
struct Unjudged {
    end: String,
    reason: String,
}

impl Bisect {
    /// Runs the command.
    pub fn run(&self) -> Result<Exit, Report> {
        let interrupt = Interrupt::on_signals().into_diagnostic()?;
        match self.search(&interrupt) {
            Err(error) if interrupt.is_set() && is_interrupted(&error) => {
                output::tell("interrupted; the same command goes on with what was found");
                Ok(Exit::Interrupted)
            }
            done => done,
        }
    }

    fn search(&self, interrupt: &Interrupt) -> Result<Exit, Report> {
        let asked = Asked::resolve(&self.plan, &self.claim, &self.variation)?;
        stages::check_models(&asked.schedule)?;
        let history = History::of(&self.tree, interrupt)?;
        let ends = Ends { good: history.commit(&self.good)?, bad: history.commit(&self.bad)? };
        history.check_leads(&ends.good, &ends.bad)?;
        let mut kept = Kept::open(&self.results.folder(), &asked, history.tree(), &ends)?;
        let mut bisection = kept.read()?.unwrap_or_else(|| Bisection::new(ends));
        if bisection.outcome.is_none() {
            let workshop = Workshop::open(&history, interrupt)?;
            let mut examining = Examining { asked: &asked, workshop, kept: &mut kept, interrupt };
            search(&history, &mut bisection, &mut examining)?;
        }
        let search = Search::new(&asked, history.tree(), bisection);
        let Some(outcome) = &search.bisection.outcome else {
            output::tell("interrupted; the same command goes on with what was found");
            return Ok(Exit::Interrupted);
        };
        if let Some(none) = self.no_commit(&asked, &search, outcome) {
            return Err(none);
        }
        if self.json {
            output::print_json(&search);
        } else {
            output::print(&shown::found(&asked, &search, kept.path()));
        }
        let is_found = matches!(outcome, Outcome::Found(_));
        Ok(if is_found { Exit::Done } else { Exit::Failed })
    }

    /// Why the search has no commit to name, if it has none.
    fn no_commit(&self, asked: &Asked, search: &Search, outcome: &Outcome) -> Option<Report> {
        let Ends { good, bad } = &search.bisection.ends;
        let named = |commit: &str| {
            if commit == good {
                format!("good ({})", self.good)
            } else {
                format!("bad ({})", self.bad)
            }
        };
        match outcome {
            Outcome::Found(_) | Outcome::OneOf(_) => None,
            Outcome::Alike => {
                let of = |commit: &str| {
                    let finding = search.bisection.finding(commit)?;
                    Some(format!("{} {}", named(commit), shown::finding(asked, finding)))
                };
                let [good, bad] = [good, bad].map(|end| of(end).unwrap_or_default());
                Some(Wrong::report(
                    format!("the verdicts do not differ: {good}; {bad}"),
                    "name other revisions; or, if only the values differ, give the claim a bound \
                     between them",
                ))
            }
            Outcome::Unjudged(commit, reason) => {
                Some(Unjudged { end: named(commit), reason: reason.clone() }.into())
            }
        }
    }
}

/// Whether the error is only that a program was ended by the interrupt.
fn is_interrupted(error: &Report) -> bool {
    matches!(
        error.downcast_ref::<BisectError>(),
        Some(BisectError::Program(ProgramError::Interrupted))
    )
}

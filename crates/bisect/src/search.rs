//! The search itself. What was found is all of its state: a search that is stopped goes on from its
//! findings, and examines nothing twice.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::error::BisectError;
use super::history::{Commit, History};

/// The finding about a revision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Finding {
    /// The claim was judged.
    Judged {
        /// Whether it holds.
        holds: bool,
        /// The value that decides it; absent if it is infinite.
        value: Option<f64>,
    },
    /// It could not be judged, and why: it did not build, or its trial died.
    Skipped(String),
}

/// An examined revision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    /// The revision.
    pub commit: Commit,
    /// The finding.
    pub finding: Finding,
}

/// The two revisions that a search begins with, by their hashes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ends {
    /// The one that is good.
    pub good: String,
    /// The one that is bad.
    pub bad: String,
}

/// The end of a search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// From this commit on the verdict is that of the bad revision.
    Found(Commit),
    /// It is the first of these, or one of the others, which had to be skipped.
    OneOf(Vec<Commit>),
    /// Good and bad have the same verdict.
    Alike,
    /// The good or the bad revision cannot be judged: its hash, and why.
    Unjudged(String, String),
}

/// Whether a claim holds at either end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdicts {
    /// At the good revision.
    pub good: bool,
    /// At the bad one.
    pub bad: bool,
}

/// A search and its findings, in the order in which they were made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Bisection {
    /// Where it began.
    pub ends: Ends,
    /// What was found so far.
    pub steps: Vec<Step>,
    /// Its end, once it has ended.
    pub outcome: Option<Outcome>,
}

impl Bisection {
    /// A search that has not begun.
    #[must_use]
    pub fn new(ends: Ends) -> Self {
        Self { ends, steps: Vec::new(), outcome: None }
    }

    /// A search that is resumed: ends that could not be judged are examined again, because what
    /// hindered it may have been mended.
    #[must_use]
    pub fn resumed(mut self) -> Self {
        if let Some(Outcome::Unjudged(end, _)) = &self.outcome {
            self.steps.retain(|step| step.commit.id != *end);
            self.outcome = None;
        }
        self
    }

    /// The finding about a commit, if it was examined.
    #[must_use]
    pub fn finding(&self, commit: &str) -> Option<&Finding> {
        self.steps.iter().find(|step| step.commit.id == commit).map(|step| &step.finding)
    }

    /// The verdicts at the ends, if both are known.
    #[must_use]
    pub fn verdicts(&self) -> Option<Verdicts> {
        let holds = |commit| match self.finding(commit) {
            Some(Finding::Judged { holds, .. }) => Some(*holds),
            _ => None,
        };
        Some(Verdicts { good: holds(&self.ends.good)?, bad: holds(&self.ends.bad)? })
    }
}

/// What a search needs from its caller.
pub trait Examiner {
    /// Why it stops.
    type Stop: From<BisectError>;

    /// Examines a revision; about so many more will follow. `None` if it was interrupted.
    fn examine(&mut self, commit: &Commit, left: u32) -> Result<Option<Finding>, Self::Stop>;

    /// Stores the search after each finding and at its end.
    fn keep(&mut self, bisection: &Bisection) -> Result<(), Self::Stop>;
}

/// Searches, or goes on with a search, until it has an outcome; it has none if it was interrupted.
/// The ends are examined first, and nothing else if their verdicts do not differ.
pub fn search<E: Examiner>(
    history: &History<'_>,
    bisection: &mut Bisection,
    examiner: &mut E,
) -> Result<(), E::Stop> {
    while bisection.outcome.is_none() {
        match next(history, bisection)? {
            Next::Examine { commit, left } => {
                let commit = history.describe(&commit)?;
                let Some(finding) = examiner.examine(&commit, left)? else { return Ok(()) };
                bisection.steps.push(Step { commit, finding });
            }
            Next::End(outcome) => bisection.outcome = Some(outcome),
        }
        examiner.keep(bisection)?;
    }
    Ok(())
}

/// What follows from the findings.
enum Next {
    Examine { commit: String, left: u32 },
    End(Outcome),
}

fn next(history: &History<'_>, bisection: &Bisection) -> Result<Next, BisectError> {
    let Ends { good, bad } = &bisection.ends;
    for end in [good, bad] {
        match bisection.finding(end) {
            None => {
                let left = steps(history.between(&[good], bad)?.len());
                return Ok(Next::Examine { commit: end.clone(), left: left + 1 });
            }
            Some(Finding::Skipped(why)) => {
                return Ok(Next::End(Outcome::Unjudged(end.clone(), why.clone())));
            }
            Some(Finding::Judged { .. }) => {}
        }
    }
    let verdicts = bisection.verdicts().expect("both ends were judged");
    if verdicts.good == verdicts.bad {
        return Ok(Next::End(Outcome::Alike));
    }
    let (mut goods, mut bad) = (Vec::new(), bad.as_str());
    for Step { commit, finding } in &bisection.steps {
        match finding {
            Finding::Judged { holds, .. } if *holds == verdicts.good => goods.push(&*commit.id),
            // Each was found between what was known to be good and the last bad one.
            Finding::Judged { .. } => bad = &commit.id,
            Finding::Skipped(_) => {}
        }
    }
    let candidates = history.between(&goods, bad)?;
    let is_skipped = |commit: &&String| bisection.finding(commit).is_some();
    let open = candidates.iter().filter(|commit| !is_skipped(commit)).count();
    if let Some(commit) = candidates.iter().find(|commit| !is_skipped(commit)) {
        return Ok(Next::Examine { commit: commit.clone(), left: steps(open).saturating_sub(1) });
    }
    let first = history.describe(bad)?;
    if candidates.is_empty() {
        return Ok(Next::End(Outcome::Found(first)));
    }
    let others = candidates.iter().map(|commit| history.describe(commit));
    let others = others.collect::<Result<Vec<_>, _>>()?;
    Ok(Next::End(Outcome::OneOf([vec![first], others].concat())))
}

/// About how many steps it takes to find one of so many commits and the bad one.
fn steps(commits: usize) -> u32 {
    usize::BITS - commits.leading_zeros()
}

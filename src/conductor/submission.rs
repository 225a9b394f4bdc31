//! What is submitted to a scheduler of jobs: an array whose elements are trials, and what a node
//! must have so that its trials are those that were meant.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::plan::schedule::Trial;
use crate::plan::{self, LabKind, Schedule};
use crate::results::{ATTEMPTS, write_synced};
use crate::slurm::MOST_ELEMENTS;

/// What the trials of an element take together at least, where they are packed: to start an
/// element takes about a second.
const WORTH_A_JOB: Duration = Duration::from_mins(1);

/// What a trial is taken to last where no estimate can be made.
const USUAL_TRIAL: Duration = Duration::from_secs(10);

/// Estimates are off by half, and nodes slower than what they were made on.
const MARGIN: u32 = 5;

/// What an element may take beside its trials.
const BESIDE: Duration = Duration::from_mins(10);

/// An array of trials, as it lies in the run's folder for its elements to read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Submission {
    /// The version of the program that is to run them, as records have it.
    pub program: String,
    /// The lab kernel's identity (virtual lab).
    pub kernel: Option<String>,
    /// The versions of the programs that trials use (virtual lab: they are part of its results).
    pub tools: Option<Vec<String>>,
    /// The features of a node that can run them.
    pub features: BTreeSet<String>,
    /// Whether nothing is recorded of what is asked of devices.
    pub no_trace: bool,
    /// Whether nodes do not see the run's folder, and have one of their own instead.
    #[serde(default)]
    pub is_staged: bool,
    /// The trials of each element.
    pub elements: Vec<Vec<Trial>>,
}

/// What an element must find on its node, and how it is to go about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    /// The version of the program.
    pub program: String,
    /// The lab kernel's identity (virtual lab).
    pub kernel: Option<String>,
    /// The versions of the programs that trials use (virtual lab).
    pub tools: Option<Vec<String>>,
    /// Whether nothing is recorded of what is asked of devices.
    pub no_trace: bool,
}

impl Submission {
    /// Where a submission lies in a run's folder.
    #[must_use]
    pub fn path(run: &Path, name: &str) -> PathBuf {
        run.join(ATTEMPTS).join(name).with_extension("json")
    }

    /// Reads the submission of that name.
    pub fn read(run: &Path, name: &str) -> io::Result<Self> {
        Ok(serde_json::from_slice(&fs::read(Self::path(run, name))?)?)
    }

    /// All submissions of a run, by name.
    pub fn all(run: &Path) -> io::Result<BTreeMap<String, Self>> {
        let mut all = BTreeMap::new();
        let entries = match fs::read_dir(run.join(ATTEMPTS)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(all),
            other => other?,
        };
        for entry in entries {
            let path = entry?.path();
            if path.extension().is_some_and(|ending| ending == "json") {
                let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                all.insert(name.clone(), Self::read(run, &name)?);
            }
        }
        Ok(all)
    }

    /// Writes it under a name that no other has.
    pub fn write(&self, run: &Path, name: &str) -> io::Result<()> {
        let text = serde_json::to_vec(self).expect("a submission is plain data");
        write_synced(&Self::path(run, name), &text).map_err(io::Error::other)
    }

    /// Why these trials would not be those that were meant, if they ran where this is found.
    #[must_use]
    pub fn differs_from(&self, found: &Expected) -> Option<String> {
        let or_none = |text: &Option<String>| text.clone().unwrap_or_else(|| "none".to_owned());
        let tools = |tools: &Option<Vec<String>>| tools.iter().flatten().cloned().collect();
        let (here, there): (Vec<String>, Vec<String>) = (tools(&found.tools), tools(&self.tools));
        let pairs = [
            ("ssdlab", found.program.clone(), self.program.clone()),
            ("the lab kernel", or_none(&found.kernel), or_none(&self.kernel)),
            ("the programs that trials use", here.join("; "), there.join("; ")),
        ];
        let differs = pairs.into_iter().find(|(_, here, there)| here != there);
        differs.map(|(what, here, there)| format!("{what}: here {here}, submitted from {there}"))
    }

    /// The longest that an element may take.
    #[must_use]
    pub fn limit(&self, schedule: &Schedule) -> Duration {
        let trials = self.elements.iter().map(Vec::len).max().unwrap_or(0);
        let trials = u32::try_from(trials).unwrap_or(u32::MAX);
        let longest: u64 = schedule.workload.phases.iter().map(|phase| phase.limit_ns).sum();
        let each = of_trial(schedule).map_or(Duration::from_nanos(longest), |each| each * MARGIN);
        BESIDE + each.saturating_mul(trials)
    }
}

/// What a trial takes, by the estimate.
fn of_trial(schedule: &Schedule) -> Option<Duration> {
    let trials = u32::try_from(schedule.expected_trials()).ok()?;
    Some(plan::estimate(schedule)?.time / trials.max(1))
}

/// The submissions that trials come to. On a wall clock the trials of a block that may share a node
/// do, and have it to themselves. In virtual time trials are packed, by their estimate, so that
/// all of the `nodes` get some.
#[must_use]
pub fn submissions(
    schedule: &Schedule,
    trials: &[Trial],
    expected: &Expected,
    is_staged: bool,
    nodes: usize,
) -> Vec<Submission> {
    let mut by_features: BTreeMap<BTreeSet<String>, Vec<Trial>> = BTreeMap::new();
    for trial in trials {
        by_features.entry(schedule.features(trial.treatment)).or_default().push(*trial);
    }
    let mut all = Vec::new();
    for (features, trials) in by_features {
        let elements: Vec<Vec<Trial>> = if schedule.target.lab == LabKind::Virtual {
            evenly(&trials, packed(schedule, trials.len(), nodes))
        } else {
            let is_of_block = |one: &Trial, next: &Trial| one.block == next.block;
            trials.chunk_by(is_of_block).map(<[Trial]>::to_vec).collect()
        };
        all.extend(elements.chunks(MOST_ELEMENTS).map(|elements| Submission {
            program: expected.program.clone(),
            kernel: expected.kernel.clone(),
            tools: expected.tools.clone(),
            features: features.clone(),
            no_trace: expected.no_trace,
            is_staged,
            elements: elements.to_vec(),
        }));
    }
    all
}

/// How many elements trials of the virtual lab are packed into: as many for each node, so that none
/// waits for another at the end.
fn packed(schedule: &Schedule, trials: usize, nodes: usize) -> usize {
    let each = of_trial(schedule).unwrap_or(USUAL_TRIAL).as_millis().max(1);
    let worth = usize::try_from(WORTH_A_JOB.as_millis().div_ceil(each)).unwrap_or(1);
    trials.div_ceil(worth).min(MOST_ELEMENTS).next_multiple_of(nodes.max(1)).min(trials)
}

/// Cuts trials into some parts, of which none is longer than another by more than one.
fn evenly(trials: &[Trial], parts: usize) -> Vec<Vec<Trial>> {
    let at = |part: usize| part * trials.len() / parts;
    (0..parts).map(|part| trials[at(part)..at(part + 1)].to_vec()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Overrides;

    fn schedule(lab: LabKind, rest: &str, runs: u32) -> Schedule {
        let plan = format!(
            "name = \"p\"\nquestion = \"?\"\n[factors]\ndiscard = [\"off\", \"on\"]\n{rest}\n\
             [baseline]\ndiscard = \"off\"\n[workload]\nphases = [{{ do = \"sync\" }}]\n"
        );
        let overrides = Overrides { lab: Some(lab), runs: Some(runs), ..Overrides::default() };
        plan::schedule("p.toml", &plan, &overrides, Path::new("/")).unwrap()
    }

    fn expected() -> Expected {
        Expected { program: "1".to_owned(), kernel: None, tools: None, no_trace: false }
    }

    fn of(schedule: &Schedule, nodes: usize) -> Vec<Submission> {
        submissions(schedule, &schedule.trials, &expected(), false, nodes)
    }

    #[test]
    fn a_block_on_a_wall_clock_shares_a_node_as_far_as_its_treatments_may() {
        let one = of(&schedule(LabKind::Image, "", 3), 2);
        assert_eq!(one.len(), 1);
        let sizes: Vec<usize> = one[0].elements.iter().map(Vec::len).collect();
        assert_eq!(sizes, [2, 2, 2]);
        let rest = "node_feature = [\"ssd=a\", \"ssd=b\"]";
        let two = of(&schedule(LabKind::Image, rest, 3), 2);
        assert_eq!(two.len(), 2);
        assert!(two.iter().all(|one| one.elements.len() == 3 && one.features.len() == 1));
        let mut trials = two.iter().flat_map(|one| one.elements.iter().flatten());
        assert!(trials.all(|trial| trial.block < 3));
    }

    #[test]
    fn virtual_trials_are_packed_and_spread_over_nodes() {
        let schedule = schedule(LabKind::Virtual, "", 10_000);
        let all = of(&schedule, 2);
        let sizes: Vec<usize> = all.iter().flat_map(|one| &one.elements).map(Vec::len).collect();
        assert_eq!(sizes.iter().sum::<usize>(), 20_000);
        // A trial of nothing takes a second.
        assert!(sizes.len() <= MOST_ELEMENTS && sizes[0] >= 20, "{}", sizes.len());
        let longest = sizes.iter().max().unwrap();
        assert!(sizes.len() % 2 == 0 && sizes.iter().all(|size| size + 1 >= *longest));
        // Few trials go to all nodes, however little they are.
        assert_eq!(
            submissions(&schedule, &schedule.trials[..6], &expected(), false, 3)[0].elements.len(),
            3
        );
    }

    #[test]
    fn a_node_that_has_something_else_is_told_what() {
        let one = &of(&schedule(LabKind::Virtual, "", 1), 1)[0];
        assert_eq!(one.differs_from(&expected()), None);
        let other = Expected { kernel: Some("ab".to_owned()), ..expected() };
        let says = one.differs_from(&other).unwrap();
        assert_eq!(says, "the lab kernel: here ab, submitted from none");
    }
}

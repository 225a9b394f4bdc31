//! A submission to a batch scheduler: an array whose elements run trials, and the requirements on a
//! node so that these are the intended trials.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use ssdlab_host::missing::if_there;
use ssdlab_host::{regular_file, whole_file};
use ssdlab_plan::schedule::Trial;
use ssdlab_plan::{self as plan, LabKind, Schedule};
use ssdlab_results::{ATTEMPTS, is_path_of_node};
use ssdlab_slurm::MOST_ELEMENTS;

/// The least time that the packed trials of an element take together: starting an element takes
/// about a second.
const WORTH_A_JOB: Duration = Duration::from_mins(1);

/// The assumed time of a trial if there is no estimate.
const USUAL_TRIAL: Duration = Duration::from_secs(10);

/// Estimates are off by half, and nodes may be slower than the machine they were made on.
const MARGIN: u32 = 5;

/// The time that an element may take besides its trials.
const BESIDE: Duration = Duration::from_mins(10);

/// The most trials of an array if nodes do not see the run's folder: the script of its job holds
/// them, and Slurm accepts 4 MiB by default (slurm.conf(5), `max_script_size`).
const MOST_STAGED: usize = 5_000;

/// The requirements of an element on its node, so that its trials are the intended ones.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expected {
    /// The version of the program, as records have it.
    pub program: String,
    /// The lab kernel's identity (virtual lab).
    pub kernel: Option<String>,
    /// The versions of the programs that trials use (virtual lab: they are part of its results).
    pub tools: Option<Vec<String>>,
    /// The files that the plan names, with the SHA-256 of their contents in hex.
    pub inputs: BTreeMap<PathBuf, String>,
}

/// An array of trials, as stored in the run's folder for its elements to read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Submission {
    /// The requirements of its elements.
    #[serde(flatten)]
    pub expected: Expected,
    /// The partition that was named; none for Slurm's default.
    pub partition: Option<String>,
    /// The features of a node that can run it.
    pub features: BTreeSet<String>,
    /// The only node that may run it, because the rest of its blocks ran there.
    pub node: Option<String>,
    /// Whether requests to devices are not recorded.
    pub no_trace: bool,
    /// Each node's own folder in place of the run's, if nodes do not see that.
    pub staged: Option<PathBuf>,
    /// The trials of each element.
    pub elements: Vec<Vec<Trial>>,
}

impl Submission {
    /// The path of a submission in a run's folder.
    #[must_use]
    pub fn path(run: &Path, name: &str) -> PathBuf {
        run.join(ATTEMPTS).join(name).with_extension("json")
    }

    /// Reads the submission of that name.
    pub fn read(run: &Path, name: &str) -> io::Result<Self> {
        let path = Self::path(run, name);
        let read = || -> io::Result<Self> {
            let submission: Self = serde_json::from_slice(&regular_file::read_own(&path)?)?;
            match &submission.staged {
                Some(folder) if !is_path_of_node(folder) => Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    format!(
                        "`staged` is `{}`, expected an absolute path on the nodes",
                        folder.to_string_lossy().escape_debug()
                    ),
                )),
                _ => Ok(submission),
            }
        };
        read().map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
    }

    /// All submissions of a run, by name.
    pub fn all(run: &Path) -> io::Result<BTreeMap<String, Self>> {
        let mut all = BTreeMap::new();
        for entry in if_there(fs::read_dir(run.join(ATTEMPTS)))?.into_iter().flatten() {
            let path = entry?.path();
            if path.extension().is_some_and(|ending| ending == "json") {
                let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                all.insert(name.clone(), Self::read(run, &name)?);
            }
        }
        Ok(all)
    }

    /// Writes it, atomically, under a name that no other has.
    pub fn write(&self, run: &Path, name: &str) -> io::Result<()> {
        let text = serde_json::to_vec(self).expect("a submission is plain data");
        whole_file::write(&Self::path(run, name), |out| out.write_all(&text))
    }

    /// The longest that an element may take, if Slurm lets it.
    #[must_use]
    pub fn limit(&self, schedule: &Schedule) -> Duration {
        let trials = self.elements.iter().map(Vec::len).max().unwrap_or(0);
        let trials = u32::try_from(trials).unwrap_or(u32::MAX);
        let longest: u64 = schedule.workload.phases.iter().map(|phase| phase.limit_ns).sum();
        let each = of_trial(schedule).map_or(Duration::from_nanos(longest), |each| each * MARGIN);
        BESIDE + each.saturating_mul(trials)
    }
}

/// The estimated time of a trial.
fn of_trial(schedule: &Schedule) -> Option<Duration> {
    let trials = u32::try_from(schedule.expected_trials()).ok()?;
    Some(plan::estimate(schedule)?.time / trials.max(1))
}

impl Expected {
    /// Why trials on a machine that has `found` would not be the intended ones.
    #[must_use]
    pub fn differs_from(&self, found: &Self) -> Option<String> {
        let or_none = |text: &Option<String>| text.clone().unwrap_or_else(|| "none".to_owned());
        let tools = |of: &Self| of.tools.iter().flatten().cloned().collect::<Vec<_>>().join("; ");
        let pairs = [
            ("ssdlab", found.program.clone(), self.program.clone()),
            ("the lab kernel", or_none(&found.kernel), or_none(&self.kernel)),
            ("the programs that trials use", tools(found), tools(self)),
        ];
        let differs = pairs.into_iter().find(|(_, here, there)| here != there);
        let says = |(what, here, there)| format!("{what}: here {here}, submitted from {there}");
        let mut inputs = self.inputs.iter();
        let other = inputs.find(|(path, hash)| found.inputs.get(*path) != Some(*hash));
        let input = || other.map(|(path, _)| format!("{}: it has other contents", path.display()));
        differs.map(says).or_else(input)
    }
}

/// The nodes on which the rest of a block's trials ran, by block and the features that they need.
pub type Homes = BTreeMap<(u32, BTreeSet<String>), String>;

/// Divides trials into submissions. On a wall clock, trials of a block share a node, if they may,
/// and have it to themselves. In virtual time trials are packed, by their estimate, so that all of
/// the `nodes` get some.
#[must_use]
pub fn submissions(
    schedule: &Schedule,
    trials: &[Trial],
    homes: &Homes,
    is_staged: bool,
    nodes: usize,
) -> Vec<Submission> {
    let mut alike: BTreeMap<(BTreeSet<String>, Option<String>), Vec<Trial>> = BTreeMap::new();
    for trial in trials {
        let features = schedule.features(trial.treatment);
        let node = homes.get(&(trial.block, features.clone())).cloned();
        alike.entry((features, node)).or_default().push(*trial);
    }
    let mut all = Vec::new();
    for ((features, node), trials) in alike {
        let elements: Vec<Vec<Trial>> = if schedule.is_in(LabKind::Virtual) {
            evenly(&trials, packed(schedule, trials.len(), nodes))
        } else {
            let is_of_block = |one: &Trial, next: &Trial| one.block == next.block;
            trials.chunk_by(is_of_block).map(<[Trial]>::to_vec).collect()
        };
        let longest = elements.iter().map(Vec::len).max().unwrap_or(1);
        let most = if is_staged { MOST_STAGED / longest } else { MOST_ELEMENTS };
        all.extend(elements.chunks(most.clamp(1, MOST_ELEMENTS)).map(|elements| Submission {
            features: features.clone(),
            node: node.clone(),
            elements: elements.to_vec(),
            ..Submission::default()
        }));
    }
    all
}

/// The number of elements into which trials of the virtual lab are packed: the same number for each
/// node, so that none waits for another at the end.
fn packed(schedule: &Schedule, trials: usize, nodes: usize) -> usize {
    let each = of_trial(schedule).unwrap_or(USUAL_TRIAL).as_millis().max(1);
    let worth = usize::try_from(WORTH_A_JOB.as_millis().div_ceil(each)).unwrap_or(1);
    trials.div_ceil(worth).min(MOST_ELEMENTS).next_multiple_of(nodes.max(1)).min(trials)
}

/// Divides trials into parts whose lengths differ by at most one.
fn evenly(trials: &[Trial], parts: usize) -> Vec<Vec<Trial>> {
    let at = |part: usize| part * trials.len() / parts;
    (0..parts).map(|part| trials[at(part)..at(part + 1)].to_vec()).collect()
}

#[cfg(test)]
mod tests;

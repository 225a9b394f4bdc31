//! The virtual lab's results for published numbers, stored because the runs take minutes.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use ssdlab_flash::grounded::grounded;
use ssdlab_flash::presets::{self, Preset};
use ssdlab_plan::{Model, Schedule, find_host};

/// The results shipped with the program, as `make evidence` writes them.
pub const KEPT: &str = include_str!("../../kept.toml");

/// Kept results, by plan.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Kept {
    runs: BTreeMap<String, KeptRun>,
}

/// A run's results for the published numbers of its plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeptRun {
    /// The version of ssdlab that ran it.
    pub release: String,
    /// The command that repeats it.
    pub command: String,
    /// What they depend on: the kernel, the models of drives and hosts, and the work.
    pub from: BTreeMap<String, String>,
    /// Its numbers by their names in the plan, in the unit of the published ones.
    pub ours: BTreeMap<String, f64>,
}

/// What the results of a plan depend on, each by its name, so that a change to it shows: the values
/// of the models that the plan names, the recipe of the lab kernel, and the treatments and their
/// workload. What does not show is a change to the code of the models.
#[must_use]
pub fn depends_on(schedule: &Schedule, recipe: &str) -> BTreeMap<String, String> {
    let mut from = BTreeMap::from([("kernel".to_owned(), recipe.to_owned())]);
    let mut work = serde_json::to_string(&schedule.workload).expect("it is plain data");
    work.extend(schedule.treatments.iter().map(|treatment| treatment.levels.to_string()));
    from.insert("work".to_owned(), digest(&work));
    let models: BTreeSet<Model> =
        schedule.setups().flat_map(|setup| setup.simulated.models()).collect();
    for model in models {
        let (of, values) = match &model {
            Model::Drive(level) => ("drive", presets::find(level).map(drive_values)),
            Model::Host(level) => ("host", find_host(level).map(|of| format!("{} ns", of.costs))),
        };
        from.extend(values.map(|values| (format!("{of} {}", model.level()), values)));
    }
    from
}

fn drive_values(preset: Preset) -> String {
    let values = grounded(preset.text).expect("a test reads every preset");
    let values = values.iter().map(|of| format!("{} = {}\n", of.key, of.value));
    digest(&values.collect::<String>())
}

fn digest(text: &str) -> String {
    let hash = Sha256::digest(text);
    format!("{:016x}", u64::from_be_bytes(*hash.first_chunk().expect("it has 32 bytes")))
}

impl Kept {
    /// Parses the output of [`Kept::text`].
    pub fn parse(text: &str) -> Result<Self, toml::de::Error> {
        toml::from_str(text)
    }

    /// The results as a TOML file.
    #[must_use]
    pub fn text(&self) -> String {
        let text = toml::to_string(self).expect("strings and numbers are TOML");
        format!(
            "# What runs of the virtual lab came to. `make evidence` writes this file.\n\n{text}"
        )
    }

    /// Stores a run, replacing an earlier one of the same plan.
    pub fn keep(&mut self, plan: String, run: KeptRun) {
        self.runs.insert(plan, run);
    }

    /// The run of a plan.
    #[must_use]
    pub fn of(&self, plan: &str) -> Option<&KeptRun> {
        self.runs.get(plan)
    }
}

//! Schedules of runs that no plan describes, and what is decided after a plan was resolved: by
//! options of a command, by what earlier runs found, or for a part of a run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::{
    FileHashes, Phase, Repetitions, SCHEDULE_SCHEMA, Schedule, ScheduleContents, Treatment, Trial,
    Workload,
};
use crate::answer::Answer;
use crate::cuts::Cuts;
use crate::factor::Levels;
use crate::metric::Metric;
use crate::target::Target;

/// Trials that another program performed, as far as its files describe them.
#[derive(Debug)]
pub struct ImportedTrials {
    /// The name that the results are filed under.
    pub plan: String,
    /// The question, in words.
    pub question: String,
    /// The metric that tables show.
    pub metric: Metric,
    /// How the files were interpreted.
    pub notes: Vec<String>,
    /// The levels of each treatment; all are compared with the first.
    pub treatments: Vec<Levels>,
    /// The phases of all trials, in order.
    pub phases: Vec<Phase>,
    /// The block and the treatment's index of each trial, in order.
    pub trials: Vec<(u32, usize)>,
}

impl Schedule {
    /// The schedule of imported results: it has neither a target nor seeds, and cannot be run.
    pub fn imported(imported: ImportedTrials) -> Self {
        let ImportedTrials { plan, question, metric, notes, treatments, phases, trials } = imported;
        let blocks = trials.iter().map(|(block, _)| block + 1).max().unwrap_or(0);
        let trial = |((block, treatment), position)| Trial { block, position, treatment, seed: 0 };
        Self(ScheduleContents {
            schema: SCHEDULE_SCHEMA,
            plan,
            question,
            metric,
            baseline: treatments.first().cloned().unwrap_or_default(),
            treatments: (treatments.into_iter().enumerate())
                .map(|(index, levels)| Treatment::new(levels, (index > 0).then_some(0)))
                .collect(),
            workload: Workload { phases, ..Workload::default() },
            repetitions: Repetitions { least: blocks, most: blocks, ..Repetitions::default() },
            trials: trials.into_iter().zip(0..).map(trial).collect(),
            notes,
            ..ScheduleContents::default()
        })
    }

    /// With a check of the files that every trial leaves.
    pub fn verified(mut self) -> Self {
        self.0.verify = true;
        self
    }

    /// With the hashes of the files that the plan names, which all trials then require.
    pub fn with_inputs(mut self, inputs: FileHashes) -> Self {
        self.0.inputs = inputs;
        self
    }

    /// On a device of this machine, as the plan leaves it to each machine to name one.
    pub fn on_device(mut self, device: PathBuf) -> Self {
        self.0.target = Some(Target::Device { path: Some(device) });
        self
    }

    /// On the published drive and host alone.
    pub fn undrawn(mut self) -> Self {
        self.0.plausible = 0;
        self
    }

    /// Without power cuts.
    pub fn uncut(mut self) -> Self {
        self.0.cuts = None;
        self
    }

    /// With power cuts, in place of the plan's.
    pub fn with_cuts(mut self, cuts: Cuts) -> Self {
        self.0.cuts = Some(cuts);
        self
    }

    /// With a workload in place of the plan's.
    pub fn with_workload(mut self, workload: Workload) -> Self {
        self.0.workload = workload;
        self
    }

    /// With the reason why some of the claims are exploratory, by their names.
    pub fn with_exploratory(mut self, claims: &[String], why: &str) -> Self {
        for claim in self.0.claims.iter_mut().filter(|claim| claims.contains(&claim.id)) {
            claim.exploratory = Some(why.to_owned());
        }
        self
    }

    /// With the number of consecutive earlier runs that left each claim open, by its name.
    pub fn with_left_open(mut self, runs: &BTreeMap<String, u32>) -> Self {
        for claim in &mut self.0.claims {
            claim.left_open = runs.get(&claim.id).copied().unwrap_or(0);
        }
        self
    }

    /// Only one trial of each of these treatments, in the first block.
    pub fn once_each(mut self, treatments: &BTreeSet<usize>) -> Self {
        let seed = self.trials.first().map_or(0, |trial| trial.seed);
        let trial = |(treatment, position): (&usize, u32)| Trial {
            block: 0,
            position,
            treatment: *treatment,
            seed,
        };
        self.0.trials = treatments.iter().zip(0..).map(trial).collect();
        self
    }

    /// Only this trial, without what is compared with it.
    pub fn only(&self, trial: Trial) -> Self {
        let levels = self.treatments[trial.treatment].levels.clone();
        Self(ScheduleContents {
            treatments: vec![Treatment::new(levels.clone(), None)],
            baseline: levels,
            trials: vec![Trial { treatment: 0, ..trial }],
            ranking: None,
            steps: Vec::new(),
            answer: Answer::default(),
            claims: Vec::new(),
            published: Vec::new(),
            ..self.0.clone()
        })
    }
}

//! The figures of the shipped plans: published numbers of phases and of claims.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use ssdlab_plan::metric::Unit;
use ssdlab_plan::schedule::Claim;
use ssdlab_plan::{LabKind, Levels, PublishedBasis, Schedule};

use super::figure::{Agreement, Figure, FigureReference, PublishedAmount};

/// The place of a published number in a plan; a run's own number has the same place.
#[derive(Debug, Clone, Copy)]
pub enum FigurePlace<'a> {
    /// At a phase of the treatments that have some levels.
    Phase {
        levels: &'a Levels,
        phase: &'a str,
        /// The number, in the unit of the plan's metric.
        value: f64,
        /// Whether a model was fitted to it.
        basis: PublishedBasis,
    },
    Claim(&'a Claim, f64),
}

impl FigurePlace<'_> {
    /// The name of the number within its plan.
    pub fn id(&self) -> String {
        match self {
            Self::Phase { levels, phase, .. } => format!("{phase}[{levels}]"),
            Self::Claim(claim, _) => claim.id.clone(),
        }
    }

    /// Whether a model was fitted to it.
    fn basis(&self) -> PublishedBasis {
        match self {
            Self::Phase { basis, .. } => *basis,
            Self::Claim(claim, _) => claim.basis(),
        }
    }

    /// What of the source it is of: the run with some levels, or a sentence. A claim whose words
    /// begin with three dots goes on with the sentence of the claim before it.
    fn test(&self, schedule: &Schedule) -> String {
        match self {
            Self::Phase { levels, .. } => levels.to_string(),
            Self::Claim(claim, _) => {
                let until = schedule.claims.iter().position(|own| own.id == claim.id);
                let up_to = &schedule.claims[..=until.unwrap_or(0)];
                let first = up_to.iter().rfind(|own| !own.says.starts_with("..."));
                first.map_or_else(|| claim.id.clone(), |first| first.id.clone())
            }
        }
    }
}

/// Every published number of a plan.
pub fn places(schedule: &Schedule) -> impl Iterator<Item = FigurePlace<'_>> {
    let of_phases = schedule.published.iter().flat_map(|published| {
        published.values.keys().filter_map(|phase| {
            let beside = published.of(phase)?;
            let (value, basis) = (beside.value, beside.basis);
            Some(FigurePlace::Phase { levels: &published.only, phase, value, basis })
        })
    });
    let of_claims = schedule
        .claims
        .iter()
        .filter_map(|claim| Some(FigurePlace::Claim(claim, claim.published?)));
    of_phases.chain(of_claims)
}

pub(super) fn figures(schedule: &Schedule, kept: &StoredResults) -> Vec<Figure> {
    let run = kept.of(&schedule.plan);
    let source = schedule.source.clone().unwrap_or_default();
    let is_any_fitted = places(schedule).any(|place| place.basis() == PublishedBasis::Fitted);
    let figure = |place: FigurePlace<'_>| {
        let id = place.id();
        let test = format!("{source}: {}", place.test(schedule));
        let is_fitted = place.basis() == PublishedBasis::Fitted;
        let ours = run.and_then(|run| run.ours.get(&id).copied());
        let (what, published, untested) = match place {
            FigurePlace::Phase { levels, phase, value, .. } => {
                let metric = schedule.metric;
                let published = PublishedAmount::Of(metric.unit, value);
                (format!("{phase}, {levels}: {metric}"), published, None)
            }
            FigurePlace::Claim(claim, value) => {
                let unit = if claim.is_absolute() { claim.metric.unit } else { Unit::Ratio };
                let untested = claim.not_testable.get(&LabKind::Virtual);
                (claim.says.clone(), PublishedAmount::Of(unit, value), untested)
            }
        };
        let how = match (untested, ours, run) {
            (Some(why), ..) => format!("not testable in the virtual lab: {why}"),
            (None, Some(_), Some(run)) => format!("{} (release {})", run.command, run.release),
            _ => "no run of the virtual lab has been kept".to_owned(),
        };
        Figure {
            id: format!("{}/{id}", schedule.plan),
            source: source.clone(),
            test,
            what,
            published,
            ours: ours.filter(|_| untested.is_none()),
            how,
            basis: Agreement::of(is_fitted, is_any_fitted),
            against: FigureReference::Published,
        }
    };
    places(schedule).map(figure).collect()
}

/// The results shipped with the program, as `make evidence` writes them.
pub const STORED_RESULTS: &str = include_str!("../../kept.toml");

/// Kept results.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StoredResults {
    /// By plan.
    pub runs: BTreeMap<String, StoredRun>,
}

/// A run's results for the published numbers of its plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoredRun {
    /// The version of ssdlab that ran it.
    pub release: String,
    /// The command that repeats it.
    pub command: String,
    /// What they depend on: the kernel, the models of drives and hosts, and the work.
    pub from: BTreeMap<String, String>,
    /// Its numbers by their names in the plan, in the unit of the published ones.
    pub ours: BTreeMap<String, f64>,
}

impl StoredResults {
    /// Parses a file like [`STORED_RESULTS`].
    pub fn parse(text: &str) -> Result<Self, toml::de::Error> {
        toml::from_str(text)
    }

    pub fn of(&self, plan: &str) -> Option<&StoredRun> {
        self.runs.get(plan)
    }
}

//! Compares runs: the same treatments with another kernel, on another drive, in another month.
//!
//! Trials of two runs share neither block nor time, so they are compared as two independent
//! samples (Welch). In the virtual lab a seed determines every operation and times do not depend on
//! the machine, so runs with the same seeds are paired by seed.

mod between;
mod candidate;
mod differences;
mod facts;
mod notes;
mod refusal;
mod row;

pub(crate) use facts::{done_differently, facts};

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_plan::metric::Metric;
use ssdlab_plan::{Factor, Levels};

use self::differences::differences;
use self::notes::notes;
use self::row::{cells, correct};

pub use self::between::{ComparisonMethod, NEAR, RunRatio};
pub use self::candidate::{Candidate, ComparedRun};
pub use self::differences::Difference;
pub use self::refusal::Incomparable;
pub use self::row::{ComparisonCell, ComparisonRow};

/// The version of the comparison's format.
pub const COMPARISON_SCHEMA: u32 = 1;

/// Runs beside each other.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Comparison {
    /// The version of this format.
    pub schema: u32,
    /// The metric that is compared.
    pub metric: Metric,
    /// The runs; the first is what the others are compared with.
    pub runs: Vec<ComparedRun>,
    /// What differs between the runs beside what was measured.
    pub differences: Vec<Difference>,
    /// Each treatment and phase that the first run and another have.
    pub rows: Vec<ComparisonRow>,
    /// The treatments that not all runs have.
    pub unshared: Vec<UnsharedTreatment>,
    /// The number of tests that `is_different` is corrected for.
    pub tests: usize,
    /// What a reader must know before believing the numbers.
    pub notes: Vec<String>,
}

/// A treatment that not all runs have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Unshared")]
pub struct UnsharedTreatment {
    /// The treatment.
    pub levels: Levels,
    /// The runs that have it, as places in `runs`, from 0.
    pub runs: Vec<usize>,
}

/// Compares runs with the first of them.
///
/// # Errors
///
/// [`Incomparable`] if the numbers of two runs do not measure the same thing.
///
/// # Panics
///
/// If there is no run.
pub fn compare(candidates: &[Candidate]) -> Result<Comparison, Incomparable> {
    let baseline = candidates.first().expect("there is a run");
    refusal::check_all(candidates)?;
    let of_run = factors_of_runs(candidates);
    let keys: Vec<Vec<Levels>> =
        candidates.iter().map(|candidate| candidate.keys(&of_run)).collect();
    let find = |key: &Levels| -> Vec<Option<usize>> {
        keys.iter().map(|own| own.iter().position(|other| other == key)).collect()
    };
    let shared: Vec<Vec<Option<usize>>> =
        keys[0].iter().map(find).filter(|places| places.iter().flatten().count() > 1).collect();
    refusal::check_shared(candidates, &keys, &shared)?;
    let mut rows: Vec<ComparisonRow> = Vec::new();
    for places in &shared {
        let treatment = places[0].expect("it is one of the first run's");
        for (index, phases) in baseline.quantities[treatment].iter().enumerate() {
            let cells = cells(candidates, places, index);
            if cells.iter().any(|cell| cell.mean.is_some()) {
                let levels = keys[0][treatment].clone();
                rows.push(ComparisonRow { levels, phases: phases.clone(), cells });
            }
        }
    }
    let tests = correct(&mut rows);
    let differences = differences(candidates, &shared, &of_run);
    Ok(Comparison {
        schema: COMPARISON_SCHEMA,
        metric: baseline.metric,
        runs: candidates.iter().map(Candidate::described).collect(),
        notes: notes(candidates, &rows, &differences),
        differences,
        rows,
        unshared: unshared(&keys),
        tests,
    })
}

/// The factors that have one level per run and describe what a trial starts from, not what it does:
/// two drives may be compared, two filesystems are two treatments.
fn factors_of_runs(candidates: &[Candidate]) -> BTreeSet<Factor> {
    let may_differ = |factor: &Factor| {
        factor.is_simulated() || matches!(factor, Factor::Age | Factor::Prefill | Factor::Stale)
    };
    let is_constant = |factor: &Factor| {
        candidates.iter().all(|candidate| {
            let mut levels = candidate.schedule.treatments.iter().map(|t| t.levels.0.get(factor));
            let first = levels.next();
            levels.all(|level| Some(level) == first)
        })
    };
    Factor::ALL.into_iter().filter(may_differ).filter(is_constant).collect()
}

fn unshared(keys: &[Vec<Levels>]) -> Vec<UnsharedTreatment> {
    let mut unshared: Vec<UnsharedTreatment> = Vec::new();
    for key in keys.iter().flatten() {
        let having = keys.iter().enumerate().filter(|(_, own)| own.contains(key));
        let runs: Vec<usize> = having.map(|(run, _)| run).collect();
        if runs.len() < keys.len() && !unshared.iter().any(|known| known.levels == *key) {
            unshared.push(UnsharedTreatment { levels: key.clone(), runs });
        }
    }
    unshared
}

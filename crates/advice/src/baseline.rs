//! What a load costs beside what it cost when its baseline was recorded. Both were measured in
//! virtual time, where equal trials are equal to the bit, so no statistics is needed.

use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_quantity::{Bytes, Share, Span};
use ssdlab_results::{Baseline, PhaseCost, TreatmentCost, UNMOUNTING};

/// The version of what `ssdlab baseline check --json` prints.
pub const BASELINE_COMPARISON_SCHEMA: u32 = 1;

/// A baseline compared with a new measurement.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct BaselineComparison {
    /// The version of this format.
    pub schema: u32,
    /// The worst of all changes.
    pub outcome: CostVerdict,
    /// Whether everything was the same to the bit, as far as the drive can tell.
    pub is_identical: bool,
    /// The costs that are not what they were, in the plan's order.
    pub changes: Vec<CostChange>,
}

/// A cost that is not what it was.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CostChange {
    /// The treatment's levels.
    pub levels: String,
    /// The phase; `(unmounting)` is no phase of the plan.
    pub phase: String,
    /// Which cost.
    pub cost: Cost,
    /// What it was: bytes, a number, or ns.
    pub recorded: u64,
    /// What it is.
    pub found: u64,
    /// The largest value that is allowed.
    pub allowed: u64,
    /// What follows of it.
    pub verdict: CostVerdict,
    /// By how many bytes each kind changed: of bytes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub by_kind: Vec<CostPart>,
    /// By how many bytes or syncs of programs each file changed, the largest change first: of
    /// bytes, syncs and flushes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub by_file: Vec<CostPart>,
}

/// A part of a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CostPart {
    /// The kind or the file.
    pub name: String,
    /// By how much it changed.
    pub by: i64,
}

/// Something that a load costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Cost {
    /// Bytes written to the drive.
    Bytes,
    /// Flushes of the drive.
    Flushes,
    /// Syncs of programs.
    Syncs,
    /// Virtual time, in ns.
    Time,
}

/// What follows of a cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CostVerdict {
    /// It is what it was.
    Same,
    /// It differs by no more than is allowed.
    Allowed,
    /// It is lower by more than that.
    Better,
    /// It is higher by more than that.
    Worse,
}

/// How much a cost may grow.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Allowance {
    /// By a share of what it was.
    Share(f64),
    /// By so many.
    Number(u64),
}

/// How much each cost may grow.
#[derive(Debug, Clone, PartialEq)]
pub struct Allowances(BTreeMap<Cost, Allowance>);

impl Default for Allowances {
    /// A change of code shifts times and with them what is written together, by little. A flush or
    /// a sync more is never by chance.
    fn default() -> Self {
        Self(BTreeMap::from([
            (Cost::Bytes, Allowance::Share(0.02)),
            (Cost::Flushes, Allowance::Number(0)),
            (Cost::Syncs, Allowance::Number(0)),
            (Cost::Time, Allowance::Share(0.05)),
        ]))
    }
}

impl Allowances {
    /// The usual ones, but for those that are given; the last of a cost counts.
    pub fn with(given: &[(Cost, Allowance)]) -> Self {
        let mut all = Self::default();
        all.0.extend(given.iter().copied());
        all
    }

    /// By how much a cost may grow, of which shares are of `whole`.
    fn more(&self, cost: Cost, whole: u64) -> u64 {
        match self.0[&cost] {
            Allowance::Number(more) => more,
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                clippy::cast_precision_loss,
                reason = "a share of a count, which is not negative"
            )]
            Allowance::Share(share) => (whole as f64 * share) as u64,
        }
    }
}

impl Cost {
    /// Those that are compared, in the order in which they are told.
    const ALL: [Self; 4] = [Self::Bytes, Self::Flushes, Self::Syncs, Self::Time];

    /// What a phase costs; none if that is unknown.
    fn of(self, phase: &PhaseCost) -> Option<u64> {
        match self {
            Self::Bytes => Some(phase.written_bytes),
            Self::Flushes => Some(phase.flushes),
            Self::Syncs => phase.syncs,
            Self::Time => phase.time_ns,
        }
    }

    pub const fn name(self) -> &'static str {
        match self {
            Self::Bytes => "bytes",
            Self::Flushes => "flushes",
            Self::Syncs => "syncs",
            Self::Time => "time",
        }
    }
}

/// Reads `bytes=2%`, `bytes=64 KiB`, `flushes=1`, `time=10 ms`.
pub fn allowance(text: &str) -> Result<(Cost, Allowance), String> {
    let (name, more) = text.split_once('=').unwrap_or((text, ""));
    let cost = Cost::ALL.into_iter().find(|cost| cost.name() == name.trim()).ok_or_else(|| {
        let known = Cost::ALL.map(Cost::name).join(", ");
        format!("`{name}` is no cost; write one of {known}: bytes=2%")
    })?;
    let more = more.trim();
    if more.ends_with('%') {
        return Ok((cost, Allowance::Share(Share::try_from(more.to_owned())?.0)));
    }
    let number = match cost {
        Cost::Bytes => Bytes::from_str(more)?.0,
        Cost::Time => Span::from_str(more)?.nanos(),
        Cost::Flushes | Cost::Syncs => more.parse().map_err(|_| {
            format!("\"{more}\" is no number of {name}; write for example {name}=1 or {name}=5%")
        })?,
    };
    Ok((cost, Allowance::Number(number)))
}

/// Compares what treatments cost with a baseline of the same plan.
pub fn compare_costs(
    baseline: &Baseline,
    found: &[TreatmentCost],
    allowances: &Allowances,
) -> BaselineComparison {
    let mut changes = Vec::new();
    let both = baseline.treatments.iter().zip(found);
    let is_identical = both.clone().all(|(recorded, found)| {
        recorded.fingerprint == found.fingerprint && recorded.phases == found.phases
    });
    for (recorded, found) in both {
        let levels = &found.levels;
        let bytes = recorded.phases.iter().map(|phase| phase.written_bytes).sum();
        for (was, is) in recorded.phases.iter().zip(&found.phases) {
            // Unmounting writes what phases have left: how much depends on when they ended, and the
            // rest of what it costs is the filesystem's.
            let is_late = was.name == UNMOUNTING;
            let costs = Cost::ALL.into_iter().filter(|cost| !is_late || *cost == Cost::Bytes);
            changes.extend(costs.filter_map(|cost| {
                let (recorded, found) = cost.of(was).zip(cost.of(is))?;
                let more = allowances.more(cost, if is_late { bytes } else { recorded });
                (recorded != found)
                    .then(|| change(cost, levels, (was, recorded), (is, found), more))
            }));
        }
    }
    let outcome = changes.iter().map(|change| change.verdict).max();
    BaselineComparison {
        schema: BASELINE_COMPARISON_SCHEMA,
        outcome: outcome.unwrap_or(CostVerdict::Same),
        is_identical,
        changes,
    }
}

/// How a cost of a phase, which may grow by so much more, has changed.
fn change(
    cost: Cost,
    levels: &str,
    (was, recorded): (&PhaseCost, u64),
    (is, found): (&PhaseCost, u64),
    more: u64,
) -> CostChange {
    let allowed = recorded.saturating_add(more);
    let verdict = if found > allowed {
        CostVerdict::Worse
    } else if found < recorded.saturating_sub(more) {
        CostVerdict::Better
    } else {
        CostVerdict::Allowed
    };
    let by_kind = if cost == Cost::Bytes { parts(&was.kinds, &is.kinds, |n| *n) } else { vec![] };
    let by_file = match cost {
        Cost::Bytes => parts(&was.files, &is.files, |done| done.written_bytes),
        Cost::Flushes | Cost::Syncs => parts(&was.files, &is.files, |done| done.syncs),
        Cost::Time => Vec::new(),
    };
    let (levels, phase) = (levels.to_owned(), is.name.clone());
    CostChange { levels, phase, cost, recorded, found, allowed, verdict, by_kind, by_file }
}

/// By how much each part has changed, the largest change first.
fn parts<T>(
    was: &BTreeMap<String, T>,
    is: &BTreeMap<String, T>,
    count: impl Fn(&T) -> u64,
) -> Vec<CostPart> {
    let names: BTreeSet<&String> = was.keys().chain(is.keys()).collect();
    let of = |all: &BTreeMap<String, T>, name| all.get(name).map_or(0, &count);
    let by = |name| of(is, name).wrapping_sub(of(was, name)).cast_signed();
    let all = names.into_iter().map(|name| CostPart { name: name.clone(), by: by(name) });
    let mut changed: Vec<CostPart> = all.filter(|part| part.by != 0).collect();
    changed.sort_by_key(|part| std::cmp::Reverse(part.by.unsigned_abs()));
    changed
}

/// What differs in how two measurements were made: its name, and what it was and is.
pub fn made_otherwise<'a>(
    recorded: &'a BTreeMap<String, String>,
    found: &'a BTreeMap<String, String>,
) -> Vec<(&'a str, Option<&'a str>, Option<&'a str>)> {
    let names: BTreeSet<&String> = recorded.keys().chain(found.keys()).collect();
    let of = |all: &'a BTreeMap<String, String>, name| all.get(name).map(String::as_str);
    let both = names.into_iter().map(|name| (name.as_str(), of(recorded, name), of(found, name)));
    both.filter(|(_, recorded, found)| recorded != found).collect()
}

#[cfg(test)]
mod tests;

//! Advice: from records to effects, verdicts and the settings that follow.
//!
//! Pure: a schedule and its records go in, an [`Analysis`] comes out. `conductor` only asks this
//! crate whether it has measured precisely enough; everything else is computed for a report.

mod after_cuts;
mod analysis;
mod baseline;
mod best;
mod case;
mod claims;
mod comparison;
mod counted;
mod cuts;
mod effects;
mod flat;
mod flip;
mod hosts;
mod judgement;
mod late;
mod machine;
mod method;
mod nothing;
mod outline;
mod over_drives;
mod pairs;
mod plausible;
mod precision;
mod prediction;
mod ranking;
mod separation;
#[cfg(test)]
mod simulated;
mod switchback;
mod treatment;
mod warning;
mod warnings;

pub use analysis::{
    ANALYSIS_SCHEMA, Analysis, Completeness, RecommendedSetting, analyse, summarise,
};
pub use baseline::{
    Allowance, Allowances, BASELINE_COMPARISON_SCHEMA, BaselineComparison, Cost, CostChange,
    CostPart, CostVerdict, allowance, compare_costs, made_otherwise,
};
pub use comparison::{
    COMPARISON_SCHEMA, Candidate, ComparedRun, Comparison, ComparisonCell, ComparisonMethod,
    ComparisonRow, Difference, Incomparable, NEAR, RunRatio, UnsharedTreatment, compare,
};
pub use cuts::{CutsResult, Example, Proportion, Quantiles, crashes};
pub use cuts::{DeviceCuts, DeviceExample, device_cuts};
pub use effects::{Effect, NoRatio};
pub use flip::{Crossing, Flip};
pub use hosts::{ByHost, HostRatio, RatioAcrossHosts};
pub use judgement::{
    ClaimEstimate, Conclusion, EstimatedValue, Judgement, OpenReason, Outcome, Verdict,
};
pub use late::Unmounting;
pub use machine::Host;
pub use method::{Check, CheckOutcome, Criterion};
pub use nothing::ZeroComparison;
pub use outline::{Outline, judge, outline};
pub use over_drives::{DriveSpread, OverDrives, guarantee};
pub use plausible::{CaseByBlock, CaseSubject, standings, subjects};
pub use precision::{Precision, may_stop, precision};
pub use prediction::Prediction;
pub use ranking::{RankedTreatment, StepRanking, taking_part};
pub use separation::{Separation, ThresholdSide};
pub use ssdlab_stats::FEWEST_RUNS;
pub use treatment::{
    MetricSummary, PhaseSummary, StretchPrograms, TreatmentResult, TreatmentStatus, TrialResult,
};
pub use warning::{Warning, WarningMessage};
pub use warnings::contents;

/// The confidence of every interval, and one minus the error a verdict may have.
pub const CONFIDENCE: f64 = 0.95;

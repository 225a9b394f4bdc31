//! The statistics of an experiment whose effects are ratios against a baseline, paired by block.
//!
//! In a randomised complete block every treatment occurs once, so dividing a treatment's value by
//! the baseline's value *of the same block* cancels whatever the two had in common (the drive's
//! age, the room's temperature). Ratios average on the logarithmic scale, where a halving and a
//! doubling cancel: [`LogRatio`] estimates there and reports a ratio. The rest judges how far to
//! trust it: tests against a bound, [`holm()`] for many tests at once, [`Drift`] for a machine that
//! changed while it was measured, and the number of runs needed ([`runs_to_separate`]). Without
//! pairs, as between two experiments, [`UnpairedRatio`] estimates from two samples; if each machine
//! has its own pairs, [`Heterogeneity`] estimates what they have in common, and which of them
//! differs. Of a machine that goes on working, [`Switchback`] compares totals.
//!
//! Everything here is a pure function: no input, no output, no clock, and the only randomness
//! (in [`Resamples`] and [`p_of_labels`]) comes from a seed the caller gives. Equal arguments give
//! equal results.
//!
//! All functions reject input by one rule. Failures that the *data* can cause are in the return
//! type: `None` when there are too few data for an answer, [`StatsError`] when a datum has no
//! logarithm. Failures that only a *caller* can cause, such as a confidence of 95 for 0.95, panic.

mod bca;
mod bound;
mod drift;
mod error;
mod heterogeneity;
mod holm;
pub mod latency;
mod log_ratio;
mod moments;
mod permutation;
mod proportion;
mod quantile;
mod ranking;
mod runs;
mod student;
mod summary;
mod switchback;
mod unpaired;

pub use bca::{FEWEST_RESAMPLES, Resamples};
pub use bound::p_of_signs;
pub use drift::{Drift, DriftSample};
pub use error::StatsError;
pub use heterogeneity::{Deviation, EffectGroup, Heterogeneity};
pub use holm::holm;
pub use log_ratio::{FEWEST_RUNS, LogRatio};
pub use permutation::p_of_labels;
pub use proportion::clopper_pearson;
pub use quantile::quantile_interval;
pub use ranking::RankEstimate;
pub use runs::{MOST_RUNS, runs_to_separate};
pub use summary::Interval;
pub use summary::Summary;
pub use switchback::{Switchback, even_blocks};
pub use unpaired::UnpairedRatio;

//! Defines the test for a metric that drifts in the course of a run.
//!
//! A drive that fills up or heats up makes later trials differ from earlier ones. Randomised blocks
//! keep that from favouring a treatment, but not from inflating the scatter, so readers must be
//! told. Treatments differ too, so each one's own level is removed first.

use std::collections::BTreeMap;

use crate::error::positive;
use crate::moments::rounding;
use crate::moments::{count, deviations, mean, sum_of_squares};
use crate::{StatsError, student};

/// One measurement and when in the run it was taken.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DriftSample {
    /// Its treatment; the numbers only distinguish treatments.
    pub treatment: usize,
    /// The trial's place in the order of the whole run.
    pub position: u32,
    /// The measured value, finite and above 0, in a unit common to all trials.
    pub value: f64,
}

/// How a metric changes with the position in the run, whatever the treatment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drift {
    /// The relative change from the first position to the last one among the trials: 0.1 is a rise
    /// of 10 %.
    pub over_span: f64,
    /// The two-sided p-value of "there is no drift".
    pub p: f64,
}

impl Drift {
    /// Estimates the drift from all trials of a run, in any order.
    ///
    /// An analysis of covariance with a common slope on the logarithm of the value: ln(value) is
    /// regressed on the position, both centred within each treatment, and the slope is tested by t
    /// with (trials - treatments - 1) degrees of freedom, as each treatment's mean and the slope
    /// are estimated (Cochran 1957, "Analysis of covariance: its nature and uses", Biometrics 13).
    /// Apart from the drift, trials are assumed to be independent.
    ///
    /// `None` when no degree of freedom is left, or when no treatment occurs at two positions. When
    /// no treatment's values differ (except for rounding), there is no drift, with a p of 1.
    ///
    /// # Errors
    ///
    /// [`StatsError::NotPositive`] for the first value that is not a finite number above 0.
    pub fn of(trials: &[DriftSample]) -> Result<Option<Self>, StatsError> {
        let mut treatments = BTreeMap::<usize, (Vec<f64>, Vec<f64>)>::new();
        for (index, trial) in trials.iter().enumerate() {
            let value = positive("trial", index, trial.value)?;
            let (positions, logs) = treatments.entry(trial.treatment).or_default();
            positions.push(f64::from(trial.position));
            logs.push(value.ln());
        }
        let freedom = trials.len().saturating_sub(treatments.len() + 1);
        let (positions, logs): (Vec<f64>, Vec<f64>) = treatments
            .values()
            .flat_map(|(positions, logs)| deviations(positions).into_iter().zip(centred(logs)))
            .unzip();
        let spread = sum_of_squares(&positions);
        if freedom == 0 || spread == 0.0 {
            return Ok(None);
        }

        let products: f64 = positions.iter().zip(&logs).map(|(x, y)| x * y).sum();
        let slope = products / spread;
        let residuals: Vec<f64> = positions.iter().zip(&logs).map(|(x, y)| y - slope * x).collect();
        let standard_error = (sum_of_squares(&residuals) / count(freedom) / spread).sqrt();
        // A level line through level data would divide 0 by 0.
        let t = if slope == 0.0 { 0.0 } else { slope.abs() / standard_error };
        Ok(Some(Self {
            over_span: (slope * span(trials)).exp_m1(),
            p: 2.0 * student::upper_tail(t, count(freedom)),
        }))
    }
}

/// Each logarithm less the mean of all of them, or 0 if the difference is only rounding.
fn centred(logs: &[f64]) -> impl Iterator<Item = f64> {
    let negligible = rounding(mean(logs));
    deviations(logs).into_iter().map(
        move |deviation| {
            if deviation.abs() <= negligible { 0.0 } else { deviation }
        },
    )
}

/// The number of positions from the first trial to the last one.
fn span(trials: &[DriftSample]) -> f64 {
    let positions = || trials.iter().map(|trial| trial.position);
    match (positions().min(), positions().max()) {
        (Some(first), Some(last)) => f64::from(last - first),
        _ => 0.0,
    }
}

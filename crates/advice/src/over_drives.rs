//! The results of a claim or an effect over plausible drives.

use schemars::JsonSchema;
use serde::Serialize;

use super::CONFIDENCE;
use super::separation::Separation;

/// What is found on the published drive and on plausible ones. The published one is among those of
/// the range, as it is among those that its evidence allows: a range without the value that it is
/// printed beside would puzzle every reader.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Spread")]
pub struct DriveSpread {
    /// The least, over the published drive and the plausible ones.
    pub least: f64,
    /// The median over plausible drives.
    pub median: f64,
    /// The greatest, over the published drive and the plausible ones.
    pub most: f64,
    /// On each plausible drive, in the order of the draws.
    pub values: Vec<f64>,
}

/// A claim over plausible drives.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct OverDrives {
    /// On how many of them it holds.
    pub holds: usize,
    /// Plausible drives on which it was measured.
    pub of: usize,
    /// Whether it holds on the published drive; absent where it was not measured on it.
    pub published: Option<bool>,
    /// If all of them agree, and they are at least 9: the least share of all plausible drives that
    /// do, with 95 % confidence. Absent of exploratory claims, whose bounds may have been set by
    /// what was found on these very drives.
    pub guarantees: Option<f64>,
    /// What was found.
    #[serde(flatten)]
    pub spread: DriveSpread,
    /// What tells those on which it holds from the others best; absent where they agree, or if
    /// chance would often tell so few apart as well by one of the parameters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub separated_by: Option<Separation>,
}

impl OverDrives {
    /// Whether the published drive contradicts plausible drives that all agree.
    pub fn published_differs(&self) -> bool {
        let agreed = [0, self.of].contains(&self.holds).then_some(self.holds > 0);
        agreed.is_some() && self.published.is_some() && self.published != agreed
    }
}

/// The fewest draws that settle a claim by themselves and guarantee anything: what fewer of them
/// agree on may be false on more than three drives in ten.
pub const FEWEST_DRAWS: usize = 9;

/// If all of some draws agree, the smallest share of all drives that agree with them, with 95 %
/// confidence: given a smaller share, at least one draw would disagree in 95 % of such samples.
pub fn guarantee(drives: usize) -> f64 {
    (1.0 - CONFIDENCE).powf(1.0 / drives.max(1) as f64)
}

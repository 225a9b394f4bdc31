//! The results of a claim or an effect over plausible drives.

use schemars::JsonSchema;
use serde::Serialize;

use super::CONFIDENCE;
use super::separation::Separation;

/// What is found on plausible drives.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Spread {
    /// The least, over plausible drives.
    pub least: f64,
    /// The median over plausible drives.
    pub median: f64,
    /// The greatest, over plausible drives.
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
    /// do, with 95 % confidence.
    pub guarantees: Option<f64>,
    /// What was found.
    #[serde(flatten)]
    pub spread: Spread,
    /// What tells those on which it holds from the others best; absent where they agree, are fewer
    /// than 9, or nothing tells them apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub separated_by: Option<Separation>,
}

/// The fewest draws that guarantee anything or name a parameter. Draws are stratified: two are at
/// opposite ends of every range. Guarantees are tested for 9, 29 and 59 (docs/flash-model.md), and
/// of few draws most parameters separate some by chance.
pub const FEWEST_DRAWS: usize = 9;

/// If all of some draws agree, the smallest share of all drives that agree with them, with 95 %
/// confidence: given a smaller share, at least one draw would disagree in 95 % of such samples.
#[must_use]
pub fn guarantee(drives: usize) -> f64 {
    (1.0 - CONFIDENCE).powf(1.0 / drives.max(1) as f64)
}

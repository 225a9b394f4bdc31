//! How far what a drive answers is from what the shipped drives answer to the same questions.
//!
//! The distance is the root mean square of the logarithms of the ratios of both answers, so that
//! 0.7 means a factor of two in the typical answer. The host's own time is a part of every answer
//! and is not known: each drive is asked under several hosts, and the nearest counts.

use crate::drive_file::DriveFileError;
use crate::presets::{DriveClass, Preset};
use crate::probe::{ProbeAnswers, ProbeHost, ProbeQuestion, SimulatedProbe, probe};

/// The greatest distance at which a drive is said to be like another. Of drives drawn from what the
/// evidence of the shipped ones leaves possible 95 of 100 are as near to one of them; hard disks,
/// network volumes, USB sticks and memory are farther than 0.45 from all (`tests.rs`).
pub const FITS_WITHIN: f64 = 0.4;

/// Differences of times that are far below these say nothing of a drive: of a request that is
/// alone, of one of many, and of a MiB.
const LEAST_ALONE_NS: f64 = 5_000.0;
const LEAST_DEEP_NS: f64 = 1_000.0;
const LEAST_MIB_NS: f64 = 50_000.0;

/// What a shipped drive answers, under each host.
#[derive(Debug, Clone)]
pub struct ProbeForecast {
    pub name: &'static str,
    pub class: DriveClass,
    pub by_host: Vec<(ProbeHost, ProbeAnswers)>,
}

/// A shipped drive and its distance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NearestDrive {
    pub name: &'static str,
    pub class: DriveClass,
    /// The host under which it is nearest.
    pub host: ProbeHost,
    pub distance: f64,
}

impl ProbeForecast {
    /// Asks a shipped drive in virtual time.
    pub fn of(preset: Preset, seed: u64) -> Result<Self, DriveFileError> {
        let under = |host| Ok((host, forecast(preset.text, host, seed)?));
        let by_host = ProbeHost::ALL.into_iter().map(under).collect::<Result<_, _>>()?;
        Ok(Self { name: preset.name, class: preset.class, by_host })
    }
}

/// What the drive of a file answers.
pub fn forecast(text: &str, host: ProbeHost, seed: u64) -> Result<ProbeAnswers, DriveFileError> {
    let mut drive = SimulatedProbe::of(text, host, seed)?;
    probe(&mut drive, seed, &mut |_| {}).map_err(|refusal| DriveFileError {
        message: format!("the drive cannot be probed: {refusal}"),
        at: None,
        help: "give it a larger capacity".to_owned(),
    })
}

impl ProbeQuestion {
    fn least_ns(self) -> f64 {
        match self {
            Self::SyncedWrite | Self::FuaWrite | Self::Write | Self::NearRead | Self::Read => {
                LEAST_ALONE_NS
            }
            Self::DeepNearRead | Self::DeepRead | Self::DeepWrite => LEAST_DEEP_NS,
            Self::Burst1
            | Self::Burst4
            | Self::Burst16
            | Self::SequentialWrite
            | Self::SequentialRead => LEAST_MIB_NS,
        }
    }
}

impl ProbeAnswers {
    /// The distance of these answers from others, by the questions that both have answered. Of
    /// each the fastest round counts: what else uses a drive only slows it down. Writes with forced
    /// unit access count only where they reach the drive as such.
    pub fn distance(&self, other: &Self, passes_fua: bool) -> f64 {
        let log_ratio = |question: &ProbeQuestion| {
            let least = question.least_ns();
            let time = |of: &Self| of.fastest_ns(*question).map(|ns| ns + least);
            Some((time(self)? / time(other)?).ln())
        };
        let counts = |question: &ProbeQuestion| *question != ProbeQuestion::FuaWrite || passes_fua;
        let all: Vec<f64> =
            ProbeQuestion::ALL.iter().filter(|q| counts(q)).filter_map(log_ratio).collect();
        let squares: f64 = all.iter().map(|ratio| ratio * ratio).sum();
        (squares / all.len() as f64).sqrt()
    }
}

/// The shipped drives, the nearest first.
pub fn ranked(
    answers: &ProbeAnswers,
    forecasts: &[ProbeForecast],
    passes_fua: bool,
) -> Vec<NearestDrive> {
    let near = |of: &ProbeForecast| {
        let by_host = of.by_host.iter().map(|(host, theirs)| NearestDrive {
            name: of.name,
            class: of.class,
            host: *host,
            distance: answers.distance(theirs, passes_fua),
        });
        by_host.min_by(|one, other| one.distance.total_cmp(&other.distance))
    };
    let mut all: Vec<_> = forecasts.iter().filter_map(near).collect();
    all.sort_by(|one, other| one.distance.total_cmp(&other.distance));
    all
}

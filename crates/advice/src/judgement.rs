//! What becomes of a claim: its verdict, the estimate that it rests on, or why there is none.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_plan::metric::Metric;
use ssdlab_plan::schedule::{Bounds, Claim};
use ssdlab_plan::{LabKind, Levels, Origin};

use super::flip::Flip;
use super::nothing::ZeroComparison;
use super::over_drives::{OverDrives, guarantee};

/// A claim, judged in one of its cases.
#[derive(Debug, Clone)]
pub struct Judgement {
    /// The claim's name; with the treatment in brackets where it applies to several.
    pub id: String,
    /// The claim; without the published value if this run is not comparable with its source.
    pub claim: Claim,
    /// The treatment; absent where it is not in this run.
    pub levels: Option<Levels>,
    /// The treatment it is compared with, of several the nearest.
    pub baseline: Option<Levels>,
    /// What became of it.
    pub outcome: Outcome,
    /// The results on plausible drives, in a run that draws them: the verdict is based on these,
    /// whereas the estimate is for the published drive.
    pub plausible: Option<OverDrives>,
    /// How single parameters of the drive affect the verdict, if `ssdlab flip` has tested them.
    pub flips: Vec<Flip>,
    /// The treatments that it should have been compared with, and that were not measured.
    pub not_measured: Vec<String>,
    /// The part of the virtual lab's models from which the claim follows, if it does: its verdict
    /// is then not independent evidence.
    pub by_construction: Option<String>,
    /// The scope of the verdict, which is limited to what the lab can show.
    pub scope: Option<&'static str>,
}

/// What became of a claim in one of its cases.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// Nothing could be compared.
    NotCompared(OpenReason),
    /// Something was measured.
    Measured {
        /// What was found.
        estimate: ClaimEstimate,
        /// What it proves.
        conclusion: Conclusion,
    },
}

/// What was found, and on how much it rests.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClaimEstimate {
    pub found: EstimatedValue,
    /// The number of blocks it rests on; for metrics of power cuts, the number of cuts.
    pub n: usize,
    /// How many hosts it was judged across, where two or more have measured.
    pub across_hosts: Option<usize>,
    /// The two-sided p-value of the verdict, adjusted for the number of claims and for the earlier
    /// runs that left it open; `None` if nothing was tested.
    pub p: Option<f64>,
}

/// A number, or what there is instead.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum EstimatedValue {
    /// A ratio, or a value of a metric.
    Ratio {
        /// The ratio: over blocks, or across hosts.
        ratio: f64,
        /// Its 95 % interval, not adjusted for the number of claims; `None` if an end is infinite.
        interval: Option<[f64; 2]>,
    },
    /// One side has nothing, so that there is no ratio.
    AgainstNothing(ZeroComparison),
}

/// What an estimate proves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Conclusion {
    /// The claim was shown to be true here.
    Holds,
    /// It was shown to be false here.
    Refuted,
    /// It is true of some plausible drives and false of others.
    Depends,
    /// Nothing.
    Open(OpenReason),
}

/// Why nothing was shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OpenReason {
    /// This lab cannot tell.
    Untested(String),
    /// Both sides did the same, request by request, so that nothing was compared.
    Identical,
    /// About so many more runs may tell; no number of runs if it is unknown.
    Runs(Option<u32>),
    /// Something else, and the number of runs that are missing if they are.
    Reason(String, Option<u32>),
}

impl OpenReason {
    /// The reason in words, unless it is too few runs.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Untested(why) | Self::Reason(why, _) => Some(why),
            Self::Identical => Some(
                "the same computation: the sides do not differ before the end of the phase, and \
                 make the same requests in it",
            ),
            Self::Runs(_) => None,
        }
    }

    /// The approximate number of additional runs needed for a verdict.
    pub const fn more_runs(&self) -> Option<u32> {
        match self {
            Self::Runs(more) | Self::Reason(_, more) => *more,
            Self::Untested(_) | Self::Identical => None,
        }
    }
}

impl From<String> for OpenReason {
    fn from(reason: String) -> Self {
        Self::Reason(reason, None)
    }
}

impl Outcome {
    pub const fn verdict(&self) -> Verdict {
        match (self.why(), self) {
            (Some(OpenReason::Untested(_)), _) => Verdict::Untested,
            (Some(OpenReason::Identical), _) => Verdict::Identical,
            (None, Self::Measured { conclusion: Conclusion::Holds, .. }) => Verdict::Holds,
            (None, Self::Measured { conclusion: Conclusion::Refuted, .. }) => Verdict::Refuted,
            (None, Self::Measured { conclusion: Conclusion::Depends, .. }) => Verdict::Depends,
            _ => Verdict::Undecided,
        }
    }

    /// Why nothing was shown, if nothing was.
    pub const fn why(&self) -> Option<&OpenReason> {
        match self {
            Self::NotCompared(why) | Self::Measured { conclusion: Conclusion::Open(why), .. } => {
                Some(why)
            }
            Self::Measured { .. } => None,
        }
    }

    /// What was found, if anything was measured.
    pub const fn estimate(&self) -> Option<&ClaimEstimate> {
        match self {
            Self::NotCompared(_) => None,
            Self::Measured { estimate, .. } => Some(estimate),
        }
    }

    /// The ratio that was found.
    pub fn ratio(&self) -> Option<f64> {
        match self.estimate()?.found {
            EstimatedValue::Ratio { ratio, .. } => Some(ratio),
            EstimatedValue::AgainstNothing(_) => None,
        }
    }

    pub fn interval(&self) -> Option<[f64; 2]> {
        match self.estimate()?.found {
            EstimatedValue::Ratio { interval, .. } => interval,
            EstimatedValue::AgainstNothing(_) => None,
        }
    }

    /// The two-sided p-value, if anything was tested.
    pub fn p(&self) -> Option<f64> {
        self.estimate()?.p
    }

    /// The same without the statistics of repeated runs.
    pub(super) fn of_one_run(mut self) -> Self {
        if let Self::Measured { estimate, .. } = &mut self {
            estimate.p = None;
            if let EstimatedValue::Ratio { interval, .. } = &mut estimate.found {
                *interval = None;
            }
        }
        self
    }

    /// The same numbers, which leave the claim open.
    pub(super) fn opened(self, why: OpenReason) -> Self {
        match self {
            Self::NotCompared(_) => Self::NotCompared(why),
            Self::Measured { estimate, .. } => {
                Self::Measured { estimate, conclusion: Conclusion::Open(why) }
            }
        }
    }
}

impl Judgement {
    /// The bounds of its ratio or amount.
    pub fn bounds(&self) -> Bounds {
        match self.outcome {
            Outcome::NotCompared(_) => self.claim.statement.bounds(),
            Outcome::Measured { .. } => self.claim.bounds(),
        }
    }

    /// The largest share of runs that may differ from those done, although all of these were equal,
    /// with 95 % confidence: 1 - 0.05^(1/n). `None` if they were not equal, or decided nothing.
    pub fn may_differ(&self) -> Option<f64> {
        let ClaimEstimate { n, across_hosts, .. } = *self.outcome.estimate()?;
        let is_point = |[low, high]: [f64; 2]| low >= high;
        let is_decided = matches!(self.outcome.verdict(), Verdict::Holds | Verdict::Refuted);
        let is_of_cuts = self.claim.metric.is_of_cuts();
        let is_of_blocks = is_decided && across_hosts.is_none() && !is_of_cuts;
        let are_equal = is_of_blocks && n > 1 && self.outcome.interval().is_some_and(is_point);
        are_equal.then(|| 1.0 - guarantee(n))
    }
}

impl EstimatedValue {
    /// The ratio, also where one side has nothing: 0, or infinite.
    pub fn ratio(&self) -> f64 {
        match self {
            Self::Ratio { ratio, .. } => *ratio,
            Self::AgainstNothing(found) => found.ratio(),
        }
    }
}

/// What a verdict about a metric is limited to.
pub(super) fn scope(origin: Origin, metric: Metric) -> Option<&'static str> {
    let Origin::Lab(lab) = origin else { return Some("of imported results") };
    let is_of_the_drive = metric.is_of_the_drive();
    match lab {
        LabKind::Virtual if is_of_the_drive => Some("of a simulated drive"),
        LabKind::Image if is_of_the_drive => Some("of an image file, not of a drive"),
        LabKind::Directory if !is_of_the_drive => Some("with whatever else ran there"),
        LabKind::Live => Some("of this machine at its own work"),
        _ => None,
    }
}

/// What became of a claim, in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It was shown to be true here.
    Holds,
    /// It was shown to be false here.
    Refuted,
    /// It is true of some plausible drives and false of others.
    Depends,
    /// Neither was shown.
    Undecided,
    /// Both sides did the same, request by request, so that nothing was compared.
    Identical,
    /// This lab cannot tell.
    Untested,
}

impl Verdict {
    /// All verdicts, in the order in which they are counted.
    pub const ALL: [Self; 6] = [
        Self::Holds,
        Self::Refuted,
        Self::Depends,
        Self::Undecided,
        Self::Identical,
        Self::Untested,
    ];
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

//! The verdicts of a run in progress, for a terminal.

use ssdlab_advice::{Analysis, Judgement, Verdict};

use super::evidence;
use super::words::plain;

/// What is known of a claim, for a line on a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveVerdict {
    /// The claim's name; with the treatment in brackets where it applies to several.
    pub id: String,
    /// The verdict if the run ended now.
    pub verdict: Verdict,
    /// The verdict, which way it leans if there is none yet, and the numbers, in words.
    pub says: String,
}

/// What is known of each claim, from an analysis of the trials so far.
pub fn so_far(analysis: &Analysis) -> Vec<LiveVerdict> {
    let of = |claim: &Judgement| LiveVerdict {
        id: plain(&claim.id),
        verdict: claim.outcome.verdict(),
        says: plain(&evidence::so_far(claim)),
    };
    analysis.claims.iter().map(of).collect()
}

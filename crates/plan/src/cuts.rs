//! Power cuts (`[cuts]`): their form in a plan, and what it means.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_quantity::Words;
use toml::Spanned;

use super::error::PlanFault;
use super::lab_kind::LabKind;
use super::layer::Layer;

/// The maximum number of cuts times survivors of a treatment.
const MOST: u64 = 10_000_000;

/// Power cuts, as a plan writes them.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WrittenCuts {
    /// The number of power cuts in each treatment, divided among its blocks and rounded up.
    #[schemars(example = 1000)]
    pub number: u32,
    /// Where in a trial they fall: `half and half` (default), `events` or `random`.
    #[serde(default, rename = "where")]
    #[schemars(example = &"random")]
    pub moments: CutMoments,
    /// How many of the states in which a cut may leave the drive are examined (default 1).
    #[schemars(example = 3)]
    pub survivors: Option<u32>,
    /// The program that says whether data survived, and its arguments: it runs in the trial's
    /// directory after each recovery, reads what `command` phases had printed before the cut, and
    /// rejects the data by any exit status but 0.
    #[schemars(example = ["git","fsck","--strict"])]
    pub check: Option<Words>,
}

/// Where in a trial the power is cut.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Moments")]
pub enum CutMoments {
    /// Half of the cuts at events, the other half at random moments.
    #[default]
    #[serde(rename = "half and half")]
    Half,
    /// First at the beginnings and ends of flushes and at promises of durability (when a sync
    /// returns), then at any request; at random moments only if the trial has fewer events.
    #[serde(rename = "events")]
    Events,
    /// At random moments, each as likely as any other: what happens to a share of these cuts
    /// happens to that share of all power cuts in these phases.
    #[serde(rename = "random")]
    Random,
}

impl CutMoments {
    /// How many of a number of cuts are to be at events.
    pub const fn at_events(self, number: usize) -> usize {
        match self {
            Self::Half => number.div_ceil(2),
            Self::Events => number,
            Self::Random => 0,
        }
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Power cuts, with everything explicit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cuts {
    /// How often the power is cut in each trial.
    pub of_trial: u32,
    /// Where in the trial.
    #[serde(default, rename = "where", skip_serializing_if = "CutMoments::is_default")]
    pub moments: CutMoments,
    /// How many of the states that a cut may leave its drive in are examined.
    pub survivors: u32,
    /// The plan's own check of what survived: a program and its arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<Words>,
}

impl Cuts {
    /// Whether a plan could ask for so many.
    pub(super) fn are_possible(&self) -> bool {
        let total = u64::from(self.of_trial) * u64::from(self.survivors);
        (1..=MOST).contains(&total)
    }
}

/// Checks that guests can recover the drives: they mount what a cut left on the drive itself.
pub(super) fn check_layer(
    written: Option<&Spanned<WrittenCuts>>,
    layer: Option<&Layer>,
) -> Result<(), PlanFault> {
    match (written, layer) {
        (Some(written), Some(layer)) => Err(PlanFault::at(
            written.span(),
            format!("drives are not recovered through {layer} after power cuts"),
            "leave out `layer`, or [cuts]",
        )),
        _ => Ok(()),
    }
}

/// Resolves the cuts of a plan for a lab and a number of trials per treatment. `has_history` says
/// whether some phase records what its files must hold.
pub(super) fn resolve(
    written: Option<&Spanned<WrittenCuts>>,
    lab: LabKind,
    has_history: bool,
    blocks: u32,
) -> Result<Option<Cuts>, PlanFault> {
    let Some(written) = written else { return Ok(None) };
    let fault =
        |message: &str, help: &str| Err(PlanFault::at(written.span(), message.to_owned(), help));
    let WrittenCuts { number, moments, survivors, check } = written.get_ref().clone();
    let survivors = survivors.unwrap_or(1);
    let cuts = Cuts { of_trial: number, moments, survivors, check };
    if !cuts.are_possible() {
        return Err(PlanFault::at(
            written.span(),
            format!("number = {number} times survivors = {survivors} is not from 1 to 10,000,000"),
            "for example number = 1000, survivors = 1",
        ));
    }
    if lab != LabKind::Virtual {
        return fault("power cuts need simulated drives", "use --lab virtual, or leave [cuts] out");
    }
    if !has_history && cuts.check.is_none() {
        return fault(
            "nothing says what files must hold after a power cut",
            "add a phase with do = \"replace\", \"append\", \"database\" or \"sequences\", \
             or give a program that checks them: check = \"git fsck\"",
        );
    }
    Ok(Some(Cuts { of_trial: number.div_ceil(blocks), ..cuts }))
}

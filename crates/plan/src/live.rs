//! The live lab's part of a plan: how long a stretch of the machine's time is, how many there are,
//! and after how many blocks the run looks at what it has.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use ssdlab_quantity::Span;
use toml::Spanned;

use super::error::PlanFault;
use super::factor::{Factor, Levels};
use super::schedule::{Action, Phase};

/// The blocks after which a run of the live lab is judged, and may end. Judged after each of them
/// at a third of the error, all together err as rarely as one verdict may.
pub const LOOKS: [u32; 3] = [12, 24, 48];

/// The phase in which the machine does its own work.
pub const STRETCH: &str = "stretch";

const USUAL_STRETCH: Duration = Duration::from_mins(5);

/// What the kernel does of the work of a stretch comes late by the delay that a treatment sets.
/// Below twice that, most of it falls into the next stretch or into the sync between them; from ten
/// times on it no longer matters.
const FEWEST_DELAYS: u32 = 2;
const ENOUGH_DELAYS: u32 = 10;

/// Stretches of the running machine's time (live lab).
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Live")]
pub struct WrittenLive {
    /// How long each treatment is in force at a time: at least twice, and better ten times, the
    /// longest delay that a treatment sets (default 300 s or ten times that delay; with a
    /// `[workload]` as long as its phases take, and this time after them if it is given).
    #[schemars(with = "Option<Span>")]
    #[schemars(example = &"10 min")]
    pub stretch: Option<Spanned<Span>>,
    /// How long what happens after each switch is not counted (default 0 s).
    #[schemars(example = &"30 s")]
    pub washout: Option<Span>,
    /// The longest that all stretches together may take: the run has 12, 24 or 48 blocks, as many
    /// as fit (default: 48); `--for` overrides it.
    #[schemars(example = &"24 h")]
    #[serde(rename = "for")]
    pub budget: Option<Span>,
}

/// What the live lab does with a plan.
#[derive(Debug)]
pub(super) struct LivePlan {
    /// The phase of the machine's own work, unless the workload is all there is.
    pub stretch: Option<Phase>,
    /// The most blocks.
    pub most: u32,
    pub notes: Vec<String>,
}

/// Decides how long stretches are and how many blocks fit into the budget, if there is another than
/// the plan's; `has_phases` is whether the plan has a workload.
pub(super) fn resolve<'a>(
    written: &WrittenLive,
    has_phases: bool,
    budget: Option<Span>,
    treatments: impl Iterator<Item = &'a Levels>,
) -> Result<LivePlan, PlanFault> {
    let levels: Vec<&Levels> = treatments.collect();
    let delay = levels.iter().map(|levels| delay(levels)).max().unwrap_or_default();
    if written.stretch.is_none() && has_phases {
        return Ok(LivePlan { stretch: None, most: LOOKS[2], notes: Vec::new() });
    }
    let stretch = match &written.stretch {
        Some(written) => written.get_ref().0,
        None => USUAL_STRETCH.max(ENOUGH_DELAYS * delay),
    };
    let times = |count: u32| Span(count * delay);
    if stretch < FEWEST_DELAYS * delay || stretch.is_zero() {
        let at = written.stretch.as_ref().map_or(0..0, Spanned::span);
        return Err(PlanFault::at(
            at,
            format!(
                "stretches of {} are too short: a treatment delays writes by {}, so that they \
                 would be another stretch's",
                Span(stretch),
                times(1)
            ),
            format!("at least {}, better {}", times(FEWEST_DELAYS), times(ENOUGH_DELAYS)),
        ));
    }
    let mut notes = Vec::new();
    if stretch < ENOUGH_DELAYS * delay {
        notes.push(format!(
            "stretches of {} are short: a treatment delays writes by {}, and what is rewritten \
             within that time is saved only within a stretch; better {}",
            Span(stretch),
            times(1),
            times(ENOUGH_DELAYS)
        ));
    }
    let washout = written.washout.map_or(Duration::ZERO, |span| span.0);
    let block = (stretch + washout) * u32::try_from(levels.len()).unwrap_or(u32::MAX);
    let most = blocks_in(budget.or(written.budget).map(|span| span.0), block)?;
    let action =
        Action::Stretch { stretch_ns: Span(stretch).nanos(), washout_ns: Span(washout).nanos() };
    // Its own time is no reason to fail; a sync that hangs is.
    let limit = stretch + washout + Duration::from_mins(30);
    Ok(LivePlan { stretch: Some(Phase::new(STRETCH, action, Span(limit).nanos())), most, notes })
}

/// The largest number of blocks to look at that fit into a time.
fn blocks_in(budget: Option<Duration>, block: Duration) -> Result<u32, PlanFault> {
    let Some(budget) = budget else { return Ok(LOOKS[2]) };
    LOOKS.into_iter().rfind(|blocks| *blocks * block <= budget).ok_or_else(|| {
        PlanFault::nowhere(
            format!(
                "{} are too short: the fewest blocks that decide anything are {}, and take {}",
                Span(budget),
                LOOKS[0],
                Span(LOOKS[0] * block)
            ),
            "give it longer, shorter stretches, or fewer treatments",
        )
    })
}

/// The longest delay of writes that a treatment sets.
fn delay(levels: &Levels) -> Duration {
    let number = |word: &str, name: &str| word.trim().strip_prefix(name)?.parse::<u64>().ok();
    let of = |factor: Factor| levels.0.get(&factor).map_or("", String::as_str).split(',');
    let commits = of(Factor::Mount).filter_map(|word| number(word, "commit="));
    let expiries = of(Factor::Sysctl).filter_map(|word| {
        number(word, "vm.dirty_expire_centisecs=").map(|centiseconds| centiseconds.div_ceil(100))
    });
    Duration::from_secs(commits.chain(expiries).max().unwrap_or(0).min(1 << 20))
}

#[cfg(test)]
mod tests;

//! Work that was left to unmounting: after the last phase, and so in none of them.
//!
//! A filesystem may keep back what a phase caused, such as the discards of deleted files. A verdict
//! that would be another one if this work were counted to the phases is withheld.

use std::collections::BTreeMap;
use std::fmt::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_plan::metric::{Source, Unit};
use ssdlab_plan::schedule::{Action, Phase};
use ssdlab_plan::{Bytes, Schedule};
use ssdlab_results::{PhaseRecord, Record, Teardown};

use super::case::ComparedCase;
use super::counted::counted;
use super::judgement::{Conclusion, Outcome};
use super::pairs::{ComparedSide, Quantity};

/// Work at unmounting matters from this share of the phases' work on, and from this number of bytes
/// on: unmounting always writes a superblock.
const LATE_SHARE: f64 = 0.02;
const LATE_BYTES: u64 = 1_000_000;

/// Without many bytes it matters if it takes this long, and this share of the phases' time.
const LONG_NS: u64 = 1_000_000_000;
const LONG_SHARE: f64 = 0.1;

/// What unmounting did, on average over a treatment's trials.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Unmounting {
    /// How long it took, in ns.
    pub time_ns: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Write requests.
    pub write_requests: u64,
    /// Bytes written relative to those of all phases; absent if these wrote nothing.
    pub written_share: Option<f64>,
    /// Bytes discarded.
    pub discarded_bytes: u64,
    /// Discard requests.
    pub discard_requests: u64,
    /// Bytes discarded relative to those of all phases; absent if these discarded nothing.
    pub discarded_share: Option<f64>,
    /// The time relative to that of all phases until the device was quiet; absent if it is unknown.
    pub time_share: Option<f64>,
}

impl Unmounting {
    /// What these trials did, if it matters.
    pub(super) fn of(trials: &[&Record]) -> Option<Self> {
        let torn: Vec<&Teardown> = trials.iter().filter_map(|r| r.teardown.as_ref()).collect();
        let trials_n = u64::try_from(trials.len()).ok().filter(|_| !torn.is_empty())?;
        let late = |of: fn(&Teardown) -> u64| torn.iter().map(|teardown| of(teardown)).sum::<u64>();
        let inside = |of: fn(&PhaseRecord) -> Option<u64>| {
            trials.iter().flat_map(|record| &record.phases).filter_map(of).sum::<u64>()
        };
        let share = |late: u64, inside: u64| (inside > 0).then(|| late as f64 / inside as f64);
        let written = late(|teardown| teardown.device.written_bytes);
        let discarded = late(|teardown| teardown.device.discarded_bytes);
        let time = late(|teardown| teardown.time_ns);
        let own = Self {
            time_ns: time / trials_n,
            written_bytes: written / trials_n,
            write_requests: late(|teardown| teardown.device.write_requests) / trials_n,
            written_share: share(written, inside(|phase| Some(phase.device?.written_bytes))),
            discarded_bytes: discarded / trials_n,
            discard_requests: late(|teardown| teardown.device.discard_requests) / trials_n,
            discarded_share: share(discarded, inside(|phase| Some(phase.device?.discarded_bytes))),
            time_share: share(time, inside(|phase| phase.settled_ns)),
        };
        (own.writes() || own.discards() || own.takes_long()).then_some(own)
    }

    /// Whether it wrote what matters.
    pub fn writes(&self) -> bool {
        matters(self.written_bytes, self.written_share)
    }

    /// Whether it discarded what matters.
    pub fn discards(&self) -> bool {
        matters(self.discarded_bytes, self.discarded_share)
    }

    /// Whether it took a time that matters.
    pub fn takes_long(&self) -> bool {
        self.time_ns >= LONG_NS && self.time_share.is_some_and(|share| share > LONG_SHARE)
    }
}

fn matters(bytes: u64, share: Option<f64>) -> bool {
    bytes >= LATE_BYTES && share.is_none_or(|share| share > LATE_SHARE)
}

impl fmt::Display for Unmounting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |share: Option<f64>, did: &str| match share {
            Some(share) if share < 10.0 => {
                format!(", {:.0} % of what the phases {did}", share * 100.0)
            }
            Some(share) => format!(", {share:.0} times what the phases {did}"),
            None => String::new(),
        };
        let mut did = Vec::new();
        if self.writes() {
            let share = of(self.written_share, "wrote");
            did.push(format!("wrote a further {}{share}", Bytes(self.written_bytes)));
        }
        if self.discards() {
            let share = of(self.discarded_share, "discarded");
            did.push(format!("discarded {}{share}", Bytes(self.discarded_bytes)));
        }
        if did.is_empty() {
            did.push("went on".to_owned());
        }
        let mut says = did.join(", and ");
        if self.takes_long() {
            write!(says, ", in {:.1} s", self.time_ns as f64 / 1e9)?;
        }
        write!(f, "unmounting {says}")
    }
}

/// The successful trials by treatment and block, and what treatments left to unmounting.
pub(super) struct LateWork<'a> {
    schedule: &'a Schedule,
    of: BTreeMap<usize, BTreeMap<u32, &'a Record>>,
    left: BTreeMap<usize, Unmounting>,
}

impl<'a> LateWork<'a> {
    /// `None` if nothing that matters was left.
    pub fn of(schedule: &'a Schedule, records: &'a [Record]) -> Option<Self> {
        let mut of: BTreeMap<usize, BTreeMap<u32, &Record>> = BTreeMap::new();
        for record in counted(records) {
            let own = of.entry(record.trial.treatment).or_default();
            own.insert(record.trial.block, record);
        }
        let left = |(treatment, trials): (&usize, &BTreeMap<u32, &Record>)| {
            let trials: Vec<&Record> = trials.values().copied().collect();
            Some((*treatment, Unmounting::of(&trials)?))
        };
        let left: BTreeMap<usize, Unmounting> = of.iter().filter_map(left).collect();
        (!left.is_empty()).then_some(Self { schedule, of, left })
    }

    /// Withholds a verdict that depends on whether late work is counted to the phases.
    pub fn judge(&self, case: &ComparedCase<'_>, outcome: Outcome) -> Outcome {
        match self.why_open(case, &outcome) {
            Some(reason) => outcome.opened(reason.into()),
            None => outcome,
        }
    }

    /// Why late work leaves a decided claim open, if it does.
    fn why_open(&self, case: &ComparedCase<'_>, outcome: &Outcome) -> Option<String> {
        let holds = match outcome {
            Outcome::Measured { conclusion: Conclusion::Holds, .. } => true,
            Outcome::Measured { conclusion: Conclusion::Refuted, .. } => false,
            _ => return None,
        };
        let sides = [Some(case.side), case.baseline].into_iter().flatten();
        let treatments = sides.flat_map(|side| {
            let all = [Some(side.treatment), side.excess_over].into_iter().flatten();
            all.map(move |treatment| (treatment, side.quantity))
        });
        let late = treatments.filter_map(|(of, quantity)| Some((of, self.late(of, quantity)?)));
        let (treatment, most) =
            late.max_by_key(|(_, left)| (left.discarded_bytes, left.time_ns))?;
        let log = |block: &u32| {
            let other = match case.baseline {
                Some(side) => self.value(side, *block)?,
                None => 1.0,
            };
            Some((self.value(case.side, *block)? / other).ln())
        };
        let logs: Vec<f64> = self.of.get(&case.side.treatment)?.keys().filter_map(log).collect();
        let ratio = (logs.iter().sum::<f64>() / logs.len() as f64).exp();
        let is_allowed = case.claim.bounds().allow(ratio);
        if ratio.is_nan() || is_allowed == holds {
            return None;
        }
        let would = if is_allowed { "hold" } else { "be refuted" };
        let whose = self.schedule.distinct(&self.schedule.treatments[treatment].levels);
        let advice = advice(&self.schedule.phases(treatment), most);
        Some(format!(
            "{most}, after the last phase ({whose}); counted to the phases, the claim would \
             {would}: {advice}"
        ))
    }

    /// The value of a side in a block, with what was left to unmounting.
    fn value(&self, side: ComparedSide<'_>, block: u32) -> Option<f64> {
        let of = |treatment: usize| {
            let record = self.of.get(&treatment)?.get(&block)?;
            with_late_work(record, side.quantity, self.late(treatment, side.quantity))
        };
        let less = side.excess_over.map_or(Some(0.0), of)?;
        Some(of(side.treatment)? - less)
    }

    /// What a treatment left to unmounting that may have been caused by the measured phases: not if
    /// files were changed after them, or if it was waited for or written out by unmounting before
    /// the end.
    fn late(&self, treatment: usize, quantity: Quantity<'_>) -> Option<&Unmounting> {
        let left = self.left.get(&treatment)?;
        let phases = self.schedule.phases(treatment);
        let last = phases.iter().rposition(|phase| quantity.phases.contains(&phase.name))?;
        let changes = |phase: &Phase| {
            !matches!(
                phase.action,
                Action::Sync | Action::Fstrim | Action::Idle { .. } | Action::Read { .. }
            )
        };
        // Mounting again is one of the actions that change something.
        if phases[last + 1..].iter().any(|phase| phase.cold || changes(phase)) {
            return None;
        }
        let setup = self.schedule.treatments[treatment].setup.as_ref().ok()?;
        let waits = |phase: &Phase| {
            phase.postponed_ns > 0 || phase.idle().is_some_and(|idle| idle >= setup.postpones())
        };
        let was_waited_for = phases[last..phases.len() - 1].iter().any(waits);
        let is_of_discards = quantity.metric.shows_discards();
        (!was_waited_for || !is_of_discards).then_some(left)
    }
}

/// A quantity of a trial, if what was left to unmounting is counted to its phases.
fn with_late_work(
    record: &Record,
    quantity: Quantity<'_>,
    left: Option<&Unmounting>,
) -> Option<f64> {
    let Quantity { metric, phases } = quantity;
    let value = record.over(metric, phases)?;
    let (Some(left), Some(Teardown { time_ns, device })) = (left, record.teardown) else {
        return Some(value);
    };
    let is_of_reader = metric.is_of_reader() && metric.unit == Unit::Ns;
    let more = match metric.source {
        Source::Settled => time_ns,
        // Whose they are is not recorded.
        Source::WrittenBytes | Source::Caused(_) => device.written_bytes,
        Source::WriteRequests => device.write_requests,
        Source::WriteMerges => device.write_merges,
        Source::Flushes => device.flushes,
        Source::DiscardedBytes => device.discarded_bytes,
        Source::DiscardRequests => device.discard_requests,
        // A reader may have had to wait for all of it.
        _ if is_of_reader && (left.discards() || left.takes_long()) => {
            return Some(value.max(time_ns as f64));
        }
        _ => 0,
    };
    Some(value + more as f64)
}

/// What to do about work that was left to unmounting.
pub(super) fn advice(phases: &[Phase], left: &Unmounting) -> &'static str {
    let Some(last) = phases.last() else { return "" };
    if last.action == Action::Remount {
        return "make the phases longer, of which it is a smaller share then";
    }
    // Some discards do not come however long one waits, such as f2fs's small ones.
    if left.discards() && last.idle().is_none() && last.postponed_ns == 0 {
        return "end with an `idle` phase that lasts until the discards have come";
    }
    "end with a `remount` phase, in which the filesystem does what it keeps for unmounting"
}

#[cfg(test)]
mod tests;

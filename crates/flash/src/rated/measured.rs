//! A drive file for a drive that a probe has measured: a start for the fit of a whole one.
//!
//! It is the file of a drive that it is like, in which values are changed one after another, each
//! by what one question's answer differs. A change is kept only if the drive then answers all
//! questions more like the measured one. Most values of a drive do not show in a minute, and stay
//! assumed.

use ssdlab_quantity::Bytes;

use super::{RatedDrive, assumed, size};
use crate::drive_file::DriveFileError;
use crate::evidence::{Basis, Evidence, Value, ValueUnit};
use crate::probe::{ProbeAnswers, ProbeHost, ProbeQuestion, forecast};

/// How a value follows from an answer.
#[derive(Clone, Copy)]
enum Following {
    /// It is a part of the answer's time.
    Part,
    /// It is a time, and the answer is proportional to it.
    Time,
    /// It is a rate, and the answer's inverse is proportional to it.
    Rate,
}

const CHANGES: [(&str, ProbeQuestion, Following); 9] = [
    ("timing.controller_read", ProbeQuestion::DeepRead, Following::Time),
    ("timing.controller_write", ProbeQuestion::DeepWrite, Following::Time),
    ("timing.link_write", ProbeQuestion::SequentialWrite, Following::Rate),
    ("timing.link_read", ProbeQuestion::SequentialRead, Following::Rate),
    ("timing.read", ProbeQuestion::Read, Following::Part),
    ("timing.read_latency", ProbeQuestion::Read, Following::Part),
    ("timing.write_latency", ProbeQuestion::Write, Following::Part),
    ("timing.flush_latency", ProbeQuestion::SyncedWrite, Following::Part),
    ("timing.fua_latency", ProbeQuestion::FuaWrite, Following::Part),
];

/// The seed of what the drive is compared by.
const SEED: u64 = 1;

/// A drive file made from a probe.
#[derive(Debug, Clone)]
pub struct MeasuredDrive {
    /// The file.
    pub text: String,
    /// The keys of the values that were measured.
    pub measured: Vec<&'static str>,
    /// How far its answers are from those of the probe.
    pub distance: f64,
}

/// Makes the file of a drive from its answers, its capacity if that is known, and the file of a
/// drive that it is like, under the host by which it is.
pub fn measured(
    name: &str,
    answers: &ProbeAnswers,
    capacity: Option<Bytes>,
    (like, host): (&str, ProbeHost),
    passes_fua: bool,
) -> Result<MeasuredDrive, DriveFileError> {
    let mut made = RatedDrive::like(like)?;
    if let Some(capacity) = capacity.filter(|bytes| made.like.check_capacity(*bytes).is_ok()) {
        let mut file = made.like.clone();
        file.with_capacity(capacity);
        let source = format!("{capacity}, as the kernel says, in whole pages");
        let evidence = Evidence { basis: Basis::Measured, ..assumed(source) };
        made.set("capacity", size(*file.capacity.get_ref()), evidence);
        if let Some(cache) = &file.slc_cache {
            made.bound_cache(
                *cache.size.get_ref(),
                Bytes(file.capacity.get_ref().0 / u64::from(*cache.bits_per_cell.get_ref()).max(1)),
            );
        }
    }
    let head = format!(
        "# A start, made from a probe of a minute. Values whose basis is \"measured\" were;\n\
         # all others are assumed to be as in {}.\n",
        made.like.name
    );
    let text = |made: &RatedDrive| made.text(&head, name, "by a probe");
    let mut answered = forecast(&text(&made), host, SEED)?;
    let mut distance = answers.distance(&answered, passes_fua);
    let mut kept = Vec::new();
    for (key, question, following) in CHANGES {
        let is_seen = question != ProbeQuestion::FuaWrite || passes_fua;
        let Some((value, evidence)) = made
            .change(key, question, following, answers, &answered)
            .filter(|_| is_seen && made.specification.timing.is_some())
        else {
            continue;
        };
        let mut changed = made.clone();
        changed.set(key, value, evidence);
        // Not every value makes a drive.
        let Ok(found) = forecast(&text(&changed), host, SEED) else { continue };
        let nearer = answers.distance(&found, passes_fua);
        if nearer < distance {
            (made, answered, distance) = (changed, found, nearer);
            kept.push(key);
        }
    }
    Ok(MeasuredDrive { text: text(&made), measured: kept, distance })
}

impl RatedDrive {
    /// The value of a key by which an answer would be as measured, with its evidence.
    fn change(
        &self,
        key: &str,
        question: ProbeQuestion,
        following: Following,
        measured: &ProbeAnswers,
        answered: &ProbeAnswers,
    ) -> Option<(Value, Evidence)> {
        let old = self.values.get(key).cloned().unwrap_or_else(|| ValueUnit::Nanos.value(0.0));
        let (number, was) = (old.number()?, answered.median_ns(question)?);
        let at = |is: f64| {
            old.with_number(match following {
                Following::Part => (number + is - was).max(0.0).round(),
                Following::Time => (number * is / was).round(),
                Following::Rate => (number * was / is).round(),
            })
        };
        let answer = measured.answers.get(&question)?;
        let value = at(answer.median_ns())?;
        let interval = answer.interval_ns();
        let mut ends = [at(interval.lo)?, at(interval.hi)?];
        ends.sort_by(|one, other| one.number().partial_cmp(&other.number()).expect("numbers"));
        let is_range = interval.lo.is_finite()
            && interval.hi.is_finite()
            && ends[0].number() < ends[1].number();
        let source = "ssdlab probe: the median of its rounds, and their range";
        let evidence =
            Evidence { basis: Basis::Measured, range: is_range.then_some(ends), ..assumed(source) };
        Some((value, evidence))
    }
}

#[cfg(test)]
mod tests;

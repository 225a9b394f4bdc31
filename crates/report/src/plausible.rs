//! Results on plausible drives, in words. Ranges are those of all drives, the published one
//! included.

use ssdlab_advice::{Crossing, DriveSpread, Effect, Flip, Judgement, OverDrives, Separation};
use ssdlab_flash::evidence::Value;
use ssdlab_plan::{Bytes, Span};

use super::number;
use super::words::counted;

/// An effect with its interval, or with its range over plausible drives.
pub(super) fn effect(effect: &Effect) -> String {
    match &effect.plausible {
        Some(spread) => {
            let [least, most] = [spread.least, spread.most].map(number::ratio);
            format!("x{} ({least} to {most})", number::ratio(effect.ratio))
        }
        None => number::effect(effect.ratio, effect.interval),
    }
}

/// The range of a claim's values.
pub(super) fn range(claim: &Judgement, spread: &DriveSpread) -> String {
    let [least, most] =
        [spread.least, spread.most].map(|value| number::claimed(&claim.claim, value));
    if least == most { least } else { format!("{least} to {most}") }
}

fn all(over: &OverDrives) -> String {
    match over.of {
        1 => "the plausible drive".to_owned(),
        several => format!("all {several} plausible drives"),
    }
}

/// The evidence of a verdict over plausible drives.
pub(super) fn evidence(claim: &Judgement, over: &OverDrives) -> Vec<String> {
    let (range, median) =
        (range(claim, &over.spread), number::claimed(&claim.claim, over.spread.median));
    let drives = counted(over.of, "plausible drive");
    let mut parts = vec![match (over.published, over.of) {
        (None, 1) => format!("plausible drive: {range}"),
        (None, _) => format!("plausible drives: {range}, median {median}"),
        (Some(_), 1) => format!("{range} with the plausible drive"),
        (Some(_), _) => format!("{range} with {drives} (their median: {median})"),
    }];
    let holds = match over.holds {
        0 => format!("false on {}", all(over)),
        holds if holds == over.of => format!("true on {}", all(over)),
        holds => format!("holds on {holds} of {drives}"),
    };
    let guarantees = over.guarantees.map_or(String::new(), |share| {
        // A guarantee is not rounded up.
        format!(", so on at least {} % of such drives (95 % confidence)", (share * 100.0).floor())
    });
    let but = match over.published {
        Some(true) if over.published_differs() => ", but true on the published drive",
        Some(false) if over.published_differs() => ", but false on the published drive",
        _ => "",
    };
    parts.push(format!("{holds}{guarantees}{but}"));
    let disagree = 0 < over.holds && over.holds < over.of;
    parts.extend(match &over.separated_by {
        Some(by) => Some(separation(by, over.of)),
        None if disagree && claim.flips.is_empty() => Some(format!(
            "{} do not tell which parameter decides; ssdlab flip changes one at a time",
            counted(over.of, "drive")
        )),
        None => None,
    });
    parts
}

/// The effects of single parameters of drives and hosts on a verdict, if `ssdlab flip` has searched
/// for them.
pub(super) fn flips(claim: &Judgement) -> Option<String> {
    let holds = claim.flips.first()?.holds;
    let of = |flip: &Flip| -> Vec<String> {
        let parameter = format!("{} of {}", flip.parameter, flip.model.level());
        let says = |at: &Crossing| {
            let (side, at, now) = (at.side, value(&at.value), value(&flip.published));
            format!("{parameter} is {side} {at} (published: {now})")
        };
        flip.flips.iter().map(says).collect()
    };
    let found: Vec<String> = claim.flips.iter().flat_map(of).collect();
    let word = if holds { "holds" } else { "does not hold" };
    Some(if found.is_empty() {
        let tried = counted(claim.flips.len(), "parameter");
        format!("{word} whichever of {tried} is changed, up to ten times its range")
    } else {
        format!("{word} unless {}", found.join(" or "))
    })
}

fn separation(by: &Separation, of: usize) -> String {
    format!(
        "best told apart by {}: holds {} {} on {} of {of} ({})",
        by.parameter,
        by.holds,
        value(&by.value),
        by.separates,
        number::p_value(by.p)
    )
}

/// A number without its last digits, in which steps within a range leave errors of rounding.
fn significant(number: f64) -> f64 {
    format!("{number:.11e}").parse().unwrap_or(number)
}

/// A value of a drive file, for readers.
pub fn value(value: &Value) -> String {
    let written = match value {
        Value::Flag(flag) => return flag.to_string(),
        Value::Integer(number) => return number.to_string(),
        Value::Number(number) => return significant(*number).to_string(),
        Value::Text(text) => text,
    };
    if let Ok(span) = written.parse::<Span>() {
        return number::duration(span.nanos() as f64);
    }
    match written.strip_suffix("/s").map(str::parse::<Bytes>) {
        Some(Ok(Bytes(rate))) => format!("{}/s", number::bytes(rate as f64)),
        _ => written.parse::<Bytes>().map_or_else(|_| written.clone(), |bytes| bytes.to_string()),
    }
}

#[cfg(test)]
mod tests;

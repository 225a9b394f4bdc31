//! Numbers for readers: three significant digits, and their unit.

use std::time::{Duration, UNIX_EPOCH};

use ssdlab_advice::ZeroComparison;
use ssdlab_plan::Estimate;
use ssdlab_plan::metric::{Metric, Unit};
use ssdlab_plan::schedule::Claim;
use ssdlab_quantity::listed;

/// A value of a metric with its unit.
pub fn value(metric: impl Into<Metric>, value: f64) -> String {
    amount(metric.into().unit, value)
}

/// A number of the kind that a claim bounds: a ratio, or a value of its metric.
#[must_use]
pub fn claimed(claim: &Claim, value: f64) -> String {
    if claim.is_absolute() { self::value(claim.metric, value) } else { ratio(value) }
}

/// A number with its unit.
pub fn amount(unit: Unit, value: f64) -> String {
    match unit {
        Unit::Ns => duration(value),
        Unit::Bytes => bytes(value),
        Unit::BytesPerS => format!("{}/s", bytes(value)),
        Unit::PerS => format!("{}/s", count(value)),
        Unit::Years => format!("{} years", count(value)),
        Unit::Ratio => ratio(value),
        Unit::Percent => format!("{value:.2} %"),
        Unit::Number => count(value),
    }
}

/// Bytes.
#[must_use]
pub fn bytes(bytes: f64) -> String {
    scaled(bytes.round(), 1000.0, &["B", "kB", "MB", "GB", "TB"])
}

/// A number without a unit: a count, or what a program reports in its own unit.
pub fn count(value: f64) -> String {
    scaled(value, 1000.0, &["", "k", "M", "G", "T"]).trim_end().to_owned()
}

/// A time in ns.
#[must_use]
pub fn duration(ns: f64) -> String {
    if ns >= 100e9 {
        let seconds = (ns / 1e9).round();
        return format!("{:.0} min {:02.0} s", (seconds / 60.0).floor(), seconds % 60.0);
    }
    scaled(ns.round(), 1000.0, &["ns", "us", "ms", "s"])
}

/// An approximate time, in whole seconds or minutes.
#[must_use]
pub fn roughly(time: Duration) -> String {
    let seconds = time.as_secs().max(1);
    let seconds = if seconds < 100 { seconds } else { seconds.next_multiple_of(60) };
    humantime::format_duration(Duration::from_secs(seconds)).to_string()
}

/// An estimate of the bytes that a plan writes, and what it does not count.
#[must_use]
pub fn roughly_written(estimate: &Estimate) -> String {
    let written = bytes(estimate.written_bytes as f64);
    let (made, mut besides) = match estimate.made_bytes {
        None => (String::new(), vec!["mkfs".to_owned()]),
        Some(0) => (String::new(), vec![]),
        Some(made) => (format!(" and {} by mkfs", bytes(made as f64)), vec![]),
    };
    besides.push("metadata".to_owned());
    if !estimate.open.is_empty() {
        let open = estimate.open.join("`, `");
        besides
            .push(format!("what `{open}` can write until the time is over, as fast as the drive"));
    }
    format!("about {written} by the workload{made}, besides {}", listed(&besides))
}

/// A time stamp in seconds since 1970, as UTC.
pub fn moment(seconds: u64) -> String {
    // The end of the year 9999.
    let seconds = Duration::from_secs(seconds.min(253_402_300_799));
    humantime::format_rfc3339_seconds(UNIX_EPOCH + seconds).to_string()
}

/// A throughput.
pub fn rate(bytes: f64, ns: f64) -> String {
    amount(Unit::BytesPerS, bytes / (ns / 1e9))
}

fn scaled(value: f64, step: f64, units: &[&str]) -> String {
    let mut scaled = value;
    let mut unit = 0;
    // What would be rounded up to a thousand already belongs to the next unit.
    while scaled.abs() >= step - 0.5 && unit + 1 < units.len() {
        scaled /= step;
        unit += 1;
    }
    let digits = match scaled.abs() {
        whole if unit == 0 && whole.fract() == 0.0 => 0,
        large if large >= 99.95 => 0,
        large if large >= 9.995 => 1,
        middle if middle >= 0.995 => 2,
        small => small_digits(small),
    };
    let number = written(scaled, digits);
    format!("{number} {}", units[unit])
}

/// A ratio to the baseline, with enough digits to show a difference of 1 % of the effect.
pub fn ratio(ratio: f64) -> String {
    written(ratio, digits(ratio))
}

/// A ratio with some digits after the point, or with a power of ten if it is large.
fn written(ratio: f64, digits: usize) -> String {
    if ratio.abs() >= 1e6 { format!("{ratio:.2e}") } else { format!("{ratio:.digits$}") }
}

fn digits(ratio: f64) -> usize {
    match ratio {
        r if r >= 99.95 => 0,
        r if r >= 9.995 => 1,
        r if r >= 1.1 => 2,
        r => small_digits(r),
    }
}

/// The digits after the point that give a number below 1 three significant digits, at most six.
fn small_digits(number: f64) -> usize {
    match number {
        n if n >= 0.0995 => 3,
        n if n >= 0.009_95 => 4,
        n if n >= 0.000_995 => 5,
        _ => 6,
    }
}

/// An interval that reaches farther, in multiples of its ratio, says only that nothing is known.
const FARTHEST: f64 = 1000.0;

/// A ratio with its interval.
pub fn effect(ratio: f64, interval: Option<[f64; 2]>) -> String {
    let digits = digits(ratio);
    match interval {
        Some([lo, hi]) => {
            let least = 0.1_f64.powi(i32::try_from(digits).unwrap_or(0));
            let most = FARTHEST * ratio;
            let lo = if 0.0 < lo && lo < least {
                format!("below {}", written(least, digits))
            } else {
                written(lo, digits)
            };
            let hi = if hi > most {
                format!("above {}", self::ratio(most))
            } else {
                written(hi, digits)
            };
            format!("x{} [{lo}, {hi}]", written(ratio, digits))
        }
        None => format!("x{}", written(ratio, digits)),
    }
}

/// A ratio with its interval, as part of a sentence.
pub fn times(ratio: f64, interval: Option<[f64; 2]>) -> String {
    let found = effect(ratio, interval);
    let found = found.trim_start_matches('x');
    found.split_once(' ').map_or_else(
        || format!("{found} times"),
        |(ratio, interval)| format!("{ratio} times {interval}"),
    )
}

/// What two sides have, where one has nothing in some runs.
pub fn against_nothing(metric: Metric, found: &ZeroComparison) -> String {
    let ZeroComparison { own, other, in_runs, of } = *found;
    let against = other.map_or(String::new(), |other| format!(" against {}", value(metric, other)));
    let own = value(metric, own);
    if in_runs == of {
        let runs = if of == 1 { "run" } else { "runs" };
        return format!("{own}{against} in {of} of {of} {runs}");
    }
    format!("{own}{against} (nothing on one side in {in_runs} of {of} runs)")
}

/// A p-value, to two significant digits.
pub fn p_value(p: f64) -> String {
    match p {
        p if p < 0.0001 => "p < 0.0001".to_owned(),
        p if p < 0.000_995 => format!("p = {p:.5}"),
        p if p < 0.009_95 => format!("p = {p:.4}"),
        p if p < 0.0995 => format!("p = {p:.3}"),
        p => format!("p = {p:.2}"),
    }
}

/// A value of a metric with its interval.
pub fn measured(metric: Metric, mean: f64, interval: Option<[f64; 2]>) -> String {
    let mean = value(metric, mean);
    match interval {
        Some([lo, hi]) => format!("{mean} [{}, {}]", value(metric, lo), value(metric, hi)),
        None => mean,
    }
}

#[cfg(test)]
mod tests;

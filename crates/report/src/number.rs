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
pub fn claimed(claim: &Claim, value: f64) -> String {
    if claim.is_absolute() { self::value(claim.metric, value) } else { ratio(value) }
}

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

pub fn bytes(bytes: f64) -> String {
    scaled(bytes.round(), 1000.0, &["B", "kB", "MB", "GB", "TB"])
}

/// A number without a unit: a count, or what a program reports in its own unit.
pub fn count(value: f64) -> String {
    scaled(value, 1000.0, &["", "k", "M", "G", "T"]).trim_end().to_owned()
}

/// A time in ns.
pub fn duration(ns: f64) -> String {
    if ns >= 100e9 {
        let seconds = (ns / 1e9).round();
        return format!("{:.0} min {:02.0} s", (seconds / 60.0).floor(), seconds % 60.0);
    }
    scaled(ns.round(), 1000.0, &["ns", "us", "ms", "s"])
}

/// An approximate time, in whole seconds or minutes.
pub fn roughly(time: Duration) -> String {
    let seconds = time.as_secs().max(1);
    let seconds = if seconds < 100 { seconds } else { seconds.next_multiple_of(60) };
    humantime::format_duration(Duration::from_secs(seconds)).to_string()
}

/// An estimate of the bytes that a plan writes, and what it does not count.
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

/// A value as people say it: two significant digits, in the unit that fits.
pub fn spoken(unit: Unit, value: f64) -> String {
    spoken_to(2, unit, value)
}

/// The same with as many significant digits.
pub(super) fn spoken_to(digits: i32, unit: Unit, value: f64) -> String {
    let plain = |value: f64| rounded(value, digits).trim_end_matches(".0").to_owned();
    let several = |value: f64, name: &str| {
        let number = plain(value);
        let s = if number == "1" { "" } else { "s" };
        format!("{number} {name}{s}")
    };
    match unit {
        Unit::Ns => match value / 1e9 {
            s if s >= 48.0 * 3600.0 => several(s / 86_400.0, "day"),
            s if s >= 100.0 * 60.0 => several(s / 3600.0, "hour"),
            s if s >= 99.5 => several(s / 60.0, "minute"),
            s if s >= 0.0995 => format!("{} s", plain(s)),
            _ => {
                let (value, unit) = unit_of(value, 1000.0, &["ns", "us", "ms"]);
                format!("{} {unit}", plain(value))
            }
        },
        Unit::Years => match value {
            years if years >= 1.95 => format!("{} years", plain(years)),
            years if years * 12.0 >= 1.95 => several(years * 12.0, "month"),
            years => several(years * 365.25, "day"),
        },
        Unit::Bytes | Unit::BytesPerS => {
            let (value, unit_name) = unit_of(value, 1000.0, &["B", "kB", "MB", "GB", "TB"]);
            let per = if unit == Unit::BytesPerS { "/s" } else { "" };
            format!("{} {unit_name}{per}", plain(value))
        }
        Unit::PerS => format!("{} a second", plain(value)),
        Unit::Percent => format!("{} %", plain(value)),
        Unit::Ratio | Unit::Number => plain(value),
    }
}

/// The same beside others, the largest of which has a unit that all of them get: `0.1 ms` beside
/// `119 ms`. Times of minutes and years, and what would begin with zeros, keep their own.
pub(super) fn spoken_beside(most: f64, digits: i32, unit: Unit, value: f64) -> String {
    let units = match unit {
        Unit::Ns if most < 99.5e9 => &["ns", "us", "ms", "s"][..],
        Unit::Bytes => &["B", "kB", "MB", "GB", "TB"],
        _ => return spoken_to(digits, unit, value),
    };
    let (of_most, name) = unit_of(most, 1000.0, units);
    let own = value * of_most / most;
    if own.is_nan() || own < 0.001 {
        return spoken_to(digits, unit, value);
    }
    format!("{} {name}", rounded(own, digits).trim_end_matches(".0"))
}

/// Nanoseconds as milliseconds, in two significant digits.
pub(super) fn spoken_ms(ns: f64) -> String {
    format!("{} ms", two_digits(ns / 1e6).trim_end_matches(".0"))
}

/// A ratio as people say it: two significant digits, three near 1.
pub(super) fn spoken_ratio(ratio: f64) -> String {
    if (0.9..1.1).contains(&ratio) { format!("{ratio:.2}") } else { two_digits(ratio) }
}

/// A ratio as a difference in percent, or as a multiple from 2 on.
pub(super) fn spoken_change(ratio: f64) -> String {
    let percent = |share: f64| two_digits(100.0 * share).trim_end_matches(".0").to_owned();
    match ratio {
        r if (r - 1.0).abs() < 0.005 => "as much".to_owned(),
        r if r >= 2.0 => format!("{} times as much", spoken_ratio(r)),
        r if r > 1.0 => format!("{} % more", percent(r - 1.0)),
        r => format!("{} % less", percent(1.0 - r)),
    }
}

/// A value in the largest of these units in which it is at least 1.
fn unit_of<'a>(mut value: f64, step: f64, units: &[&'a str]) -> (f64, &'a str) {
    let mut unit = 0;
    while value.abs() >= 0.995 * step && unit + 1 < units.len() {
        value /= step;
        unit += 1;
    }
    (value, units[unit])
}

fn two_digits(value: f64) -> String {
    rounded(value, 2)
}

/// So many significant digits, with commas between thousands.
fn rounded(value: f64, digits: i32) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value:.0}");
    }
    #[expect(clippy::cast_possible_truncation, reason = "an exponent of ten is small")]
    let exponent = format!("{value:.*e}", usize::try_from(digits - 1).unwrap_or(0))
        .split_once('e')
        .map_or(0, |(_, exponent)| exponent.parse::<f64>().unwrap_or(0.0) as i32);
    let step = 10f64.powi(exponent + 1 - digits);
    let digits = usize::try_from(digits - 1 - exponent).unwrap_or(0);
    let rounded = format!("{:.digits$}", (value / step).round() * step);
    let (whole, rest) = rounded.split_at(rounded.find('.').unwrap_or(rounded.len()));
    let mut grouped = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && digit != '-' && (whole.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped + rest
}

#[cfg(test)]
mod tests;

//! Numbers as people read them: three digits that mean something, and their unit.

use std::time::{Duration, UNIX_EPOCH};

use crate::plan::metric::{self, Unit};

/// A value of a metric with its unit.
pub fn value(metric: &str, value: f64) -> String {
    amount(metric::of(metric).unit, value)
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

/// A number without a unit: a count, or what a program reports in a unit of its own.
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

/// A time that is known roughly, in whole seconds or minutes.
#[must_use]
pub fn roughly(time: Duration) -> String {
    let seconds = time.as_secs().max(1);
    let seconds = if seconds < 100 { seconds } else { seconds.next_multiple_of(60) };
    humantime::format_duration(Duration::from_secs(seconds)).to_string()
}

/// A moment in seconds since 1970, in UTC, to the second.
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
    // What would be rounded up to a thousand belongs to the next unit already.
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

/// A ratio to the baseline: enough digits to see a difference of one per cent of the effect.
pub fn ratio(ratio: f64) -> String {
    written(ratio, digits(ratio))
}

/// What has many digits before the point is written with a power of ten.
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

/// The digits after the point of a number below 1 of which three mean something, and six at most.
fn small_digits(number: f64) -> usize {
    match number {
        n if n >= 0.0995 => 3,
        n if n >= 0.009_95 => 4,
        n if n >= 0.000_995 => 5,
        _ => 6,
    }
}

/// A ratio with its interval.
pub fn effect(ratio: f64, interval: Option<[f64; 2]>) -> String {
    let digits = digits(ratio);
    match interval {
        Some(ends) => {
            let [lo, hi] = ends.map(|end| written(end, digits));
            format!("x{} [{lo}, {hi}]", written(ratio, digits))
        }
        None => format!("x{}", written(ratio, digits)),
    }
}

/// A p-value, to two digits that mean something.
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
pub fn measured(metric: &str, mean: f64, interval: Option<[f64; 2]>) -> String {
    let mean = value(metric, mean);
    match interval {
        Some([lo, hi]) => format!("{mean} [{}, {}]", value(metric, lo), value(metric, hi)),
        None => mean,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_and_a_unit() {
        assert_eq!(duration(1_214_000_000.0), "1.21 s");
        assert_eq!(duration(999_700_000.0), "1.00 s");
        assert_eq!(duration(40_410_000_000.0), "40.4 s");
        assert_eq!(duration(360e9), "6 min 00 s");
        assert_eq!(duration(12.0), "12 ns");
        assert_eq!(value("written_bytes", 493e6), "493 MB");
        assert_eq!(value("years_until_worn", 1.2345), "1.23 years");
        assert_eq!(value("written_bytes", 0.0), "0 B");
        assert_eq!(value("write_requests", 36_706.0), "36.7 k");
        assert_eq!(value("flushes", 8.0), "8");
        assert_eq!(value("flushes", 8.4), "8.40");
        assert_eq!(value("phoronix.lower_is_better", 0.345), "0.345");
        assert_eq!(value("phoronix.lower_is_better", 12.34), "12.3");
        assert_eq!(value("beside.bytes_per_second", 8.01e6), "8.01 MB/s");
        assert_eq!(value("fio.read_iops", 509.0), "509/s");
        assert_eq!(value("written_bytes", 512.4), "512 B");
        assert_eq!(rate(493e6, 2.87e9), "172 MB/s");
        assert_eq!(value("ops_per_second", 36_706.0), "36.7 k/s");
    }

    #[test]
    fn every_moment_can_be_told() {
        assert_eq!(moment(1_310_000_000), "2011-07-07T00:53:20Z");
        assert_eq!(moment(u64::MAX), "9999-12-31T23:59:59Z");
    }

    #[test]
    fn p_values_are_as_long_as_they_are_sure() {
        let written = [1.0, 0.614, 0.0421, 0.0032, 0.000_31, 0.0].map(p_value);
        let expected = ["p = 1.00", "p = 0.61", "p = 0.042", "p = 0.0032", "p = 0.00031"];
        assert_eq!(written[..5], expected);
        assert_eq!(written[5], "p < 0.0001");
    }

    #[test]
    fn small_effects_keep_their_digits() {
        assert_eq!(effect(1.0415, Some([1.039, 1.0441])), "x1.042 [1.039, 1.044]");
        assert_eq!(effect(63.9, Some([58.2, 104.4])), "x63.9 [58.2, 104.4]");
        assert_eq!(effect(2.0, None), "x2.00");
        assert_eq!(effect(1.5e40, Some([0.5, 1e80])), "x1.50e40 [0, 1.00e80]");
        assert_eq!(effect(0.028_71, Some([0.028_5, 0.029])), "x0.0287 [0.0285, 0.0290]");
        assert_eq!(effect(0.5, Some([0.35, 0.72])), "x0.500 [0.350, 0.720]");
    }
}

//! Axes: their ends, whether they are logarithmic, and the places of their labels.

use std::ops::{Range, RangeInclusive};

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use ssdlab_plan::metric::Unit;

use super::label;
use crate::number;

/// The powers of ten that labels may have.
const POWERS: RangeInclusive<i32> = -12..=21;

/// Values that span more than this are on a logarithmic axis.
const WIDE: f64 = 100.0;

/// A logarithmic axis whose ends are closer than this has evenly spaced labels.
const CLOSE: f64 = 4.0;

/// The maximum number of labels; without room, the library asks for ever more.
const MOST_LABELS: usize = 24;

/// How many labels are measured for their width.
const FEW_LABELS: usize = 5;

/// The least share of an axis between values and its ends.
const MARGIN: f64 = 0.06;

/// An axis of values of one unit.
#[derive(Debug, Clone)]
pub(super) struct Scale {
    unit: Unit,
    low: f64,
    high: f64,
    pub is_log: bool,
}

impl Scale {
    /// From 0 to a little more than the largest value; logarithmic if the values are above 0 and
    /// span more than two decades.
    pub fn fitting(unit: Unit, values: &[f64]) -> Self {
        let (least, greatest) = ends(values);
        if least > 0.0 && greatest / least > WIDE {
            return Self::logarithmic(unit, values);
        }
        Self::from_zero(unit, greatest)
    }

    /// From 0 to a little more than the largest value.
    pub fn from_zero(unit: Unit, greatest: f64) -> Self {
        let high = if greatest > 0.0 { greatest * (1.0 + MARGIN) } else { 1.0 };
        Self { unit, low: 0.0, high, is_log: false }
    }

    /// From one value to another, at least 1 apart.
    pub fn between(unit: Unit, low: f64, high: f64) -> Self {
        Self { unit, low, high: high.max(low + 1.0), is_log: false }
    }

    /// Logarithmic, around the values above 0; the others are not on it.
    pub fn logarithmic(unit: Unit, values: &[f64]) -> Self {
        let positive: Vec<f64> = values.iter().copied().filter(|value| *value > 0.0).collect();
        let (least, greatest) = ends(&positive);
        let margin = (greatest / least).powf(MARGIN).max(1.02);
        let (low, high) = (least / margin, greatest * margin);
        Self { unit, low, high, is_log: true }
    }

    /// The nearest value on the axis.
    pub fn within(&self, value: f64) -> f64 {
        value.clamp(self.low, self.high)
    }

    /// Whether a value is on the axis.
    pub fn has(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// The width of the widest label.
    pub fn label_width(&self, size: u32) -> u32 {
        let labels = self.labels(FEW_LABELS).into_iter();
        let widths = labels.map(|value| label::width(&written(self.unit, value), size));
        widths.max().unwrap_or(0)
    }

    /// At most `most` values, round ones if possible.
    fn labels(&self, most: usize) -> Vec<f64> {
        if self.is_log && self.high / self.low > CLOSE {
            logarithmic(self.unit, self.low, self.high, most)
        } else {
            even(self.unit, self.low, self.high, most)
        }
    }

    /// Where the axis begins.
    pub fn low(&self) -> f64 {
        self.low
    }

    /// Where a value is, from 0 to 1.
    fn place(&self, value: f64) -> f64 {
        if self.is_log {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        }
    }
}

impl Ranged for Scale {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    #[expect(clippy::cast_possible_truncation, reason = "what lies within pixels is one")]
    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let (from, to) = (f64::from(limit.0), f64::from(limit.1));
        (from + (to - from) * self.place(self.within(*value))).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        self.labels(hint.bold_points().min(MOST_LABELS))
    }

    fn range(&self) -> Range<f64> {
        self.low..self.high
    }
}

impl ValueFormatter<f64> for Scale {
    fn format_ext(&self, value: &f64) -> String {
        written(self.unit, *value)
    }
}

/// A value on an axis, without insignificant digits.
fn written(unit: Unit, value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    if unit == Unit::Ns && value >= 100e9 {
        let seconds = (value / 1e9).round();
        let (number, unit) =
            if seconds % 60.0 == 0.0 { (seconds / 60.0, "min") } else { (seconds, "s") };
        return format!("{number} {unit}");
    }
    let text = number::amount(unit, value);
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let is_whole = !number.contains('.');
    let short = if is_whole { number } else { number.trim_end_matches('0').trim_end_matches('.') };
    format!("{short}{unit}")
}

fn ends(values: &[f64]) -> (f64, f64) {
    let finite = values.iter().copied().filter(|value| value.is_finite());
    let (least, greatest) =
        finite.fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)));
    if least > greatest { (1.0, 1.0) } else { (least, greatest) }
}

/// Multiples of 1, 2 or 5 times a power of ten, or of minutes if times are that long.
fn even(unit: Unit, low: f64, high: f64, most: usize) -> Vec<f64> {
    let base = if unit == Unit::Ns && high >= 200e9 { 60e9 } else { 1.0 };
    // Fractions of a byte or of a nanosecond make no sense.
    let is_whole = [Unit::Ns, Unit::Bytes, Unit::BytesPerS].contains(&unit);
    let least = if is_whole { 1.0 } else { 0.0 };
    let power = 10f64.powf(((high - low) / base / most.max(1) as f64).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0, 20.0].map(|factor| (factor * power * base).max(least));
    let labels = |step: f64| -> Vec<f64> {
        let first = (low / step).ceil();
        let values = (0..=most).map(|index| (first + index as f64) * step);
        values.take_while(|value| *value <= high).collect()
    };
    let mut divisions = steps.into_iter().map(labels);
    divisions.find(|labels| labels.len() <= most).unwrap_or_default()
}

/// The finest of some usual divisions that has at most `most` labels.
fn logarithmic(unit: Unit, low: f64, high: f64, most: usize) -> Vec<f64> {
    let base = if unit == Unit::Ns && low >= 60e9 { 60e9 } else { 1.0 };
    let of = |every: i32, digits: &[f64]| -> Vec<f64> {
        POWERS
            .filter(|power| power % every == 0)
            .flat_map(|power| digits.iter().map(move |digit| digit * 10f64.powi(power) * base))
            .filter(|value| (low..=high).contains(value))
            .collect()
    };
    let divisions =
        [of(1, &[1.0, 2.0, 5.0]), of(1, &[1.0, 3.0]), of(1, &[1.0]), of(2, &[1.0]), of(3, &[1.0])];
    let fits = |labels: &Vec<f64>| labels.len() <= most;
    divisions.into_iter().find(fits).unwrap_or_else(|| vec![low, high])
}

#[cfg(test)]
mod tests;

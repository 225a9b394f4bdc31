//! The parameter that best separates the drives on which a claim holds from the others.
//!
//! A stump: one parameter and one threshold (Holte, "Very simple classification rules perform well
//! on most commonly used datasets", Machine Learning 11, 1993). With few draws and many parameters
//! some separate well by chance, so the result is a hint, which `ssdlab flip` tests.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_flash::evidence::Value;

/// A parameter of drive or host, and where the claim holds by it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Separation {
    /// Its dotted key; that of the host's file after `host.`, and after the drive's name where the
    /// claim is about several drives.
    pub parameter: String,
    /// On which side of the value it holds.
    pub holds: Side,
    /// The value, as drive files have it.
    pub value: Value,
    /// Of how many draws that is true.
    pub separates: usize,
}

/// A side of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// Above it.
    Above,
    /// Below it.
    Below,
    /// At it, and nowhere else.
    At,
    /// Everywhere but at it.
    NotAt,
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Above => "above",
            Self::Below => "below",
            Self::At => "at",
            Self::NotAt => "anywhere but at",
        })
    }
}

/// A draw and its result.
#[derive(Debug, Clone)]
pub(super) struct Drawn {
    pub parameters: BTreeMap<String, Value>,
    pub found: f64,
    pub holds: bool,
}

/// The parameter that separates the draws best; of several, the one that the values follow most
/// closely. `None` if none beats assigning all draws to the majority.
pub(super) fn best(drawn: &[Drawn]) -> Option<Separation> {
    let holds = drawn.iter().filter(|own| own.holds).count();
    let most = holds.max(drawn.len() - holds);
    let names: BTreeSet<&String> = drawn.iter().flat_map(|own| own.parameters.keys()).collect();
    let of = |name: &String| {
        let own: Option<Vec<(&Value, &Drawn)>> =
            drawn.iter().map(|own| Some((own.parameters.get(name)?, own))).collect();
        let own = own?;
        let numbers: Option<Vec<f64>> = own.iter().map(|(value, _)| value.number()).collect();
        Some(match numbers {
            Some(numbers) => (by_threshold(name, &own, &numbers)?, concordance(&numbers, drawn)),
            None => (by_choice(name, &own)?, 0.0),
        })
    };
    let found = names.into_iter().filter_map(of).filter(|(one, _)| one.separates > most);
    let rank = |(one, follows): &(Separation, f64)| (one.separates, *follows);
    let best = found.reduce(|best, other| {
        let ((n, follows), (m, others)) = (rank(&best), rank(&other));
        if m > n || (m == n && others > follows) { other } else { best }
    });
    best.map(|(best, _)| best)
}

/// The best threshold, halfway between two neighbouring values.
fn by_threshold(name: &str, own: &[(&Value, &Drawn)], numbers: &[f64]) -> Option<Separation> {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.dedup();
    let middle = |low: f64, high: f64| {
        if low > 0.0 { (low * high).sqrt() } else { f64::midpoint(low, high) }
    };
    let candidates = sorted.windows(2).flat_map(|pair| {
        let above = own.iter().zip(numbers).filter(|((_, own), n)| own.holds == (**n > pair[0]));
        let above = above.count();
        let at = middle(pair[0], pair[1]);
        [(above, Side::Above, at), (own.len() - above, Side::Below, at)]
    });
    let (separates, holds, at) =
        candidates.reduce(|best, other| if other.0 > best.0 { other } else { best })?;
    let value = own.first()?.0.with_number(to_two_digits(at))?;
    Some(Separation { parameter: name.to_owned(), holds, value, separates })
}

fn by_choice(name: &str, own: &[(&Value, &Drawn)]) -> Option<Separation> {
    let candidates = own.iter().flat_map(|(value, _)| {
        let at = own.iter().filter(|(other, own)| own.holds == (other == value)).count();
        [(at, Side::At, *value), (own.len() - at, Side::NotAt, *value)]
    });
    let (separates, holds, value) =
        candidates.reduce(|best, other| if other.0 > best.0 { other } else { best })?;
    Some(Separation { parameter: name.to_owned(), holds, value: value.clone(), separates })
}

/// How closely the values follow a parameter: the number of pairs in the same order less that in
/// the opposite one, without its sign (the numerator of Kendall's tau).
fn concordance(numbers: &[f64], drawn: &[Drawn]) -> f64 {
    let mut sum = 0.0;
    for (index, one) in drawn.iter().enumerate() {
        for (other, next) in drawn.iter().enumerate().skip(index + 1) {
            let (x, y) = (numbers[index] - numbers[other], one.found - next.found);
            sum += if x == 0.0 || y == 0.0 { 0.0 } else { (x * y).signum() };
        }
    }
    f64::abs(sum)
}

/// The number rounded to two significant digits: a threshold between draws is no more precise.
fn to_two_digits(number: f64) -> f64 {
    if number == 0.0 {
        return 0.0;
    }
    #[expect(clippy::cast_possible_truncation, reason = "a number has few digits")]
    let unit = 10_f64.powi(number.abs().log10().floor() as i32 - 1);
    (number / unit).round() * unit
}

#[cfg(test)]
mod tests;

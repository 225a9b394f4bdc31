//! The parameter that best separates the drives on which a claim holds from the others.
//!
//! A stump: one parameter and one threshold (Holte, "Very simple classification rules perform well
//! on most commonly used datasets", Machine Learning 11, 1993). With few draws and many parameters
//! some separate well by chance: of 38 irrelevant ones, some separates 2 of 9 draws perfectly in
//! nine of ten runs. So a parameter is named only if chance would hardly separate the draws as well
//! by any of them. `ssdlab flip`, which moves one parameter alone, needs no such test.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_flash::evidence::Value;
use ssdlab_stats::p_of_labels;

use super::CONFIDENCE;

/// A parameter of drive or host, and where the claim holds by it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Separation {
    /// Its dotted key; that of the host's file after `host.`, and after the drive's name where the
    /// claim is about several drives.
    pub parameter: String,
    /// On which side of the value it holds.
    pub holds: ThresholdSide,
    /// The value, as drive files have it.
    pub value: Value,
    /// Of how many draws that is true.
    pub separates: usize,
    /// How likely it is by chance that any parameter separates as many.
    pub p: f64,
}

/// A side of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Side")]
pub enum ThresholdSide {
    /// Above it.
    Above,
    /// Below it.
    Below,
    /// At it, and nowhere else.
    At,
    /// Everywhere but at it.
    NotAt,
}

impl fmt::Display for ThresholdSide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Above => "above",
            Self::Below => "below",
            Self::At => "at",
            Self::NotAt => "anywhere but at",
        })
    }
}

#[derive(Debug, Clone)]
pub(super) struct DrawResult {
    pub parameters: BTreeMap<String, Value>,
    pub found: f64,
    pub holds: bool,
}

/// The seed of the ways to label draws that are tried where they are too many to try all.
const SEED: u64 = 0x5e9a;

/// The parameter that separates the draws best; of several, the one that the values follow most
/// closely. `None` if chance would often separate as many by one of the parameters.
pub(super) fn best(drawn: &[DrawResult]) -> Option<Separation> {
    let names: BTreeSet<&String> = drawn.iter().flat_map(|own| own.parameters.keys()).collect();
    let columns: Vec<Column<'_>> =
        names.into_iter().filter_map(|name| Column::of(name, drawn)).collect();
    let holds: Vec<bool> = drawn.iter().map(|own| own.holds).collect();
    let most = |holds: &[bool]| {
        let cuts = columns.iter().filter_map(|column| column.cut(holds));
        cuts.map(|cut| cut.separates).max().unwrap_or(0)
    };
    let best = most(&holds);
    let p = p_of_labels(&holds, SEED, most);
    if p > 1.0 - CONFIDENCE {
        return None;
    }
    let of = |column: &Column<'_>| {
        let cut = column.cut(&holds).filter(|cut| cut.separates == best)?;
        Some((column.separation(&cut, p)?, column.follows(drawn)))
    };
    let found = columns.iter().filter_map(of);
    let best = found.reduce(|best, other| if other.1 > best.1 { other } else { best });
    best.map(|(best, _)| best)
}

/// A parameter in the draws.
struct Column<'a> {
    name: &'a str,
    /// Its different values, of amounts in their order.
    values: Vec<&'a Value>,
    is_amount: bool,
    /// The place of each draw's value among them.
    places: Vec<usize>,
}

/// Where a parameter separates draws.
struct Cut {
    separates: usize,
    side: ThresholdSide,
    /// The place of the value, for amounts of the last one below.
    place: usize,
}

impl<'a> Column<'a> {
    /// `None` if some draws lack the parameter.
    fn of(name: &'a str, drawn: &'a [DrawResult]) -> Option<Self> {
        let own: Option<Vec<&Value>> = drawn.iter().map(|own| own.parameters.get(name)).collect();
        let own = own?;
        let mut values: Vec<&Value> = Vec::new();
        for value in &own {
            if !values.contains(value) {
                values.push(value);
            }
        }
        let number = |value: &Value| value.number().unwrap_or(f64::NAN);
        let is_amount = own.iter().all(|value| value.number().is_some());
        if is_amount {
            values.sort_by(|one, other| number(one).total_cmp(&number(other)));
            values.dedup_by_key(|value| number(value));
        }
        let place = |own: &&Value| {
            values.iter().position(|value| {
                if is_amount { number(value).total_cmp(&number(own)).is_eq() } else { value == own }
            })
        };
        let places = own.iter().map(place).collect::<Option<_>>()?;
        Some(Self { name, values, is_amount, places })
    }

    /// Where it separates the draws on which a claim holds best from the others; `None` if all have
    /// the same amount.
    fn cut(&self, holds: &[bool]) -> Option<Cut> {
        let mut counts = vec![(0, 0); self.values.len()];
        for (place, holds) in self.places.iter().zip(holds) {
            let (true_there, false_there) = &mut counts[*place];
            *(if *holds { true_there } else { false_there }) += 1;
        }
        let all = holds.len();
        // How many are right if the claim holds at this value, or above it, and nowhere else.
        let mut right = holds.iter().filter(|holds| **holds).count();
        let total_false = all - right;
        let cuts = counts.iter().enumerate().flat_map(|(place, (holding, failing))| {
            let ([same, opposite], at) = if self.is_amount {
                right = right + failing - holding;
                ([ThresholdSide::Above, ThresholdSide::Below], right)
            } else {
                ([ThresholdSide::At, ThresholdSide::NotAt], holding + total_false - failing)
            };
            [(at, same), (all - at, opposite)].map(|(separates, side)| Cut {
                separates,
                side,
                place,
            })
        });
        let last = if self.is_amount { self.values.len() - 1 } else { self.values.len() };
        let cuts = cuts.take(2 * last);
        cuts.reduce(|best, other| if other.separates > best.separates { other } else { best })
    }

    /// A cut in words; that between two amounts is halfway.
    fn separation(&self, cut: &Cut, p: f64) -> Option<Separation> {
        let own = self.values[cut.place];
        let value = if self.is_amount {
            let [low, high] = [own.number()?, self.values.get(cut.place + 1)?.number()?];
            let middle = if low > 0.0 { (low * high).sqrt() } else { f64::midpoint(low, high) };
            own.with_number(to_two_digits(middle))?
        } else {
            own.clone()
        };
        let (parameter, holds) = (self.name.to_owned(), cut.side);
        Some(Separation { parameter, holds, value, separates: cut.separates, p })
    }

    /// How closely the values that were found follow it.
    fn follows(&self, drawn: &[DrawResult]) -> f64 {
        if self.is_amount { concordance(&self.places, drawn) } else { 0.0 }
    }
}

/// How closely the values follow a parameter: the number of pairs in the same order less that in
/// the opposite one, without its sign (the numerator of Kendall's tau).
fn concordance(places: &[usize], drawn: &[DrawResult]) -> f64 {
    let mut sum = 0.0;
    for (index, one) in drawn.iter().enumerate() {
        for (other, next) in drawn.iter().enumerate().skip(index + 1) {
            let order = (places[index] as f64 - places[other] as f64) * (one.found - next.found);
            sum += if order == 0.0 { 0.0 } else { order.signum() };
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

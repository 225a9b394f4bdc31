//! Quantities as people write them in files: `"493 MB"`, `"10 min"`, `"235 MB/s"`, `"5 %"`.
//!
//! They are parsed once, here, so that the rest of the program sees integers with their unit in
//! the name. MB is 10^6 bytes and MiB is 2^20.

mod mismatch;
mod similar;

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use bytesize::ByteSize;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use mismatch::in_words;
pub use similar::{did_you_mean, similar, was_meant};

/// The days of a Julian year, the unit of lifetimes.
pub const DAYS_PER_YEAR: f64 = 365.25;

/// A number of bytes, written as `"493 MB"`, `"4 GiB"` or a plain integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(try_from = "IntegerOrText")]
#[schemars(with = "IntegerOrText")]
pub struct Bytes(pub u64);

/// A length of time, written as `"50 us"` or `"10 min"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(try_from = "NumberOrText")]
#[schemars(with = "String")]
pub struct Span(pub Duration);

/// Bytes per second, written as `"235 MB/s"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(with = "String")]
pub struct Rate(pub u64);

/// A frequency per second, written as `"1000/s"`.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(with = "String")]
pub struct PerSecond(f64);

/// A share between 0 and 1, written as `"5 %"`.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(with = "String")]
pub struct Share(pub f64);

/// A program and its arguments: a list of words, or one text that is split as a shell would
/// (quotes are understood, nothing is expanded).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "TextOrList")]
#[schemars(with = "TextOrList")]
pub struct Words(pub Vec<String>);

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(untagged, expecting = "expected a whole number, or a text with a unit: \"4 GiB\"")]
enum IntegerOrText {
    Integer(u64),
    Text(String),
}

/// A number is read only to be refused: its unit is unknown, and seconds would be a poor guess for
/// the time of a page.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a text with a unit: \"50 us\", \"10 min\"")]
enum NumberOrText {
    Number(f64),
    Text(String),
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(untagged, expecting = "expected a text, or a list of texts")]
enum TextOrList {
    Text(String),
    List(Vec<String>),
}

impl TryFrom<IntegerOrText> for Bytes {
    type Error = String;

    fn try_from(written: IntegerOrText) -> Result<Self, String> {
        match written {
            IntegerOrText::Integer(bytes) => Ok(Self(bytes)),
            IntegerOrText::Text(text) => text.parse(),
        }
    }
}

impl FromStr for Bytes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse::<ByteSize>() {
            Ok(size) => Ok(Self(size.as_u64())),
            Err(_) => {
                Err(format!("\"{text}\" is not a size; write for example \"493 MB\" or \"4 GiB\""))
            }
        }
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Sizes of devices are binary, sizes of data are decimal.
        if self.0.is_multiple_of(1 << 20) {
            ByteSize(carried(self.0, 1024)).display().iec().fmt(f)
        } else {
            ByteSize(carried(self.0, 1000)).display().si().fmt(f)
        }
    }
}

/// What one decimal would round up to 1000.0 (or 1024.0) of a unit becomes 1.0 of the next.
fn carried(bytes: u64, step: u64) -> u64 {
    let rounds_to = |unit: &u64| bytes < *unit && unit - bytes <= unit / step / 20;
    (2..=6).map(|power| step.pow(power)).find(rounds_to).unwrap_or(bytes)
}

impl TryFrom<NumberOrText> for Span {
    type Error = String;

    fn try_from(written: NumberOrText) -> Result<Self, String> {
        match written {
            NumberOrText::Number(number) => Err(format!(
                "{number} is a time without a unit; write for example \"{number} us\" or \
                 \"{number} s\""
            )),
            NumberOrText::Text(text) => text.parse(),
        }
    }
}

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match humantime::parse_duration(text) {
            Ok(duration) => Ok(Self(duration)),
            Err(_) => Err(format!(
                "\"{text}\" is not a duration; write for example \"250 ms\" or \"10 min\""
            )),
        }
    }
}

impl fmt::Display for Span {
    /// As a plan may write it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        humantime::format_duration(self.0).fmt(f)
    }
}

impl Span {
    /// In whole nanoseconds, saturating at 584 years.
    pub fn nanos(self) -> u64 {
        u64::try_from(self.0.as_nanos()).unwrap_or(u64::MAX)
    }
}

impl TryFrom<String> for Rate {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let bytes = text.trim().strip_suffix("/s").and_then(|size| size.parse::<ByteSize>().ok());
        match bytes {
            Some(size) if size.as_u64() > 0 => Ok(Self(size.as_u64())),
            _ => Err(format!("\"{text}\" is not a rate; write for example \"235 MB/s\"")),
        }
    }
}

impl TryFrom<String> for PerSecond {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let number = text.trim().strip_suffix("/s").and_then(|n| n.trim().parse::<f64>().ok());
        match number {
            Some(number) if (1e-6..=1e9).contains(&number) => Ok(Self(number)),
            _ => {
                Err(format!("\"{text}\" is not a rate; write for example \"1000/s\" or \"0.5/s\""))
            }
        }
    }
}

impl PerSecond {
    /// The period in ns, rounded; at least 1.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is 1 to 10^15")]
    pub fn period_ns(self) -> u64 {
        (1e9 / self.0).round() as u64
    }
}

impl TryFrom<String> for Share {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let number =
            text.trim().strip_suffix('%').map(str::trim).and_then(|n| n.parse::<f64>().ok());
        match number {
            Some(percent) if (0.0..=100.0).contains(&percent) => Ok(Self(percent / 100.0)),
            _ => Err(format!("\"{text}\" is not a share; write for example \"5 %\" (0 to 100)")),
        }
    }
}

impl TryFrom<TextOrList> for Words {
    type Error = String;

    fn try_from(written: TextOrList) -> Result<Self, String> {
        let words = match written {
            TextOrList::List(words) => words,
            TextOrList::Text(text) => split_words(&text)?,
        };
        if words.is_empty() {
            return Err("no program is given".to_owned());
        }
        Ok(Self(words))
    }
}

/// Splits a text into words as a shell would, without expanding anything.
pub fn split_words(text: &str) -> Result<Vec<String>, String> {
    shlex::split(text).ok_or_else(|| format!("\"{text}\" has a quote that is never closed"))
}

/// The parts of a sentence, one after the other: `a, b and c`.
pub fn listed(parts: &[String]) -> String {
    match parts {
        [parts @ .., last] if !parts.is_empty() => format!("{} and {last}", parts.join(", ")),
        _ => parts.concat(),
    }
}

/// Values by their keys, in the order in which these come first.
pub fn grouped<K: PartialEq, V>(pairs: impl IntoIterator<Item = (K, V)>) -> Vec<(K, Vec<V>)> {
    let mut groups: Vec<(K, Vec<V>)> = Vec::new();
    for (key, value) in pairs {
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, values)) => values.push(value),
            None => groups.push((key, vec![value])),
        }
    }
    groups
}

#[cfg(test)]
mod tests;

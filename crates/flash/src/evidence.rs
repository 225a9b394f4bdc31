//! The evidence for the values of a drive file: where each is from, and what else it could be.
//!
//! A simulated drive needs exact parameters, and most of a real drive's are unknown. `[evidence]`
//! in a drive file says how well each value is known, so that the reader of a result can tell what
//! was looked up from what was assumed.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_quantity::{Bytes, Rate, Share, Span};
use toml::Spanned;

/// The evidence of a file, by the dotted key of the value: `capacity`, `trim.per_command`.
pub type EvidenceByKey = BTreeMap<String, Spanned<Evidence>>;

/// Examples of keys whose values are lists.
const RANGE: [&str; 2] = ["20 us", "30 us"];
const CHOICES: [&str; 2] = ["page", "block"];
const FITTED_TO: [&str; 1] = ["random_write"];

/// What one value rests on.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// How the value was found.
    #[schemars(example = &"measured")]
    pub basis: Basis,
    /// Where it is from; of an assumption, the reason for it.
    #[schemars(example = &"a review of 2026, with fio")]
    pub source: String,
    /// The least and the most that it may plausibly be; absent where the source leaves no doubt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = RANGE)]
    pub range: Option<[Value; 2]>,
    /// What else it may plausibly be, where a range says nothing: of a mapping, or of yes and no.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(example = CHOICES)]
    pub choices: Vec<Value>,
    /// What it was fitted to, which it therefore does not predict: published figures, by their
    /// names under `[figures]`; in a host's file also in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(example = FITTED_TO)]
    pub fitted_to: Vec<String>,
}

/// How a value was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Basis {
    /// The maker of the drive, or of a part of it, publishes it.
    Datasheet,
    /// Somebody has measured it, or has opened the drive and looked.
    Measured,
    /// It was chosen so that the model gives a published figure.
    Fitted,
    /// Nobody knows; it is a guess with a reason.
    Assumed,
}

/// A value as a drive file has it.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(untagged, expecting = "expected a number, a text, true or false")]
pub enum Value {
    /// Yes or no.
    Flag(bool),
    /// A whole number.
    Integer(i64),
    /// A number.
    Number(f64),
    /// An amount with its unit, or a word.
    Text(String),
}

/// The unit of an amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueUnit {
    Nanos,
    Bytes,
    BytesPerSecond,
    /// Of a share as people write it, of 1 otherwise.
    Percent,
    Whole,
    Number,
}

impl ValueUnit {
    /// Whether amounts of both can be compared: a number may be written without a point.
    fn is_like(self, other: Self) -> bool {
        let is_plain = |unit: Self| matches!(unit, Self::Whole | Self::Number);
        self == other || is_plain(self) && is_plain(other)
    }

    /// An amount as a drive file has it.
    // Amounts are far below 2^63, which is checked where they are read.
    #[expect(clippy::cast_possible_truncation)]
    pub(crate) fn value(self, amount: f64) -> Value {
        let whole = amount as i64;
        match self {
            Self::Nanos => Value::Text(format!("{whole} ns")),
            Self::Bytes => Value::Text(format!("{whole} B")),
            Self::BytesPerSecond => Value::Text(format!("{whole} B/s")),
            Self::Percent => Value::Text(format!("{amount} %")),
            Self::Whole => Value::Integer(whole),
            Self::Number => Value::Number(amount),
        }
    }
}

impl Value {
    /// The amount as a number, in ns, bytes, bytes/s, per cent or as a count; none for words, yes
    /// and no.
    pub fn number(&self) -> Option<f64> {
        self.amount().map(|(_, number)| number)
    }

    /// Another amount of the same unit; none if this is not an amount.
    pub fn with_number(&self, number: f64) -> Option<Self> {
        self.amount().map(|(unit, _)| unit.value(number))
    }

    /// The unit and the number; none for words, yes and no.
    pub(crate) fn amount(&self) -> Option<(ValueUnit, f64)> {
        match self {
            Self::Flag(_) => None,
            Self::Integer(number) => Some((ValueUnit::Whole, *number as f64)),
            Self::Number(number) => Some((ValueUnit::Number, *number)),
            Self::Text(text) => {
                let span =
                    || text.parse().ok().map(|span: Span| (ValueUnit::Nanos, span.nanos() as f64));
                let bytes =
                    || text.parse().ok().map(|Bytes(bytes)| (ValueUnit::Bytes, bytes as f64));
                let rate = || {
                    let rate = Rate::try_from(text.clone()).ok();
                    rate.map(|Rate(rate)| (ValueUnit::BytesPerSecond, rate as f64))
                };
                let share = || {
                    let share = Share::try_from(text.clone()).ok();
                    share.map(|Share(share)| (ValueUnit::Percent, 100.0 * share))
                };
                span().or_else(bytes).or_else(rate).or_else(share)
            }
        }
    }

    /// A value of a file; none for tables and arrays.
    pub fn of(value: &toml::Value) -> Option<Self> {
        match value {
            toml::Value::Boolean(flag) => Some(Self::Flag(*flag)),
            toml::Value::Integer(number) => Some(Self::Integer(*number)),
            toml::Value::Float(number) => Some(Self::Number(*number)),
            toml::Value::String(text) => Some(Self::Text(text.clone())),
            _ => None,
        }
    }

    pub(crate) fn into_toml(self) -> toml::Value {
        match self {
            Self::Flag(flag) => toml::Value::Boolean(flag),
            Self::Integer(number) => toml::Value::Integer(number),
            Self::Number(number) => toml::Value::Float(number),
            Self::Text(text) => toml::Value::String(text),
        }
    }
}

impl Evidence {
    /// Every value that the evidence names besides the file's own: both ends of the range, or the
    /// choices.
    pub fn alternatives(&self) -> impl Iterator<Item = &Value> {
        self.range.iter().flatten().chain(&self.choices)
    }

    /// The fault of this evidence for a value, if any, and what to do.
    pub fn fault(&self, key: &str, value: &Value) -> Option<(String, String)> {
        let wrong = |message: String, help: &str| Some((message, help.to_owned()));
        if self.source.trim().is_empty() {
            return wrong(
                format!("the evidence for `{key}` has no source"),
                "say where the value is from, or why it was assumed",
            );
        }
        if self.range.is_some() && !self.choices.is_empty() {
            return wrong(
                format!("the evidence for `{key}` has a range and choices"),
                "give `range` for an amount, `choices` for anything else",
            );
        }
        if (self.basis == Basis::Fitted) == self.fitted_to.is_empty() {
            return wrong(
                format!("the evidence for `{key}` does not fit its basis"),
                "name the figures in `fitted_to` if the basis is \"fitted\", and only then",
            );
        }
        if let Some([least, most]) = &self.range {
            let amounts = [least.amount(), value.amount(), most.amount()];
            let is_within = match amounts {
                [Some((one, least)), Some((unit, value)), Some((other, most))] => {
                    let are_alike = one.is_like(unit) && unit.is_like(other);
                    are_alike && least < most && least <= value && value <= most
                }
                _ => false,
            };
            if !is_within {
                return wrong(
                    format!("the range of `{key}` is not an interval around its value"),
                    "write `range = [least, most]` in the unit of the value, which must be in it",
                );
            }
        }
        if !self.choices.is_empty() && !self.choices.contains(value) {
            return wrong(
                format!("the choices of `{key}` do not include its value"),
                "list the value itself among `choices`",
            );
        }
        None
    }
}

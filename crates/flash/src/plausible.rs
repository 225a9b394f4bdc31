//! Drives that a drive file's evidence leaves possible.
//!
//! A simulated drive is one of many that could model the real one. [`Plausible`] draws others:
//! every value that has a range or choices is anywhere in them, and values that were fitted to a
//! published figure vary only as far as the drive still reproduces it. Draws are independent, and
//! draw `k` of a seed is the same on every machine and whatever the number of draws (`stream.rs`).

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_quantity::Bytes;
use toml::Table;

use crate::bench::Bench;
use crate::drive_file::{DriveFile, DriveFileError};
use crate::evidence::{Evidence, Value, ValueUnit};
use crate::figures::{DriveFigure, FigureCheck};
use crate::grounded::{grounded, values, with};
use crate::specification::Specification;
use crate::stream::RandomSequence;

/// The drives that a drive file's evidence leaves possible.
#[derive(Debug, Clone)]
pub struct Plausible {
    /// The file.
    table: Table,
    capacity: Option<Bytes>,
    uncertain: Vec<UncertainValue>,
    /// The figures to which an uncertain value is fitted and which can be checked, with their
    /// names.
    figures: Vec<(String, DriveFigure)>,
    unchecked: BTreeMap<String, String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct UncertainValue {
    /// Its dotted key.
    pub key: String,
    pub spread: PlausibleValues,
    /// The names of the figures that it was fitted to.
    fitted_to: Vec<String>,
}

/// The plausible values of a key.
#[derive(Debug, Clone, PartialEq)]
pub enum PlausibleValues {
    /// Any of these, all equally likely.
    Choices(Vec<Value>),
    /// Anything between, in a unit.
    Range(Range),
}

/// The values between two ends.
///
/// The logarithm is spread evenly, since a time, a size, a rate or a share is known to within some
/// per cent or a factor. Over a narrow range that is the same as an even spread of the value. A
/// range that starts at 0, where there is no factor, is spread evenly in the value itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    unit: ValueUnit,
    least: f64,
    most: f64,
}

/// The values by which a plausible drive differs from its file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Draw {
    /// All that vary, by their dotted keys.
    pub values: BTreeMap<String, Value>,
    /// How many draws were discarded before: they made no drive, or one that does not give the
    /// figures that it was fitted to.
    pub redrawn: u32,
}

#[derive(Debug, Clone, PartialEq)]
pub struct DrawnDrive {
    pub drive: Specification,
    /// The values that define it.
    pub draw: Draw,
}

/// How often fitted values are drawn again with the others unchanged.
const REFITS: u32 = 8;

/// How often all values are drawn again.
const ROUNDS: u32 = 100;

/// Why a draw is not a plausible drive.
enum Misfit {
    /// The values give an invalid drive.
    Impossible,
    /// It does not reproduce the figure with this index.
    Missed(usize),
}

impl Plausible {
    /// The drives that a file leaves possible; just one, if none of its values has a range or
    /// choices. Fails as [`grounded`] does.
    pub fn of(text: &str) -> Result<Self, DriveFileError> {
        let values = grounded(text)?;
        let table: Table = toml::from_str(text).expect("a drive file is TOML");
        let figures = DriveFile::parse(text)?.figures;
        let uncertain: Vec<_> = values
            .into_iter()
            .filter_map(|value| UncertainValue::of(value.key, value.evidence?))
            .collect();
        let is_fitted =
            |name: &String| uncertain.iter().any(|value| value.fitted_to.contains(name));
        let (mut checked, mut unchecked) = (Vec::new(), BTreeMap::new());
        for (name, figure) in figures.into_iter().filter(|(name, _)| is_fitted(name)) {
            match figure.check {
                FigureCheck::Tested { test, .. } => checked.push((test.requests(), name, figure)),
                FigureCheck::Unchecked { why } => drop(unchecked.insert(name, why)),
            }
        }
        // Cheap figures are checked first.
        checked.sort_by_key(|(requests, ..)| *requests);
        let checked = checked.into_iter().map(|(_, name, figure)| (name, figure)).collect();
        Ok(Self { table, capacity: None, uncertain, figures: checked, unchecked })
    }

    /// The same drives with another capacity, as [`DriveFile::with_capacity`] has it.
    #[must_use]
    pub fn with_capacity(self, capacity: Bytes) -> Self {
        Self { capacity: Some(capacity), ..self }
    }

    /// The values that vary, in the order of their keys.
    pub fn uncertain(&self) -> &[UncertainValue] {
        &self.uncertain
    }

    /// The value of the file, by its dotted key.
    pub fn published(&self, key: &str) -> Option<Value> {
        values(&self.table).remove(key)
    }

    /// The figures that draws are not tested against although values were fitted to them, by name,
    /// with the reason.
    pub fn unchecked(&self) -> &BTreeMap<String, String> {
        &self.unchecked
    }

    /// The drive with these values, by dotted key, and the file's own for all others. Fails if the
    /// file does not set one of the keys, or if the drive would be invalid.
    pub fn drive(&self, values: &BTreeMap<String, Value>) -> Result<Specification, DriveFileError> {
        self.at_capacity(with(&self.table, values)?)
    }

    /// Draws the drive of a block. Fails if none is found that reproduces the figures.
    pub fn draw(&self, seed: u64, block: u32) -> Result<DrawnDrive, DriveFileError> {
        let mut redrawn = 0;
        let mut missed = vec![0_u32; self.figures.len()];
        for round in 0..ROUNDS {
            // How often a value was drawn again in this round.
            let mut again = vec![0; self.uncertain.len()];
            for _ in 0..=REFITS {
                let values = self.values(seed, block, round, &again);
                let misfit = match self.fit(&values) {
                    Ok(drive) => return Ok(DrawnDrive { drive, draw: Draw { values, redrawn } }),
                    Err(misfit) => misfit,
                };
                redrawn += 1;
                let Misfit::Missed(figure) = misfit else { break };
                missed[figure] += 1;
                for (again, value) in again.iter_mut().zip(&self.uncertain) {
                    *again += u32::from(value.fitted_to.contains(&self.figures[figure].0));
                }
            }
        }
        Err(self.none_fits(redrawn, &missed))
    }

    fn values(&self, seed: u64, block: u32, round: u32, again: &[u32]) -> BTreeMap<String, Value> {
        let draw = |(value, again): (&UncertainValue, &u32)| {
            let stream = RandomSequence::new(seed, &value.key).then(round).then(*again);
            (value.key.clone(), value.spread.at(stream.at(block)))
        };
        self.uncertain.iter().zip(again).map(draw).collect()
    }

    /// The drive with these values, if it is valid and reproduces the figures.
    fn fit(&self, values: &BTreeMap<String, Value>) -> Result<Specification, Misfit> {
        let file = with(&self.table, values).map_err(|_| Misfit::Impossible)?;
        let drive = self.at_capacity(file.clone()).map_err(|_| Misfit::Impossible)?;
        let mut bench = Bench::new(&file);
        for (number, (_, figure)) in self.figures.iter().enumerate() {
            match figure.is_met(&mut bench) {
                Ok(true) => {}
                Ok(false) => return Err(Misfit::Missed(number)),
                Err(_) => return Err(Misfit::Impossible),
            }
        }
        Ok(drive)
    }

    fn at_capacity(&self, mut file: DriveFile) -> Result<Specification, DriveFileError> {
        if let Some(capacity) = self.capacity {
            file.with_capacity(capacity);
        }
        file.resolve()
    }

    fn none_fits(&self, redrawn: u32, missed: &[u32]) -> DriveFileError {
        let most = self.figures.iter().zip(missed).max_by_key(|(_, missed)| **missed);
        let why = match most {
            Some(((name, _), missed)) if *missed > 0 => {
                format!("{missed} of them missed the figure `{name}`")
            }
            _ => "none of them makes a drive".to_owned(),
        };
        DriveFileError {
            message: format!("no plausible drive was found in {redrawn} draws: {why}"),
            at: None,
            help:
                "check that the file's own values give the figure; if they do, widen `within` of \
                   the figure, or the ranges of the values fitted to it"
                    .to_owned(),
        }
    }
}

impl UncertainValue {
    /// The value of a draw by itself, tested against no figure; each round gives another one.
    pub fn draw(&self, seed: u64, number: u32, round: u32) -> Value {
        self.spread.at(RandomSequence::new(seed, &self.key).then(round).then(0).at(number))
    }

    /// A value whose evidence leaves it uncertain; none if it is certain.
    pub fn of(key: String, evidence: Evidence) -> Option<Self> {
        let spread = match evidence.range {
            Some([least, most]) => {
                let ((unit, least), (_, most)) = (least.amount()?, most.amount()?);
                PlausibleValues::Range(Range { unit, least, most })
            }
            None if evidence.choices.len() > 1 => PlausibleValues::Choices(evidence.choices),
            None => return None,
        };
        Some(Self { key, spread, fitted_to: evidence.fitted_to })
    }
}

impl PlausibleValues {
    /// The smallest and the largest plausible amount; none for choices.
    pub fn ends(&self) -> Option<[Value; 2]> {
        match self {
            Self::Choices(_) => None,
            Self::Range(Range { unit, least, most }) => {
                Some([*least, *most].map(|n| unit.value(n)))
            }
        }
    }

    /// The value at a fraction, in units of 2^-32, of the way from the smallest, or the first, to
    /// the last.
    pub fn at(&self, part: u32) -> Value {
        match self {
            Self::Choices(choices) => {
                let place = (u64::from(part) * choices.len() as u64) >> u32::BITS;
                choices[usize::try_from(place).expect("it is one of the choices")].clone()
            }
            Self::Range(range) => range.at(part),
        }
    }
}

impl Range {
    /// The same on every machine: logarithms are those of the `libm` crate, and results are rounded
    /// to four digits.
    fn at(self, part: u32) -> Value {
        let share = (f64::from(part) + 0.5) / 2_f64.powi(32);
        let Self { unit, least, most } = self;
        // Each whole number stands for all up to the next.
        let end = if unit == ValueUnit::Whole { most + 1.0 } else { most };
        let amount = if least > 0.0 {
            least * libm::exp(share * libm::log(end / least))
        } else {
            least + share * (end - least)
        };
        let amount =
            if unit == ValueUnit::Whole { libm::floor(amount) } else { to_four_digits(amount) };
        unit.value(amount.clamp(least, most))
    }
}

/// The number with four significant digits, the last of them rounded.
fn to_four_digits(number: f64) -> f64 {
    let mut unit = 1.0;
    let mut scaled = number;
    // Powers of ten up to 10^22 are exact, so each step rounds once at most.
    while scaled.abs() >= 10_000.0 {
        unit *= 10.0;
        scaled = number / unit;
    }
    if unit > 1.0 {
        return libm::round(scaled) * unit;
    }
    while scaled != 0.0 && scaled.abs() < 1000.0 && unit < 1e15 {
        unit *= 10.0;
        scaled = number * unit;
    }
    libm::round(scaled) / unit
}

#[cfg(test)]
mod tests;

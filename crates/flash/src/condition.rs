//! Brings a drive into a state before a measurement. It is done inside the model, in zero time and
//! without I/O.

use std::fmt;
use std::ops::ControlFlow;
use std::str::FromStr;

use crate::command::{Command, Extent, Refusal, Stream};
use crate::drive::Drive;
use crate::nand::Nand;
use crate::pattern::{DriveWorkload, RequestGenerator};
use crate::play::play;
use crate::specification::Specification;
use crate::units::{MILLION, Nanos};

/// A state of a drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    /// As after a secure erase: no page holds data, every block is erased.
    Purged,
    /// Every page was written once, in order.
    Filled,
    /// Filled, then random pages overwritten, by a multiple of the capacity.
    Overwritten {
        /// Times the capacity, in millionths.
        capacities_ppm: u64,
    },
    /// Filled, then overwritten at random until the drive's work settles.
    Steady,
    /// Steady, with a mean number of erases per block.
    Aged {
        /// The mean number of erases of a block.
        erases: u32,
    },
}

impl FromStr for Condition {
    type Err = String;

    /// Reads `purged`, `filled`, `overwritten:X` (times the capacity), `steady` or `aged:N` (erases
    /// a block); the error lists these.
    fn from_str(text: &str) -> Result<Self, String> {
        let (state, amount) = text.split_once(':').map_or((text, None), |(s, a)| (s, Some(a)));
        match (state, amount) {
            ("purged", None) => Ok(Self::Purged),
            ("filled", None) => Ok(Self::Filled),
            ("steady", None) => Ok(Self::Steady),
            ("overwritten", Some(amount)) => match amount.parse::<f64>() {
                // Within the range of the type, as just checked.
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
                Ok(times) if (0.0..=MOST_OVERWRITES).contains(&times) => {
                    let capacities_ppm = (times * f64::from(MILLION)).round() as u64;
                    Ok(Self::Overwritten { capacities_ppm })
                }
                _ => Err(format!("overwritten:X takes a number from 0 to {MOST_OVERWRITES}")),
            },
            ("aged", Some(amount)) => match amount.parse() {
                Ok(erases) => Ok(Self::Aged { erases }),
                Err(_) => Err("aged:N takes a whole number of erases per block".to_owned()),
            },
            _ => Err("one of purged, filled, overwritten:X, steady, aged:N".to_owned()),
        }
    }
}

/// As it is read.
impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Purged => f.write_str("purged"),
            Self::Filled => f.write_str("filled"),
            Self::Overwritten { capacities_ppm } => {
                write!(f, "overwritten:{}", *capacities_ppm as f64 / f64::from(MILLION))
            }
            Self::Steady => f.write_str("steady"),
            Self::Aged { erases } => write!(f, "aged:{erases}"),
        }
    }
}

/// The most overwrites of a drive's capacity in a condition.
const MOST_OVERWRITES: f64 = 1e6;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConditioningOutcome {
    /// Rounds of random overwrites on the way to the steady state; 0 if that was not requested.
    pub rounds: u32,
    /// Whether the steady state was reached, if it was requested.
    pub is_steady: Option<bool>,
}

/// Why a drive is not in the requested state, but in an intermediate one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ConditionError {
    /// The progress callback has ended it.
    #[error("interrupted")]
    Stopped,
    /// The drive refuses writes.
    #[error("the drive cannot be preconditioned: {0}")]
    Refused(#[from] Refusal),
}

/// Rounds after which waiting for the steady state is given up (SNIA, "Solid State Storage
/// Performance Test Specification" 2.0, section 3.2).
const MOST_ROUNDS: u32 = 25;

/// Rounds that have to agree.
const WINDOW: usize = 5;

/// The multiple of the capacity that a round overwrites, in millionths. The specification's rounds
/// have a length in time; within half a capacity a drive reaches a new equilibrium.
const ROUND_PPM: u64 = 500_000;

/// Pages of one write of the sequential fill.
const FILL_PAGES: u32 = 1024;

impl<N: Nand> Drive<N> {
    /// Brings the drive into a state, starting from a purge, and resets the counts. Writes stay
    /// within the first `span_pages`; the rest holds no data. `progress` receives the page writes
    /// done and, as far as known, their total, and may end it; the drive is then in an intermediate
    /// state.
    pub fn condition(
        &mut self,
        condition: Condition,
        span_pages: u32,
        seed: u64,
        progress: &mut dyn FnMut(u64, u64) -> ControlFlow<()>,
    ) -> Result<ConditioningOutcome, ConditionError> {
        self.out_of_time(|drive| {
            let mut conditioner = Conditioner {
                requests: RequestGenerator::new(DriveWorkload::uniform_writes(span_pages), seed),
                span_pages,
                done: 0,
                total: u64::from(span_pages),
                progress,
            };
            conditioner.bring(drive, condition)
        })
    }
}

/// A progress callback that does nothing.
pub fn unwatched(_: u64, _: u64) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

struct Conditioner<'a> {
    requests: RequestGenerator,
    span_pages: u32,
    done: u64,
    total: u64,
    progress: &'a mut dyn FnMut(u64, u64) -> ControlFlow<()>,
}

impl Conditioner<'_> {
    fn bring<N: Nand>(
        &mut self,
        drive: &mut Drive<N>,
        condition: Condition,
    ) -> Result<ConditioningOutcome, ConditionError> {
        let mut found = ConditioningOutcome { rounds: 0, is_steady: None };
        drive.purge();
        match condition {
            Condition::Purged => return Ok(found),
            Condition::Filled => self.fill(drive)?,
            Condition::Overwritten { capacities_ppm } => {
                self.total += self.pages_of(capacities_ppm);
                self.fill(drive)?;
                self.overwrite(drive, self.pages_of(capacities_ppm))?;
            }
            Condition::Steady => found = self.steady(drive)?,
            Condition::Aged { erases } => {
                found = self.steady(drive)?;
                self.age(drive, erases)?;
            }
        }
        drive.submit(Nanos::ZERO, Command::Flush)?;
        Ok(found)
    }

    fn pages_of(&self, capacities_ppm: u64) -> u64 {
        let pages = u128::from(self.span_pages) * u128::from(capacities_ppm) / u128::from(MILLION);
        u64::try_from(pages).unwrap_or(u64::MAX)
    }

    fn fill<N: Nand>(&mut self, drive: &mut Drive<N>) -> Result<(), ConditionError> {
        let page_bytes = u64::from(drive.specification().page_bytes);
        let mut first = 0;
        while first < self.span_pages {
            let count = FILL_PAGES.min(self.span_pages - first);
            let extent = Extent {
                offset_bytes: u64::from(first) * page_bytes,
                length_bytes: u64::from(count) * page_bytes,
            };
            drive.submit(Nanos::ZERO, Command::Write(extent, Stream::default()))?;
            first += count;
            self.tell(u64::from(count))?;
        }
        Ok(())
    }

    fn overwrite<N: Nand>(
        &mut self,
        drive: &mut Drive<N>,
        pages: u64,
    ) -> Result<(), ConditionError> {
        /// How many pages are written between two reports of progress.
        const STEP: u64 = 1 << 18;
        let mut left = pages;
        while left > 0 {
            let step = left.min(STEP);
            play(drive, &mut self.requests, step, 1, Nanos::ZERO, |_, _| {})?;
            left -= step;
            self.tell(step)?;
        }
        Ok(())
    }

    fn tell(&mut self, pages: u64) -> Result<(), ConditionError> {
        self.done += pages;
        match (self.progress)(self.done, self.total.max(self.done)) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(ConditionError::Stopped),
        }
    }

    /// Overwrites until the last rounds agree.
    fn steady<N: Nand>(
        &mut self,
        drive: &mut Drive<N>,
    ) -> Result<ConditioningOutcome, ConditionError> {
        let pages = self.pages_of(ROUND_PPM).max(1);
        self.total += pages * u64::from(MOST_ROUNDS);
        self.fill(drive)?;
        let mut speeds = Vec::new();
        for round in 1..=MOST_ROUNDS {
            let before = drive.flash_counters().programs.total();
            self.overwrite(drive, pages)?;
            let programs = drive.flash_counters().programs.total() - before;
            speeds.push(speed(pages, programs));
            if is_steady(&speeds) {
                return Ok(ConditioningOutcome { rounds: round, is_steady: Some(true) });
            }
        }
        Ok(ConditioningOutcome { rounds: MOST_ROUNDS, is_steady: Some(false) })
    }

    /// Wears the blocks to a mean of `erases`: for a while by overwriting, which spreads the wear
    /// as this drive does, and then evenly.
    fn age<N: Nand>(&mut self, drive: &mut Drive<N>, erases: u32) -> Result<(), ConditionError> {
        /// Capacities overwritten, after which the spread of the wear is taken as final.
        const MOST_ROUNDS: u32 = 20;
        let pages = u64::from(self.span_pages);
        for _ in 0..MOST_ROUNDS {
            if drive.wear().mean >= f64::from(erases) {
                return Ok(());
            }
            self.overwrite(drive, pages)?;
        }
        drive.array_mut().age_to(erases);
        Ok(())
    }
}

/// The share of programmed pages that are the host's, in millionths: the inverse of write
/// amplification, and so a measure of write speed.
fn speed(host_pages: u64, flash_pages: u64) -> u64 {
    host_pages.saturating_mul(u64::from(MILLION)) / flash_pages.max(1)
}

/// Whether the last five rounds lie within 20 % of their mean, and the straight line through them
/// rises or falls by at most 10 % of it (SNIA, as above).
fn is_steady(speeds: &[u64]) -> bool {
    let Some(window) = speeds.len().checked_sub(WINDOW).map(|first| &speeds[first..]) else {
        return false;
    };
    let rounds = window.iter().map(|speed| i128::from(*speed));
    let sum: i128 = rounds.clone().sum();
    let range = rounds.clone().max().unwrap_or(0) - rounds.clone().min().unwrap_or(0);
    // The least-squares slope over x = -2..2 is sum(x * y) / 10; the line spans four steps.
    let slope: i128 = rounds.zip(-2..).map(|(y, x): (i128, i128)| x * y).sum();
    let rise = slope.abs() * 4;
    range * 5 * 100 <= 20 * sum && rise * 5 * 100 <= 10 * 10 * sum
}

/// Everything that determines a drive before its first command. Equal preparations make equal
/// drives.
#[derive(Debug, Clone)]
pub struct Preparation {
    pub specification: Specification,
    /// The state it is brought into.
    pub condition: Condition,
    /// The part of the drive that conditioning uses, in millionths; the rest holds no data.
    pub fill_ppm: u32,
    /// The seed of everything random.
    pub seed: u64,
}

impl Preparation {
    /// The preparation of a drive that is used completely.
    pub const fn whole(specification: Specification, condition: Condition, seed: u64) -> Self {
        Self { specification, condition, fill_ppm: MILLION, seed }
    }

    /// The pages that conditioning uses: the first ones of the drive, and at least one.
    pub fn span_pages(&self) -> u32 {
        let pages = u64::from(self.specification.logical_pages) * u64::from(self.fill_ppm);
        u32::try_from(pages / u64::from(MILLION)).unwrap_or(u32::MAX).max(1)
    }

    /// Makes the drive, and returns the outcome of conditioning. `progress` is as for
    /// [`Drive::condition`].
    pub fn prepare(
        &self,
        progress: &mut dyn FnMut(u64, u64) -> ControlFlow<()>,
    ) -> Result<(Drive, ConditioningOutcome), ConditionError> {
        let mut drive = Drive::new(self.specification.clone(), self.seed);
        let found = drive.condition(self.condition, self.span_pages(), self.seed, progress)?;
        Ok((drive, found))
    }
}

#[cfg(test)]
mod tests;

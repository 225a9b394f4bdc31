//! Published figures of a real drive, and the tests of a model against them.
//!
//! A drive must reproduce a figure to which a value was fitted, whatever else varies; for any other
//! figure the model's answer is a prediction. Figures that a short run of the model can check have
//! a [`Test`], the others a reason why not.

use std::collections::BTreeMap;

use serde::Deserialize;
use ssdlab_quantity::{Bytes, Rate, Span};

/// The figures of a file, by name.
pub type DriveFigures = BTreeMap<String, DriveFigure>;

/// A published figure.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "Written")]
pub struct DriveFigure {
    /// What was measured or claimed, and by whom.
    pub source: String,
    /// The figure as written in the file.
    pub value: String,
    /// How a model is tested against it.
    pub check: FigureCheck,
}

/// How a model is tested against a figure.
#[derive(Debug, Clone, PartialEq)]
pub enum FigureCheck {
    Tested {
        expected: FigureQuantity,
        /// The share by which the model may be off.
        within: f64,
        test: Test,
    },
    /// Not at all.
    Unchecked {
        /// The reason.
        why: String,
    },
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FigureQuantity {
    /// Bytes a second: `"40.8 MB/s"`.
    BytesPerSecond(u64),
    /// Requests a second: `"35000/s"`.
    RequestsPerSecond(f64),
    /// The time of a request, or the total time of all discards, in nanoseconds: `"62 us"`.
    Nanos(u64),
}

/// What a figure is of, among what programs wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FigureKind {
    /// A write that is synced, by a flush or with forced unit access.
    SyncedWrite,
    Discard,
    /// A request of a page, one at a time.
    PageAlone,
    /// A high percentile of requests of which several are under way.
    LoadedTail,
}

impl FigureKind {
    /// All of them.
    pub const ALL: [Self; 4] =
        [Self::SyncedWrite, Self::Discard, Self::PageAlone, Self::LoadedTail];
}

/// The load by which a drive is compared with a figure.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase")]
pub enum Test {
    Read(Load),
    Write(Load),
    /// Discards of data on a full drive, one after another.
    Discard(Discards),
}

/// Requests of one kind. The drive is scaled down, which keeps its ratios and its dies.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Load {
    #[serde(default)]
    pub(crate) order: PageOrder,
    /// The size of each, in whole pages.
    pub(crate) request: Bytes,
    /// The queue depth.
    #[serde(default = "one")]
    pub(crate) depth: u32,
    /// The drive's state before.
    #[serde(default)]
    pub(crate) state: InitialState,
    /// The share of the drive that they go to, above 0 and at most 1.
    #[serde(default = "all")]
    pub(crate) span: f64,
    /// Whether each is followed by a flush, whose time is part of the request's, as with fio's
    /// `fsync=1` on a device.
    #[serde(default)]
    pub(crate) flushed: bool,
    /// Whether each is a write with forced unit access, as with `O_DSYNC` or fio's `sync=1` on a
    /// device; where the drive has none, a write and a flush.
    #[serde(default)]
    pub(crate) fua: bool,
    /// Requests before those that count.
    #[serde(default)]
    pub(crate) before: u64,
    #[serde(default = "some")]
    pub(crate) requests: u64,
    /// The percentile of the requests' times that is compared with a time; without it, the mean is.
    pub(crate) percentile: Option<f64>,
    /// The erase blocks that the drive is scaled down to.
    #[serde(default = "few")]
    pub(crate) blocks: u32,
}

/// Discards of data.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Discards {
    pub(crate) size: Bytes,
    #[serde(default = "one")]
    pub(crate) commands: u32,
}

/// Which pages come next.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PageOrder {
    /// The ones after the last.
    Sequential,
    #[default]
    Uniform,
}

/// A drive's state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum InitialState {
    /// Nothing was written.
    Purged,
    /// Every page was written once.
    #[default]
    Filled,
}

const fn one() -> u32 {
    1
}

const fn all() -> f64 {
    1.0
}

const fn some() -> u64 {
    5000
}

pub(crate) const fn few() -> u32 {
    32
}

/// A figure as written in a file: with a test and a tolerance, or with the reason for having none.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    source: String,
    value: String,
    within: Option<f64>,
    test: Option<Test>,
    unchecked: Option<String>,
}

impl TryFrom<Written> for DriveFigure {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        let Written { source, value, within, test, unchecked } = written;
        let check = match (within, test, unchecked) {
            (Some(within), Some(test), None) if within > 0.0 && within < 1.0 => {
                let expected = FigureQuantity::parse(&value)?;
                test.check(expected)?;
                FigureCheck::Tested { expected, within, test }
            }
            (Some(_), Some(_), None) => {
                return Err("`within` is a share above 0 and below 1".to_owned());
            }
            (None, None, Some(why)) => FigureCheck::Unchecked { why },
            _ => {
                return Err(
                    "a figure has `test` and `within`, or the reason why it is `unchecked`"
                        .to_owned(),
                );
            }
        };
        Ok(Self { source, value, check })
    }
}

impl DriveFigure {
    /// Whether it was measured: a maker's data sheet only promises.
    pub fn is_measured(&self) -> bool {
        !["rated:", "typical:"].iter().any(|promise| self.source.starts_with(promise))
    }

    /// What a tested figure is of, if it is one of those kinds.
    pub fn kind(&self) -> Option<FigureKind> {
        let FigureCheck::Tested { test, .. } = self.check else { return None };
        match test {
            Test::Discard(_) => Some(FigureKind::Discard),
            Test::Read(load) | Test::Write(load) => load.kind(),
        }
    }
}

impl FigureQuantity {
    /// Whether a text has this number: `"1,700 MB/s"`, or `"13,000 reads a second"`.
    pub fn is_in(self, text: &str) -> bool {
        let words: Vec<String> = text.split_whitespace().map(plain).collect();
        (0..words.len()).any(|at| {
            let rest = &words[at..];
            let alone = Self::parse(&rest[0]);
            let with_unit = Self::parse(&rest[..rest.len().min(2)].join(" "));
            let is_each_second = |at: &[String]| at[0] == "a" && at[1] == "second";
            let soon = &rest[..rest.len().min(MOST_WORDS)];
            let rate = soon.windows(2).any(is_each_second).then(|| format!("{}/s", rest[0]));
            let rate = rate.and_then(|rate| Self::parse(&rate).ok());
            alone.into_iter().chain(with_unit).chain(rate).any(|found| self.is_near(found))
        })
    }

    /// Whether two figures are the same but for rounding.
    fn is_near(self, other: Self) -> bool {
        let (one, other) = match (self, other) {
            (Self::BytesPerSecond(one), Self::BytesPerSecond(other))
            | (Self::Nanos(one), Self::Nanos(other)) => (one as f64, other as f64),
            (Self::RequestsPerSecond(one), Self::RequestsPerSecond(other)) => (one, other),
            _ => return false,
        };
        (one / other - 1.0).abs() < 0.001
    }

    fn parse(text: &str) -> Result<Self, String> {
        if let Some(number) = text.strip_suffix("/s").and_then(|number| number.parse().ok()) {
            return Ok(Self::RequestsPerSecond(number));
        }
        if let Ok(Rate(rate)) = Rate::try_from(text.to_owned()) {
            return Ok(Self::BytesPerSecond(rate));
        }
        match text.parse::<Span>() {
            Ok(span) if span.nanos() > 0 => Ok(Self::Nanos(span.nanos())),
            _ => Err(format!(
                "\"{text}\" is not a figure; write for example \"40.8 MB/s\", \
                 \"35000/s\" or \"62 us\""
            )),
        }
    }
}

/// The words from a number to the "a second" that it may be of.
const MOST_WORDS: usize = 9;

/// A word of a text without what surrounds it, and a number without its commas.
fn plain(word: &str) -> String {
    let word = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    if word.starts_with(|c: char| c.is_ascii_digit()) { word.replace(',', "") } else { word.into() }
}

/// What programs mostly read and write at a time.
const PAGE: u64 = 4 << 10;

/// The most requests of a test, and its largest queue depth.
const MOST_REQUESTS: u64 = 10_000_000;
const MOST_DEPTH: u32 = 65_536;

impl Test {
    /// Refuses tests that would take hours, that no drive can perform, or that do not give what is
    /// expected.
    fn check(&self, expected: FigureQuantity) -> Result<(), String> {
        if self.requests() > MOST_REQUESTS {
            return Err(format!("a test has at most {MOST_REQUESTS} requests"));
        }
        match self {
            Self::Read(load) | Self::Write(load) if load.depth > MOST_DEPTH => {
                Err(format!("at most {MOST_DEPTH} requests of a test are under way at once"))
            }
            Self::Read(load) if load.fua => {
                Err("only writes have forced unit access: omit `fua`".to_owned())
            }
            Self::Read(load) | Self::Write(load) if load.flushed && load.fua => {
                Err("a write is `flushed` or has `fua`, not both".to_owned())
            }
            Self::Read(load) | Self::Write(load)
                if (load.flushed || load.fua) && load.depth > 1 =>
            {
                Err("requests that are synced come one at a time: `depth = 1`".to_owned())
            }
            Self::Read(load) | Self::Write(load) if !(load.span > 0.0 && load.span <= 1.0) => {
                Err("`span` is a share above 0 and at most 1".to_owned())
            }
            Self::Read(load) | Self::Write(load) => load.check_percentile(expected),
            Self::Discard(_) => Ok(()),
        }
    }

    /// The number of requests that it performs.
    pub(crate) fn requests(&self) -> u64 {
        match self {
            Self::Read(load) | Self::Write(load) => load.before.saturating_add(load.requests),
            Self::Discard(discards) => discards.commands.into(),
        }
    }
}

/// From where on a percentile is of the tail.
const TAIL: f64 = 99.0;

impl Load {
    fn kind(self) -> Option<FigureKind> {
        if self.flushed || self.fua {
            return Some(FigureKind::SyncedWrite);
        }
        if self.depth > 1 {
            return self.percentile.filter(|share| *share >= TAIL).map(|_| FigureKind::LoadedTail);
        }
        (self.request.0 == PAGE && self.order == PageOrder::Uniform)
            .then_some(FigureKind::PageAlone)
    }

    fn check_percentile(&self, expected: FigureQuantity) -> Result<(), String> {
        match (self.percentile, expected) {
            (None, _) => Ok(()),
            (Some(share), FigureQuantity::Nanos(_)) if share > 0.0 && share <= 100.0 => Ok(()),
            (Some(_), FigureQuantity::Nanos(_)) => {
                Err("`percentile` is above 0 and at most 100, such as 99".to_owned())
            }
            (Some(_), _) => Err("a percentile is a time: `value = \"84 us\"`".to_owned()),
        }
    }
}

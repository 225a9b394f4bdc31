//! Why a treatment differs from another, or a phase from another, in one sentence of numbers: how
//! many more bytes it writes and of what kind, and which other commands it sends to the drive.

use std::collections::BTreeSet;

use ssdlab_advice::{Analysis, TreatmentResult};
use ssdlab_filesystem::layout::BlockKind;
use ssdlab_plan::metric::{Metric, Source, Unit};
use ssdlab_plan::{Factor, Levels};
use ssdlab_quantity::listed;

use super::number;
use super::table::mean;

/// Kinds with less than this share of the whole difference are not mentioned.
const WORTH_A_WORD: f64 = 0.02;

/// The ratio from which on a difference between counts is mentioned.
const NOTABLE: f64 = 1.05;

/// The maximum number of kinds that are named.
const MOST_KINDS: usize = 3;

/// A smaller difference in the number of commands may be chance.
const FEW: f64 = 10.0;

/// Counts of commands, with their names in sentences.
const COMMANDS: [(Source, &str); 5] = [
    (Source::WriteRequests, "write requests"),
    (Source::DiscardRequests, "discards"),
    (Source::Flushes, "flushes"),
    (Source::Commits, "journal commits"),
    (Source::Erases, "erased flash blocks"),
];

/// The causes behind each claim that compares two treatments; once, if several claims are about the
/// same.
pub(super) fn reasons(analysis: &Analysis) -> Vec<Option<String>> {
    let mut said = BTreeSet::new();
    let claims = analysis.claims.iter();
    let found = claims.map(|claim| {
        claim.outcome.ratio()?;
        let own = ReasonSide { levels: claim.levels.as_ref()?, phases: &claim.claim.phases };
        let other =
            ReasonSide { levels: claim.baseline.as_ref()?, phases: claim.claim.other_phases() };
        let reason = reason(analysis, [own, other], claim.claim.metric)?;
        let is_new = said.insert([own, other]);
        is_new.then(|| format!("what else differs, on average: {reason}"))
    });
    found.collect()
}

/// One side of a comparison: a treatment in some phases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ReasonSide<'a> {
    pub levels: &'a Levels,
    pub phases: &'a [String],
}

/// The causes of the difference between two sides' metric; `None` if no other count differs.
fn reason(analysis: &Analysis, sides: [ReasonSide<'_>; 2], metric: Metric) -> Option<String> {
    let parts = Sides::of(analysis, sides, metric)?.parts(metric);
    let parts: Vec<String> = parts.iter().filter_map(Parts::told).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Differences of one kind: the beginning of a clause, and its possible ends.
struct Parts {
    begins: &'static str,
    parts: Vec<String>,
}

impl Parts {
    fn told(&self) -> Option<String> {
        (!self.parts.is_empty()).then(|| format!("{} {}", self.begins, listed(&self.parts)))
    }
}

/// A treatment in some phases, and another, or the same in another phase.
struct Sides<'a> {
    with: (&'a TreatmentResult, &'a [String]),
    without: (&'a TreatmentResult, &'a [String]),
}

impl<'a> Sides<'a> {
    fn of(
        analysis: &'a Analysis,
        [own, other]: [ReasonSide<'a>; 2],
        metric: Metric,
    ) -> Option<Self> {
        // What a phase asks of a drive says little about what a power cut leaves.
        if metric.is_of_cuts() {
            return None;
        }
        let of = |side: ReasonSide<'a>| {
            let own = analysis.treatments.iter().find(|own| own.levels == *side.levels)?;
            Some((own, side.phases))
        };
        Some(Self { with: of(own)?, without: of(other)? })
    }

    /// All differences; those that explain most of the metric come first.
    fn parts(&self, metric: Metric) -> [Parts; 2] {
        let written = Parts { begins: "it writes", parts: self.written().into_iter().collect() };
        let commands = Parts { begins: "there are", parts: self.commands(metric) };
        // The kinds of bytes explain bytes better, the commands times.
        if metric.unit == Unit::Bytes { [written, commands] } else { [commands, written] }
    }

    /// A metric on both sides, over their phases.
    fn both(&self, metric: impl Into<Metric>) -> Option<(f64, f64)> {
        let metric = metric.into();
        let total = |(treatment, phases): (&TreatmentResult, &[String])| {
            if metric.source == Source::Commits && has_no_journal(&treatment.levels) {
                return Some(0.0);
            }
            phases.iter().map(|phase| mean(treatment, phase, metric)).sum::<Option<f64>>()
        };
        Some((total(self.with)?, total(self.without)?))
    }

    /// The difference in bytes written, and their kinds.
    fn written(&self) -> Option<String> {
        let (with, without) = self.both(Source::WrittenBytes)?;
        let kinds: Vec<(&str, f64)> = BlockKind::ALL
            .into_iter()
            .filter_map(|kind| {
                let (with, without) = self.both(Source::Written(kind))?;
                Some((called(kind), with - without))
            })
            .collect();
        let all: f64 = kinds.iter().map(|(_, more)| more.abs()).sum();
        let more = with - without;
        let differs = all.max(more.abs());
        if differs == 0.0 || differs < WORTH_A_WORD * with.max(without) {
            return None;
        }
        let bytes = |value: f64| number::bytes(value.abs());
        let mut told: Vec<(&str, f64)> =
            kinds.into_iter().filter(|(_, more)| more.abs() >= WORTH_A_WORD * all).collect();
        told.sort_by(|one, other| other.1.abs().total_cmp(&one.1.abs()));
        told.truncate(MOST_KINDS);
        let than = if more < 0.0 { "less" } else { "more" };
        if told.is_empty() {
            return Some(format!("{} {than}", bytes(more)));
        }
        let is_of_one_sign = told.iter().all(|(_, of_kind)| (*of_kind < 0.0) == (more < 0.0));
        let kinds: Vec<String> = told
            .iter()
            .enumerate()
            .map(|(index, (kind, of_kind))| {
                let says = match (is_of_one_sign, index) {
                    (true, 0) => " are ",
                    (true, _) => " ",
                    (false, _) if *of_kind < 0.0 => " less ",
                    (false, _) => " more ",
                };
                format!("{}{says}{kind}", bytes(*of_kind))
            })
            .collect();
        let (written, kinds) = (bytes(more), listed(&kinds));
        Some(if is_of_one_sign {
            format!("{written} {than}, of which {kinds}")
        } else {
            format!("{written} {than}: {kinds}")
        })
    }

    /// The commands sent more or less often, except those that are the metric itself.
    fn commands(&self, explained: Metric) -> Vec<String> {
        let discarded = self.both(Source::DiscardedBytes).unwrap_or((0.0, 0.0));
        let differs = |(source, called): &(Source, &str)| {
            if *source == explained.source {
                return None;
            }
            let (with, without) = self.both(*source)?;
            let (most, least) = (with.max(without), with.min(without));
            (most - least >= FEW && most > least * NOTABLE).then(|| {
                let count = |value| number::value(*source, value);
                let of = |bytes: f64| match bytes {
                    bytes if *source == Source::DiscardRequests && bytes > 0.0 => {
                        format!(" ({})", number::bytes(bytes))
                    }
                    _ => String::new(),
                };
                let (own, other) = (of(discarded.0), of(discarded.1));
                format!("{} {called}{own} against {}{other}", count(with), count(without))
            })
        };
        COMMANDS.iter().filter_map(differs).collect()
    }
}

/// Whether there is no journal to commit. Other filesystems have journals whose commits are not
/// counted.
fn has_no_journal(levels: &Levels) -> bool {
    let has = |factor, level: &str| levels.0.get(&factor).is_some_and(|own| own == level);
    has(Factor::Filesystem, "ext2") || has(Factor::Journal, "off")
}

/// A kind of written bytes, in words.
pub(super) fn called(kind: BlockKind) -> &'static str {
    match kind {
        BlockKind::Data => "file data",
        BlockKind::Journal => "journal",
        BlockKind::Inode => "inodes",
        BlockKind::Directory => "directories and extents",
        BlockKind::Allocation => "allocation",
        BlockKind::Superblock => "superblocks",
        BlockKind::CowMetadata => "copy-on-write metadata",
        BlockKind::Unattributed => "unattributed",
    }
}

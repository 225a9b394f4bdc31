//! A disk: the marks of its sectors, its completions, and its ledger.

use std::ops::Range;

use crate::event::SECTOR_BYTES;
use crate::ledger::{AttributedWrites, LedgerKey, WrittenKind};
use crate::ranges::RangeMap;
use crate::readings::{CompletedWrite, CompletionMatcher};
use crate::shares::CauseShares;
use crate::state::SectorMark;
use crate::tasks::Causer;

/// The most marked ranges: more than any queue holds.
const MOST_MARKS: usize = 1 << 20;

/// What is known of a disk before it is watched.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeviceSpec {
    /// Its number, as events have it: 12 bits major and 20 bits minor.
    pub number: u64,
    /// The numbers of its partitions, in which bios are queued.
    pub partitions: Vec<u64>,
    /// The sectors of the disk that are counted: all, or those of a partition.
    pub counted: Range<u64>,
    /// Writes in flight when the recording began, of which nobody is known.
    pub in_flight: u64,
    /// Its swap areas, in sectors.
    pub swap: Vec<Range<u64>>,
    /// Whether it passes bios on without requests, as device mapper does: no event tells of their
    /// completion by the sectors that were queued, so they count as written then.
    pub has_no_requests: bool,
}

/// A disk that is watched.
#[derive(Debug)]
pub struct Device {
    /// What was known of it.
    pub spec: DeviceSpec,
    /// Its rows.
    pub ledger: AttributedWrites,
    pub(crate) marks: RangeMap<SectorMark>,
    /// The marks of what went on to devices below.
    passed: RangeMap<SectorMark>,
    pub(crate) readings: CompletionMatcher,
    in_flight: u64,
}

impl Device {
    pub(crate) fn new(spec: DeviceSpec) -> Self {
        let in_flight = spec.in_flight;
        let (ledger, marks, passed, readings) = Default::default();
        Self { spec, ledger, marks, passed, readings, in_flight }
    }

    pub(crate) fn has_number(&self, number: u64) -> bool {
        self.spec.number == number || self.spec.partitions.contains(&number)
    }

    pub(crate) fn mark(&mut self, sectors: Range<u64>, mark: SectorMark) {
        put(&mut self.marks, sectors, mark);
    }

    /// The marks of what is in flight.
    pub(crate) fn in_flight_within(&self, sectors: &Range<u64>) -> Vec<(Range<u64>, &SectorMark)> {
        let marks = if self.spec.has_no_requests { &self.passed } else { &self.marks };
        marks.within(sectors)
    }

    /// Whether all of a range is swap.
    pub(crate) fn is_swap(&self, sectors: &Range<u64>) -> bool {
        let holds = |area: &Range<u64>| area.start <= sectors.start && sectors.end <= area.end;
        self.spec.swap.iter().any(holds)
    }

    /// Who is behind the marked parts of a range.
    pub(crate) fn causes_within(&self, sectors: &Range<u64>) -> Vec<(Range<u64>, CauseShares)> {
        let marked = self.marks.within(sectors).into_iter();
        marked.map(|(range, mark)| (range, mark.causes.clone())).collect()
    }

    /// A write was completed: its marks become rows.
    pub(crate) fn completed(&mut self, time_ns: u64, sectors: &Range<u64>) {
        let pieces = self.marks.cut(sectors);
        self.enter(time_ns, sectors, pieces);
    }

    /// A write goes on to the devices below: its marks become rows, and go with it.
    pub(crate) fn passed(&mut self, time_ns: u64, sectors: &Range<u64>) {
        let pieces = self.marks.cut(sectors);
        for (range, mark) in &pieces {
            put(&mut self.passed, range.clone(), mark.clone());
        }
        self.enter(time_ns, sectors, pieces);
    }

    fn enter(&mut self, time_ns: u64, sectors: &Range<u64>, pieces: Vec<(Range<u64>, SectorMark)>) {
        let counted =
            self.spec.counted.start.max(sectors.start)..self.spec.counted.end.min(sectors.end);
        if counted.is_empty() {
            return;
        }
        let is_marked = !pieces.is_empty();
        let bytes_in = |range: &Range<u64>| {
            let (start, end) = (range.start.max(counted.start), range.end.min(counted.end));
            end.saturating_sub(start) * SECTOR_BYTES
        };
        let bytes = bytes_in(sectors);
        let mut parts = Vec::with_capacity(1);
        let mut known = 0;
        for (range, mark) in pieces {
            let own = bytes_in(&range);
            known += own;
            let causes = mark.causes.or(|| CauseShares::all(Causer::FILESYSTEM));
            causes.split(own, |causer, bytes| {
                if bytes > 0 {
                    let key = LedgerKey { causer, kind: mark.kind, inode: mark.inode };
                    parts.push((key, bytes));
                }
            });
        }
        if known < bytes {
            let causer = self.without_mark(is_marked);
            let key = LedgerKey { causer, kind: WrittenKind::Unknown, inode: None };
            parts.push((key, bytes - known));
        }
        self.readings.enter(CompletedWrite { time_ns, bytes, parts }, &mut self.ledger);
    }

    /// Whose a completion without a mark is: as many as were in flight when the recording began are
    /// of before it.
    fn without_mark(&mut self, is_marked: bool) -> Causer {
        if is_marked || self.in_flight == 0 {
            return Causer::UNSEEN;
        }
        self.in_flight -= 1;
        Causer::BEFORE
    }

    pub(crate) fn discarded(&mut self, sectors: &Range<u64>, causes: &CauseShares) {
        let bytes = (sectors.end - sectors.start) * SECTOR_BYTES;
        let ledger = &mut self.ledger;
        let others = CauseShares::all(Causer::FILESYSTEM);
        let causes = if causes.is_empty() { &others } else { causes };
        causes.split(bytes, |causer, bytes| {
            let key = LedgerKey { causer, kind: WrittenKind::Unknown, inode: None };
            ledger.row(key).discarded_bytes += bytes;
        });
    }
}

fn put(marks: &mut RangeMap<SectorMark>, sectors: Range<u64>, mark: SectorMark) {
    // Marks of requests that never completed, as a device that was removed leaves them.
    if marks.len() >= MOST_MARKS {
        marks.clear();
    }
    marks.put(sectors, mark);
}

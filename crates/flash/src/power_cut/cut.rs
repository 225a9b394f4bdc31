//! One cut, and what may survive it.

use std::collections::{BTreeMap, BTreeSet};

use rangemap::{RangeMap, RangeSet};

use super::cache::{Sectors, VolatileCache, sectors};
use super::log::LoggedRequest;
use crate::command::{Command, SECTOR_BYTES};
use crate::random::DriveRandom;

#[derive(Debug, Clone)]
pub struct PowerCut<'a> {
    log: &'a [LoggedRequest],
    cache: &'a VolatileCache,
    submitted: usize,
    /// The sectors of requests that may or may not survive, in the order of submission.
    open: BTreeMap<usize, Vec<Sectors>>,
}

/// The contents of a drive after a power cut: all requests submitted before it, in the order of
/// submission, except for some sectors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Survivor {
    /// The sectors that hold an older version, in ascending order.
    pub reverted: Vec<RevertedSectors>,
}

impl Survivor {
    /// Whether a sector that a request wrote holds an older version than the request's.
    pub fn is_older(&self, number: usize, command: Command) -> bool {
        let written = sectors(command);
        let is_older = |version| match version {
            SectorContents::Original => true,
            SectorContents::Of(other) => other < number,
        };
        let overlaps = |other: &Sectors| other.start < written.end && written.start < other.end;
        self.reverted.iter().any(|part| is_older(part.to) && overlaps(&part.sectors))
    }
}

/// Consecutive sectors that hold an older version than the newest.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RevertedSectors {
    /// Which, of [`SECTOR_BYTES`] each.
    pub sectors: Sectors,
    /// What they hold.
    pub to: SectorContents,
}

/// What a sector holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SectorContents {
    /// What it held when the log began.
    Original,
    /// The data, or zeros, of the request with this number in the log, from 0.
    Of(usize),
}

/// How far the drive had written out its cache by the cut.
#[derive(Debug, Clone, Copy)]
enum CacheProgress {
    Nothing,
    Everything,
    /// The first requests, this many, in the order of submission, and a part of the next.
    First(u32),
    /// Any requests, each with a probability of this many in 256.
    Any(u32),
}

/// What survives of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Whole,
    Torn,
    Absent,
}

/// The most parts into which a request is torn.
const PARTS: u64 = 64;

/// How many cuts cost one map, and of how many blocks then one is lost: see
/// [`PowerFault::LostMap`](crate::specification::PowerFault::LostMap).
const CUTS_FOR_A_LOST_MAP: u32 = 8;
const BLOCKS_FOR_A_LOST_ONE: u32 = 3;

impl<'a> PowerCut<'a> {
    pub(super) fn new(
        log: &'a [LoggedRequest],
        cache: &'a VolatileCache,
        under_way: &BTreeSet<usize>,
        submitted: usize,
    ) -> Self {
        let mut open = cache.unsafe_parts(log);
        for number in under_way {
            let sectors = sectors(log[*number].command);
            if !sectors.is_empty() {
                open.insert(*number, vec![sectors]);
            }
        }
        Self { log, cache, submitted, open }
    }

    /// How many requests had been submitted. A [`Survivor`] is given as differences from their
    /// data, applied in the order of submission.
    pub const fn submitted(&self) -> usize {
        self.submitted
    }

    /// The requests of which something may be lost, by their numbers in the log, with the number of
    /// bytes of each: those that were acknowledged and are not safe, and those under way.
    pub fn at_risk(&self) -> impl Iterator<Item = (usize, u64)> {
        self.open.iter().map(|(number, parts)| {
            (*number, parts.iter().map(|part| (part.end - part.start) * SECTOR_BYTES).sum())
        })
    }

    /// A survivor. The seed decides how far the drive had come: with nothing, with everything, in
    /// order up to some request, or in any order; each equally often.
    pub fn survivor(&self, seed: u64) -> Survivor {
        let mut random = DriveRandom::new(seed);
        let reached = match random.below(4) {
            0 => CacheProgress::Nothing,
            1 => CacheProgress::Everything,
            2 => CacheProgress::First(
                random.below(u32::try_from(self.open.len()).unwrap_or(u32::MAX).saturating_add(1)),
            ),
            _ => CacheProgress::Any(random.below(257)),
        };
        let mut kept = BTreeMap::new();
        for (place, (number, parts)) in (0_u32..).zip(&self.open) {
            let fate = match reached {
                CacheProgress::Everything => Fate::Whole,
                CacheProgress::First(count) if place < count => Fate::Whole,
                CacheProgress::First(count) if place == count => Fate::Torn,
                CacheProgress::Any(_) if random.below(4) == 0 => Fate::Torn,
                CacheProgress::Any(chance) if random.below(256) < chance => Fate::Whole,
                _ => Fate::Absent,
            };
            kept.insert(*number, self.part(*number, parts, fate, &mut random));
        }
        self.complete_units(&mut kept);
        let mut reverted = self.reverted(&kept);
        if let Some(block_sectors) = self.cache.losable_block_sectors
            && random.below(CUTS_FOR_A_LOST_MAP) == 0
        {
            reverted = self.without_map(reverted, block_sectors, &mut random);
        }
        Survivor { reverted }
    }

    /// What is left when the map of some blocks is gone, too, and with it all that the log has
    /// written to them.
    fn without_map(
        &self,
        reverted: Vec<RevertedSectors>,
        block_sectors: u64,
        random: &mut DriveRandom,
    ) -> Vec<RevertedSectors> {
        let mut found: RangeMap<u64, SectorContents> =
            reverted.into_iter().map(|part| (part.sectors, part.to)).collect();
        let written = self.log[..self.submitted].iter().map(|logged| sectors(logged.command));
        let written: RangeSet<u64> = written.filter(|sectors| !sectors.is_empty()).collect();
        let mut is_lost = BTreeMap::new();
        for sectors in written.iter() {
            for block in sectors.start / block_sectors..sectors.end.div_ceil(block_sectors) {
                let draw = || random.below(BLOCKS_FOR_A_LOST_ONE) == 0;
                if *is_lost.entry(block).or_insert_with(draw) {
                    let (start, end) = (block * block_sectors, (block + 1) * block_sectors);
                    let part = start.max(sectors.start)..end.min(sectors.end);
                    found.insert(part, SectorContents::Original);
                }
            }
        }
        found.into_iter().map(|(sectors, to)| RevertedSectors { sectors, to }).collect()
    }

    /// The survivor without what was at risk of some requests, and with everything else. What a
    /// unit holds of a later request includes them nevertheless.
    pub fn losing(&self, lost: &BTreeSet<usize>) -> Survivor {
        // What is not torn needs no random numbers.
        let mut unused = DriveRandom::new(0);
        let mut kept = BTreeMap::new();
        for (number, parts) in &self.open {
            let fate = if lost.contains(number) { Fate::Absent } else { Fate::Whole };
            kept.insert(*number, self.part(*number, parts, fate, &mut unused));
        }
        self.complete_units(&mut kept);
        Survivor { reverted: self.reverted(&kept) }
    }

    /// What a fate leaves of a request.
    fn part(
        &self,
        number: usize,
        parts: &[Sectors],
        fate: Fate,
        random: &mut DriveRandom,
    ) -> RangeSet<u64> {
        match fate {
            Fate::Absent => RangeSet::new(),
            _ if self.is_ignored(number) => RangeSet::new(),
            Fate::Whole => parts.iter().cloned().collect(),
            Fate::Torn => {
                let all: RangeSet<u64> = parts.iter().cloned().collect();
                all.iter()
                    .flat_map(|sectors| self.tear(sectors))
                    .filter(|_| random.below(2) == 0)
                    .collect()
            }
        }
    }

    fn is_ignored(&self, number: usize) -> bool {
        self.cache.ignores_discards() && matches!(self.log[number].command, Command::Discard(_))
    }

    /// Splits sectors into parts, none of which shares an atomic write unit with another.
    fn tear(&self, sectors: &Sectors) -> impl Iterator<Item = Sectors> {
        let unit = self.cache.unit_sectors;
        let Sectors { start: first, end } = sectors.clone();
        let (from, units) = (first / unit * unit, end.div_ceil(unit) - first / unit);
        let length = units.div_ceil(PARTS) * unit;
        (from..end)
            .step_by(usize::try_from(length).unwrap_or(usize::MAX))
            .map(move |part| part.max(first)..(part + length).min(end))
    }

    /// Adds everything written to an atomic write unit before the part of it that is kept.
    fn complete_units(&self, kept: &mut BTreeMap<usize, RangeSet<u64>>) {
        let unit = self.cache.unit_sectors;
        let mut newer = RangeSet::new();
        for (number, kept) in kept.iter_mut().rev().filter(|(of, _)| !self.is_ignored(**of)) {
            for sectors in self.open.get(number).into_iter().flatten() {
                let earlier: Vec<_> = newer
                    .overlapping(sectors)
                    .map(|units: &Sectors| {
                        units.start.max(sectors.start)..units.end.min(sectors.end)
                    })
                    .collect();
                kept.extend(earlier);
            }
            let units = kept.iter().map(|s| s.start / unit * unit..s.end.div_ceil(unit) * unit);
            newer.extend(units.collect::<Vec<_>>());
        }
    }

    /// Where keeping only these parts leaves an older version than the newest.
    fn reverted(&self, kept: &BTreeMap<usize, RangeSet<u64>>) -> Vec<RevertedSectors> {
        let (mut newest, mut found) = (RangeMap::new(), RangeMap::new());
        for (number, parts) in &self.open {
            for sectors in parts {
                newest.insert(sectors.clone(), SectorContents::Of(*number));
                found.insert(sectors.clone(), SectorContents::Original);
            }
        }
        let safe: Vec<_> = found.iter().flat_map(|(within, _)| self.cache.safe(within)).collect();
        for (sectors, number) in &safe {
            found.insert(sectors.clone(), SectorContents::Of(*number));
        }
        for (number, parts) in kept {
            found
                .extend(parts.iter().map(|sectors| (sectors.clone(), SectorContents::Of(*number))));
        }
        // Safe data may be newer than open ones: requests overtake each other, and discarded
        // sectors stay open for ever.
        for (sectors, number) in safe {
            for map in [&mut newest, &mut found] {
                let older =
                    |held: &SectorContents| matches!(held, SectorContents::Of(of) if *of < number);
                let overtaken: Vec<_> = map
                    .overlapping(sectors.clone())
                    .filter(|(_, version)| older(version))
                    .map(|(part, _)| part.start.max(sectors.start)..part.end.min(sectors.end))
                    .collect();
                map.extend(overtaken.into_iter().map(|part| (part, SectorContents::Of(number))));
            }
        }
        let mut reverted: Vec<RevertedSectors> = Vec::new();
        for (sectors, newest) in newest.iter() {
            let older =
                found.overlapping(sectors.clone()).filter(|(_, version)| *version != newest);
            for (part, to) in older {
                let part = part.start.max(sectors.start)..part.end.min(sectors.end);
                match reverted.last_mut() {
                    Some(last) if last.to == *to && last.sectors.end == part.start => {
                        last.sectors.end = part.end;
                    }
                    _ => reverted.push(RevertedSectors { sectors: part, to: *to }),
                }
            }
        }
        reverted
    }
}

//! The volatile write cache: acknowledged data that are not safe, line by line.

use std::collections::BTreeMap;
use std::ops::Range;

use rangemap::RangeMap;

use super::log::LoggedRequest;
use crate::command::{Command, Extent, SECTOR_BYTES};
use crate::specification::{Flush, PowerFault, Specification, TrimmedReads};
use crate::units::Nanos;

/// Consecutive sectors.
pub(super) type Sectors = Range<u64>;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Line {
    /// For data, by their address.
    Data(u64),
    /// For a range that became zeros, by the request.
    Zeroed(usize),
}

/// The contents of a line.
#[derive(Debug, Clone)]
struct Held {
    /// Its place in the order in which lines were written last.
    turn: u64,
    /// The requests that wrote it and are not safe.
    requests: Vec<usize>,
}

/// A drive's volatile write cache, and the safe data below it.
#[derive(Debug, Clone)]
pub(super) struct VolatileCache {
    /// The maximum number of lines; none if nothing acknowledged can be lost.
    most_lines: usize,
    line_sectors: u64,
    pub unit_sectors: u64,
    /// The size of the blocks of which a cut may lose the map, if it may.
    pub losable_block_sectors: Option<u64>,
    flush: Flush,
    /// What reads of a discarded range return; none if discards do nothing.
    trimmed: Option<TrimmedReads>,
    lines: BTreeMap<Line, Held>,
    turns: BTreeMap<u64, Line>,
    next_turn: u64,
    /// The newest safe request of each sector.
    safe: RangeMap<u64, usize>,
    /// Completed discards whose sectors may return the old data for ever.
    undefined: Vec<usize>,
}

/// The sectors that a command changes.
pub(super) fn sectors(command: Command) -> Sectors {
    let changes = |extent: Extent| {
        let first = extent.offset_bytes / SECTOR_BYTES;
        first..first + extent.length_bytes / SECTOR_BYTES
    };
    match command {
        Command::Write(extent, _)
        | Command::WriteFua(extent)
        | Command::Discard(extent)
        | Command::WriteZeroes(extent) => changes(extent),
        Command::Read(_) | Command::Flush => 0..0,
    }
}

fn overlap(one: &Sectors, other: &Sectors) -> Sectors {
    one.start.max(other.start)..one.end.min(other.end)
}

impl VolatileCache {
    pub fn new(drive: &Specification) -> Self {
        let power_loss = drive.power_loss;
        let line_bytes = drive.page_bytes.max(power_loss.atomic_write_bytes);
        let bytes = drive
            .write_buffer
            .filter(|_| !power_loss.protection)
            .map_or(0, |buffer| u64::from(buffer.pages) * u64::from(drive.page_bytes));
        let most_lines = bytes.div_ceil(line_bytes.into());
        let block_bytes = u64::from(drive.page_bytes) * u64::from(drive.pages_per_block);
        let block_sectors = block_bytes / SECTOR_BYTES;
        Self {
            most_lines: usize::try_from(most_lines).unwrap_or(usize::MAX),
            line_sectors: u64::from(line_bytes) / SECTOR_BYTES,
            unit_sectors: u64::from(power_loss.atomic_write_bytes) / SECTOR_BYTES,
            losable_block_sectors: (power_loss.fault == PowerFault::LostMap)
                .then_some(block_sectors),
            flush: power_loss.flush,
            trimmed: drive.trim.honoured.then_some(drive.trim.reads),
            lines: BTreeMap::new(),
            turns: BTreeMap::new(),
            next_turn: 0,
            safe: RangeMap::new(),
            undefined: Vec::new(),
        }
    }

    /// A request is acknowledged.
    pub fn complete(&mut self, log: &[LoggedRequest], number: usize) {
        let LoggedRequest { submitted, command, is_fua, .. } = log[number];
        let sectors = sectors(command);
        if command == Command::Flush && self.flush == Flush::Honest {
            self.write_out(log, number, submitted);
        } else if !sectors.is_empty() {
            if let Command::Discard(_) = command
                && self.trimmed.is_none()
            {
                self.undefined.push(number);
            } else if is_fua && self.flush == Flush::Honest {
                self.write_through(log, number, &sectors);
            } else {
                self.take(log, number, &sectors);
            }
        }
    }

    /// The safe version, sector by sector; everything else in the range is as it was when the log
    /// began.
    pub fn safe(&self, within: &Sectors) -> impl Iterator<Item = (Sectors, usize)> {
        let found = self.safe.overlapping(within.clone());
        found
            .map(|(sectors, number)| (overlap(sectors, within), *number))
            .collect::<Vec<_>>()
            .into_iter()
    }

    /// The requests of which acknowledged data may be lost, in the order of submission, with the
    /// sectors at risk of each.
    pub fn unsafe_parts(&self, log: &[LoggedRequest]) -> BTreeMap<usize, Vec<Sectors>> {
        let mut parts: BTreeMap<usize, Vec<Sectors>> = BTreeMap::new();
        for (line, held) in &self.lines {
            for number in &held.requests {
                parts.entry(*number).or_default().push(self.part(log, *line, *number));
            }
        }
        for number in &self.undefined {
            parts.insert(*number, vec![sectors(log[*number].command)]);
        }
        parts
    }

    /// Whether a discarded range reads as before, whatever happens.
    pub const fn ignores_discards(&self) -> bool {
        self.trimmed.is_none()
    }

    /// Which of a request's sectors are in a line.
    fn part(&self, log: &[LoggedRequest], line: Line, number: usize) -> Sectors {
        let all = sectors(log[number].command);
        match line {
            Line::Data(line) => {
                overlap(&all, &(line * self.line_sectors..(line + 1) * self.line_sectors))
            }
            Line::Zeroed(_) => all,
        }
    }

    fn data_lines(&self, sectors: &Sectors) -> Range<u64> {
        sectors.start / self.line_sectors..sectors.end.div_ceil(self.line_sectors)
    }

    /// Takes written data into the cache, and makes safe what no longer fits.
    fn take(&mut self, log: &[LoggedRequest], number: usize, sectors: &Sectors) {
        if let Command::Write(..) | Command::WriteFua(_) = log[number].command {
            for line in self.data_lines(sectors) {
                self.touch(Line::Data(line), number);
            }
        } else {
            self.touch(Line::Zeroed(number), number);
        }
        while self.lines.len() > self.most_lines
            && let Some((_, oldest)) = self.turns.pop_first()
        {
            let held = self.lines.remove(&oldest).expect("a line with a turn is in the cache");
            for number in held.requests {
                self.settle(log, number, &self.part(log, oldest, number));
            }
        }
    }

    fn touch(&mut self, line: Line, number: usize) {
        let turn = self.next_turn;
        self.next_turn += 1;
        let held = self.lines.entry(line).or_insert(Held { turn, requests: Vec::new() });
        self.turns.remove(&held.turn);
        self.turns.insert(turn, line);
        held.turn = turn;
        held.requests.push(number);
    }

    /// A flush that was submitted at a time is complete: what was acknowledged by then is safe.
    fn write_out(&mut self, log: &[LoggedRequest], flush: usize, submitted: Nanos) {
        self.write_out_where(log, |_, number| {
            number < flush && log[number].completed.is_some_and(|at| at <= submitted)
        });
    }

    /// Writes through a request's data, with the earlier contents of its lines in the cache.
    fn write_through(&mut self, log: &[LoggedRequest], number: usize, sectors: &Sectors) {
        let lines = self.data_lines(sectors);
        self.write_out_where(log, |line, held| {
            held < number && matches!(line, Line::Data(line) if lines.contains(&line))
        });
        self.settle(log, number, sectors);
    }

    fn write_out_where(&mut self, log: &[LoggedRequest], is_due: impl Fn(Line, usize) -> bool) {
        let mut due = Vec::new();
        self.lines.retain(|line, held| {
            held.requests.retain(|number| {
                let is_due = is_due(*line, *number);
                if is_due {
                    due.push((*line, *number));
                }
                !is_due
            });
            if held.requests.is_empty() {
                self.turns.remove(&held.turn);
            }
            !held.requests.is_empty()
        });
        for (line, number) in due {
            self.settle(log, number, &self.part(log, line, number));
        }
    }

    /// Marks sectors of a request as safe, except where newer data are.
    fn settle(&mut self, log: &[LoggedRequest], number: usize, sectors: &Sectors) {
        if let Command::Discard(_) = log[number].command
            && self.trimmed == Some(TrimmedReads::OldOrZeros)
        {
            self.undefined.push(number);
            return;
        }
        let newer: Vec<_> = self.safe(sectors).filter(|(_, safe)| *safe > number).collect();
        self.safe.insert(sectors.clone(), number);
        self.safe.extend(newer);
    }
}

//! The flash array: what reading, programming and erasing cost in time and in wear.
//!
//! Each plane of each die works on its own and is busy until a point in time, and so is each
//! channel; that is all the state there is, so an operation costs the same however many are
//! waiting, and there is no queue of events. Programs and erases start in the order they are asked
//! for. A read goes before the programs that wait at its die, as in most controllers, but not
//! before the one in progress; and not before an erase. The time of a channel, and of the
//! controller, is accounted as work to do and not as a place in a queue: a transfer that has to
//! wait for its die does not hold up those that need not.

use crate::nand::{Nand, Why};
use crate::specification::{Cell, Specification, Timing};
use crate::units::{Block, LogicalPage, Nanos, Place};
use crate::wear::WearSummary;

/// How often the flash has done what, by reason.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Operations {
    counts: [u64; Why::ALL.len()],
}

impl Operations {
    /// How often for this reason.
    #[must_use]
    pub const fn count(&self, why: Why) -> u64 {
        self.counts[why as usize]
    }

    /// How often in all.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    fn add(&mut self, why: Why) {
        self.counts[why as usize] += 1;
    }
}

/// What the flash has done since it was asked to count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Work {
    /// Pages read.
    pub reads: Operations,
    /// Pages programmed.
    pub programs: Operations,
    /// Blocks erased; with superblocks, superblocks.
    pub erases: Operations,
    /// How long the host's pages have waited for dies that were busy with the drive's own work,
    /// summed over pages.
    pub stalled: Nanos,
}

/// Dies, their timing and their wear.
#[derive(Debug, Clone)]
pub struct Array {
    work: Work,
    erases: Vec<u32>,
    /// Erases that every block has besides, of a life that was not simulated.
    aged: u32,
    endurance: u32,
    /// Blocks from here on are the SLC cache.
    first_slc: Block,
    dies: Option<Dies>,
    /// The dies of a drive whose time is standing still.
    paused: Option<Dies>,
}

impl Array {
    /// New flash, with `blocks` blocks for data before those of the SLC cache.
    #[must_use]
    pub fn new(specification: &Specification, blocks: u32) -> Self {
        let slc = specification.slc_cache;
        Self {
            work: Work::default(),
            erases: vec![0; (blocks + slc.map_or(0, |slc| slc.blocks)) as usize],
            aged: 0,
            endurance: specification.wear.endurance.unwrap_or(u32::MAX),
            first_slc: Block(blocks),
            dies: specification.timing.map(|timing| Dies::new(specification, timing)),
            paused: None,
        }
    }

    /// What it has done since [`Array::reset_work`].
    #[must_use]
    pub const fn work(&self) -> &Work {
        &self.work
    }

    /// Counts from 0 again; wear stays.
    pub fn reset_work(&mut self) {
        self.work = Work::default();
    }

    /// How worn the blocks for data are.
    #[must_use]
    pub fn wear(&self) -> WearSummary {
        WearSummary::of(self.erases(), self.aged)
    }

    /// How often each block for data has been erased, without what [`Array::age`] has added to all.
    #[must_use]
    pub fn erases(&self) -> &[u32] {
        &self.erases[..self.first_slc.index()]
    }

    /// How often a block has been erased, without what [`Array::age`] has added to all.
    #[must_use]
    pub fn erases_of(&self, block: Block) -> u32 {
        self.erases[block.index()]
    }

    /// Whether a block has been erased as often as it may. Blocks of the SLC cache last.
    #[must_use]
    pub fn is_worn_out(&self, block: Block) -> bool {
        let erases = self.erases[block.index()].saturating_add(self.aged);
        block < self.first_slc && erases >= self.endurance
    }

    /// Ages every block alike.
    pub(crate) fn age(&mut self, erases: u32) {
        self.aged = self.aged.saturating_add(erases);
    }

    /// The bytes it takes in memory.
    pub(crate) fn memory_bytes(&self) -> usize {
        size_of_val(&self.erases[..])
    }

    /// Lets operations take no time until [`Array::resume_time`].
    pub(crate) fn pause_time(&mut self) {
        self.paused = self.dies.take();
    }

    /// Lets operations take time again; all dies are idle.
    pub(crate) fn resume_time(&mut self) {
        self.dies = self.paused.take();
    }

    /// A command begins: channels and controller do no work before.
    pub(crate) fn begin(&mut self, now: Nanos) {
        if let Some(dies) = &mut self.dies {
            dies.now = now;
        }
    }

    /// Keeps the controller busy. Returns until when.
    pub(crate) fn occupy_controller(&mut self, time: Nanos) -> Nanos {
        match &mut self.dies {
            Some(dies) => dies.occupy_controller(time),
            None => Nanos::ZERO,
        }
    }

    /// When the last operation so far will have ended.
    pub(crate) fn busy_until(&self) -> Nanos {
        self.dies.as_ref().map_or(Nanos::ZERO, |dies| dies.busy_until)
    }

    /// Lets all dies be idle from now on, as after a power cut.
    pub(crate) fn forget_time(&mut self) {
        if let Some(dies) = &mut self.dies {
            dies.units.iter_mut().for_each(|unit| *unit = Unit::default());
            dies.channels.iter_mut().for_each(|busy| *busy = Nanos::ZERO);
            dies.controller_until = Nanos::ZERO;
            dies.busy_until = Nanos::ZERO;
        }
    }

    /// Reads a page of the map, which lies on a die that its number decides.
    pub(crate) fn read_map(&mut self, map_page: u32, earliest: Nanos) -> Nanos {
        self.work.reads.add(Why::Map);
        match &mut self.dies {
            Some(dies) => dies.read(dies.unit_of_map(map_page), dies.cell, Why::Map, earliest).0,
            None => earliest,
        }
    }

    /// Programs a page of the map.
    pub(crate) fn program_map(&mut self, map_page: u32, earliest: Nanos) -> Nanos {
        self.work.programs.add(Why::Map);
        match &mut self.dies {
            Some(dies) => dies.program(dies.unit_of_map(map_page), dies.cell, Why::Map, earliest).0,
            None => earliest,
        }
    }
}

impl Nand for Array {
    #[inline]
    fn read(&mut self, place: Place, why: Why, earliest: Nanos) -> Nanos {
        self.work.reads.add(why);
        match &mut self.dies {
            Some(dies) => {
                let cell = dies.cell_of(place.block, self.first_slc);
                let (done, stalled) = dies.read(dies.unit(place), cell, why, earliest);
                self.work.stalled += stalled;
                done
            }
            None => earliest,
        }
    }

    #[inline]
    fn program(&mut self, place: Place, _: LogicalPage, why: Why, earliest: Nanos) -> Nanos {
        self.work.programs.add(why);
        match &mut self.dies {
            Some(dies) => {
                let cell = dies.cell_of(place.block, self.first_slc);
                let (done, stalled) = dies.program(dies.unit(place), cell, why, earliest);
                self.work.stalled += stalled;
                done
            }
            None => earliest,
        }
    }

    fn erase(&mut self, block: Block, why: Why, earliest: Nanos) -> Nanos {
        self.work.erases.add(why);
        self.erases[block.index()] += 1;
        match &mut self.dies {
            Some(dies) => dies.erase(block, earliest),
            None => earliest,
        }
    }
}

impl AsRef<Self> for Array {
    fn as_ref(&self) -> &Self {
        self
    }
}

impl AsMut<Self> for Array {
    fn as_mut(&mut self) -> &mut Self {
        self
    }
}

/// What works on its own: a plane of a die.
#[expect(clippy::struct_field_names, reason = "they are all points in time")]
#[derive(Debug, Clone, Copy, Default)]
struct Unit {
    /// When its last operation ends.
    busy_until: Nanos,
    /// When the last of its operations that was the drive's own ends.
    own_work_until: Nanos,
    /// When the last erase ends.
    erasing_until: Nanos,
    /// When the last read ends.
    reading_until: Nanos,
}

/// The dies and the channels to them.
#[derive(Debug, Clone)]
struct Dies {
    units: Vec<Unit>,
    /// When each channel will have done the work it has been given.
    channels: Vec<Nanos>,
    /// The latest end of any operation.
    busy_until: Nanos,
    superblock: u32,
    cell: Cell,
    slc_cell: Cell,
    transfer: Nanos,
    erase: Nanos,
    suspend: Option<Nanos>,
    per_copy: Nanos,
    /// When the command being worked on began.
    now: Nanos,
    /// When the controller will have done the work it has been given.
    controller_until: Nanos,
}

impl Dies {
    fn new(specification: &Specification, timing: Timing) -> Self {
        Self {
            units: vec![Unit::default(); timing.units() as usize],
            channels: vec![Nanos::ZERO; timing.channels as usize],
            busy_until: Nanos::ZERO,
            superblock: specification.superblock,
            cell: timing.cell,
            slc_cell: specification.slc_cache.and_then(|slc| slc.cell).unwrap_or(timing.cell),
            transfer: timing.transfer,
            erase: timing.erase,
            suspend: timing.suspend,
            per_copy: timing.controller.per_copy,
            now: Nanos::ZERO,
            controller_until: Nanos::ZERO,
        }
    }

    fn occupy_controller(&mut self, time: Nanos) -> Nanos {
        self.controller_until = self.controller_until.max(self.now) + time;
        self.controller_until
    }

    /// The first unit of a block; a superblock has the following ones too.
    fn first_unit(&self, block: Block) -> usize {
        block.index() * self.superblock as usize % self.units.len()
    }

    /// Pages of a superblock go round its dies.
    fn unit(&self, place: Place) -> usize {
        (self.first_unit(place.block) + (place.offset % self.superblock) as usize)
            % self.units.len()
    }

    fn unit_of_map(&self, map_page: u32) -> usize {
        map_page as usize % self.units.len()
    }

    fn cell_of(&self, block: Block, first_slc: Block) -> Cell {
        if block < first_slc { self.cell } else { self.slc_cell }
    }

    /// Gives a channel a page to carry. Returns when it will have carried it if it is ready by
    /// then.
    fn carry(&mut self, unit: usize) -> Nanos {
        let channels = self.channels.len();
        let channel = &mut self.channels[unit % channels];
        *channel = (*channel).max(self.now) + self.transfer;
        *channel
    }

    /// Returns when the page is out of the die, and how long it waited for the drive's own work.
    fn read(&mut self, unit: usize, cell: Cell, why: Why, earliest: Nanos) -> (Nanos, Nanos) {
        let carried = self.carry(unit);
        let program = self.cell.program;
        let Unit { busy_until, own_work_until, erasing_until, reading_until } =
            &mut self.units[unit];
        let waits = busy_until.since(earliest);
        let start = match self.suspend {
            Some(suspend) if why == Why::Host && waits > Nanos::ZERO => {
                *busy_until += suspend;
                earliest.max(*reading_until) + suspend
            }
            // Of the programs that wait at the die only the one in progress is in a read's way.
            _ => {
                let in_progress = Nanos(waits.0.checked_rem(program.0).unwrap_or(0));
                (earliest + in_progress).max(*erasing_until).max(*reading_until)
            }
        };
        let sensed = start + cell.read;
        *reading_until = sensed;
        *busy_until = sensed.max(*busy_until + cell.read);
        let stalled = if why == Why::Host {
            own_work_until.since(earliest).min(sensed.since(earliest + cell.read))
        } else {
            *own_work_until = sensed;
            Nanos::ZERO
        };
        self.busy_until = self.busy_until.max(*busy_until);
        (carried.max(sensed + self.transfer), stalled)
    }

    /// Returns when the page is safe, and how long it waited for the drive's own work.
    fn program(&mut self, unit: usize, cell: Cell, why: Why, earliest: Nanos) -> (Nanos, Nanos) {
        let earliest = match why {
            Why::Host => earliest,
            _ => earliest.max(self.occupy_controller(self.per_copy)),
        };
        let carried = self.carry(unit).max(earliest + self.transfer);
        let Unit { busy_until, own_work_until, .. } = &mut self.units[unit];
        let start = carried.max(*busy_until);
        *busy_until = start + cell.program;
        let stalled = if why == Why::Host {
            own_work_until.since(carried).min(start.since(carried))
        } else {
            *own_work_until = *busy_until;
            Nanos::ZERO
        };
        self.busy_until = self.busy_until.max(*busy_until);
        (*busy_until, stalled)
    }

    /// Erases the parts of a block on all its dies. Returns when the last is done.
    fn erase(&mut self, block: Block, earliest: Nanos) -> Nanos {
        let first = self.first_unit(block);
        let units = self.units.len();
        let mut done = earliest;
        for member in 0..self.superblock as usize {
            let unit = &mut self.units[(first + member) % units];
            unit.busy_until = unit.busy_until.max(earliest) + self.erase;
            unit.own_work_until = unit.busy_until;
            unit.erasing_until = unit.busy_until;
            done = done.max(unit.busy_until);
        }
        self.busy_until = self.busy_until.max(done);
        done
    }
}

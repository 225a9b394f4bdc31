//! The dies and the channels to them: how long reading, programming and erasing take.
//!
//! Each plane of each die works on its own and is busy until a point in time, and so is each
//! channel; that is the whole state, so the cost of simulating an operation does not depend on how
//! many are waiting, and there is no event queue. Programs and erases start in the order they are
//! asked for. A read overtakes the programs that wait at its die, as in most controllers, but
//! neither the one in progress nor an erase. The time of a channel, and of the controller, is
//! accounted as an amount of work, not as a place in a queue: a transfer that has to wait for its
//! die does not delay others.

use crate::counters::OperationReason;
use crate::specification::{Cell, Specification, Timing};
use crate::units::{Block, Nanos, PhysicalPage};

/// A unit that works independently: a plane of a die.
#[derive(Debug, Clone, Copy, Default)]
struct Unit {
    /// When its last operation ends.
    busy_until: Nanos,
    /// What the last program takes: less in the SLC cache.
    program: Nanos,
    /// When the last of its operations for the drive's own work ends.
    own_work_until: Nanos,
    /// When the last erase ends.
    erasing_until: Nanos,
    /// When the last read ends.
    reading_until: Nanos,
}

/// The dies and the channels to them.
#[derive(Debug, Clone)]
pub(crate) struct Dies {
    units: Vec<Unit>,
    /// When each channel will have finished its accepted work.
    channels: Vec<Nanos>,
    /// The latest end of any operation.
    pub busy_until: Nanos,
    superblock: u32,
    /// The cells for data.
    pub cell: Cell,
    slc_cell: Cell,
    transfer: Nanos,
    erase: Nanos,
    suspend: Option<Nanos>,
    per_copy: Nanos,
    /// When the current command began: channels and controller do no work before.
    pub now: Nanos,
    /// When the controller will have finished its accepted work.
    controller_until: Nanos,
}

impl Dies {
    pub fn new(specification: &Specification, timing: Timing) -> Self {
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

    /// Keeps the controller busy. Returns until when.
    pub fn occupy_controller(&mut self, time: Nanos) -> Nanos {
        self.controller_until = self.controller_until.max(self.now) + time;
        self.controller_until
    }

    /// Makes all dies idle from now on, as after a power cut.
    pub fn forget_time(&mut self) {
        self.units.fill(Unit::default());
        self.channels.fill(Nanos::ZERO);
        self.controller_until = Nanos::ZERO;
        self.busy_until = Nanos::ZERO;
    }

    /// The first unit of a block; a superblock has the following ones too.
    fn first_unit(&self, block: Block) -> usize {
        block.index() * self.superblock as usize % self.units.len()
    }

    /// Pages of a superblock go round its dies.
    pub fn unit(&self, place: PhysicalPage) -> usize {
        (self.first_unit(place.block) + (place.offset % self.superblock) as usize)
            % self.units.len()
    }

    pub fn unit_of_map(&self, map_page: u32) -> usize {
        map_page as usize % self.units.len()
    }

    pub fn cell_of(&self, block: Block, first_slc: Block) -> Cell {
        if block < first_slc { self.cell } else { self.slc_cell }
    }

    /// Gives a channel a page to transfer. Returns when the transfer ends if the page is ready by
    /// then.
    fn carry(&mut self, unit: usize) -> Nanos {
        let channels = self.channels.len();
        let channel = &mut self.channels[unit % channels];
        *channel = (*channel).max(self.now) + self.transfer;
        *channel
    }

    /// Returns when the page is out of the die, and how long it waited for the drive's own work.
    pub fn read(
        &mut self,
        unit: usize,
        cell: Cell,
        why: OperationReason,
        earliest: Nanos,
    ) -> (Nanos, Nanos) {
        let carried = self.carry(unit);
        let Unit { busy_until, program, own_work_until, erasing_until, reading_until } =
            &mut self.units[unit];
        let waits = busy_until.since(earliest);
        let start = match self.suspend {
            Some(suspend) if why == OperationReason::Host && waits > Nanos::ZERO => {
                *busy_until += suspend;
                earliest.max(*reading_until) + suspend
            }
            // Of the programs at the die, a read waits only for the one in progress.
            _ => {
                let in_progress = Nanos(waits.0.checked_rem(program.0).unwrap_or(0));
                (earliest + in_progress).max(*erasing_until).max(*reading_until)
            }
        };
        let sensed = start + cell.read;
        *reading_until = sensed;
        *busy_until = sensed.max(*busy_until + cell.read);
        let stalled = if why == OperationReason::Host {
            own_work_until.since(earliest).min(sensed.since(earliest + cell.read))
        } else {
            *own_work_until = sensed;
            Nanos::ZERO
        };
        self.busy_until = self.busy_until.max(*busy_until);
        (carried.max(sensed + self.transfer), stalled)
    }

    /// Returns when the page is safe, and how long it waited for the drive's own work.
    pub fn program(
        &mut self,
        unit: usize,
        cell: Cell,
        why: OperationReason,
        earliest: Nanos,
    ) -> (Nanos, Nanos) {
        let earliest = match why {
            OperationReason::Host => earliest,
            _ => earliest.max(self.occupy_controller(self.per_copy)),
        };
        let carried = self.carry(unit).max(earliest + self.transfer);
        let Unit { busy_until, program, own_work_until, .. } = &mut self.units[unit];
        *program = cell.program;
        let start = carried.max(*busy_until);
        *busy_until = start + cell.program;
        let stalled = if why == OperationReason::Host {
            own_work_until.since(carried).min(start.since(carried))
        } else {
            *own_work_until = *busy_until;
            Nanos::ZERO
        };
        self.busy_until = self.busy_until.max(*busy_until);
        (*busy_until, stalled)
    }

    /// Erases the parts of a block on all its dies. Returns when the last is done.
    pub fn erase(&mut self, block: Block, earliest: Nanos) -> Nanos {
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

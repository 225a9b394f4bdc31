//! A drive's state over time, in a bounded number of moments.

use schemars::JsonSchema;
use serde::Serialize;

use crate::drive::Drive;
use crate::units::Nanos;

/// A moment of a drive at work. Counts are since [`Drive::reset_counts`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DriveSample {
    /// When; 0 for a drive outside time.
    pub at_ns: u64,
    /// Commands by then.
    pub commands: u64,
    /// Pages the host had written by then, in whole or in part.
    pub host_pages: u64,
    /// The bytes of those pages.
    pub host_page_bytes: u64,
    /// Bytes programmed by then, for the host and for the drive's own work.
    pub flash_written_bytes: u64,
    /// How long the host's pages had waited for the drive's own work, summed over pages.
    pub stalled_ns: u64,
    /// Erased blocks ready to be written.
    pub free_blocks: u32,
    /// The same in the SLC cache, where there is one.
    pub free_slc_blocks: Option<u32>,
    /// Pages that held data.
    pub mapped_pages: u32,
}

/// The unit of the distance between moments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MomentSpacing {
    /// Commands: the only measure of a drive without times.
    Commands,
    /// Time, a millisecond at first.
    Time,
}

/// Moments of a drive at work: the first in each step, and steps are doubled whenever there are
/// too many of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moments {
    kept: Vec<DriveSample>,
    most: usize,
    apart: MomentSpacing,
    step: u64,
    /// The step of the last moment.
    last: u64,
}

impl Moments {
    /// Keeps at least one and at most `most` moments, and at least half as many under steady work.
    pub const fn new(apart: MomentSpacing, most: usize) -> Self {
        let step = match apart {
            MomentSpacing::Commands => 1,
            MomentSpacing::Time => 1_000_000,
        };
        Self { kept: Vec::new(), most, apart, step, last: 0 }
    }

    /// Another command was done, `at` no earlier than the one before.
    #[inline]
    pub fn record(&mut self, drive: &Drive, at: Nanos) {
        let place = match self.apart {
            MomentSpacing::Commands => drive.host_counters().commands,
            MomentSpacing::Time => at.0,
        };
        if place / self.step > self.last {
            self.keep(DriveSample::of(drive, at));
        }
    }

    /// All moments, and one more if there was a command since the last.
    pub fn end(mut self, drive: &Drive, at: Nanos) -> Vec<DriveSample> {
        let now = DriveSample::of(drive, at);
        if self.kept.last().is_none_or(|last| last.commands < now.commands) {
            self.kept.push(now);
        }
        self.kept
    }

    fn keep(&mut self, moment: DriveSample) {
        let apart = self.apart;
        let step_of = |moment: &DriveSample, step: u64| match apart {
            MomentSpacing::Commands => moment.commands / step,
            MomentSpacing::Time => moment.at_ns / step,
        };
        while self.kept.len() >= self.most {
            self.step = self.step.saturating_mul(2);
            let mut last = 0;
            self.kept.retain(|moment| {
                let own = step_of(moment, self.step);
                own > std::mem::replace(&mut last, own)
            });
            self.last = last;
        }
        let own = step_of(&moment, self.step);
        if own > self.last {
            self.last = own;
            self.kept.push(moment);
        }
    }
}

impl DriveSample {
    /// The current state of a drive.
    pub fn of(drive: &Drive, at: Nanos) -> Self {
        let (asked, done) = (drive.host_counters(), drive.flash_counters());
        let specification = drive.specification();
        Self {
            at_ns: at.0,
            commands: asked.commands,
            host_pages: asked.written_pages,
            host_page_bytes: asked.written_pages * u64::from(specification.page_bytes),
            flash_written_bytes: specification.stored_bytes(done.programs.total()),
            stalled_ns: done.stalled.0,
            free_blocks: drive.free_blocks(),
            free_slc_blocks: drive.free_slc_blocks(),
            mapped_pages: drive.mapped_pages(),
        }
    }
}

#[cfg(test)]
mod tests;

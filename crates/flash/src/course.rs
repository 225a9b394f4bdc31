//! A drive's state over time, in few moments however long it works.

use crate::drive::Drive;
use crate::units::Nanos;

/// A moment of a drive at work. Counts are since [`Drive::reset_counts`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// When.
    pub at: Nanos,
    /// Commands by then.
    pub commands: u64,
    /// Pages the host had written by then, in whole or in part.
    pub host_pages: u64,
    /// Pages programmed by then, for the host and for the drive's own work.
    pub flash_pages: u64,
    /// How long the host's pages had waited for the drive's own work, summed over pages.
    pub stalled: Nanos,
    /// Erased blocks ready to be written.
    pub free_blocks: u32,
    /// The same in the SLC cache, where there is one.
    pub free_slc_blocks: Option<u32>,
    /// Pages that held data.
    pub mapped_pages: u32,
}

/// What moments are apart by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Apart {
    /// Commands: the only measure of a drive outside time.
    Commands,
    /// Time, a millisecond at first.
    Time,
}

/// Moments of a drive at work: the first in each step, and steps are doubled whenever there are
/// too many of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Course {
    moments: Vec<Moment>,
    most: usize,
    apart: Apart,
    step: u64,
    /// The step of the last moment.
    last: u64,
}

impl Course {
    /// Keeps `most` moments, of which there is at least one, and half as many where work goes on
    /// steadily.
    #[must_use]
    pub const fn new(apart: Apart, most: usize) -> Self {
        let step = match apart {
            Apart::Commands => 1,
            Apart::Time => 1_000_000,
        };
        Self { moments: Vec::new(), most, apart, step, last: 0 }
    }

    /// Another command was done, `at` no earlier than the one before.
    #[inline]
    pub fn record(&mut self, drive: &Drive, at: Nanos) {
        let place = match self.apart {
            Apart::Commands => drive.asked().commands,
            Apart::Time => at.0,
        };
        if place / self.step > self.last {
            self.keep(Moment::of(drive, at));
        }
    }

    /// All moments, and one more if there was a command since the last.
    #[must_use]
    pub fn end(mut self, drive: &Drive, at: Nanos) -> Vec<Moment> {
        let now = Moment::of(drive, at);
        if self.moments.last().is_none_or(|last| last.commands < now.commands) {
            self.moments.push(now);
        }
        self.moments
    }

    fn keep(&mut self, moment: Moment) {
        let apart = self.apart;
        let step_of = |moment: &Moment, step: u64| match apart {
            Apart::Commands => moment.commands / step,
            Apart::Time => moment.at.0 / step,
        };
        while self.moments.len() >= self.most {
            self.step = self.step.saturating_mul(2);
            let mut last = 0;
            self.moments.retain(|moment| {
                let own = step_of(moment, self.step);
                own > std::mem::replace(&mut last, own)
            });
            self.last = last;
        }
        let own = step_of(&moment, self.step);
        if own > self.last {
            self.last = own;
            self.moments.push(moment);
        }
    }
}

impl Moment {
    /// A drive as it is.
    #[must_use]
    pub fn of(drive: &Drive, at: Nanos) -> Self {
        Self {
            at,
            commands: drive.asked().commands,
            host_pages: drive.asked().written_pages,
            flash_pages: drive.work().programs.total(),
            stalled: drive.work().stalled,
            free_blocks: drive.free_blocks(),
            free_slc_blocks: drive.free_slc_blocks(),
            mapped_pages: drive.mapped_pages(),
        }
    }
}
#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::Command;
    use crate::presets;
    use crate::specification::Specification;

    fn drive() -> Drive {
        let preset = presets::find("x25m-g1").expect("it ships");
        Drive::new(Specification::parse(preset.text).expect("a test parses it"), 1)
    }

    #[test]
    fn moments_are_few_and_evenly_apart() {
        let mut drive = drive();
        let mut course = Course::new(Apart::Commands, 64);
        for _ in 0..10_000 {
            drive.submit(Nanos::ZERO, Command::Flush).expect("it can");
            course.record(&drive, Nanos::ZERO);
        }
        let moments = course.end(&drive, Nanos::ZERO);
        assert!((33..=65).contains(&moments.len()), "{}", moments.len());
        let commands: Vec<u64> = moments.iter().map(|moment| moment.commands).collect();
        let expected: Vec<u64> = (1..=39).map(|step| step * 256).chain([10_000]).collect();
        assert_eq!(commands, expected);
    }

    #[test]
    fn a_long_rest_leaves_no_moments() {
        let mut drive = drive();
        let mut course = Course::new(Apart::Time, 8);
        let hour = 3_600_000_000_000;
        let times = [0, 1_000_000, 1_000_001, 2_000_000, hour, hour + 1, 2 * hour, u64::MAX];
        for at in times.map(Nanos) {
            drive.submit(at, Command::Flush).expect("it can");
            course.record(&drive, at);
        }
        let moments = course.end(&drive, Nanos(u64::MAX));
        let at: Vec<u64> = moments.iter().map(|moment| moment.at.0).collect();
        assert_eq!(at, [1_000_000, 2_000_000, hour, 2 * hour, u64::MAX]);
    }
}

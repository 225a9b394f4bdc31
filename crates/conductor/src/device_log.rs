//! Cuts the power of a device whose requests somebody else logged, with dm-log-writes.
//!
//! Such a log has no times, so its clock is logical: each entry takes four ticks, its flush from
//! the first to the second, and its write or discard from the third to the fourth. It has no
//! promises either: all that can be judged is whether the filesystem can be mounted, and whether
//! its own check then finds it sound.

use std::io::BufRead;

use ssdlab_disk::{Backend, Memory};
use ssdlab_flash::{Command, Drive, Extent, LoggedRequest, Nanos, Stream};
use ssdlab_operations::cuts::{CutOutcome, WatchedFiles};
use ssdlab_results::{DEVICE_CUT_SCHEMA, DeviceCase, DeviceCut};
use ssdlab_trace::{self as trace, DeviceLogEntry, Flags, Request, RequestKind, TraceError};

use super::Executor as _;
use super::error::{DeviceLogError, TaskError};
use super::evidence::{CuttableTrial, TrialLog};
use super::failure::Failure;
use super::guests::Guests;
use super::images::{self, LoggedRequests};
use super::repeat::{CutState, ExaminedCut, SurvivorChoice};

/// The ticks of an entry.
const TICKS: u64 = 4;

/// The mark that the target itself puts at the end of a log.
const END: &str = "dm-log-writes-end";

#[derive(Debug)]
pub struct LoggedDevice {
    /// What the device held before the log.
    original: Memory,
    requests: LoggedRequests,
    /// Its phases are the stretches between marks.
    trial_log: TrialLog,
    entries: u64,
}

impl LoggedDevice {
    /// Reads the log of a device that held this before.
    pub fn read(input: impl BufRead, original: Memory) -> Result<Self, DeviceLogError> {
        Self::of(trace::DeviceLogReader::new(input)?, original)
    }

    fn of(
        entries: impl Iterator<Item = Result<DeviceLogEntry, TraceError>>,
        original: Memory,
    ) -> Result<Self, DeviceLogError> {
        let mut trial_log = TrialLog::default();
        trial_log.phases.push((Nanos::ZERO, String::new()));
        let mut log = Self { original, requests: LoggedRequests::default(), trial_log, entries: 0 };
        for entry in entries {
            match entry? {
                DeviceLogEntry::Mark(text) if text == END => {}
                DeviceLogEntry::Mark(text) => log.trial_log.phases.push((log.tick(0), text)),
                DeviceLogEntry::Request(request, data) => log.add(&request, &data)?,
            }
            log.entries += 1;
        }
        if log.requests.log.is_empty() {
            return Err(DeviceLogError::Empty);
        }
        Ok(log)
    }

    /// Restricts cuts to what comes after a mark, the first of this name.
    pub fn begin_after(&mut self, mark: &str) -> Result<(), DeviceLogError> {
        let phases = &mut self.trial_log.phases;
        let named = phases.iter().skip(1).position(|(_, name)| name == mark);
        let Some(before) = named.map(|number| number + 1) else {
            let marks = phases.drain(1..).map(|(_, name)| name).collect();
            return Err(DeviceLogError::NoSuchMark { mark: mark.to_owned(), marks });
        };
        phases.drain(..before);
        if phases[0].0 >= self.trial_log.over {
            return Err(DeviceLogError::LastMark { mark: mark.to_owned() });
        }
        Ok(())
    }

    /// The device's size.
    pub fn capacity_bytes(&self) -> u64 {
        self.original.capacity_bytes()
    }

    /// The number of its entries.
    pub fn entries(&self) -> u64 {
        self.entries
    }

    /// A case, by the entry in which the power was cut.
    pub fn case(outcome: CutOutcome) -> DeviceCase {
        let entry = outcome.at_ns / TICKS;
        let CutOutcome { cut, survivor, moment, checked_before, unmountable, recovery_ns, .. } =
            outcome;
        let CutOutcome { amiss, unchecked, .. } = outcome;
        let mark = Some(outcome.phase).filter(|mark| !mark.is_empty());
        DeviceCase {
            cut,
            survivor,
            entry,
            mark,
            moment,
            checked_before,
            unmountable,
            recovery_ns,
            amiss,
            unchecked,
        }
    }

    /// A tick of the next entry.
    fn tick(&self, tick: u64) -> Nanos {
        Nanos(self.entries * TICKS + tick)
    }

    /// Adds the request of the next entry.
    fn add(&mut self, request: &Request, data: &[u8]) -> Result<(), DeviceLogError> {
        let Request { kind, offset_bytes, length_bytes, flags, .. } = *request;
        let (end_bytes, capacity_bytes) =
            (offset_bytes.saturating_add(length_bytes), self.original.capacity_bytes());
        if end_bytes > capacity_bytes {
            let entry = self.entries;
            return Err(DeviceLogError::Beyond { entry, end_bytes, capacity_bytes });
        }
        let is_fua = flags.contains(Flags::FUA);
        if kind == RequestKind::Flush || flags.contains(Flags::PREFLUSH) {
            self.push(0, Command::Flush, false, &[]);
        }
        let extent = Extent { offset_bytes, length_bytes };
        match kind {
            _ if length_bytes == 0 => {}
            RequestKind::Discard => self.push(2, Command::Discard(extent), false, &[]),
            _ => self.push(2, Command::Write(extent, Stream::default()), is_fua, data),
        }
        if is_fua {
            self.trial_log.durable.push(self.tick(3));
        }
        self.trial_log.over = self.tick(TICKS);
        Ok(())
    }

    fn push(&mut self, tick: u64, command: Command, is_fua: bool, data: &[u8]) {
        let (submitted, completed) = (self.tick(tick), Some(self.tick(tick + 1)));
        self.requests.push(LoggedRequest { submitted, completed, command, is_fua }, data);
    }
}

/// The task of cutting a logged device, in messages.
const RECOVERING: &str = "recover the device";

impl Guests<'_> {
    /// Cuts the power of a logged device as often as the schedule says, and recovers each time. The
    /// schedule has one trial, which is not performed.
    pub fn cut_device(&self, log: &LoggedDevice) -> Result<Vec<CutOutcome>, TaskError> {
        self.with_device(log, |evidence| self.cut(evidence))
    }

    /// Recovers from one survivor of one of these cuts only.
    pub fn cut_device_once(
        &self,
        log: &LoggedDevice,
        cut: u32,
        survivor: u32,
    ) -> Result<(DeviceCut, CutState), TaskError> {
        let again = self.with_device(log, |evidence| {
            self.recover_one(evidence, cut, survivor, SurvivorChoice::AsRecorded)
        });
        let ExaminedCut { outcome, remains, .. } = again?;
        let contents_sha256 = images::sha256(&remains.image, self.hypervisor.interrupt)
            .map_err(|failure| failure.of_task(RECOVERING, self.hypervisor.interrupt))?;
        let cut = DeviceCut {
            schema: DEVICE_CUT_SCHEMA,
            case: LoggedDevice::case(outcome),
            drive: remains.at_risk(),
            contents_sha256,
            image_bytes: remains.image.capacity_bytes(),
        };
        Ok((cut, remains))
    }

    fn with_device<T>(
        &self,
        log: &LoggedDevice,
        judge: impl FnOnce(&CuttableTrial<'_>) -> Result<T, Failure>,
    ) -> Result<T, TaskError> {
        let judged = self.evidence(log, judge);
        judged.map_err(|failure| failure.of_task(RECOVERING, self.hypervisor.interrupt))
    }

    fn evidence<T>(
        &self,
        log: &LoggedDevice,
        judge: impl FnOnce(&CuttableTrial<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let trial = self.schedule.trials[0];
        let setup = &self.schedule.treatments[trial.treatment].setup.clone()?;
        if let Some(missing) = self.missing(setup) {
            return Err(Failure::Unavailable(missing));
        }
        let (drive, host, _) = self.simulation(&setup.simulated, trial)?;
        let asked = self.schedule.cuts.as_ref();
        judge(&CuttableTrial {
            asked: asked.ok_or_else(|| Failure::Failed("no cuts are scheduled".to_owned()))?,
            trial,
            setup,
            host: &host,
            subjects: WatchedFiles::default(),
            trial_log: &log.trial_log,
            requests: &log.requests,
            original: &log.original,
            drive: Drive::new(setup.simulated.changed(&drive), trial.seed),
        })
    }
}

#[cfg(test)]
mod tests;

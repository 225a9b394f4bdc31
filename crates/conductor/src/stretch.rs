//! A stretch of the running machine's time: counts around the machine's own work, and the end of
//! the experiment if a treatment hurts.
//!
//! Bytes and requests are counted from sync to sync, so that a stretch has all of its own. What the
//! closing sync adds to flushes, latencies and pressure is not: those end before it, and latencies
//! begin only when what the switch disturbed is over.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use ssdlab_host::interrupt::Interrupt;
use ssdlab_host::meter::block::{self, CounterReading};
use ssdlab_host::meter::pressure::{self, IoPressure};
use ssdlab_host::mounts;
use ssdlab_host::sysfs::{self, BlockDevice};
use ssdlab_plan::schedule::Phase;
use ssdlab_plan::{Levels, Span, metric};
use ssdlab_results::PhaseRecord;
use ssdlab_workload::PhaseOutcome;

use super::failure::Failure;
use super::measure::MeteredDevice;

/// How often a stretch looks whether the treatment hurts, or the run is to stop.
const LOOK: Duration = Duration::from_millis(500);

/// How long a switch disturbs latencies: so long, but at most a tenth of the stretch.
const DISTURBED: Duration = Duration::from_secs(30);

/// A treatment hurts if requests take so many times as long as in the slowest stretch of the
/// others, and this long, over this many requests; or if so large a share of the time all tasks
/// wait, and as many times as much as under the others.
const TIMES: f64 = 10.0;
const LONG_NS: f64 = 10e6;
const ENOUGH_REQUESTS: u64 = 100;
const PRESSED_PERCENT: f64 = 50.0;

/// How requests and tasks fared in a stretch, as far as it has come.
#[derive(Debug, Clone, Copy, Default)]
struct Burden {
    requests: u64,
    /// The mean time of a request at the device, in ns.
    request_ns: f64,
    /// The share of the time in which all tasks waited, in per cent.
    full_percent: f64,
}

/// How the stretches of this session fared, by treatment.
#[derive(Debug, Default)]
pub struct StretchHistory {
    burdens: BTreeMap<Levels, Vec<Burden>>,
}

impl StretchHistory {
    /// Why a treatment hurts, if it does. The others must have had two stretches.
    fn harm(&self, levels: &Levels, own: Burden) -> Option<String> {
        let others = self.burdens.iter().filter(|(other, _)| *other != levels);
        let others: Vec<Burden> = others.flat_map(|(_, burdens)| burdens).copied().collect();
        if others.len() < 2 {
            return None;
        }
        let worst = |of: fn(&Burden) -> f64| others.iter().map(of).fold(0.0, f64::max);
        let (request_ns, full) = (worst(|own| own.request_ns), worst(|own| own.full_percent));
        if own.requests >= ENOUGH_REQUESTS
            && own.request_ns >= LONG_NS.max(TIMES * request_ns)
            && request_ns > 0.0
        {
            return Some(format!(
                "requests take {:.0} ms at the device, {:.0} times as long as in the slowest \
                 stretch without it",
                own.request_ns / 1e6,
                own.request_ns / request_ns
            ));
        }
        let is_pressed = own.full_percent >= PRESSED_PERCENT.max(TIMES * full);
        is_pressed.then(|| {
            format!(
                "all tasks wait for I/O {:.0} % of the time, and at most {full:.0} % without it",
                own.full_percent
            )
        })
    }
}

/// The counters of a moment, besides those that every phase has.
#[derive(Debug, Clone, Copy)]
struct StretchReading {
    at: Instant,
    device: CounterReading,
    pressure: Option<IoPressure>,
    dirtied_bytes: Option<u64>,
}

impl StretchReading {
    fn now(device: &BlockDevice) -> Result<Self, Failure> {
        Ok(Self {
            at: Instant::now(),
            device: block::read(&device.number)?,
            pressure: pressure::io(),
            dirtied_bytes: pressure::dirtied_bytes(),
        })
    }

    /// The mean time of some requests since an earlier moment, in ns; none if there were none.
    fn mean_ns(&self, earlier: &Self, of: fn(&CounterReading) -> (u64, u64)) -> Option<f64> {
        let ((ms, count), (ms_before, count_before)) = (of(&self.device), of(&earlier.device));
        let count = count.wrapping_sub(count_before);
        (count > 0).then(|| 1e6 * ms.wrapping_sub(ms_before) as f64 / count as f64)
    }

    /// The share of the time since an earlier moment in which tasks waited, in per cent.
    fn percent(&self, earlier: &Self, of: fn(&IoPressure) -> u64) -> Option<f64> {
        let waited_us = of(&self.pressure?).saturating_sub(of(&earlier.pressure?));
        let us = self.at.duration_since(earlier.at).as_micros();
        (us > 0).then(|| 100.0 * waited_us as f64 / us as f64)
    }

    fn burden(&self, earlier: &Self) -> Burden {
        let all = |of: &CounterReading| {
            (of.reads_ms + of.others_ms, of.counters.read_requests + of.counters.write_requests)
        };
        Burden {
            requests: all(&self.device).1.wrapping_sub(all(&earlier.device).1),
            request_ns: self.mean_ns(earlier, all).unwrap_or(0.0),
            full_percent: self.percent(earlier, |of| of.full_us).unwrap_or(0.0),
        }
    }
}

/// What shows that a device or its filesystem has failed.
#[derive(Debug, PartialEq, Eq)]
struct Faults {
    is_read_only: bool,
    /// Errors that ext4 and a SCSI disk count.
    errors: [Option<String>; 2],
}

impl Faults {
    fn now(device: &BlockDevice, mounted_at: &Path) -> Self {
        let mount = mounts::at(mounted_at).ok().flatten();
        let of_ext4 = Path::new("/sys/fs/ext4").join(&device.name).join("errors_count");
        let of_disk = device.disk_folder().join("device/ioerr_cnt");
        Self {
            is_read_only: mount
                .is_none_or(|mount| mount.options.iter().any(|option| option == "ro")),
            errors: [of_ext4, of_disk].map(|path| sysfs::read(&path).ok()),
        }
    }
}

/// A stretch, and where it takes place.
pub(super) struct LiveStretch<'a> {
    pub phase: &'a Phase,
    pub length: Duration,
    pub washout: Duration,
    pub mounted_at: &'a Path,
    pub levels: &'a Levels,
    pub interrupt: &'a Interrupt,
}

impl LiveStretch<'_> {
    /// Lets the machine work, and measures it; `end` takes back what may write when it ends.
    pub fn measure(
        &self,
        history: &mut StretchHistory,
        watched: &mut MeteredDevice<'_>,
        end: &mut dyn FnMut() -> Result<(), Failure>,
    ) -> Result<PhaseRecord, Failure> {
        let device = watched.device.cloned().ok_or_else(|| {
            Failure::Unavailable("the filesystem is on no block device".to_owned())
        })?;
        let faults = Faults::now(&device, self.mounted_at);
        self.wait(self.washout, &mut || Ok(()))?;
        watched.advance()?;
        let first = StretchReading::now(&device)?;
        let disturbed = DISTURBED.min(self.length / 10);
        self.wait(disturbed, &mut || Ok(()))?;
        let undisturbed = StretchReading::now(&device)?;
        self.wait(self.length.saturating_sub(disturbed), &mut || {
            if Faults::now(&device, self.mounted_at) != faults {
                let says = "the filesystem or the device reports errors, or has become read-only";
                return Err(Failure::Failed(says.to_owned()));
            }
            let own = StretchReading::now(&device)?.burden(&undisturbed);
            history.harm(self.levels, own).map_or(Ok(()), |why| Err(Failure::Failed(why)))
        })?;
        let last = StretchReading::now(&device)?;
        let burdens = history.burdens.entry(self.levels.clone()).or_default();
        burdens.push(last.burden(&undisturbed));
        let mut measured = watched.measure(self.phase, Duration::ZERO, || {
            end()?;
            File::open(self.mounted_at)
                .and_then(|folder| Ok(rustix::fs::syncfs(folder)?))
                .map_err(Failure::step("sync", self.mounted_at))?;
            Ok(PhaseOutcome::default())
        })?;
        measured.time_ns = Some(Span(first.at.elapsed()).nanos());
        measured.settled_ns = measured.time_ns;
        if let Some(counters) = &mut measured.device {
            counters.flushes = last.device.counters.since(&first.device.counters).flushes;
        }
        let flushes = |of: &CounterReading| (of.flushes_ms, of.counters.flushes);
        let reads = |of: &CounterReading| (of.reads_ms, of.counters.read_requests);
        let writes = |of: &CounterReading| (of.writes_ms, of.counters.write_requests);
        let dirtied = last.dirtied_bytes.zip(first.dirtied_bytes);
        let reported = [
            ("device.read_ns", last.mean_ns(&undisturbed, reads)),
            ("device.write_ns", last.mean_ns(&undisturbed, writes)),
            ("device.flush_ns", last.mean_ns(&undisturbed, flushes)),
            ("pressure.io_some", last.percent(&first, |of| of.some_us)),
            ("pressure.io_full", last.percent(&first, |of| of.full_us)),
            ("dirtied_bytes", dirtied.map(|(last, first)| last.saturating_sub(first) as f64)),
        ];
        let reported = reported.into_iter().filter_map(|(name, of)| Some((name.to_owned(), of?)));
        measured.reported = metric::parsed(reported);
        Ok(measured)
    }

    /// Waits, and looks now and then.
    fn wait(
        &self,
        time: Duration,
        look: &mut dyn FnMut() -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let end = Instant::now() + time;
        loop {
            if self.interrupt.is_set() {
                return Err(Failure::Interrupted);
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            sleep(left.min(LOOK));
            look()?;
        }
    }
}

#[cfg(test)]
mod tests;

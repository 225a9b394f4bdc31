//! Measures one phase: the clock and the counters around it, and the checks between counts.

use std::time::{Duration, Instant};

use ssdlab_attribution::{CauserBytes, PhaseRecording, Remounting};
use ssdlab_host::interrupt::Interrupt;
use ssdlab_host::meter::block::{self, Counters};
use ssdlab_host::meter::processor::{self, ProcessorTime};
use ssdlab_host::meter::quiet::{self, Pause};
use ssdlab_host::meter::{ext4, process};
use ssdlab_host::sysfs::BlockDevice;
use ssdlab_host::thread::Usage;
use ssdlab_plan::{Span, metric, schedule};
use ssdlab_results::{ByLayer, LayerWrites, Ledger, PhaseRecord, Work};
use ssdlab_workload::PhaseOutcome;

use super::failure::Failure;

/// ext4 counts whole KiB and rounds down twice, at the start and at the end.
const LIFETIME_SLACK_BYTES: u64 = 1023;

/// How often the device's and ext4's counts are read until both are of the same moment.
const TRIES: usize = 100;

/// Who caused what was written up to each reading, or why that, or all, is not known.
pub(super) type RecordedCauses = Result<Vec<Result<Vec<CauserBytes>, String>>, String>;

/// The counters at one moment.
#[derive(Debug, Clone, Copy, Default)]
struct MeterReading {
    device: Option<Counters>,
    lifetime_kib: Option<u64>,
    commits: Option<u64>,
}

/// The device under a trial: its counters at the end of the last phase, and how to wait until it is
/// idle.
///
/// A phase is charged from the last reading on, without a reading at its start: whatever the device
/// does between two phases belongs to one of them, and the phases' counts add up to the trial's.
pub(super) struct MeteredDevice<'a> {
    pub device: Option<&'a BlockDevice>,
    /// The recording of who writes to it, or why there is none; absent if none is wanted.
    causes: Option<Result<PhaseRecording, String>>,
    /// Whether others use it too, so that it may never become idle.
    is_shared: bool,
    interrupt: &'a Interrupt,
    last: MeterReading,
    /// The pauses of the last phase, and the time after its last activity.
    pauses: Vec<Pause>,
}

impl<'a> MeteredDevice<'a> {
    /// Watches the device of a trial from now on.
    pub fn new(
        device: Option<&'a BlockDevice>,
        is_shared: bool,
        interrupt: &'a Interrupt,
    ) -> Result<Self, Failure> {
        let mut watched = Self {
            device,
            causes: None,
            is_shared,
            interrupt,
            last: MeterReading::default(),
            pauses: Vec::new(),
        };
        watched.last = watched.read()?;
        Ok(watched)
    }

    /// Has who writes to it recorded, too: every reading from now on ends a phase of the recording.
    pub fn with_causes(
        mut self,
        causes: Option<Result<PhaseRecording, String>>,
    ) -> Result<Self, Failure> {
        self.causes = causes;
        if let Some(Ok(_)) = &self.causes {
            self.last = self.mark()?;
        }
        Ok(self)
    }

    /// Charges what a thread does to the reader, when it says which it is.
    pub fn reader_charge(&self) -> Option<impl Fn(u32) + Sync + use<>> {
        Some(self.causes.as_ref()?.as_ref().ok()?.reader_charge())
    }

    /// Ends the recording of who writes to it: the bytes up to each reading, or why they are not
    /// known.
    pub fn finish_causes(&mut self) -> Option<RecordedCauses> {
        Some(self.causes.take()?.and_then(PhaseRecording::finish))
    }

    /// What mounts its filesystem anew, if who writes to it is recorded.
    pub fn remounting(&self) -> Option<Remounting> {
        Some(self.causes.as_ref()?.as_ref().ok()?.remounting())
    }

    /// What the device had done by the last reading since an earlier one.
    pub fn since(&self, earlier: &Self) -> Option<Counters> {
        grown(self.last.device, earlier.last.device)
    }

    /// What the device has done since the last phase.
    pub fn advance(&mut self) -> Result<Option<Counters>, Failure> {
        let now = self.mark()?;
        let before = std::mem::replace(&mut self.last, now);
        Ok(grown(now.device, before.device))
    }

    /// Reads the counters at the end of a phase.
    fn mark(&mut self) -> Result<MeterReading, Failure> {
        let mut causes = self.causes.take();
        let marked = match &mut causes {
            Some(Ok(causes)) => causes.mark(|| {
                let reading = self.read()?;
                Ok((reading, reading.device.map_or(0, |device| device.written_bytes)))
            }),
            _ => self.read(),
        };
        self.causes = causes;
        marked
    }

    /// Reads the device's counters and ext4's, both of one moment: the device's are read again
    /// until nothing has happened in between.
    fn read(&self) -> Result<MeterReading, Failure> {
        let Some(device) = self.device else { return Ok(MeterReading::default()) };
        let commits = ext4::commits(&device.name);
        let mut counters = block::read(&device.number)?.counters;
        for _ in 0..TRIES {
            let lifetime_kib = ext4::lifetime_kib(&device.name);
            let again = block::read(&device.number)?.counters;
            if lifetime_kib.is_none() || again == counters {
                return Ok(MeterReading { device: Some(again), lifetime_kib, commits });
            }
            counters = again;
        }
        Ok(MeterReading { device: Some(counters), lifetime_kib: None, commits })
    }

    /// Whether the device was idle, and had been for some time, between two moments of the wait
    /// after the last phase.
    pub fn was_idle(&self, from: Instant, to: Instant, before: Duration) -> bool {
        self.pauses.iter().any(|pause| pause.begin + before <= from && to <= pause.end)
    }

    /// Runs `work` as a phase and measures it; `silence` is how long the device must be inactive to
    /// count as idle.
    pub fn measure(
        &mut self,
        phase: &schedule::Phase,
        silence: Duration,
        work: impl FnOnce() -> Result<PhaseOutcome, Failure>,
    ) -> Result<PhaseRecord, Failure> {
        let usage = process::read()?;
        let idle = processor::computed();
        let started = Instant::now();
        let done = work();
        let time = started.elapsed();
        let used = process::read()?;
        let busy = since(processor::computed(), idle);
        // Of a device that failed during the work, the work's error says more than the counters'.
        let done = done?;
        let at_return = self.read()?;
        check_written(&done, usage, used)?;

        let (mut settled, mut is_quiet, mut end) = (time, true, at_return);
        self.pauses.clear();
        if let Some(device) = self.device
            && !self.is_shared
            && phase.settles()
        {
            let postponed = Duration::from_nanos(phase.postponed_ns);
            let how = quiet::Wait {
                silence: phase.idle().unwrap_or(silence),
                postponed,
                pause: silence,
                timeout: Duration::from_nanos(phase.limit_ns) + postponed,
                has_reader: phase.reader,
            };
            let quiet = quiet::wait(&device.number, how, &|| self.interrupt.is_set())?;
            if Some(quiet.counters) != at_return.device && quiet.was_active {
                let pauses: Duration = quiet.pauses.iter().map(|pause| pause.lasted).sum();
                let until = quiet.last_activity.duration_since(started);
                settled = until.saturating_sub(pauses).max(time);
            }
            is_quiet = quiet.is_quiet;
            end = self.mark()?;
            self.pauses = quiet.pauses;
            let (begin, end) = (quiet.last_activity, quiet.ended);
            self.pauses.push(Pause { begin, end, lasted: end.duration_since(begin) });
        } else if let Some(Ok(_)) = &self.causes {
            end = self.mark()?;
        }
        let computed = since(processor::computed(), idle);
        let cpu_ns = used.cpu_ns.saturating_sub(usage.cpu_ns) + done.threads.cpu_ns;
        let before = std::mem::replace(&mut self.last, end);
        let lifetime = end.lifetime_kib.zip(before.lifetime_kib);
        let commits = end.commits.zip(before.commits);
        // A remount restarts ext4's counts.
        let remounts = phase.cold || phase.action == schedule::Action::Remount;
        let is_counted = !self.is_shared && !remounts;
        let device = grown(end.device, before.device);
        let application = application(&done, usage, used);
        let measured = PhaseRecord {
            name: phase.name.clone(),
            time_ns: Some(Span(time).nanos()),
            settled_ns: Some(Span(settled).nanos()),
            is_quiet: Some(is_quiet),
            // The scheduler of a lab kernel charges the running task for what others have computed.
            cpu_ns: Some(busy.map_or(cpu_ns, |busy| busy.processes_ns)),
            kernel_threads_ns: computed.map(|computed| computed.kernel_threads_ns),
            interrupts_ns: computed.map(|computed| computed.interrupts_ns),
            application_bytes: done.application_bytes,
            device,
            at_return: grown(at_return.device, before.device),
            lifetime_kib: lifetime.filter(|_| is_counted).and_then(|(l, e)| l.checked_sub(e)),
            commits: commits.filter(|_| is_counted).and_then(|(l, e)| l.checked_sub(e)),
            work: done.counted.as_ref().and_then(Work::of),
            reported: metric::parsed(done.reported),
            programs: done.programs,
            remark: done.remark,
            ledger: device.and_then(|device| self.ledger(application, &device)),
            ..PhaseRecord::default()
        };
        check_lifetime(&measured)?;
        Ok(measured)
    }

    /// The ledger of a phase, of what is counted of it. Others write to a shared device, too.
    fn ledger(&self, application: LayerWrites, device: &Counters) -> Option<Ledger> {
        let by_layer = if self.is_shared {
            ByLayer { application, ..ByLayer::default() }
        } else {
            ByLayer::of(application, device)
        };
        let is_known = !self.is_shared || self.causes.is_some();
        is_known.then_some(Ledger { by_layer, ..Ledger::default() })
    }
}

/// The bytes that the workload passed to write(2); the kernel counts the calls, of its thread and
/// those it started, except for writes through an `io_uring`.
fn application(done: &PhaseOutcome, before: Usage, after: Usage) -> LayerWrites {
    let calls = || {
        let own = after.write_calls?.checked_sub(before.write_calls?)?;
        Some(own + done.threads.write_calls?)
    };
    let is_counted = done.application_bytes.is_some() && done.ring_bytes == 0;
    LayerWrites { bytes: done.application_bytes, requests: calls().filter(|_| is_counted) }
}

fn since(later: Option<ProcessorTime>, earlier: Option<ProcessorTime>) -> Option<ProcessorTime> {
    Some(later?.since(earlier?))
}

fn grown(later: Option<Counters>, earlier: Option<Counters>) -> Option<Counters> {
    Some(later?.since(&earlier?))
}

/// The workload's byte count must equal the kernel's, for its thread and those it started, except
/// for writes through an `io_uring`.
fn check_written(done: &PhaseOutcome, before: Usage, after: Usage) -> Result<(), Failure> {
    let (Some(ours), Some(before), Some(after), Some(threads)) =
        (done.application_bytes, before.wchar_bytes, after.wchar_bytes, done.threads.wchar_bytes)
    else {
        return Ok(());
    };
    let (ours, theirs) = (ours - done.ring_bytes, after - before + threads);
    if ours == theirs {
        return Ok(());
    }
    Err(Failure::Void(format!("the workload wrote {ours} bytes, the kernel counted {theirs}")))
}

/// The bytes that ext4 says it wrote must equal those that its device counted: then the counters
/// are those of the device under this filesystem, and nothing else wrote to it.
fn check_lifetime(phase: &PhaseRecord) -> Result<(), Failure> {
    let (Some(lifetime_kib), Some(device)) = (phase.lifetime_kib, phase.device) else {
        return Ok(());
    };
    if (lifetime_kib * 1024).abs_diff(device.written_bytes) > LIFETIME_SLACK_BYTES {
        return Err(Failure::Void(format!(
            "ext4 says it wrote {lifetime_kib} KiB, its device counted {} bytes",
            device.written_bytes
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests;

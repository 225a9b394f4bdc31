//! Measures one phase: the clock and the counters around it, and the checks between counts.

use std::time::{Duration, Instant};

use super::failure::Failure;
use crate::host::sysfs::BlockDevice;
use crate::meter::block::{self, Counters};
use crate::meter::{ext4, process, quiet};
use crate::plan::schedule;
use crate::results::Phase;
use crate::workload::Done;

/// ext4 counts whole KiB and rounds down twice, at the start and at the end.
const LIFETIME_SLACK_BYTES: u64 = 1023;

/// The device under a trial, and how its quiet is waited for.
#[derive(Clone, Copy)]
pub(super) struct Watched<'a> {
    pub device: Option<&'a BlockDevice>,
    /// Whether others use it too, so that its quiet cannot be waited for.
    pub is_shared: bool,
    /// How long it must be silent.
    pub silence: Duration,
    /// Whether to stop waiting.
    pub stop: &'a dyn Fn() -> bool,
}

impl Watched<'_> {
    /// The counters now.
    pub fn counters(&self) -> Result<Option<Counters>, Failure> {
        match self.device {
            Some(device) => Ok(Some(block::read(&device.number)?.counters)),
            None => Ok(None),
        }
    }

    fn lifetime_kib(&self) -> Option<u64> {
        ext4::lifetime_kib(&self.device?.name)
    }

    /// Runs `work` as a phase and measures it.
    pub fn measure(
        &self,
        phase: &schedule::Phase,
        work: impl FnOnce() -> Result<Done, Failure>,
    ) -> Result<Phase, Failure> {
        let (before, lifetime) = (self.counters()?, self.lifetime_kib());
        let usage = process::read()?;
        let started = Instant::now();
        let done = work();
        let time = started.elapsed();
        let used = process::read()?;
        let at_return = self.counters()?;
        let done = done?;
        check_written(&done, usage, used)?;

        let mut settled = time;
        let mut is_quiet = true;
        let mut after = at_return;
        if let Some(device) = self.device
            && !self.is_shared
            && phase.settles()
        {
            let patience = Duration::from_nanos(phase.limit_ns);
            let end = quiet::wait(&device.number, self.silence, patience, self.stop)?;
            if end.counters != at_return.unwrap_or_default() {
                settled = end.last_activity.duration_since(started).max(time);
            }
            (is_quiet, after) = (end.is_quiet, Some(end.counters));
        }
        let since = |later: Option<Counters>| Some(later?.since(&before?));
        let mut measured = Phase {
            name: phase.name.clone(),
            time_ns: nanos(time),
            settled_ns: nanos(settled),
            is_quiet,
            cpu_ns: used.cpu_ns.saturating_sub(usage.cpu_ns),
            application_bytes: done.application_bytes,
            device: since(after),
            at_return: since(at_return),
            lifetime_kib: None,
            reported: done.reported,
        };
        if !self.is_shared && phase.settles() {
            // A remount starts the count anew.
            let grown = self.lifetime_kib().zip(lifetime).and_then(|(l, e)| l.checked_sub(e));
            measured.lifetime_kib = grown.filter(|_| phase.action != schedule::Action::Remount);
            check_lifetime(&measured)?;
        }
        Ok(measured)
    }
}

/// What the driver counted must be what the kernel counted for its thread.
fn check_written(
    done: &Done,
    before: process::Usage,
    after: process::Usage,
) -> Result<(), Failure> {
    let (Some(ours), Some(before), Some(after)) =
        (done.application_bytes, before.wchar_bytes, after.wchar_bytes)
    else {
        return Ok(());
    };
    let theirs = after - before;
    if ours == theirs {
        return Ok(());
    }
    Err(Failure::Void(format!("the workload wrote {ours} bytes, the kernel counted {theirs}")))
}

/// What ext4 says it wrote must be what its device says was written.
fn check_lifetime(phase: &Phase) -> Result<(), Failure> {
    let (Some(lifetime_kib), Some(device)) = (phase.lifetime_kib, phase.device) else {
        return Ok(());
    };
    if phase.is_quiet && (lifetime_kib * 1024).abs_diff(device.written_bytes) > LIFETIME_SLACK_BYTES
    {
        return Err(Failure::Void(format!(
            "ext4 says it wrote {lifetime_kib} KiB, its device counted {} bytes",
            device.written_bytes
        )));
    }
    Ok(())
}

/// A duration in ns.
pub(super) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(bytes: u64) -> process::Usage {
        process::Usage { cpu_ns: 0, wchar_bytes: Some(bytes) }
    }

    #[test]
    fn a_byte_of_difference_voids_a_trial() {
        let done = Done { application_bytes: Some(100), ..Done::default() };
        assert!(check_written(&done, usage(5), usage(105)).is_ok());
        assert!(matches!(check_written(&done, usage(5), usage(104)), Err(Failure::Void(_))));
        // A program's own writes are not the driver's to count.
        assert!(check_written(&Done::default(), usage(5), usage(99)).is_ok());
    }

    #[test]
    fn ext4_and_its_device_must_agree_to_the_kib() {
        let phase = |lifetime_kib, written_bytes| Phase {
            name: "sync".to_owned(),
            time_ns: 0,
            settled_ns: 0,
            is_quiet: true,
            cpu_ns: 0,
            application_bytes: None,
            device: Some(Counters { written_bytes, ..Counters::default() }),
            at_return: None,
            lifetime_kib: Some(lifetime_kib),
            reported: std::collections::BTreeMap::new(),
        };
        assert!(check_lifetime(&phase(10, 10 * 1024)).is_ok());
        assert!(check_lifetime(&phase(10, 10 * 1024 + 512)).is_ok());
        assert!(check_lifetime(&phase(10, 11 * 1024)).is_err());
        assert!(check_lifetime(&phase(10, 9 * 1024)).is_err());
    }
}

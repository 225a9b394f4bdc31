//! The recording of what an experiment writes to one device, by phases.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use ssdlab_causes::{Causer, CauserName, CounterBalance, WrittenReading};
use ssdlab_host::interrupt::Interrupt;
use ssdlab_host::processes;
use ssdlab_host::sysfs::BlockDevice;
use ssdlab_host::tracefs::{Instance, Sink, monotonic_ns};

use crate::marks::{CauserBytes, DEVICE};
use crate::names::Naming;
use crate::recording::{RecordingProcess, Shared, WhoRecording, lock};
use crate::survey::WatchSurvey;

/// How long the events of a phase may take to be taken after its end.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often it is looked whether they were.
const STEP: Duration = Duration::from_millis(5);

/// Records who causes what is written to a device during an experiment of this process.
pub struct PhaseRecording {
    recording: WhoRecording,
    fault: Option<String>,
}

impl PhaseRecording {
    /// Starts recording in an instance of tracefs, with the filesystem mounted. Services have names
    /// if this process is not the workload.
    pub fn start(
        device: &BlockDevice,
        instance: Instance,
        own: RecordingProcess,
        interrupt: &Interrupt,
    ) -> io::Result<Self> {
        if !processes::has_numbers_of_kernel() {
            let says = "in a PID namespace, as a container's, the kernel's events name threads by \
                        other numbers";
            return Err(io::Error::other(says));
        }
        let naming = match own {
            RecordingProcess::Watcher => Naming::Services,
            RecordingProcess::Workload => Naming::Unwanted,
        };
        let survey = WatchSurvey::of(std::slice::from_ref(device), naming, interrupt)?;
        if !survey.has_own_events(&device.number) {
            return Err(io::Error::other("its filesystem has no events that say it"));
        }
        let recording = WhoRecording::start(survey, instance, own)?;
        if let Some(lacking) = &recording.lacking {
            return Err(io::Error::other(lacking.clone()));
        }
        Ok(Self { recording, fault: None })
    }

    /// Charges what a thread does to the reader beside the workload, when it says which it is.
    pub fn reader_charge(&self) -> impl Fn(u32) + Sync + use<> {
        let shared = Arc::clone(&self.recording.shared);
        move |thread| lock(&shared).survey.watch.tasks.charge_thread(thread, Causer::READER)
    }

    /// Ends a phase, and begins the next: `read` reads the counter, in bytes, and maybe more, while
    /// events wait.
    pub fn mark<T, E>(&mut self, read: impl FnOnce() -> Result<(T, u64), E>) -> Result<T, E> {
        if self.fault.is_none() && !self.is_settled() {
            self.fault = Some("the kernel's events are taken too slowly".to_owned());
        }
        let mut shared = lock(&self.recording.shared);
        let began_ns = monotonic_ns();
        let (found, written_bytes) = read()?;
        let ended_ns = monotonic_ns();
        if self.fault.is_none() {
            let reading = WrittenReading { began_ns, ended_ns, written_bytes };
            shared.survey.watch.set_next(DEVICE, reading);
            shared.phases.open_since_ns = Some(ended_ns);
        }
        Ok(found)
    }

    /// What mounts the filesystem anew by a function, while nothing here keeps it busy.
    pub fn remounting(&self) -> Remounting {
        Remounting(Arc::clone(&self.recording.shared))
    }

    /// Ends the recording: the bytes up to each mark since the one before, or why they, or all, are
    /// not known. They add up to what the counter grew by.
    pub fn finish(self) -> Result<Vec<Result<Vec<CauserBytes>, String>>, String> {
        let WhoRecording { trace, shared, .. } = self.recording;
        let (mut feed, losses) = trace.stop().map_err(|error| error.to_string())?;
        feed.advance(u64::MAX);
        let lost = losses.all().max(feed.lost);
        let says = format!("the kernel could not record {lost} of its events");
        let lost = (lost > 0).then_some(says);
        if let Some(fault) = feed.trouble.take().or(lost).or(self.fault) {
            return Err(fault);
        }
        let mut shared = lock(&shared);
        let settled = std::mem::take(&mut shared.phases.settled);
        let WatchSurvey { watch, names, .. } = &shared.survey;
        let mut before = BTreeMap::new();
        let grown = settled.into_iter().map(|(balance, bytes)| {
            let before = std::mem::replace(&mut before, bytes.clone());
            if !balance.is_exact() {
                let CounterBalance { counter_bytes, attributed_bytes, .. } = balance;
                return Err(format!(
                    "the device's counter grew by {counter_bytes} bytes, its events say \
                     {attributed_bytes}"
                ));
            }
            let since = |(causer, bytes): (Causer, u64)| {
                let CauserName { program, cgroup } = watch.tasks.name(causer).clone();
                let bytes = bytes - before.get(&causer).unwrap_or(&0);
                let (role, service) = (watch.tasks.role(causer), names.service(&cgroup));
                CauserBytes { role, program, service, bytes }
            };
            Ok(bytes.into_iter().map(since).collect())
        });
        Ok(grown.collect())
    }

    /// Waits until the events up to the last mark have been taken; false if that takes too long.
    fn is_settled(&self) -> bool {
        wait_until(|| lock(&self.recording.shared).phases.open_since_ns.is_none())
    }
}

/// Mounts the filesystem of a recording anew.
pub struct Remounting(Arc<Mutex<Shared>>);

impl Remounting {
    /// By a function, while nothing here keeps the filesystem busy.
    pub fn by<T>(&self, interrupt: &Interrupt, remount: impl FnOnce() -> T) -> T {
        let done = {
            let _quiet = lock(&self.0);
            remount()
        };
        // Until now events are of what was mounted before.
        let now_ns = monotonic_ns();
        wait_until(|| lock(&self.0).taken_until_ns > now_ns);
        // What is not known then is charged to nobody.
        let _ = lock(&self.0).survey.remounted(interrupt);
        done
    }
}

/// Waits; false if that takes too long.
fn wait_until(is_so: impl Fn() -> bool) -> bool {
    let began = Instant::now();
    while !is_so() {
        if began.elapsed() > PATIENCE {
            return false;
        }
        std::thread::sleep(STEP);
    }
    true
}

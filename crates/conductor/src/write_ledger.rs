//! The ledger of a trial's writes: has its requests recorded, and adds the kinds of bytes that were
//! written to its record.
//!
//! If they cannot be added, the record stays valid: the ledger says why, and the trial counts.

use std::fs::{self, File};
use std::io::{self, BufReader};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use ssdlab_attribution::{PhaseRecording, RecordingProcess};
use ssdlab_filesystem::{Filesystem, Layout};
use ssdlab_host::interrupt::Interrupt;
use ssdlab_host::meter::block::Counters;
use ssdlab_host::meter::requests::RequestRecording;
use ssdlab_host::mounts::MountIdentity;
use ssdlab_host::regular_file;
use ssdlab_host::sysfs::BlockDevice;
use ssdlab_host::tracefs::{self, Instance};
use ssdlab_host::undo::{Change, Journal};
use ssdlab_plan::STRETCH;
use ssdlab_plan::schedule::Trial;
use ssdlab_results::classification::{self as ledger, KnownFilesystem, ReadDevice};
use ssdlab_results::{ByCause, ByKind, ByProgram, Executed, KindWrites, PhaseRecord, Record};
use ssdlab_trace::{TraceOptions, TraceReader};

use super::failure::Failure;
use super::measure::RecordedCauses;

/// The ledger of the writes of this machine's trials.
#[derive(Debug, Default)]
pub struct WriteLedger {
    /// Where the logs of requests go; none if none are kept.
    logs: Option<PathBuf>,
    /// The log of the running trial.
    log: Option<PathBuf>,
    /// Whether who causes its writes is recorded.
    has_causes: bool,
    /// The recording of the running trial, or why there is none.
    open: Option<Result<OpenRecording, String>>,
}

/// Requests that are being recorded, and where.
#[derive(Debug)]
struct OpenRecording {
    requests: RequestRecording,
    log: PathBuf,
}

impl WriteLedger {
    /// A ledger that keeps a log of each trial's requests in a folder.
    pub fn in_folder(logs: &Path) -> Self {
        Self { logs: Some(logs.to_owned()), ..Self::default() }
    }

    /// Switches to a trial.
    pub(super) fn begin_trial(&mut self, trial: Trial, asks_for_causes: bool) {
        self.log = self.logs.as_ref().map(|logs| log_of(logs, trial));
        self.has_causes = asks_for_causes && self.logs.is_some();
    }

    /// Begins to record the requests to the device of a trial.
    pub(super) fn start_recording(&mut self, device: Option<&BlockDevice>, journal: &mut Journal) {
        if let Some((log, device)) = self.log.take().zip(device) {
            self.open = Some(record(log, device, journal).map_err(|e| e.to_string()));
        }
    }

    /// Ends the recording: its log, or why there is none. `None` if none was begun.
    pub(super) fn stop_recording(&mut self) -> Option<Result<PathBuf, String>> {
        let recorded = self.open.take()?;
        Some(recorded.and_then(|OpenRecording { requests, log }| {
            requests.finish().map(|()| log).map_err(|error| error.to_string())
        }))
    }

    /// Whether who causes writes is recorded.
    pub(super) fn has_causes(&self) -> bool {
        self.has_causes
    }

    /// Drops a recording that was not ended.
    pub(super) fn drop_recording(&mut self) {
        self.open = None;
    }
}

/// Stores what was executed in each phase, one line per phase.
pub(super) fn write_executed(path: &Path, executed: &[Executed]) -> Result<(), Failure> {
    let mut lines = String::new();
    for phase in executed {
        lines += &serde_json::to_string(phase).expect("counts are plain data");
        lines.push('\n');
    }
    fs::write(path, lines).map_err(Failure::step("write", path))
}

/// Adds the recorded requests of a trial, whose filesystem is unmounted on a device.
pub(super) fn add_logged_phases(
    measured: &mut Record,
    log: Result<PathBuf, String>,
    device: &Path,
    filesystem: &Filesystem,
    layout: Result<&Layout, &str>,
) {
    let entered = log.and_then(|log| {
        let layout = layout.map_err(str::to_owned)?;
        let node = File::open(device).map_err(|e| format!("{}: {e}", device.display()))?;
        let mut read = |offset, into: &mut [u8]| node.read_exact_at(into, offset);
        add_phases(measured, &log, &KnownLayout { filesystem, layout }, &mut read);
        Ok(())
    });
    if let Err(reason) = entered {
        note_missing(measured, &reason);
    }
}

fn record(log: PathBuf, device: &BlockDevice, journal: &mut Journal) -> io::Result<OpenRecording> {
    let instance = instance(journal, &format!("ssdlab-{}", journal.marker()))?;
    log.parent().map_or(Ok(()), fs::create_dir_all)?;
    Ok(OpenRecording { requests: RequestRecording::record(instance, device, &log)?, log })
}

/// Begins to record who writes to the device of a trial, whose filesystem is mounted, or says why
/// it cannot.
pub(super) fn record_causes(
    device: &BlockDevice,
    own: RecordingProcess,
    journal: &mut Journal,
    interrupt: &Interrupt,
) -> Result<PhaseRecording, String> {
    let instance = instance(journal, &format!("ssdlab-{}-causes", journal.marker()));
    let recording = instance.and_then(|instance| {
        PhaseRecording::start(device, Instance::create(instance)?, own, interrupt)
    });
    recording.map_err(|error| error.to_string())
}

/// The folder of an instance of tracefs that is about to be made.
fn instance(journal: &mut Journal, name: &str) -> io::Result<PathBuf> {
    let instance = instances(journal)?.join(name);
    journal.will(Change::Trace { instance: instance.clone() })?;
    Ok(instance)
}

/// Where instances of tracefs are made. If tracefs is not mounted, it is mounted in the run's own
/// folder, once for a trial.
fn instances(journal: &mut Journal) -> io::Result<PathBuf> {
    if let Some(instances) = tracefs::instances()? {
        return Ok(instances);
    }
    let folder = journal.private_folder().join(format!("ssdlab-{}", journal.marker()));
    let target = folder.join("mnt-tracing");
    let instances = target.join(tracefs::INSTANCES);
    if instances.exists() {
        return Ok(instances);
    }
    // A directory has no folder of the lab's.
    if !folder.exists() {
        journal.make_folder(&folder)?;
    }
    match fs::create_dir(&target) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let mounted = MountIdentity::Source(tracefs::SOURCE.to_owned());
    journal.will(Change::Mount { target: target.clone(), mounted })?;
    tracefs::mount(&target)
}

/// The log of a trial's requests, in the folder of all logs of its run.
pub fn log_of(logs: &Path, trial: Trial) -> PathBuf {
    logs.join(format!("{:04}.requests", trial.position))
}

/// The file with what the lab kernel executed in a trial: a line of JSON per phase.
pub fn functions_of(logs: &Path, trial: Trial) -> PathBuf {
    logs.join(format!("{:04}.functions", trial.position))
}

/// Reads what the lab kernel executed in each phase of a trial.
pub fn executed(path: &Path) -> io::Result<Vec<Executed>> {
    let text = regular_file::read_own(path)?;
    Ok(serde_json::Deserializer::from_slice(&text).into_iter().collect::<Result<_, _>>()?)
}

/// A filesystem and its layout, as its own tools report it.
pub(super) struct KnownLayout<'a> {
    pub filesystem: &'a Filesystem,
    pub layout: &'a Layout,
}

/// Adds the kinds of bytes of a trial's logged requests. `read` reads the device as the trial
/// left it.
pub(super) fn add_phases(
    measured: &mut Record,
    log: &Path,
    kept: &KnownLayout<'_>,
    read: ReadDevice<'_>,
) {
    match writes_by_phase(measured, log, kept, read) {
        Ok(pages) => {
            let ledgers = measured.phases.iter_mut().filter_map(|phase| phase.ledger.as_mut());
            for (ledger, page) in ledgers.zip(pages) {
                ledger.by_kind = Some(page);
            }
        }
        Err(reason) => note_missing(measured, &reason),
    }
}

/// Adds who caused what was written: in each phase by role beside a workload of this process, else
/// by program in a stretch, which is the last phase. Marks come before the first phase, too, and
/// within the stretch.
pub(super) fn add_causes(measured: &mut Record, causes: RecordedCauses, own: RecordingProcess) {
    let phases = measured.phases.len();
    let mut causes = match causes {
        Ok(causes) if causes.len() >= phases => causes.split_at(causes.len() - phases).1.to_vec(),
        Ok(_) => vec![Err("the ends of some phases were not read".to_owned()); phases],
        Err(reason) => vec![Err(reason); phases],
    };
    for (phase, bytes) in measured.phases.iter_mut().zip(causes.drain(..)) {
        if own == RecordingProcess::Watcher && phase.name != STRETCH {
            continue;
        }
        let Some(ledger) = &mut phase.ledger else { continue };
        match (bytes, own) {
            (Ok(all), RecordingProcess::Workload) => {
                let by_role = all.into_iter().map(|of| (of.role, of.bytes));
                ledger.by_cause = Some(ByCause::new(by_role));
            }
            (Ok(all), RecordingProcess::Watcher) => {
                let by_name = all.into_iter().map(|of| (of.program, of.service, of.bytes));
                ledger.by_program = Some(ByProgram::new(by_name, 0));
            }
            (Err(reason), _) => ledger.cause_reason = Some(reason),
        }
    }
}

/// Notes in a record why nothing could be added.
pub(super) fn note_missing(measured: &mut Record, reason: &str) {
    for ledger in measured.phases.iter_mut().filter_map(|phase| phase.ledger.as_mut()) {
        ledger.reason = Some(reason.to_owned());
    }
}

fn writes_by_phase(
    measured: &Record,
    log: &Path,
    kept: &KnownLayout<'_>,
    read: ReadDevice<'_>,
) -> Result<Vec<ByKind>, String> {
    let say = |what: String| format!("{}: {what}", log.display());
    let Some(moments) = written_at_phases(measured) else {
        return Err("the device's counters were not read".to_owned());
    };
    let file = File::open(log).map_err(|cause| say(cause.to_string()))?;
    let requests = TraceReader::detect(BufReader::new(file), &TraceOptions::default());
    let requests = requests.map_err(|cause| say(cause.to_string()))?;
    let classifier = kept.filesystem.layout.and_then(|probe| probe.contents);
    let known = KnownFilesystem { layout: kept.layout, classifier, read };
    let mut pages =
        ledger::by_kind(requests, &moments, known).map_err(|error| error.to_string())?;
    // The writes before the first phase.
    pages.remove(0);
    Ok(pages)
}

/// The device's counts since the trial began, at the start of the first phase and at the end of
/// each.
fn written_at_phases(measured: &Record) -> Option<Vec<KindWrites>> {
    let written = |counters: &Counters| KindWrites {
        bytes: counters.written_bytes,
        requests: counters.write_requests,
    };
    let grown = measured.phases.iter().map(|phase: &PhaseRecord| phase.device.as_ref());
    let mut sum = KindWrites::default();
    std::iter::once(measured.before.as_ref())
        .chain(grown)
        .map(|counters| {
            sum += written(counters?);
            Some(sum)
        })
        .collect()
}

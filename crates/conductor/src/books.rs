//! Keeps the books of a trial: has its requests recorded, and enters into its record the kinds of
//! bytes that were written.
//!
//! If they cannot be entered, the record stays valid: the ledger says why, and the trial counts.

use std::fs::{self, File};
use std::io::{self, BufReader};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use ssdlab_filesystem::{Filesystem, Layout};
use ssdlab_host::meter::block::Counters;
use ssdlab_host::meter::requests::Requests;
use ssdlab_host::mounts::Mounted;
use ssdlab_host::regular_file;
use ssdlab_host::sysfs::BlockDevice;
use ssdlab_host::tracefs;
use ssdlab_host::undo::{Change, Journal};
use ssdlab_plan::schedule::Trial;
use ssdlab_results::classification::{self as ledger, Known, Read};
use ssdlab_results::{ByKind, Executed, Phase, Record, Written};
use ssdlab_trace::{Options, Reader};

use super::failure::Failure;

/// The books of this machine's trials.
#[derive(Debug, Default)]
pub struct Books {
    /// Where the logs of requests go; none if none are kept.
    logs: Option<PathBuf>,
    /// The log of the running trial.
    log: Option<PathBuf>,
    /// The recording of the running trial, or why there is none.
    open: Option<Result<Recorded, String>>,
}

/// Requests that are being recorded, and where.
#[derive(Debug)]
struct Recorded {
    requests: Requests,
    log: PathBuf,
}

impl Books {
    /// Books that keep a log of each trial's requests in a folder.
    #[must_use]
    pub fn in_folder(logs: &Path) -> Self {
        Self { logs: Some(logs.to_owned()), ..Self::default() }
    }

    /// Switches to a trial.
    pub(super) fn turn_to(&mut self, trial: Trial) {
        self.log = self.logs.as_ref().map(|logs| log_of(logs, trial));
    }

    /// Begins to record the requests to the device of a trial.
    pub(super) fn open(&mut self, device: Option<&BlockDevice>, journal: &mut Journal) {
        if let Some((log, device)) = self.log.take().zip(device) {
            self.open = Some(record(log, device, journal).map_err(|e| e.to_string()));
        }
    }

    /// Ends the recording: its log, or why there is none. `None` if none was begun.
    pub(super) fn stop(&mut self) -> Option<Result<PathBuf, String>> {
        let recorded = self.open.take()?;
        Some(recorded.and_then(|Recorded { requests, log }| {
            requests.finish().map(|()| log).map_err(|error| error.to_string())
        }))
    }

    /// Drops a recording that was not ended.
    pub(super) fn forget(&mut self) {
        self.open = None;
    }
}

/// Stores what was executed in each phase, one line per phase.
pub(super) fn keep_executed(path: &Path, executed: &[Executed]) -> Result<(), Failure> {
    let mut lines = String::new();
    for phase in executed {
        lines += &serde_json::to_string(phase).expect("counts are plain data");
        lines.push('\n');
    }
    fs::write(path, lines).map_err(Failure::step("write", path))
}

/// Enters the recorded requests of a trial, whose filesystem is unmounted on a device.
pub(super) fn close(
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
        enter(measured, &log, &Kept { filesystem, layout }, &mut read);
        Ok(())
    });
    if let Err(reason) = entered {
        leave_out(measured, &reason);
    }
}

fn record(log: PathBuf, device: &BlockDevice, journal: &mut Journal) -> io::Result<Recorded> {
    let name = format!("ssdlab-{}", journal.marker());
    let instance = instances(journal, &name)?.join(&name);
    journal.will(Change::Trace { instance: instance.clone() })?;
    log.parent().map_or(Ok(()), fs::create_dir_all)?;
    Ok(Recorded { requests: Requests::record(instance, device, &log)?, log })
}

/// Where instances of tracefs are made. If tracefs is not mounted, it is mounted in the run's own
/// folder.
fn instances(journal: &mut Journal, name: &str) -> io::Result<PathBuf> {
    if let Some(instances) = tracefs::instances()? {
        return Ok(instances);
    }
    let target = journal.private_folder().join(name).join("mnt-tracing");
    match fs::create_dir(&target) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let mounted = Mounted::Source(tracefs::SOURCE.to_owned());
    journal.will(Change::Mount { target: target.clone(), mounted })?;
    tracefs::mount(&target)
}

/// The log of a trial's requests, in the folder of all logs of its run.
#[must_use]
pub fn log_of(logs: &Path, trial: Trial) -> PathBuf {
    logs.join(format!("{:04}.requests", trial.position))
}

/// The file with what the lab kernel executed in a trial: a line of JSON per phase.
#[must_use]
pub fn functions_of(logs: &Path, trial: Trial) -> PathBuf {
    logs.join(format!("{:04}.functions", trial.position))
}

/// Reads what the lab kernel executed in each phase of a trial.
pub fn executed(path: &Path) -> io::Result<Vec<Executed>> {
    let text = regular_file::read_own(path)?;
    Ok(serde_json::Deserializer::from_slice(&text).into_iter().collect::<Result<_, _>>()?)
}

/// A filesystem and its layout, as its own tools report it.
pub(super) struct Kept<'a> {
    pub filesystem: &'a Filesystem,
    pub layout: &'a Layout,
}

/// Enters the kinds of bytes of a trial's logged requests. `read` reads the device as the trial
/// left it.
pub(super) fn enter(measured: &mut Record, log: &Path, kept: &Kept<'_>, read: Read<'_>) {
    match pages(measured, log, kept, read) {
        Ok(pages) => {
            let ledgers = measured.phases.iter_mut().filter_map(|phase| phase.ledger.as_mut());
            for (ledger, page) in ledgers.zip(pages) {
                ledger.by_kind = Some(page);
            }
        }
        Err(reason) => leave_out(measured, &reason),
    }
}

/// Notes in a record why nothing could be entered.
pub(super) fn leave_out(measured: &mut Record, reason: &str) {
    for ledger in measured.phases.iter_mut().filter_map(|phase| phase.ledger.as_mut()) {
        ledger.reason = Some(reason.to_owned());
    }
}

/// The writes of each phase.
fn pages(
    measured: &Record,
    log: &Path,
    kept: &Kept<'_>,
    read: Read<'_>,
) -> Result<Vec<ByKind>, String> {
    let say = |what: String| format!("{}: {what}", log.display());
    let Some(moments) = moments(measured) else {
        return Err("the device's counters were not read".to_owned());
    };
    let file = File::open(log).map_err(|cause| say(cause.to_string()))?;
    let requests = Reader::detect(BufReader::new(file), &Options::default());
    let requests = requests.map_err(|cause| say(cause.to_string()))?;
    let teller = kept.filesystem.layout.and_then(|probe| probe.contents);
    let known = Known { layout: kept.layout, teller, read };
    let mut pages =
        ledger::by_kind(requests, &moments, known).map_err(|error| error.to_string())?;
    // The writes before the first phase.
    pages.remove(0);
    Ok(pages)
}

/// The device's counts since the trial began, at the start of the first phase and at the end of
/// each.
fn moments(measured: &Record) -> Option<Vec<Written>> {
    let written = |counters: &Counters| Written {
        bytes: counters.written_bytes,
        requests: counters.write_requests,
    };
    let grown = measured.phases.iter().map(|phase: &Phase| phase.device.as_ref());
    let mut sum = Written::default();
    std::iter::once(measured.before.as_ref())
        .chain(grown)
        .map(|counters| {
            sum += written(counters?);
            Some(sum)
        })
        .collect()
}

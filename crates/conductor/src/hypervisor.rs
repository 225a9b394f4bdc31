//! Starts guests: each runs a lab kernel in a folder of its own, on a simulated drive, with this
//! program and the tools that it calls.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::de::DeserializeOwned;
use ssdlab_disk::guest::{GuestExit, GuestMachine, HostChannel, MachineError, Root, room};
use ssdlab_disk::{Disk, DiskError, DiskShape, Fingerprint, Flash, RequestErrors};
use ssdlab_flash::Nanos;
use ssdlab_host::interrupt::Interrupt;
use ssdlab_host::program::Rules;
use ssdlab_host::undo::Journal;
use ssdlab_kernel::{self as kernel, LabKernel};
use ssdlab_plan::HostModel;

use super::drive_watch::locked;
use super::error::GuestsError;
use super::failure::Failure;
use super::inside::GuestJob;
use super::message::Message;
use super::trial::PREPARATION;

/// How long the guest of a trial may compute, in processor time, without issuing a request.
pub(super) const GUEST_TIMEOUT: Duration = Duration::from_mins(5);

/// What guests share.
pub(super) struct Hypervisor<'a> {
    /// The read-only files: at first only this program.
    pub root: Root,
    /// Holds a folder for each guest.
    pub folder: PathBuf,
    /// The folder of the guests' memory.
    memory: PathBuf,
    marker: String,
    /// The request to stop.
    pub interrupt: &'a Interrupt,
}

/// A lab kernel that guests run.
#[derive(Debug)]
pub(super) struct LoadedKernel {
    /// A copy, because the original may be replaced meanwhile.
    pub kernel: LabKernel,
    pub filesystems: Vec<&'static str>,
}

pub(super) struct GuestRun<'a> {
    /// The name of its folder.
    pub name: &'a str,
    pub kernel: &'a LoadedKernel,
    /// The computer it models.
    pub host: &'a HostModel,
    /// The seed of its randomness.
    pub seed: u64,
    /// The limit of its virtual time.
    pub limit: Nanos,
    /// How long it may compute, in processor time, without issuing a request; one that goes on for
    /// longer is taken to be in an endless loop.
    pub timeout: Duration,
    /// Requests to the drive that fail.
    pub errors: Option<RequestErrors>,
}

impl<'a> Hypervisor<'a> {
    /// Makes what guests share, for guests that have so much memory together.
    pub fn open(
        memory_bytes: u64,
        interrupt: &'a Interrupt,
        journal: &mut Journal,
    ) -> Result<Self, GuestsError> {
        let marker = journal.marker().to_owned();
        let folder = journal.private_folder().join(format!("ssdlab-{marker}"));
        journal.make_folder(&folder).map_err(GuestsError::folder(&folder))?;
        let root = folder.join("root");
        fs::create_dir(&root).map_err(GuestsError::folder(&root))?;
        let root = Root::make(&root, Rules { marker: &marker, limit: PREPARATION, interrupt })?;
        let memory = room(memory_bytes)?;
        Ok(Self { root, folder, memory, marker, interrupt })
    }

    /// Makes a kernel ready for guests.
    pub fn load(&self, mut kernel: LabKernel) -> Result<LoadedKernel, GuestsError> {
        let filesystems = kernel::filesystems(&kernel)?;
        let copy = self.folder.join(format!("linux-{}", kernel.identity));
        fs::copy(&kernel.path, &copy).map_err(GuestsError::folder(&copy))?;
        kernel.path = copy;
        Ok(LoadedKernel { kernel, filesystems })
    }

    /// How programs are run for guests.
    pub fn rules(&self) -> Rules<'_> {
        Rules { marker: &self.marker, limit: PREPARATION, interrupt: self.interrupt }
    }

    /// Has a guest do a job on a drive. `told` hears each of its messages at its moment. Returns
    /// the guest's answer.
    pub fn run<T: DeserializeOwned + Send>(
        &self,
        run: &GuestRun<'_>,
        job: &GuestJob,
        flash: &Arc<Mutex<Flash>>,
        log: Option<BufWriter<File>>,
        mut told: impl FnMut(Nanos, &Message<T>) + Send,
    ) -> Result<(T, Fingerprint), Failure> {
        let done = Mutex::new(None);
        let channel = HostChannel::new(job, |now, message: Message<T>| {
            told(now, &message);
            if let Message::Done(answer) = message {
                *done.lock().unwrap_or_else(PoisonError::into_inner) = Some(answer);
            }
        });
        let folder = self.folder.join(run.name);
        fs::create_dir(&folder).map_err(Failure::step("make", &folder))?;
        let ended = self.run_in(&folder, run, flash, log, channel);
        // The guest has ended, so nothing uses the folder any more. Even if it failed: the next one
        // may have its name.
        let removed = fs::remove_dir_all(&folder).map_err(Failure::step("remove", &folder));
        let ended = ended?;
        removed?;
        match done.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(done) => Ok((done, ended.fingerprint)),
            None => Err(Failure::Failed(format!(
                "the guest ended without an answer; its console says:\n{}",
                ended.console
            ))),
        }
    }

    /// Runs a guest to its end, in an empty folder.
    fn run_in<T: DeserializeOwned>(
        &self,
        folder: &Path,
        run: &GuestRun<'_>,
        flash: &Arc<Mutex<Flash>>,
        log: Option<BufWriter<File>>,
        channel: HostChannel<'_, Message<T>>,
    ) -> Result<GuestExit, Failure> {
        let specification = locked(flash).drive().specification().clone();
        let machine = GuestMachine {
            kernel: &run.kernel.kernel.path,
            root: &self.root,
            folder,
            memory: &self.memory,
            host: run.host,
            seed: run.seed,
            limit: run.limit,
            timeout: run.timeout,
            marker: &self.marker,
        };
        let mut drive = Disk::new(
            "drive",
            machine.listener("drive")?,
            Box::new(Arc::clone(flash)),
            DiskShape::of(&specification),
        )?;
        if let Some(errors) = &run.errors {
            drive = drive.with_errors(errors.clone());
        }
        if let Some(log) = log {
            drive = drive.with_log(log)?;
        }
        let listener = machine.listener("channel")?;
        let channel = Disk::new("channel", listener, Box::new(channel), DiskShape::default())?;
        Ok(machine.run(&mut [drive, channel], self.interrupt)?)
    }
}

impl From<MachineError> for Failure {
    fn from(error: MachineError) -> Self {
        match error {
            MachineError::Interrupted => Self::Interrupted,
            other if other.is_of_guest() => Self::Died(other.to_string()),
            other => Self::Failed(other.to_string()),
        }
    }
}

impl From<DiskError> for Failure {
    fn from(error: DiskError) -> Self {
        Self::Failed(error.to_string())
    }
}

#[cfg(test)]
mod tests;

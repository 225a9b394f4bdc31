//! One trial, from the bare device to its measurements.

use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use ssdlab_attribution::{PhaseRecording, RecordingProcess, Remounting};
use ssdlab_host::interrupt::Interrupt;
use ssdlab_host::meter::environment;
use ssdlab_host::meter::smart::Smart;
use ssdlab_host::processes;
use ssdlab_host::program::Rules;
use ssdlab_host::sysfs::BlockDevice;
use ssdlab_lab::{self as lab, DeviceContents, LabError, MountedFs, Tools};
use ssdlab_plan::schedule::{Action, Phase};
use ssdlab_plan::{Amount, LabKind, Setup, Span, metric};
use ssdlab_results::{self as results, Record, Teardown};
use ssdlab_workload::{ConcurrentReader, Material, PhaseContext, PhaseOutcome, WorkloadError};

use super::assignment::Assignment;
use super::failure::Failure;
use super::local::LocalExecutor;
use super::measure::MeteredDevice;
use super::message::Message;
use super::performed::{TrialOutcome, TrialTimer};
use super::stretch::LiveStretch;
use super::write_ledger;

/// The longest mkfs, a mount or a prefill may take.
pub(super) const PREPARATION: Duration = Duration::from_hours(1);

/// The file of a kept state with the contents of its device.
pub(super) const IMAGE: &str = "image";

impl LocalExecutor<'_> {
    /// Performs an assignment; `told` hears of its phases.
    pub(super) fn perform_one(
        &mut self,
        assignment: &Assignment,
        told: &mut dyn FnMut(Message),
    ) -> TrialOutcome {
        let began = TrialTimer::now();
        let mut measured = Record::default();
        let ended = self.fill(&mut measured, assignment, told);
        began.time(&mut measured);
        TrialOutcome { measured, ended }
    }

    /// Releases the lab's device when the changes of a trial have been undone. An interrupted run
    /// leaves its device as blank as a finished one, so this is not to be interrupted.
    pub(super) fn finish_trial(&mut self) -> Result<(), LabError> {
        let marker = self.journal.marker().to_owned();
        let never = Interrupt::default();
        let rules = Rules { marker: &marker, limit: PREPARATION, interrupt: &never };
        let tools = Tools { journal: self.journal, rules };
        self.lab.finish_trial(&tools)
    }

    fn fill(
        &mut self,
        measured: &mut Record,
        assignment: &Assignment,
        told: &mut dyn FnMut(Message),
    ) -> Result<(), Failure> {
        let Assignment { setup, seed, .. } = assignment;
        self.workload.seed(*seed);
        let marker = self.journal.marker().to_owned();
        let rules = Rules { marker: &marker, limit: PREPARATION, interrupt: self.interrupt };
        let kept = self.kept_state(setup, *seed, told, rules)?;
        let image = kept.as_ref().map(|state| state.folder.join(IMAGE));
        let mut lab_tools = Tools { journal: self.journal, rules };
        let device = self.lab.attach(image.as_deref(), &mut lab_tools)?;
        let mut total = MeteredDevice::new(device.as_ref(), false, self.interrupt)?;
        // Requests of others to a shared device are not ours to count.
        let is_shared = matches!(self.target.lab(), LabKind::Directory | LabKind::Live);
        let own = device.as_ref().filter(|_| !is_shared);
        if let Some(device) = self.fallible(own) {
            // An earlier failure is reported once, and is none of this trial's.
            let _ = written_back(device);
        }
        self.write_ledger.start_recording(own, self.journal);
        let ended = self.on_device(measured, &total, assignment, told, rules);
        self.write_ledger.drop_recording();
        if let Some(state) = kept {
            state.facts.enter(Some(state.contents), measured);
        }
        // The bytes of a failed trial count, too. If its device is gone, so are its counters, but
        // the trial's own error is the reason to record.
        let total = total.advance();
        if let Ok(Some(device)) = &total {
            measured.written_bytes = device.written_bytes;
        }
        ended.and(total.map(drop))
    }

    fn on_device(
        &mut self,
        measured: &mut Record,
        total: &MeteredDevice<'_>,
        assignment: &Assignment,
        told: &mut dyn FnMut(Message),
        rules: Rules<'_>,
    ) -> Result<(), Failure> {
        let Assignment { setup, workload, seed, .. } = assignment;
        let device = total.device;
        measured.environment = environment::read(device, &self.tools);
        let is_in_place = setup.age.is_some() && self.target.lab() == LabKind::Device;
        let aged = is_in_place.then(|| self.age(setup, *seed, rules)).transpose()?;
        let start = if setup.age.is_some() { DeviceContents::Aged } else { DeviceContents::Blank };
        let is_stretch = workload.phases.iter().any(|phase| phase.action.is_stretch());
        let own = if is_stretch { RecordingProcess::Watcher } else { RecordingProcess::Workload };
        // What ends a stretch undoes all changes since its treatment was put in force.
        let early = is_stretch.then(|| self.causes(device, own));
        let mut lab_tools = Tools { journal: self.journal, rules };
        let mounted_fs = self.lab.prepare(setup, start, *seed, &mut lab_tools)?;
        measured.applied.clone_from(&mounted_fs.applied);
        if let Some(facts) = aged {
            facts.enter(None, measured);
        }
        self.use_before(&mounted_fs, device, assignment, rules)?;

        let smart_before = self.smart(device, rules);
        let causes = early.unwrap_or_else(|| self.causes(device, own));
        let watched = MeteredDevice::new(device, mounted_fs.is_shared, self.interrupt)?;
        let mut watched = watched.with_causes(causes)?;
        let silence = Duration::from_nanos(workload.quiet_ns);
        measured.background_written_bytes =
            self.settle(&mounted_fs, rules, silence, &mut watched)?;
        measured.before = watched.since(total);
        let mut tally = Tally::default();
        for phase in &workload.phases {
            let name = &phase.name;
            told(Message::Begins(name.clone()));
            let found = self
                .observed(phase, &mounted_fs, assignment, rules, &mut watched)
                .map_err(|failure| failure.during(name))?;
            told(Message::Over(name.clone()));
            tally
                .check(phase, &found, mounted_fs.compresses)
                .map_err(|failure| failure.during(name))?;
            measured.phases.push(found);
            if self.interrupt.is_set() {
                return Err(Failure::Interrupted);
            }
        }
        if let Some(bytes) = watched.finish_causes() {
            write_ledger::add_causes(measured, bytes, own);
        }
        self.unmount(measured, &mounted_fs, setup, rules, &mut watched)?;
        self.attribute(measured, device, setup, told, rules);
        measured.smart = smart_before.zip(self.smart(device, rules)).map(|(a, b)| [a, b]);
        if assignment.verify {
            self.verify(measured, &mounted_fs, assignment, rules)?;
        }
        // Last, so that what the checks write is neither measured nor verified.
        if assignment.checks_features && !mounted_fs.is_shared {
            let found = self.lab.features(&mounted_fs, setup, rules);
            measured.features = found.unwrap_or_else(|error| lab::unchecked(&error));
        }
        Ok(())
    }

    /// Begins to record who writes to the device of a trial, if that is asked for and this user
    /// may. A workload in the live lab has the machine's own counters only.
    fn causes(
        &mut self,
        device: Option<&BlockDevice>,
        own: RecordingProcess,
    ) -> Option<Result<PhaseRecording, String>> {
        let is_wanted = own == RecordingProcess::Watcher || self.target.lab() != LabKind::Live;
        let device = device.filter(|_| is_wanted && self.write_ledger.has_causes())?;
        processes::is_root_of_machine()
            .then(|| write_ledger::record_causes(device, own, self.journal, self.interrupt))
    }

    /// Makes the filesystem a used one, beside the workload's directory, writes the files that
    /// phases work on, and drops the caches.
    fn use_before(
        &mut self,
        mounted_fs: &MountedFs,
        device: Option<&BlockDevice>,
        assignment: &Assignment,
        rules: Rules<'_>,
    ) -> Result<(), Failure> {
        let Assignment { setup, workload, seed, .. } = assignment;
        let (prefill, stale) =
            (amount_bytes(setup.prefill, device)?, amount_bytes(setup.stale, device)?);
        let has_reader = !mounted_fs.is_shared && workload.phases.iter().any(|phase| phase.reader);
        let has_files = self.workload.begins_with_files(workload);
        if prefill == 0 && stale == 0 && !has_reader && !has_files {
            return Ok(());
        }
        let is_simulated = self.target.lab() == LabKind::Virtual;
        let is_direct = setup.filesystem.is_some_and(|filesystem| filesystem.writes_directly);
        let material = if is_simulated { Material::Zeros { is_direct } } else { Material::Text };
        let during =
            |what: &'static str| move |error: WorkloadError| Failure::from(error).during(what);
        // Before the workload's files, which are then allocated as on a used disk.
        for (name, bytes) in [("prefill", prefill), ("stale", stale)] {
            let directory = mounted_fs.directory.with_file_name(name);
            fs::create_dir(&directory).map_err(Failure::step("make", &directory))?;
            let place = PhaseContext { directory: &directory, ..place(mounted_fs, rules) };
            self.workload.fill(bytes, *seed, material, place).map_err(during(name))?;
            if name == "stale" {
                self.workload.empty(place).map_err(during(name))?;
            }
        }
        if has_files {
            let place = place(mounted_fs, rules);
            self.workload.lay_out(workload, place).map_err(during("files"))?;
        }
        if has_reader {
            let path = reader_file(mounted_fs);
            let made = self.workload.make_reader(&path, *seed);
            made.map_err(Failure::step("make the reader's file", &path))?;
        }
        if !mounted_fs.is_shared {
            self.lab.remount(mounted_fs, setup, rules)?;
        }
        Ok(())
    }

    /// Lets everything that mkfs, mount and prefill left behind end before the first phase;
    /// returns the bytes that were written although nothing was asked for.
    fn settle(
        &mut self,
        mounted_fs: &MountedFs,
        rules: Rules<'_>,
        silence: Duration,
        watched: &mut MeteredDevice<'_>,
    ) -> Result<u64, Failure> {
        if mounted_fs.is_shared {
            return Ok(0);
        }
        let limit_ns = Span(PREPARATION).nanos();
        let step = |action| Phase::new("settle", action, limit_ns);
        let place = place(mounted_fs, rules);
        self.workload.perform(&step(Action::Sync), place)?;
        watched.advance()?;
        let idle = step(Action::Idle { quiet_ns: Span(silence).nanos() });
        let measured = watched.measure(&idle, silence, || Ok(PhaseOutcome::default()))?;
        Ok(measured.device.map_or(0, |device| device.written_bytes))
    }

    /// Measures a phase, with a reader beside it if it has one.
    fn observed(
        &mut self,
        phase: &Phase,
        mounted_fs: &MountedFs,
        assignment: &Assignment,
        rules: Rules<'_>,
        watched: &mut MeteredDevice<'_>,
    ) -> Result<results::PhaseRecord, Failure> {
        // Unmounting and mounting are in the phase's counts, but not in its time.
        if phase.cold && !mounted_fs.is_shared {
            self.remount(mounted_fs, assignment, rules, watched.remounting())?;
        }
        // No file is left beside a folder of the user's.
        if !phase.reader || mounted_fs.is_shared {
            return self.phase(phase, mounted_fs, assignment, rules, watched);
        }
        let path = reader_file(mounted_fs);
        let reader = ConcurrentReader::open(&path, assignment.seed)
            .map_err(Failure::step("open, past the page cache, the reader's file", &path))?;
        let charge = watched.reader_charge();
        let begins = charge.as_ref().map(|charge| charge as &(dyn Fn(u32) + Sync));
        let (measured, read) =
            reader.beside(begins, || self.phase(phase, mounted_fs, assignment, rules, watched));
        let mut measured = measured?;
        let reads = read.map_err(Failure::step("read, beside the phase,", &path))?;
        // While a filesystem postpones its work, reads say nothing of what that work costs.
        let silence = Duration::from_nanos(assignment.workload.quiet_ns);
        let is_beside = |from, to| !watched.was_idle(from, to, silence);
        measured.reported.extend(metric::parsed(reads.metrics(is_beside)));
        Ok(measured)
    }

    fn phase(
        &mut self,
        phase: &Phase,
        mounted_fs: &MountedFs,
        assignment: &Assignment,
        rules: Rules<'_>,
        watched: &mut MeteredDevice<'_>,
    ) -> Result<results::PhaseRecord, Failure> {
        let rules = Rules { limit: Duration::from_nanos(phase.limit_ns), ..rules };
        let place = place(mounted_fs, rules);
        let silence = Duration::from_nanos(assignment.workload.quiet_ns);
        match phase.action {
            Action::Remount => {
                let remounting = watched.remounting();
                watched.measure(phase, silence, || {
                    self.remount(mounted_fs, assignment, rules, remounting)?;
                    Ok(PhaseOutcome::default())
                })
            }
            // Measuring itself waits after every phase that settles.
            Action::Idle { .. } => watched.measure(phase, silence, || Ok(PhaseOutcome::default())),
            Action::Stretch { stretch_ns, washout_ns } => {
                let stretch = LiveStretch {
                    phase,
                    length: Duration::from_nanos(stretch_ns),
                    washout: Duration::from_nanos(washout_ns),
                    mounted_at: place.mounted_at,
                    levels: &assignment.setup.levels,
                    interrupt: self.interrupt,
                };
                let (lab, journal) = (&mut self.lab, &mut self.journal);
                stretch.measure(&mut self.stretches, watched, &mut || Ok(lab.end_stretch(journal)?))
            }
            _ => watched.measure(phase, silence, || Ok(self.workload.perform(phase, place)?)),
        }
    }

    /// Unmounts and mounts a filesystem, of which who writes to it may be recorded.
    fn remount(
        &mut self,
        mounted_fs: &MountedFs,
        assignment: &Assignment,
        rules: Rules<'_>,
        recorded: Option<Remounting>,
    ) -> Result<(), LabError> {
        let mut remount = || self.lab.remount(mounted_fs, &assignment.setup, rules);
        match recorded {
            Some(remounting) => remounting.by(self.interrupt, remount),
            None => remount(),
        }
    }

    /// Unmounting writes too; the record has its bytes.
    fn unmount(
        &mut self,
        measured: &mut Record,
        mounted_fs: &MountedFs,
        setup: &Setup,
        rules: Rules<'_>,
        watched: &mut MeteredDevice<'_>,
    ) -> Result<(), Failure> {
        if mounted_fs.is_shared {
            return Ok(());
        }
        let started = Instant::now();
        self.lab.unmount(mounted_fs, setup, rules)?;
        let time_ns = Span(started.elapsed()).nanos();
        measured.teardown = watched.advance()?.map(|device| Teardown { time_ns, device });
        // What unmounting itself could not write.
        match self.fallible(watched.device) {
            None => Ok(()),
            Some(device) => written_back(device)
                .map_err(Failure::step("write the last blocks of the filesystem to", &device.node)),
        }
    }

    /// The device, if writes to it may fail.
    fn fallible<'a>(&self, device: Option<&'a BlockDevice>) -> Option<&'a BlockDevice> {
        device.filter(|_| self.lab.may_fail())
    }

    /// Reads the filesystem's layout, and adds the writes; those of a guest are added by the host.
    fn attribute(
        &mut self,
        measured: &mut Record,
        device: Option<&BlockDevice>,
        setup: &Setup,
        told: &mut dyn FnMut(Message),
        rules: Rules<'_>,
    ) {
        // Requests of the tools do not belong to the trial.
        let log = self.write_ledger.stop_recording();
        let is_wanted = log.is_some() || self.target.lab() == LabKind::Virtual;
        let (Some(device), Some(filesystem)) = (device.filter(|_| is_wanted), setup.filesystem)
        else {
            return;
        };
        let asked = self.lab.layout(setup, rules).map_err(|e| e.to_string());
        match log {
            Some(log) => {
                let layout = asked.as_ref().map_err(String::as_str);
                write_ledger::add_logged_phases(measured, log, &device.node, filesystem, layout);
            }
            None => told(Message::Layout(asked)),
        }
    }

    /// Compares the files that the trial left with those it must have left, and runs the
    /// filesystem's own check. All measurements are complete by then; mounting again makes reads
    /// come from the device.
    fn verify(
        &mut self,
        measured: &mut Record,
        mounted_fs: &MountedFs,
        assignment: &Assignment,
        rules: Rules<'_>,
    ) -> Result<(), Failure> {
        let setup = &assignment.setup;
        self.lab.remount(mounted_fs, setup, rules)?;
        let place = place(mounted_fs, rules);
        let compared = self.workload.verify(&assignment.workload.phases, place)?;
        self.lab.unmount(mounted_fs, setup, rules)?;
        let checked = self.lab.check(mounted_fs, setup, rules)?;
        let tree = compared.then(|| "the tree".to_owned());
        let verified: Vec<String> = tree.into_iter().chain(checked).collect();
        measured.applied.insert("verified".to_owned(), verified.join(", "));
        Ok(())
    }

    /// Only a real drive has counters of its own.
    fn smart(&self, device: Option<&BlockDevice>, rules: Rules<'_>) -> Option<Smart> {
        let is_drive = self.target.lab() == LabKind::Device;
        device.filter(|_| is_drive).and_then(|device| Smart::read(&device.node, rules))
    }
}

/// Flushes a device. A write of its cache that failed is an error, unless that has been reported.
fn written_back(device: &BlockDevice) -> io::Result<()> {
    File::open(&device.node)?.sync_all()
}

fn amount_bytes(amount: Option<Amount>, device: Option<&BlockDevice>) -> Result<u64, Failure> {
    match (amount, device) {
        (None, _) => Ok(0),
        (Some(Amount::Bytes(bytes)), _) => Ok(bytes),
        (Some(share), Some(device)) => {
            let size = device.size_bytes();
            let node = device.node.display();
            let unknown = |error| Failure::Failed(format!("the size of {node}: {error}"));
            size.map(|bytes| share.bytes_of(bytes)).map_err(unknown)
        }
        (Some(Amount::Share(_)), None) => Err(Failure::Unavailable(
            "there is no device to fill a share of: write an amount in bytes".to_owned(),
        )),
    }
}

/// Where the workload works.
pub(super) fn place<'a>(mounted_fs: &'a MountedFs, rules: Rules<'a>) -> PhaseContext<'a> {
    let MountedFs { directory, mounted_at, commit, .. } = mounted_fs;
    PhaseContext { directory, mounted_at, commit, rules }
}

/// The reader's file is beside the workload's directory.
fn reader_file(mounted_fs: &MountedFs) -> PathBuf {
    mounted_fs.directory.with_file_name("reader")
}

/// Application bytes that must have reached the device by the next sync.
#[derive(Debug, Default)]
struct Tally {
    expected_bytes: u64,
    written_bytes: u64,
}

impl Tally {
    /// After a phase that synced, the device must have written at least what the application wrote,
    /// unless the application has removed some of it or the filesystem compresses.
    fn check(
        &mut self,
        phase: &Phase,
        measured: &results::PhaseRecord,
        compresses: bool,
    ) -> Result<(), Failure> {
        let Some(device) = measured.device else {
            return Ok(());
        };
        self.written_bytes += device.written_bytes;
        match (&phase.action, measured.application_bytes) {
            (Action::Unpack | Action::Clone, Some(bytes)) => self.expected_bytes += bytes,
            (
                Action::Sync
                | Action::Remount
                | Action::Fstrim
                | Action::Idle { .. }
                | Action::Stretch { .. },
                _,
            ) => {}
            _ => *self = Self::default(),
        }
        if !phase.syncs() {
            return Ok(());
        }
        let Self { expected_bytes, written_bytes } = std::mem::take(self);
        if written_bytes >= expected_bytes || compresses {
            return Ok(());
        }
        Err(Failure::Void(format!(
            "the workload wrote and synced {expected_bytes} bytes, the device counted only \
             {written_bytes}"
        )))
    }
}

#[cfg(test)]
mod tests;

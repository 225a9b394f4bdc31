//! Aged filesystems: what one is made from, how it is made on this machine, and where a trial gets
//! it.
//!
//! Ageing takes longer than most trials, so a state is made once and kept if it can be copied: an
//! image, and in the virtual lab a drive. A real drive is aged in each trial, and then mounted
//! again with the trial's own options, so that the state is the same everywhere. Each block has a
//! state of its own, from the block's seed, which all its treatments share: an effect is then about
//! used filesystems, and not about one that happened to arise.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};

use serde::{Deserialize, Serialize};
use ssdlab_filesystem::MkfsOptions;
use ssdlab_host::program::{ProgramError, Rules};
use ssdlab_host::toolbox::Toolbox;
use ssdlab_kernel::KernelError;
use ssdlab_kernel::aged::{self, AgedState};
use ssdlab_lab::{DeviceContents, Tools};
use ssdlab_plan::{Age, Bytes, LabKind, LevelError, Setup, Target};
use ssdlab_results::{AgeingRecord, Record};
use ssdlab_workload::PhaseContext;

use super::failure::Failure;
use super::local::LocalExecutor;
use super::message::Message;
use super::trial::{IMAGE, PREPARATION, place};

/// The version of the format of kept states.
const FORMAT: u32 = 1;

/// What an aged filesystem is made from: trials that have all of this in common share it.
#[derive(Debug, Serialize)]
pub(super) struct AgeingInputs {
    format: u32,
    profile: &'static str,
    profile_version: u32,
    target: Option<f64>,
    filesystem: &'static str,
    mkfs: Vec<String>,
    mkfs_version: Option<String>,
    mount: Vec<String>,
    seed: u64,
    /// Where it was aged: the lab, with its device's size, kernel, drive and host as they apply.
    place: BTreeMap<&'static str, String>,
}

impl AgeingInputs {
    pub fn new(
        age: Age,
        setup: &Setup,
        seed: u64,
        place: BTreeMap<&'static str, String>,
        toolbox: &Toolbox,
    ) -> Result<Self, Failure> {
        let Some(filesystem) = setup.filesystem else {
            return Err(Failure::Unavailable("no filesystem is named to be aged".to_owned()));
        };
        let format = MkfsOptions {
            journal: setup.journal,
            seed,
            extra: setup.mkfs_words(),
            ..MkfsOptions::default()
        };
        Ok(Self {
            format: FORMAT,
            profile: age.profile.name,
            profile_version: age.profile.version,
            target: age.target,
            filesystem: filesystem.name,
            mkfs: filesystem.format_arguments(&format),
            mkfs_version: toolbox.version(filesystem.mkfs, "-V"),
            mount: setup.mount_of_settings(),
            seed,
            place,
        })
    }
}

/// What an aged filesystem was made from, in one line, from the JSON kept with it; none if that has
/// another format.
pub fn aged_from(made_from: &serde_json::Value) -> Option<String> {
    let text = |of: &serde_json::Value, name: &str| Some(of.get(name)?.as_str()?.to_owned());
    let place = made_from.get("place")?;
    let target = made_from.get("target").and_then(serde_json::Value::as_f64);
    let target = target.map(|target| format!(" to {target}")).unwrap_or_default();
    let mut parts = vec![
        text(made_from, "filesystem")?,
        text(made_from, "profile")? + &target,
        text(place, "lab")? + " lab",
    ];
    parts.extend(["condition", "host"].iter().filter_map(|name| text(place, name)));
    if let Some(size_bytes) = text(place, "size_bytes").and_then(|size| size.parse().ok()) {
        parts.push(Bytes(size_bytes).to_string());
    }
    parts.push(format!("seed {}", made_from.get("seed")?.as_u64()?));
    Some(parts.join(", "))
}

/// The facts that are kept with an aged filesystem.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct AgedFacts {
    /// The command line that made it.
    pub mkfs: Option<String>,
    /// The outcome of ageing.
    pub aged: AgeingRecord,
}

impl AgedFacts {
    /// Enters them into the measurements of a trial that started from it.
    pub fn enter(self, state: Option<String>, measured: &mut Record) {
        measured.applied.extend(self.mkfs.map(|line| ("mkfs".to_owned(), line)));
        measured.aged = Some(AgeingRecord { state, ..self.aged });
    }
}

/// The setup that an aged filesystem is made with: every option that does not shape it has its
/// default.
pub(super) fn shaping(setup: &Setup) -> Result<Setup, LevelError> {
    Setup::new(&setup.levels.only(|factor| factor.shapes_aged()))
}

impl LocalExecutor<'_> {
    /// The aged state that a trial on an image starts from; none if it does not.
    pub(super) fn kept_state(
        &mut self,
        setup: &Setup,
        seed: u64,
        told: &mut dyn FnMut(Message),
        rules: Rules<'_>,
    ) -> Result<Option<AgedState<AgedFacts>>, Failure> {
        let (Some(age), Target::Image { size_bytes, .. }) = (setup.age, self.target) else {
            return Ok(None);
        };
        let place = BTreeMap::from([
            ("lab", LabKind::Image.to_string()),
            ("size_bytes", size_bytes.to_string()),
            ("kernel", rustix::system::uname().release().to_string_lossy().into_owned()),
        ]);
        let made_from = AgeingInputs::new(age, setup, seed, place, &Toolbox::Machine)?;
        let (store, interrupt) = (self.aged, self.interrupt);
        store
            .get(&made_from, interrupt, |folder| {
                told(Message::Begins("ageing".to_owned()));
                let mark = self.journal.mark();
                let facts = self.age_blank(setup, seed, rules);
                // The image is complete once nothing uses it any more.
                let undone = self.journal.undo_to(mark);
                let facts = facts?;
                undone.map_err(|error| Failure::Failed(error.to_string()))?;
                let made = self.lab.file().expect("the image lab's devices are files");
                let image = folder.join(IMAGE);
                let mut options = OpenOptions::new();
                options.write(true).create_new(true);
                let copied =
                    File::open(made).and_then(|made| aged::copy(&made, &options.open(&image)?));
                copied.map_err(Failure::step("keep the aged image in", &image))?;
                Ok(facts)
            })
            .map(Some)
    }

    /// Attaches a blank device, makes a filesystem on it and ages it.
    fn age_blank(
        &mut self,
        setup: &Setup,
        seed: u64,
        rules: Rules<'_>,
    ) -> Result<AgedFacts, Failure> {
        self.lab.attach(None, &mut Tools { journal: self.journal, rules })?;
        self.age(setup, seed, rules)
    }

    /// Ages the drive of a guest, for later trials.
    pub(super) fn ageing(&mut self, setup: &Setup, seed: u64) -> Result<AgedFacts, Failure> {
        let marker = self.journal.marker().to_owned();
        let rules = Rules { marker: &marker, limit: PREPARATION, interrupt: self.interrupt };
        self.age_blank(setup, seed, rules)
    }

    /// Makes the filesystem of a setup on the attached device, ages it, and unmounts it.
    pub(super) fn age(
        &mut self,
        setup: &Setup,
        seed: u64,
        rules: Rules<'_>,
    ) -> Result<AgedFacts, Failure> {
        let Some(age) = setup.age else {
            return Err(Failure::Failed("there is nothing to age by".to_owned()));
        };
        let setup = shaping(setup)?;
        let mut tools = Tools { journal: self.journal, rules };
        let mut mounted_fs = self.lab.prepare(&setup, DeviceContents::Blank, seed, &mut tools)?;
        let directory = mounted_fs.directory.with_file_name("aged");
        fs::create_dir(&directory).map_err(Failure::step("make", &directory))?;
        let place = PhaseContext { directory: &directory, ..place(&mounted_fs, rules) };
        let aged = self
            .workload
            .age(age, seed, place)
            .map_err(|error| Failure::from(error).during("ageing"))?;
        // The trial makes its own.
        fs::remove_dir(&mounted_fs.directory)
            .map_err(Failure::step("remove", &mounted_fs.directory))?;
        self.lab.unmount(&mounted_fs, &setup, rules)?;
        let aged = AgeingRecord {
            state: None,
            layout_score: aged.layout_score,
            rounds: aged.rounds,
            written_bytes: aged.written_bytes,
            files: aged.files,
            is_at_target: aged.is_at_target,
        };
        Ok(AgedFacts { mkfs: mounted_fs.applied.remove("mkfs"), aged })
    }
}

impl From<KernelError> for Failure {
    fn from(error: KernelError) -> Self {
        match error {
            KernelError::Program(ProgramError::Interrupted) => Self::Interrupted,
            KernelError::NoCache => Self::Unavailable(error.to_string()),
            other => Self::Failed(other.to_string()),
        }
    }
}

#[cfg(test)]
mod tests;

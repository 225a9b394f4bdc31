//! The live lab: a mounted filesystem of the running machine, whose options and settings are
//! changed in turns and put back.
//!
//! It makes no filesystem, and changes only what can be put back exactly. Each change is read back,
//! as drivers accept options that they ignore; and it is synced, so that what was written before
//! belongs to the stretch before.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use ssdlab_host::mounts::{self, Mount};
use ssdlab_host::program::{self, Rules};
use ssdlab_host::remount;
use ssdlab_host::sysfs::{self, BlockDevice};
use ssdlab_host::undo::{Change, Journal, TWEAK_LIMIT, is_writeback, writeback_path};
use ssdlab_plan::{Atime, Discard, Setup, TWEAK, TWEAK_UNDO};

use super::block::write_back;
use super::held::HeldFolder;
use super::lab::DIRECTORY;
use super::{DeviceContents, Lab, LabError, MountedFs, Tools, mounting, settings};

/// A change to the machine of the user's own, as command lines for sh(1).
#[derive(Debug, Clone, Copy)]
pub struct Tweak<'a> {
    /// Makes it.
    pub command: &'a str,
    /// Takes it back; it may be run more than once.
    pub undo: &'a str,
}

#[derive(Debug)]
pub(super) struct LiveLab<'a> {
    /// Where workloads make their folder; none if the machine's own work is the load.
    workplace: Option<PathBuf>,
    mount: Mount,
    device: BlockDevice,
    /// The user's own change, if treatments have one.
    tweak: Option<Tweak<'a>>,
    /// The place in the journal before it was made.
    before_tweak: Option<usize>,
    /// The folder of the current trial.
    held: Option<HeldFolder>,
}

/// Opens the live lab on the filesystem that contains a folder.
pub fn open<'a>(
    path: &Path,
    has_workload: bool,
    tweak: Option<Tweak<'a>>,
) -> Result<Box<dyn Lab + 'a>, LabError> {
    let refused = |reason: String| LabError::Unavailable { reason };
    LabError::check_root("live", "changes mount options and settings of the kernel")?;
    let path = path.canonicalize().map_err(LabError::step("use the folder", path))?;
    let mount = mount_of(&path)?;
    // Filesystems that take several devices have a number of their own in the table.
    let number = sysfs::block_number(Path::new(&mount.source));
    let device = BlockDevice::numbered(&mount.device)
        .ok()
        .or_else(|| BlockDevice::numbered(&number?).ok())
        .ok_or_else(|| {
            refused(format!(
                "{} is on {} ({}), which is on no block device; name a folder of the filesystem \
                 below it: --mount DIR",
                path.display(),
                mount.source.display(),
                mount.kind
            ))
        })?;
    if mount.options.iter().any(|option| option == "ro") {
        return Err(refused(format!("{} is read-only", mount.target.display())));
    }
    if let Some(devices) = members(&device).filter(|devices| *devices > 1) {
        return Err(refused(format!(
            "{} is on {devices} devices, and only one would be counted",
            mount.target.display()
        )));
    }
    Ok(Box::new(LiveLab {
        workplace: has_workload.then_some(path),
        mount,
        device,
        tweak,
        before_tweak: None,
        held: None,
    }))
}

/// The mounted filesystem that contains a folder.
fn mount_of(path: &Path) -> Result<Mount, LabError> {
    mounts::containing(path)
        .and_then(|mount| mount.ok_or_else(|| io::Error::other("it is in no mounted filesystem")))
        .map_err(LabError::step("find the filesystem of", path))
}

/// The kind of the mounted filesystem that contains a folder, and the options that decide what it
/// writes under each of these setups.
pub fn options_under<'a>(
    path: &Path,
    setups: impl IntoIterator<Item = &'a Setup>,
) -> Result<(String, Vec<Vec<String>>), LabError> {
    let mount = mount_of(path)?;
    let options = |setup| remount::options_with(&mount, &words(setup, &mount));
    let options = setups.into_iter().map(options).collect();
    Ok((mount.kind, options))
}

/// The number of devices of the btrfs that has this one.
fn members(device: &BlockDevice) -> Option<usize> {
    let filesystems = fs::read_dir("/sys/fs/btrfs").ok()?.flatten();
    let folders = filesystems.map(|filesystem| filesystem.path().join("devices"));
    let own = folders.into_iter().find(|folder| folder.join(&device.name).exists())?;
    Some(fs::read_dir(own).ok()?.count())
}

/// The words to put in force for a setup.
fn words(setup: &Setup, mount: &Mount) -> Vec<String> {
    let atime = setup.atime.map(|atime| match atime {
        Atime::Strict | Atime::Attribute => "strictatime",
        Atime::Relative => "relatime",
        Atime::None => "noatime",
    });
    let discard = setup.discard.map(|discard| match discard {
        Discard::On => "discard",
        Discard::Off | Discard::Fstrim => "nodiscard",
    });
    let free = setup.mount.iter().map(String::as_str).filter(|word| *word != "defaults");
    let words = atime.into_iter().chain(discard).chain(free);
    words.map(|word| remount::spelt(mount, word)).collect()
}

impl LiveLab<'_> {
    /// Why a word cannot be put in force here, and back.
    fn refuses(&self, word: &str) -> Option<String> {
        let Mount { kind, target, .. } = &self.mount;
        if !remount::can_be_put_back(word) {
            return Some(format!(
                "`{word}` is not among the options that a remount puts back exactly"
            ));
        }
        if remount::in_force(&self.mount, word).is_none() {
            return Some(format!(
                "{kind} does not change `{word}` in a remount, even if it accepts the option"
            ));
        }
        // Subvolumes are filesystems to their users.
        let is_other = |other: &Mount| other.device == self.mount.device && other.target != *target;
        let others = mounts::all().unwrap_or_default();
        let other = others.iter().find(|other| is_other(other))?;
        (kind == "btrfs" && !remount::is_of_mount(word)).then(|| {
            format!(
                "`{word}` would also change {}, which is of the same btrfs; unmount it first",
                mounts::printable(&other.target)
            )
        })
    }

    fn mount_words(&self, setup: &Setup, tools: &mut Tools<'_>) -> Result<Mount, LabError> {
        let target = &self.mount.target;
        let words = words(setup, &self.mount);
        if !words.is_empty() {
            let now = self.mount_now()?;
            let before = words.iter().filter_map(|word| remount::in_force(&now, word)).collect();
            let change = Change::Remount { target: target.clone(), device: now.device, before };
            tools.journal.will(change).map_err(LabError::step("journal the options of", target))?;
            remount::put_in_force(&self.mount, &words)
                .map_err(LabError::step("remount", target))?;
        }
        self.mount_now()
    }

    /// Makes the user's own change, or takes it back, as a treatment has it; returns the commands.
    fn set_tweak(
        &mut self,
        on: Option<bool>,
        tools: &mut Tools<'_>,
    ) -> Result<BTreeMap<String, String>, LabError> {
        let (Some(on), Some(Tweak { command, undo })) = (on, self.tweak) else {
            return Ok(BTreeMap::new());
        };
        let mark = tools.journal.mark();
        let journaled = tools.journal.will(Change::Tweak { undo: undo.to_owned() });
        journaled.map_err(LabError::step("journal what takes back", Path::new(command)))?;
        if on {
            self.before_tweak = Some(mark);
            let rules = Rules { limit: TWEAK_LIMIT, ..tools.rules };
            program::run(program::shell(command), rules)?;
        } else {
            // The tweak may have been in force before the run.
            tools.journal.undo_to(mark)?;
        }
        let lines = [(TWEAK, command), (TWEAK_UNDO, undo)];
        Ok(lines.map(|(name, line)| (name.to_owned(), line.to_owned())).into())
    }

    /// The mount with its present options.
    fn mount_now(&self) -> Result<Mount, LabError> {
        let target = &self.mount.target;
        let now = mounts::at(target).map_err(LabError::step("read the options of", target))?;
        now.filter(|now| now.device == self.mount.device)
            .ok_or_else(|| io::Error::other("another filesystem is mounted there"))
            .map_err(LabError::step("read the options of", target))
    }
}

/// Sets writeback as a treatment has it, and reads it back.
fn set_writeback(setup: &Setup, tools: &mut Tools<'_>) -> Result<(), LabError> {
    for (name, value) in &setup.sysctls {
        let (path, after) = (writeback_path(name), value.to_string());
        let before = sysfs::read(&path).map_err(LabError::step("read", &path))?;
        if !is_writeback(name, &before, &after) {
            return Err(LabError::Unavailable {
                reason: format!("{name} is {before}; from {after} it could not be put back"),
            });
        }
        settings::set_by(&path, name, &after, tools, |before| Change::Sysctl {
            name: name.clone(),
            before,
            after: after.clone(),
        })?;
    }
    Ok(())
}

impl Lab for LiveLab<'_> {
    fn missing(&self, setup: &Setup) -> Option<String> {
        let asked = setup.filesystem.filter(|filesystem| filesystem.name != self.mount.kind);
        if let Some(asked) = asked {
            return Some(format!(
                "{} is {}, not {}",
                self.mount.target.display(),
                self.mount.kind,
                asked.name
            ));
        }
        let is_made = !setup.mkfs.is_empty() || setup.journal.is_some();
        let is_filled = setup.age.is_some() || setup.prefill.is_some() || setup.stale.is_some();
        let is_other = setup.driver.is_some() || !setup.settings.is_empty();
        if is_made || is_filled || is_other || setup.write_cache.is_some() {
            return Some(
                "the live lab only changes options, schedulers, queues, writeback and `tweak`"
                    .to_owned(),
            );
        }
        if setup.discard == Some(Discard::Fstrim) {
            return Some("fstrim would trim the whole filesystem in every stretch".to_owned());
        }
        if setup.atime == Some(Atime::Attribute) {
            return Some("`chattr` would have to change every file".to_owned());
        }
        words(setup, &self.mount).iter().find_map(|word| self.refuses(word))
    }

    fn attach(
        &mut self,
        _: Option<&Path>,
        _: &mut Tools<'_>,
    ) -> Result<Option<BlockDevice>, LabError> {
        Ok(Some(self.device.clone()))
    }

    fn prepare(
        &mut self,
        setup: &Setup,
        _start: DeviceContents,
        _seed: u64,
        tools: &mut Tools<'_>,
    ) -> Result<MountedFs, LabError> {
        let mut directory = self.mount.target.clone();
        if let Some(place) = &self.workplace {
            let (held, _) = HeldFolder::make(place, tools.journal)?;
            directory = held.path().join(DIRECTORY);
            fs::create_dir(&directory).map_err(LabError::step("make", &directory))?;
            self.held = Some(held);
        }
        let mut applied = settings::apply(&self.device, setup, tools)?;
        set_writeback(setup, tools)?;
        let mount = self.mount_words(setup, tools)?;
        let tweak = self.set_tweak(setup.tweak, tools)?;
        applied.extend(setup.sysctls.iter().map(|(name, value)| (name.clone(), value.to_string())));
        applied.extend(tweak);
        applied.extend(mounting::reported(&mount));
        write_back(&mount.target)?;
        Ok(MountedFs::of_others(&mount, directory, applied))
    }

    fn remount(&mut self, mounted_fs: &MountedFs, _: &Setup, _: Rules<'_>) -> Result<(), LabError> {
        Err(LabError::Unavailable {
            reason: format!(
                "the live lab does not unmount {}: caches are kept",
                mounted_fs.mounted_at.display()
            ),
        })
    }

    fn unmount(&mut self, _: &MountedFs, _: &Setup, _: Rules<'_>) -> Result<(), LabError> {
        Ok(())
    }

    fn end_stretch(&mut self, journal: &mut Journal) -> Result<(), LabError> {
        let Some(mark) = self.before_tweak.take() else { return Ok(()) };
        Ok(journal.undo_to(mark)?)
    }

    fn finish_trial(&mut self, _: &Tools<'_>) -> Result<(), LabError> {
        self.before_tweak = None;
        self.held = None;
        Ok(())
    }
}

//! What a treatment's levels mean: the setup that a lab makes.
//!
//! Making one is the only place where levels are checked.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use ssdlab_filesystem::{self as filesystem, Driver, Filesystem, JournalSupport};
use ssdlab_quantity::{Bytes, split_words};

use super::age::{self, Age};
use super::factor::{DEFAULT, DEFAULTS, Factor, Levels};
use super::level_error::{LevelError, SWITCH, leave_out, one_of, unknown};
use super::node_feature;
use super::scheduler;
use super::setting::{self, ChosenLevel};
use super::simulated::SimulatedMachine;

/// Access-time policies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Atime {
    /// Every read updates it.
    Strict,
    /// A read updates it when it is older than the last change, or than a day.
    Relative,
    /// No read updates it.
    None,
    /// `chattr +A` on the root directory; every inode made below inherits it.
    Attribute,
}

/// How the drive learns which space is free.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Discard {
    /// It does not.
    Off,
    /// At once, by the mount option.
    On,
    /// By an explicit trim.
    Fstrim,
}

pub(super) const ATIMES: [(&str, Atime); 4] = [
    ("strictatime", Atime::Strict),
    ("relatime", Atime::Relative),
    ("noatime", Atime::None),
    ("chattr", Atime::Attribute),
];

pub(super) const FSTRIM: &str = "fstrim";
pub(super) const DISCARDS: [(&str, Discard); 3] =
    [("off", Discard::Off), ("on", Discard::On), (FSTRIM, Discard::Fstrim)];

/// An amount of data.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Amount {
    Bytes(u64),
    /// A share of the device, 0 to 1.
    Share(f64),
}

impl Amount {
    /// The bytes that it is on a device of so many.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is positive")]
    pub fn bytes_of(self, device: u64) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Share(share) => (device as f64 * share) as u64,
        }
    }
}

/// The level of `filesystem` that takes a directory as it is.
pub const ANY_FILESYSTEM: &str = "any";

/// The settings of writeback that can be put back. One in bytes sets the one in per cent to 0,
/// which cannot be set again.
pub(super) const WRITEBACK: [&str; 4] = [
    "vm.dirty_expire_centisecs",
    "vm.dirty_writeback_centisecs",
    "vm.dirty_ratio",
    "vm.dirty_background_ratio",
];

/// What a treatment's levels mean: everything the lab has to set. A `None` leaves the
/// machine's or mkfs's default.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The levels themselves.
    pub levels: Levels,
    /// The filesystem to make; `None` means whatever a directory is on.
    pub filesystem: Option<&'static Filesystem>,
    /// The driver that mounts it, if it is to be a certain one.
    pub driver: Option<&'static Driver>,
    /// With or without a journal.
    pub journal: Option<bool>,
    /// What its filesystem has in its own words: checksums, compression.
    pub settings: Vec<ChosenLevel>,
    /// The access-time policy.
    pub atime: Option<Atime>,
    /// How the drive learns which space is free.
    pub discard: Option<Discard>,
    /// The scheduler, by the kernel's name.
    pub scheduler: Option<&'static str>,
    /// Its tunables, by name.
    pub tunables: BTreeMap<String, u64>,
    /// Attributes of the device's queue, by name.
    pub queue: BTreeMap<String, u64>,
    /// Words added to mkfs.
    pub mkfs: Vec<String>,
    /// Options added to mount.
    pub mount: Vec<String>,
    /// Settings of the kernel's writeback, by name.
    pub sysctls: BTreeMap<String, u64>,
    /// The user's own change to the machine.
    pub tweak: Option<bool>,
    /// Files that came and went first.
    pub age: Option<Age>,
    /// Data written first.
    pub prefill: Option<Amount>,
    /// Data written after that, and deleted again.
    pub stale: Option<Amount>,
    /// The drive's write cache.
    pub write_cache: Option<bool>,
    /// The simulated machine, which only the virtual lab has.
    pub simulated: SimulatedMachine,
}

impl Serialize for Setup {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.levels.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Setup {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let levels = Levels::deserialize(deserializer)?;
        Self::new(&levels).map_err(|error| D::Error::custom(error.message))
    }
}

impl Setup {
    /// Reads a treatment's levels.
    pub fn new(levels: &Levels) -> Result<Self, LevelError> {
        let level = |factor: Factor| levels.0.get(&factor).map(String::as_str);
        let filesystem = read_filesystem(level(Factor::Filesystem).unwrap_or(ANY_FILESYSTEM))?;
        let scheduler = level(Factor::Scheduler).map(scheduler::read).transpose()?;
        let setup = Self {
            levels: levels.clone(),
            filesystem,
            driver: level(Factor::FilesystemDriver)
                .map(|l| read_driver(l, filesystem))
                .transpose()?
                .flatten(),
            journal: one_of(levels, Factor::Journal, &SWITCH)?,
            settings: setting::read(levels, filesystem)?,
            atime: one_of(levels, Factor::Atime, &ATIMES)?,
            discard: one_of(levels, Factor::Discard, &DISCARDS)?,
            scheduler,
            tunables: level(Factor::SchedulerTunables)
                .map(|l| scheduler::tunables(l, scheduler))
                .transpose()?
                .unwrap_or_default(),
            queue: scheduler::queue(level(Factor::Queue).unwrap_or(DEFAULT))?,
            mkfs: read_mkfs(level(Factor::Mkfs).unwrap_or(""))?,
            mount: read_mount(level(Factor::Mount).unwrap_or(""))?,
            sysctls: read_sysctls(level(Factor::Sysctl).unwrap_or(DEFAULT))?,
            tweak: one_of(levels, Factor::Tweak, &SWITCH)?,
            age: age::read(level(Factor::Age).unwrap_or("off"))?,
            prefill: read_amount(Factor::Prefill, level(Factor::Prefill))?,
            stale: read_amount(Factor::Stale, level(Factor::Stale))?,
            write_cache: one_of(levels, Factor::WriteCache, &SWITCH)?,
            simulated: SimulatedMachine::new(levels)?,
        };
        level(Factor::NodeFeature).map(node_feature::read).transpose()?;
        setup.check_mkfs()?;
        setup.check_journal()?;
        setup.check_discard()?;
        setup.check_layer()?;
        setup.check_pool()?;
        setup.check_mount()?;
        setup.check_settings()?;
        Ok(setup)
    }

    /// The level of a factor as it is written; empty if there is none.
    fn level(&self, factor: Factor) -> &str {
        self.levels.0.get(&factor).map_or("", String::as_str)
    }

    /// What is added to mkfs, by levels and as it is.
    pub fn mkfs_words(&self) -> Vec<String> {
        let of_settings = self.settings.iter().flat_map(|chosen| chosen.level.mkfs);
        let of_settings = of_settings.map(|word| (*word).to_owned());
        of_settings.chain(self.mkfs.iter().cloned()).collect()
    }

    /// The mount options that the settings and the driver stand for.
    pub fn mount_of_settings(&self) -> Vec<String> {
        let of_driver = self.driver.into_iter().flat_map(|driver| driver.mount);
        let words = self.settings.iter().flat_map(|chosen| chosen.level.mount).chain(of_driver);
        words.map(|word| (*word).to_owned()).collect()
    }

    /// How long the filesystem may postpone online discards; zero if they do not come later than a
    /// sync, or not at all.
    pub fn postpones(&self) -> Duration {
        let Some(filesystem) = self.filesystem else { return Duration::ZERO };
        let of_factor = match self.discard {
            Some(Discard::On) => filesystem.discard_on,
            Some(Discard::Off | Discard::Fstrim) => filesystem.discard_off,
            None => None,
        };
        filesystem.postpones(of_factor.into_iter().chain(self.mount.iter().map(String::as_str)))
    }

    /// Only options that say what the filesystem is like: never where it is made, never to force
    /// anything: mkfs runs as root, and its own checks stay on.
    fn check_mkfs(&self) -> Result<(), LevelError> {
        let Some(filesystem) = self.filesystem else { return Ok(()) };
        let known = filesystem.mkfs_options;
        let mut words = self.mkfs.iter();
        while let Some(word) = words.next() {
            let option = known.iter().find(|option| {
                let rest = word.strip_prefix(**option);
                rest.is_some_and(|rest| {
                    rest.is_empty() || !word.starts_with("--") || rest.starts_with('=')
                })
            });
            let Some(option) = option else {
                return Err(LevelError {
                    factor: Factor::Mkfs,
                    message: format!("plans may not use the mkfs option `{word}`"),
                    help: format!("options with a value: {}", known.join(" ")),
                });
            };
            // The value is the next word, unless the option ends where its value begins.
            if word == option && !option.ends_with('=') {
                words.next();
            }
        }
        Ok(())
    }

    fn check_journal(&self) -> Result<(), LevelError> {
        let Some(journal) = self.journal else {
            return Ok(());
        };
        let Some(filesystem) = self.filesystem else {
            return Err(LevelError {
                factor: Factor::Journal,
                message: "the journal is chosen when a filesystem is made".to_owned(),
                help: "name the filesystem: filesystem = \"ext4\"".to_owned(),
            });
        };
        let name = filesystem.name;
        let message = match (filesystem.journal, journal) {
            (JournalSupport::Optional, _)
            | (JournalSupport::Always, true)
            | (JournalSupport::Never, false) => {
                return Ok(());
            }
            (JournalSupport::Always, false) => {
                format!("{name} always has a journal; it cannot be off")
            }
            (JournalSupport::Never, true) => format!("{name} has no journal; it cannot be on"),
            (JournalSupport::NotApplicable, _) => {
                format!("the journal of {name} cannot be switched on or off")
            }
        };
        let help = leave_out(name, &[(Factor::Journal, self.level(Factor::Journal))]);
        Err(LevelError { factor: Factor::Journal, message, help })
    }

    fn check_discard(&self) -> Result<(), LevelError> {
        let Some(filesystem) = self.filesystem else { return Ok(()) };
        let driver = self.driver.filter(|driver| !driver.discards);
        if filesystem.discard_on.is_some() && driver.is_none() {
            return Ok(());
        }
        if matches!(self.discard, Some(Discard::Off) | None) {
            return Ok(());
        }
        let name = filesystem.name;
        let by_driver = driver.map(|driver| (Factor::FilesystemDriver, driver.name));
        let discard = (Factor::Discard, self.level(Factor::Discard));
        let levels: Vec<_> = by_driver.into_iter().chain([discard]).collect();
        let by = driver.map_or(String::new(), |driver| format!(" with the driver {}", driver.name));
        Err(LevelError {
            factor: Factor::Discard,
            message: format!("{name}{by} does not support discards"),
            help: leave_out(name, &levels),
        })
    }

    /// What a layer makes impossible.
    fn check_layer(&self) -> Result<(), LevelError> {
        let Some(layer) = &self.simulated.layer else { return Ok(()) };
        let own = self.level(Factor::Layer);
        let clash = |factor: Factor, message: String| {
            let help = format!(
                "exclude the combination: exclude = [{{ layer = \"{own}\", {factor} = \"{}\" }}]",
                self.level(factor)
            );
            Err(LevelError { factor, message, help })
        };
        if self.age.is_some() {
            return clash(Factor::Age, format!("a drive is not aged through {layer}"));
        }
        if self.discard == Some(Discard::Fstrim) && !layer.takes_discards() {
            let message = format!("fstrim fails, because {layer} takes no discards: `{own}`");
            return clash(Factor::Discard, message);
        }
        Ok(())
    }

    /// What lives in a pool is not mounted by options.
    fn check_pool(&self) -> Result<(), LevelError> {
        let Some(filesystem) = self.filesystem.filter(|filesystem| filesystem.pool.is_some())
        else {
            return Ok(());
        };
        let name = filesystem.name;
        if !self.mount.is_empty() {
            return Err(LevelError {
                factor: Factor::Mount,
                message: format!("{name} is mounted without options"),
                help: "set the option at creation, as a level of `mkfs`".to_owned(),
            });
        }
        if matches!(self.atime, Some(Atime::Strict | Atime::None) | None) {
            return Ok(());
        }
        Err(LevelError {
            factor: Factor::Atime,
            message: format!("{name} updates access times on every read or never"),
            help: leave_out(name, &[(Factor::Atime, self.level(Factor::Atime))]),
        })
    }

    /// A factor and a free option that say the same thing would make the treatments differ in
    /// something undeclared.
    fn check_mount(&self) -> Result<(), LevelError> {
        let declared: [(bool, &[&str], Factor); 3] = [
            (
                self.atime.is_some(),
                &["atime", "noatime", "relatime", "strictatime", "norelatime"],
                Factor::Atime,
            ),
            (self.discard.is_some(), &["discard", "nodiscard"], Factor::Discard),
            (
                self.driver.is_some_and(|driver| !driver.mount.is_empty()),
                &["delalloc", "nodelalloc"],
                Factor::FilesystemDriver,
            ),
        ];
        for (is_declared, words, factor) in declared {
            let clash = |option: &&String| words.contains(&option.split('=').next().unwrap_or(""));
            if is_declared && let Some(option) = self.mount.iter().find(clash) {
                return Err(said_twice(Factor::Mount, option, factor));
            }
        }
        self.check_mount_of_filesystem()
    }

    /// An option that is known to be another filesystem's would be refused by the kernel, after
    /// mkfs and in every trial.
    fn check_mount_of_filesystem(&self) -> Result<(), LevelError> {
        let Some(filesystem) = self.filesystem else { return Ok(()) };
        for option in &self.mount {
            let owners = filesystem.lacks_option(option);
            if !owners.is_empty() {
                let name = filesystem.name;
                return Err(LevelError {
                    factor: Factor::Mount,
                    message: format!(
                        "{name} has no mount option `{option}`: it is one of {}",
                        owners.join(", ")
                    ),
                    help: leave_out(name, &[(Factor::Mount, self.level(Factor::Mount))]),
                });
            }
        }
        Ok(())
    }

    fn check_settings(&self) -> Result<(), LevelError> {
        for ChosenLevel { factor, setting, .. } in &self.settings {
            for (free, words) in [(Factor::Mkfs, &self.mkfs), (Factor::Mount, &self.mount)] {
                if let Some(word) = words.iter().find(|word| setting.is_said_by(word)) {
                    return Err(said_twice(free, word, *factor));
                }
            }
        }
        Ok(())
    }
}

fn said_twice(free: Factor, option: &str, factor: Factor) -> LevelError {
    LevelError {
        factor: free,
        message: format!("the {free} option `{option}` contradicts the factor `{factor}`"),
        help: format!("set it in one place only: as a level of `{factor}`"),
    }
}

fn read_filesystem(level: &str) -> Result<Option<&'static Filesystem>, LevelError> {
    if level == ANY_FILESYSTEM {
        return Ok(None);
    }
    filesystem::find(level)
        .map(Some)
        .ok_or_else(|| unknown(Factor::Filesystem, level, &filesystem::names().join(", ")))
}

/// A driver concerns the filesystems that it can mount; none of the others has a choice.
fn read_driver(
    level: &str,
    filesystem: Option<&'static Filesystem>,
) -> Result<Option<&'static Driver>, LevelError> {
    let known = filesystem::drivers();
    if !known.contains(&level) {
        return Err(unknown(Factor::FilesystemDriver, level, &known.join(", ")));
    }
    Ok(filesystem.and_then(|filesystem| filesystem.driver(level)))
}

fn read_mkfs(level: &str) -> Result<Vec<String>, LevelError> {
    let is_default = level == DEFAULTS;
    let words = split_words(if is_default { "" } else { level }).map_err(|message| LevelError {
        factor: Factor::Mkfs,
        message,
        help: "write the options as on a command line".to_owned(),
    })?;
    stays_on_its_device(Factor::Mkfs, words)
}

fn read_mount(level: &str) -> Result<Vec<String>, LevelError> {
    let words = level.split(',').map(str::trim).filter(|word| !word.is_empty());
    stays_on_its_device(Factor::Mount, words.map(str::to_owned).collect())
}

/// Settings by name.
fn read_sysctls(level: &str) -> Result<BTreeMap<String, u64>, LevelError> {
    let known = "default, or numbers by name: \"vm.dirty_expire_centisecs=6000\"";
    let words = level.split(',').map(str::trim).filter(|word| *word != DEFAULT);
    let number = |word: &str| {
        let (name, value) = word.split_once('=')?;
        WRITEBACK.contains(&name).then_some((name.to_owned(), value.parse().ok()?))
    };
    let setting = |word| number(word).ok_or_else(|| unknown(Factor::Sysctl, level, known));
    words.map(setting).collect()
}

/// Options can name a second device (a log, a journal, another member), which nobody has checked.
fn stays_on_its_device(factor: Factor, words: Vec<String>) -> Result<Vec<String>, LevelError> {
    let names_another = |word: &&String| {
        word.contains('/')
            || ["device=", "dev=", "journal_path", "name="].iter().any(|key| word.contains(key))
    };
    match words.iter().find(names_another) {
        None => Ok(words),
        Some(word) => Err(LevelError {
            factor,
            message: format!("the option `{word}` names a path or another device"),
            help: "a trial may only touch its own device: omit it".to_owned(),
        }),
    }
}

/// An amount of data; none where the level says that nothing is to be written.
fn read_amount(factor: Factor, level: Option<&str>) -> Result<Option<Amount>, LevelError> {
    let Some(level) = level else { return Ok(None) };
    let amount = if let Some(percent) = level.trim().strip_suffix('%') {
        let percent = percent.trim().parse::<f64>().ok().filter(|p| (0.0..=95.0).contains(p));
        let percent = percent.ok_or_else(|| unknown(factor, level, "0 % to 95 %"))?;
        Amount::Share(percent / 100.0)
    } else {
        let known = "an amount (\"10 GB\") or a share (\"60 %\")";
        let bytes: Bytes = level.parse().map_err(|_| unknown(factor, level, known))?;
        Amount::Bytes(bytes.0)
    };
    Ok(Some(amount).filter(|amount| !matches!(amount, Amount::Share(0.0) | Amount::Bytes(0))))
}

#[cfg(test)]
mod tests;

//! Filesystem-specific settings: their levels, the options of mkfs and mount, and where the
//! superblock records the result.

/// A factor as one filesystem has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setting {
    /// What can be chosen; nothing if this program does not know how.
    pub levels: &'static [Level],
    /// What an option of mkfs or of mount contains that says the same thing.
    pub words: &'static [&'static str],
    /// Where the device says how it was made; `None` where mkfs does not decide, or where a pool
    /// is asked for its properties.
    pub superblock: Option<Bits>,
}

/// One thing to choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Level {
    /// The name in plans: what the filesystem calls it, or `on` and `off`.
    pub name: &'static str,
    /// Words of mkfs.
    pub mkfs: &'static [&'static str],
    /// Options of mount.
    pub mount: &'static [&'static str],
    /// What [`Setting::superblock`] is then.
    pub bits: u8,
    /// Whether the driver compresses nothing then.
    pub hinders_compression: bool,
}

/// Bits of one byte of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bits {
    /// The byte's place, in bytes from the start of the device.
    pub at: u64,
    /// The bits of it that count.
    pub mask: u8,
}

impl Setting {
    /// A filesystem that does not have it: off, and never on.
    pub(super) const NEVER: Self = Self { levels: &[Level::OFF], ..Self::UNKNOWN };

    /// A filesystem that leaves no choice, or none that this program offers.
    pub(super) const UNKNOWN: Self = Self { levels: &[], words: &[], superblock: None };

    /// Finds a level by its name in plans.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&Level> {
        self.levels.iter().find(|level| level.name == name)
    }

    /// The names of its levels.
    #[must_use]
    pub fn names(&self) -> Vec<&'static str> {
        self.levels.iter().map(|level| level.name).collect()
    }

    /// Whether mkfs decides about it.
    #[must_use]
    pub fn is_made(&self) -> bool {
        self.levels.iter().any(|level| !level.mkfs.is_empty())
    }

    /// Whether an option says something about it.
    #[must_use]
    pub fn is_said_by(&self, option: &str) -> bool {
        self.words.iter().any(|word| option.contains(word))
    }
}

impl Level {
    /// What is so if nobody is told anything.
    pub(super) const OFF: Self =
        Self { name: "off", mkfs: &[], mount: &[], bits: 0, hinders_compression: false };

    /// A level that mkfs is told.
    pub(super) const fn made(name: &'static str, mkfs: &'static [&'static str], bits: u8) -> Self {
        Self { name, mkfs, bits, ..Self::OFF }
    }

    /// A level that is told when it is mounted.
    pub(super) const fn mounted(name: &'static str, mount: &'static [&'static str]) -> Self {
        Self { name, mount, ..Self::OFF }
    }
}

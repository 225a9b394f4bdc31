//! Filesystem-specific settings: their levels, the options of mkfs and mount, and where the
//! superblock records the result.

/// A factor as one filesystem implements it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setting {
    /// Its levels; empty if this program cannot set it.
    pub levels: &'static [SettingLevel],
    /// Substrings of mkfs or mount options that would set it too.
    pub words: &'static [&'static str],
    /// Where the superblock records it; `None` if mkfs does not decide, or if a pool has properties
    /// to query instead.
    pub superblock: Option<Bits>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SettingLevel {
    /// The name in plans: the filesystem's own, or `on` and `off`.
    pub name: &'static str,
    /// Arguments of mkfs.
    pub mkfs: &'static [&'static str],
    /// Options of mount.
    pub mount: &'static [&'static str],
    /// The value of [`Setting::superblock`] at this level.
    pub bits: u8,
    /// Whether the driver does not compress at this level.
    pub hinders_compression: bool,
}

/// Bits of one byte of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bits {
    /// The byte's offset from the start of the device.
    pub at: u64,
    /// The bits that matter.
    pub mask: u8,
}

impl Setting {
    /// The filesystem lacks it: always off.
    pub(super) const NEVER: Self = Self { levels: &[SettingLevel::OFF], ..Self::UNKNOWN };

    /// The filesystem offers no choice, or none that this program supports.
    pub(super) const UNKNOWN: Self = Self { levels: &[], words: &[], superblock: None };

    /// Finds a level by its name in plans.
    pub fn find(&self, name: &str) -> Option<&SettingLevel> {
        self.levels.iter().find(|level| level.name == name)
    }

    /// The names of its levels.
    pub fn names(&self) -> Vec<&'static str> {
        self.levels.iter().map(|level| level.name).collect()
    }

    /// Whether mkfs decides about it.
    pub fn is_made(&self) -> bool {
        self.levels.iter().any(|level| !level.mkfs.is_empty())
    }

    /// Whether an option of mkfs or mount sets it.
    pub fn is_said_by(&self, option: &str) -> bool {
        self.words.iter().any(|word| option.contains(word))
    }
}

impl SettingLevel {
    /// Off by default, with no options.
    pub(super) const OFF: Self =
        Self { name: "off", mkfs: &[], mount: &[], bits: 0, hinders_compression: false };

    /// A level set by mkfs.
    pub(super) const fn made(name: &'static str, mkfs: &'static [&'static str], bits: u8) -> Self {
        Self { name, mkfs, bits, ..Self::OFF }
    }

    /// A level set by mount options.
    pub(super) const fn mounted(name: &'static str, mount: &'static [&'static str]) -> Self {
        Self { name, mount, ..Self::OFF }
    }
}

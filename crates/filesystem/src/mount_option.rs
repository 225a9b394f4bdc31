//! Mount options: which filesystem has which, and how the kernel lists one that is in force.
//!
//! Sources: how the drivers of Linux 6.1 and 6.12 parse and show their options (`xfs_super.c` of
//! xfs, super.c of ext2, ext4, btrfs, f2fs, jfs, nilfs2 and reiserfs), and what Linux 6.18 adds to
//! them. Kernels differ, so a table has what any of these accepts.

/// The options of a filesystem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MountOptions {
    /// Their names in groups, without a value, and without `no` where that is the opposite; empty
    /// if they are not known. Flags of mount(2), which every filesystem has, are not among them.
    pub names: &'static [&'static [&'static str]],
    /// Those, with or without a value, that may be in force although none of their name is listed:
    /// the kernel never lists them, or not with a value that is the default.
    pub unlisted: &'static [&'static str],
    /// Those that the kernel lists otherwise than they are asked for.
    pub aliases: &'static [Alias],
}

/// An option that the kernel lists otherwise than it is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Alias {
    /// What is asked for.
    pub asked: &'static str,
    /// What the kernel lists instead, if anything: one of these, perhaps with a detail after a
    /// colon.
    pub listed: &'static [&'static str],
    /// Whether it is in force, too, if no option of its name is listed: a default.
    pub or_nothing: bool,
}

impl MountOptions {
    /// Nothing is known about them.
    pub(super) const UNKNOWN: Self = Self { names: &[], unlisted: &[], aliases: &[] };

    pub(super) fn have(&self, name: &str) -> bool {
        let positive = name.strip_prefix("no").unwrap_or(name);
        self.names.iter().any(|group| group.contains(&name) || group.contains(&positive))
    }
}

/// What the kernel lists as something else.
pub(super) const fn listed_as(asked: &'static str, listed: &'static [&'static str]) -> Alias {
    Alias { asked, listed, or_nothing: false }
}

/// What the kernel does not list, because it is the default.
pub(super) const fn unlisted(asked: &'static str) -> Alias {
    Alias { asked, listed: &[], or_nothing: true }
}

/// What some versions of the kernel list, and others do not.
pub(super) const fn perhaps_listed(asked: &'static str, listed: &'static [&'static str]) -> Alias {
    Alias { asked, listed, or_nothing: true }
}

pub(super) fn name(option: &str) -> &str {
    option.split_once('=').map_or(option, |(name, _)| name)
}

/// A number, perhaps with a binary unit, as the kernel's `memparse` reads it.
fn number(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(['k', 'K', 'm', 'M', 'g', 'G']);
    let shift = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

/// Whether an option is listed, in the same words or with the same number; details that kernels add
/// to some are ignored: `discard=async`, `compress=zstd:3`.
fn is_listed(option: &str, listed: &[&str]) -> bool {
    let of = |text: &str| text.split_once('=').map(|(_, value)| number(value));
    listed.iter().any(|found| {
        let detail = found.strip_prefix(option);
        detail.is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '=']))
            || (name(found) == name(option)
                && matches!((of(found), of(option)), (Some(Some(a)), Some(Some(b))) if a == b))
    })
}

/// Whether one of an option's name is listed.
fn names(option: &str, listed: &[&str]) -> bool {
    listed.iter().any(|found| name(found) == name(option))
}

impl MountOptions {
    /// Whether a list of mount options, as the kernel shows it, says that one is in force.
    pub fn lists(&self, option: &str, listed: &[&str]) -> bool {
        let Some(alias) = self.aliases.iter().find(|alias| alias.asked == option) else {
            return is_listed(option, listed);
        };
        let is_it = |found: &&str| {
            alias.listed.iter().any(|form| {
                let detail = found.strip_prefix(*form);
                detail.is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
            })
        };
        listed.iter().any(is_it) || (alias.or_nothing && !names(option, listed))
    }

    /// Whether one that the kernel accepted may be in force although none of its name is listed.
    pub fn may_leave_out(&self, option: &str, listed: &[&str]) -> bool {
        let own = self.unlisted;
        (own.contains(&name(option)) || own.contains(&option)) && !names(option, listed)
    }
}

#[cfg(test)]
mod tests;

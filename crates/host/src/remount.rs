//! Changes options of a mounted filesystem so that they can be changed back exactly.
//!
//! A remount is treacherous: it drops flags of the mount that it does not name, it keeps options of
//! the filesystem that it does not name, and some drivers accept options and do nothing. So every
//! flag in force is named, only options are taken whose word can be read back, and the mount table
//! says what became of it. mount(8) is not used: it adds options from fstab.

use std::fs;
use std::io;
use std::path::Path;

use rustix::mount::{MountFlags, mount_remount};

use super::mounts::{self, FLAGS, Mount};
use super::sysfs::BlockDevice;

/// Flags of which one is always in force, the last if none is listed.
const CHOICES: [&[&str]; 3] = [
    &["noatime", "relatime", "strictatime"],
    &["nodiratime", "diratime"],
    &["lazytime", "nolazytime"],
];

/// Options with a number that drivers can change.
const NUMBERS: [&str; 3] = ["commit", "min_batch_time", "max_batch_time"];

/// What btrfs has where it lists none.
const BTRFS_COMMIT: &str = "commit=30";

/// The words about discards; btrfs has two ways.
const DISCARDS: [&str; 4] = ["discard", "nodiscard", "discard=sync", "discard=async"];

/// Options that no remount changes, and that decide how much is written.
const FIXED: [&str; 8] = [
    "data",
    "nodelalloc",
    "compress",
    "compress-force",
    "nodatacow",
    "nodatasum",
    "autodefrag",
    "flushoncommit",
];

/// Whether a word, such as `commit=60`, is of an option that can be put back.
pub fn can_be_put_back(word: &str) -> bool {
    let is_number = |(name, value): (&str, &str)| {
        NUMBERS.contains(&name)
            && (1..=9).contains(&value.len())
            && value.bytes().all(|c| c.is_ascii_digit())
    };
    CHOICES.iter().any(|choice| choice.contains(&word))
        || DISCARDS.contains(&word)
        || word.split_once('=').is_some_and(is_number)
}

/// Whether the option belongs to this mount alone; others are the filesystem's, wherever it is
/// mounted.
pub fn is_of_mount(word: &str) -> bool {
    CHOICES[..2].iter().any(|choice| choice.contains(&word))
}

/// The word that is in force of the option that `word` is about; `None` if it cannot be read, or if
/// the filesystem's driver does not change it.
pub fn in_force(mount: &Mount, word: &str) -> Option<String> {
    if let Some(choice) = CHOICES.into_iter().find(|choice| choice.contains(&word)) {
        let is_listed = |own: &&&str| mount.options.iter().any(|option| option == *own);
        return choice.iter().find(is_listed).or(choice.last()).map(|own| (*own).to_owned());
    }
    let name = name_of(word);
    let find = |options: &[String]| options.iter().find(|own| name_of(own) == name).cloned();
    match (&*mount.kind, name) {
        // The mount table omits defaults, its own list does not.
        ("ext2" | "ext3" | "ext4", _) => find(&of_ext4(mount)),
        ("btrfs", "commit") => Some(find(&mount.options).unwrap_or_else(|| BTRFS_COMMIT.into())),
        ("btrfs", "discard") => Some(match find(&mount.options).as_deref() {
            None => "nodiscard".to_owned(),
            Some("discard") => "discard=sync".to_owned(),
            Some(other) => other.to_owned(),
        }),
        _ => None,
    }
}

/// The options that decide what a mounted filesystem writes once these words are in force, too, for
/// a mount of another filesystem of its kind.
pub fn options_with(mount: &Mount, words: &[String]) -> Vec<String> {
    let named = CHOICES.iter().map(|choice| choice[0]).chain(NUMBERS).chain([DISCARDS[0]]);
    let own = named.filter_map(|word| in_force(mount, word));
    let fixed = mount.options.iter().filter(|own| FIXED.contains(&name_of(own)));
    let is_silent = |own: &String| CHOICES[1..].iter().any(|choice| choice[1] == own);
    let is_changed = |own: &String| words.iter().any(|word| is_about(own, word));
    let kept = own.filter(|own| !is_silent(own)).chain(fixed.cloned());
    kept.filter(|own| !is_changed(own)).chain(words.iter().cloned()).collect()
}

/// Whether two words are about the same option.
fn is_about(own: &str, word: &str) -> bool {
    let is_choice = |choice: &&[&str]| choice.contains(&own) && choice.contains(&word);
    CHOICES.iter().any(is_choice) || name_of(own) == name_of(word)
}

/// The word as the driver of a mount has it.
pub fn spelt(mount: &Mount, word: &str) -> String {
    let is_plain = mount.kind == "btrfs" && word == "discard";
    if is_plain { "discard=sync".to_owned() } else { word.to_owned() }
}

/// Puts words in force, and reads them back. An error if another filesystem is mounted there, or if
/// the filesystem has become read-only: nothing makes it writable again.
pub fn put_in_force(mount: &Mount, words: &[String]) -> io::Result<()> {
    let current = mounts::at(&mount.target)?.filter(|found| found.device == mount.device);
    let current = current.ok_or_else(|| io::Error::other("another filesystem is mounted there"))?;
    if current.options.iter().any(|option| option == "ro") {
        return Err(io::Error::from(io::ErrorKind::ReadOnlyFilesystem));
    }
    let mut data = Vec::new();
    let mut flags: Vec<String> =
        CHOICES.iter().filter_map(|choice| in_force(&current, choice[0])).collect();
    for word in words {
        match CHOICES.iter().find(|choice| choice.contains(&word.as_str())) {
            Some(choice) => {
                flags.retain(|own| !choice.contains(&own.as_str()));
                flags.push(word.clone());
            }
            None => data.push(word.as_str()),
        }
    }
    let is_choice = |own: &String| CHOICES.iter().any(|choice| choice.contains(&own.as_str()));
    flags.extend(current.options.iter().filter(|own| !is_choice(own)).cloned());
    let flag = |word: &String| FLAGS.iter().find(|(own, _)| own == word).map(|(_, flag)| *flag);
    let flags = flags.iter().filter_map(flag).fold(MountFlags::empty(), |all, flag| all | flag);
    mount_remount(&current.target, flags, data.join(","))?;
    let after = mounts::at(&mount.target)?.unwrap_or(current);
    match words.iter().find(|word| in_force(&after, word).as_ref() != Some(*word)) {
        None => Ok(()),
        Some(word) => {
            let found = in_force(&after, word).unwrap_or_default();
            Err(io::Error::other(format!("`{word}` was accepted, but `{found}` is in force")))
        }
    }
}

fn name_of(word: &str) -> &str {
    let name = word.split('=').next().unwrap_or_default();
    name.strip_prefix("no").filter(|name| *name == "discard").unwrap_or(name)
}

/// All options in force of a filesystem that ext4's driver has mounted.
fn of_ext4(mount: &Mount) -> Vec<String> {
    let text = BlockDevice::numbered(&mount.device).and_then(|device| {
        fs::read_to_string(Path::new("/proc/fs/ext4").join(device.name).join("options"))
    });
    text.unwrap_or_default().lines().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests;

//! Filesystems in a pool: their own programs create, import and export it, and importing it mounts
//! it.

use super::Call;

/// The programs around a pool. Each call ends with the pool's name, and is made in a folder with
/// nothing in it but links to the pool's device, so that no other pool is ever looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pool {
    /// What serves it where the kernel has no driver.
    pub daemon: Daemon,
    /// Takes a pool that was let go; it is mounted where it was made for.
    pub import: Call,
    /// Lets a pool go when it is no longer mounted.
    pub export: Call,
    /// Commits all that has been written, where sync(2) does not.
    pub commit: Call,
    /// Prints the properties in force, a name and a value on each line.
    pub properties: Call,
    /// What its mkfs wants before a property and its value, in the same word.
    pub property_option: &'static str,
    /// What the mount table calls it: served by the daemon, and by the kernel.
    pub kinds: [&'static str; 2],
}

/// A program that serves a filesystem through FUSE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Daemon {
    /// The program and its arguments.
    pub call: Call,
    /// Folders it needs, for what ends with it: its socket and its lock.
    pub folders: &'static [&'static str],
    /// Accepts connections when it is ready; another daemon has it where they are accepted before.
    pub socket: &'static str,
    /// Lists the machine's own pools, which it would take without being asked.
    pub own_pools: &'static str,
}

impl Pool {
    /// The properties that a command line of mkfs asks for, with their values.
    pub fn asked_for<'a>(&self, mkfs: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        let option = self.property_option;
        let properties = mkfs.split(' ').filter_map(move |word| word.strip_prefix(option));
        properties.filter_map(|property| property.split_once('='))
    }
}

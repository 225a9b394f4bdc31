//! Filesystems in a pool, which their own programs create, import and export; importing mounts it.

use super::MkfsCall;

/// The programs that manage a pool. The pool's name is appended to each call, which runs in a
/// folder that contains only links to the pool's device, so that no other pool is ever touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pool {
    /// The daemon that serves it if the kernel has no driver.
    pub daemon: PoolDaemon,
    /// Imports an exported pool and mounts it at the place set when it was created.
    pub import: MkfsCall,
    /// Exports a pool that is no longer mounted.
    pub export: MkfsCall,
    /// Commits all earlier writes, which sync(2) does not.
    pub commit: MkfsCall,
    /// Prints the active properties, a name and a value on each line.
    pub properties: MkfsCall,
    /// The prefix of a property and its value among the arguments of mkfs, in the same word.
    pub property_option: &'static str,
    /// Its type in the mount table, when served by the daemon and by the kernel.
    pub kinds: [&'static str; 2],
}

/// A program that serves a filesystem through FUSE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolDaemon {
    /// The program and its arguments.
    pub call: MkfsCall,
    /// Folders it needs for its socket and its lock, which end with it.
    pub folders: &'static [&'static str],
    /// Its socket, which accepts connections when it is ready. If it does so before, another daemon
    /// owns it.
    pub socket: &'static str,
    /// The list of the machine's own pools, which it would import unasked.
    pub own_pools: &'static str,
}

impl Pool {
    /// The properties set by a command line of mkfs, with their values.
    pub fn asked_for<'a>(&self, mkfs: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        let option = self.property_option;
        let properties = mkfs.split(' ').filter_map(move |word| word.strip_prefix(option));
        properties.filter_map(|property| property.split_once('='))
    }
}

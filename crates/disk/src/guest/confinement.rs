//! Confines the lab kernel as a process of this machine.
//!
//! Plans and runs come from strangers, and what runs in a guest is theirs. The lab kernel gives it
//! nothing of this machine but its root, to be read. That kernel may have faults, though, so its
//! process may itself do no more than it must: Landlock opens these files to it and no others, it
//! gains no privileges, and root's it loses.

use std::error::Error;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd,
    Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, Scope,
};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, capability_is_in_bounding_set,
    remove_capability_from_bounding_set, set_capabilities, set_no_new_privs,
};

/// The newest version of Landlock of which all is used; older ones confine less.
const NEWEST: ABI = ABI::V10;

/// The only capability that root keeps: the guest's folder may lie below one of another user.
const KEPT: CapabilitySet = CapabilitySet::DAC_READ_SEARCH;

/// What the process of a lab kernel needs of this machine's files.
#[derive(Debug)]
pub(crate) struct GuestFiles<'a> {
    /// The kernel, which it runs.
    pub kernel: &'a Path,
    /// The guest's root, which it reads.
    pub root: &'a Path,
    /// The folder of the sockets to which it connects.
    pub sockets: &'a Path,
    /// The file for the guest's memory, which it inherits.
    pub memory: File,
}

/// A confinement that a process is about to enter.
#[derive(Debug)]
pub(crate) struct Confinement {
    ruleset: Option<RulesetCreated>,
    memory: File,
}

impl Confinement {
    /// Makes the rules.
    pub fn new(needs: GuestFiles<'_>) -> io::Result<Self> {
        let GuestFiles { kernel, root, sockets, memory } = needs;
        let rules = [
            (kernel, AccessFs::Execute | AccessFs::ReadFile),
            (root, AccessFs::ReadFile | AccessFs::ReadDir),
            (sockets, AccessFs::ResolveUnix.into()),
            // Consoles that nobody uses.
            (Path::new("/dev/null"), AccessFs::ReadFile | AccessFs::WriteFile),
        ];
        Ok(Self { ruleset: Some(ruleset(&rules).map_err(io::Error::other)?), memory })
    }

    /// Confines this process for good. Between fork and exec: it makes system calls and allocates
    /// nothing.
    pub fn enter(&mut self) -> io::Result<()> {
        fcntl_setfd(self.memory.as_fd(), FdFlags::empty())?;
        // It could be as large as the guest's memory.
        setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?;
        set_no_new_privs(true)?;
        drop_capabilities()?;
        if let Some(ruleset) = self.ruleset.take() {
            ruleset.restrict_self().map_err(|_| io::Error::last_os_error())?;
        }
        Ok(())
    }
}

/// Drops root's capabilities, also from those that root gains by starting a program: Linux clears
/// `ADDR_NO_RANDOMIZE` for a program that would gain any (security/commoncap.c), and without it
/// runs differ. Who must not drop these keeps all.
fn drop_capabilities() -> io::Result<()> {
    let has = capabilities(None)?;
    if !has.effective.contains(CapabilitySet::SETPCAP) {
        return Ok(());
    }
    for each in CapabilitySet::all().difference(KEPT) {
        // This machine's kernel may not have the newest.
        if capability_is_in_bounding_set(each).unwrap_or(false) {
            remove_capability_from_bounding_set(each)?;
        }
    }
    let sets = CapabilitySets {
        effective: has.effective & KEPT,
        permitted: has.permitted & KEPT,
        inheritable: CapabilitySet::empty(),
    };
    Ok(set_capabilities(None, sets)?)
}

fn ruleset(
    rules: &[(&Path, BitFlags<AccessFs>)],
) -> Result<RulesetCreated, Box<dyn Error + Send + Sync>> {
    let mut ruleset = Ruleset::default()
        .handle_access(AccessFs::from_all(NEWEST))?
        .handle_access(AccessNet::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?
        .create()?;
    for (path, access) in rules {
        ruleset = ruleset.add_rule(PathBeneath::new(PathFd::new(path)?, *access))?;
    }
    Ok(ruleset)
}

/// Whether this machine's kernel can confine a process to some files (Landlock, Linux 5.13 and
/// newer, if it is enabled).
pub fn is_confined() -> bool {
    let oldest = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(ABI::V1));
    oldest.and_then(Ruleset::create).is_ok()
}

#[cfg(test)]
mod tests;

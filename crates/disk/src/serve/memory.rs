//! Keeps this process from waiting for its own disk.
//!
//! A machine short of memory writes to the disk to free some; if the disk's server then waits for
//! memory, both deadlock.

use rustix::mm::{MlockAllFlags, mlockall};

/// Locks this process's current and future memory, and asks the kernel not to write to disks when
/// this thread, or one that it starts, needs memory. Returns whether all of that was granted.
pub fn guard() -> bool {
    // Existing mappings are loaded immediately: code that has never run would otherwise be read
    // from a disk when needed. Later ones are locked on first use: most of a stack never is used.
    let later = MlockAllFlags::CURRENT | MlockAllFlags::FUTURE | MlockAllFlags::ONFAULT;
    let is_locked = mlockall(MlockAllFlags::CURRENT).and_then(|()| mlockall(later)).is_ok();
    is_locked & rustix::process::configure_io_flusher_behavior(true).is_ok()
}

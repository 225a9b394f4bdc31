//! Keeps this process from waiting for its own disk.
//!
//! A machine that is short of memory writes to the disk to have some; if the disk's server then
//! waits for memory, both wait for ever.

use rustix::mm::{MlockAllFlags, mlockall};

/// Keeps what this process has and gets in memory, and asks the kernel not to write to disks when
/// this thread, or one that it starts, needs memory. Returns whether all of that is allowed here.
pub fn guard() -> bool {
    // What there is comes into memory at once: code that has never run would otherwise be read from
    // a disk when it is needed. What comes later does so when it is used: most of a stack never is.
    let later = MlockAllFlags::CURRENT | MlockAllFlags::FUTURE | MlockAllFlags::ONFAULT;
    let is_locked = mlockall(MlockAllFlags::CURRENT).and_then(|()| mlockall(later)).is_ok();
    is_locked & rustix::process::configure_io_flusher_behavior(true).is_ok()
}

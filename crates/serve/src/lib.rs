//! Serves any block backend in real time, so that a simulated drive can sit under any software.
//!
//! Two ways lead to it: a file in a FUSE filesystem ([`FuseDisk`]), over which the kernel puts a
//! loop device, and a vhost-user socket ([`VhostUserDisk`]), which a virtual machine has as a
//! virtio disk. Either way there is one backend behind a lock. It is asked at the time of a clock
//! that began with serving, does the command at once, and says when it would be done; the answer
//! is held back until then (`answers`). So requests overlap as far as the drive lets them, and
//! where this machine is slower than the drive, [`Punctuality`] says so.

mod answers;
mod clock;
mod error;
mod folder;
mod fuse;
mod guest;
mod memory;
mod mount;
mod socket;
mod vhost_user;
mod watchdog;

use ssdlab_disk::Counts;

pub use answers::Punctuality;
pub use error::{Departure, ServeError};
pub use fuse::{FuseDisk, State};
pub use vhost_user::VhostUserDisk;

/// What was asked of a disk while it was served, and how well its times were kept.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Summary {
    /// Commands and bytes.
    pub counts: Counts,
    /// Times.
    pub punctuality: Punctuality,
}

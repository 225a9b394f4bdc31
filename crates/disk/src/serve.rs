//! Serves any block backend in real time, so that any software can use a simulated drive.
//!
//! There are two interfaces: a file in a FUSE filesystem ([`FuseDisk`]), for a loop device, and a
//! vhost-user socket ([`VhostUserDisk`]), which is a virtio disk in a virtual machine. Either way
//! there is one backend behind a lock. Its time is that since the start of serving; it performs a
//! command immediately, and says when it would be done; the answer is delayed until then
//! (`answers`). So requests overlap as far as the drive allows, and [`Punctuality`] shows if this
//! machine is slower than the drive.

mod answers;
mod clock;
mod counts;
mod error;
mod folder;
mod fuse;
mod guest;
mod listener;
mod mount;
mod vhost_user;
mod watchdog;

pub use answers::Punctuality;
pub use counts::RequestCounts;
pub use error::{Departure, ServeError};
pub use fuse::{FuseDisk, FuseState};
pub use vhost_user::VhostUserDisk;

/// The requests to a disk while it was served, and how well its times were kept.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ServeSummary {
    /// Commands and bytes.
    pub counts: RequestCounts,
    /// Times.
    pub punctuality: Punctuality,
}

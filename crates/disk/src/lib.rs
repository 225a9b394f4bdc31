//! Serves any block backend as a virtio disk to a User-Mode Linux guest whose time this process
//! controls.
//!
//! A guest in external time travel computes in zero time and asks before its clock advances.
//! [`run`] answers: it is the guest's clock and, over vhost-user, its disks ([`Disk`]). Only a
//! disk's [`Backend`] (memory or a simulated drive) decides when a request is done. So a
//! run is a function of the guest and the backends, identical to the bit on any machine under any
//! load, and its [`Fingerprint`] proves it.
//!
//! From the bottom up: a [`Backend`] stores bytes and decides times; the device (`device`) turns
//! virtio's requests into its commands and knows no transport; `vhost` sets a disk up, takes
//! requests from its ring and returns them; the time controller (`time_controller`) keeps the
//! guest's time, and hears when requests wait; and [`run`] is the event loop over all of them.
//!
//! The guest's messages are not trusted: a malformed request gets an I/O error or is returned
//! without a status, a malformed message or a truncated memory ends the run with a [`DiskError`],
//! and nothing panics. The guest is trusted not to change its memory while it waits for an answer.

mod backend;
mod device;
mod disk;
mod error;
mod fingerprint;
pub mod guest;
mod invalid;
mod log;
mod process;
mod run;
pub mod serve;
mod socket;
mod time_controller;
mod vhost;

pub use backend::{Backend, BackendError, Flash, Memory, Writes};
pub use device::RequestErrors;
pub use device::{
    AnyBackend, CacheMode, CompletedRequest, DiskShape, Features, VirtioDevice, VirtioStatus,
    answer,
};
pub use disk::Disk;
pub use error::DiskError;
pub use fingerprint::{Fingerprint, HashedRequest, TraceHasher};
pub use invalid::InvalidValue;
pub use process::GuestProcess;
pub use run::{GuestOptions, GuestOutcome, run};
pub use socket::Listener;

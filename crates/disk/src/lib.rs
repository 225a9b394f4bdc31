//! Serves any block backend as a virtio disk to a User-Mode Linux guest whose time this process
//! decides.
//!
//! A guest in external time travel computes in no time and asks before its clock moves on. [`run`]
//! answers it: it is the guest's clock and, over vhost-user, its disks ([`Disk`]). When a request
//! is done only its [`Backend`] says: memory, a file, or a simulated drive. So a run is a function
//! of the guest and the backends, the same to the bit on any machine under any load, and its
//! [`Fingerprint`] shows it.
//!
//! From the data up: a [`Backend`] keeps bytes and decides times; the device (`device`) turns
//! virtio's requests into its commands and knows no transport; `vhost` brings the requests from a
//! guest and the answers back; the calendar (`calendar`) keeps the guest's time; and [`run`] is the
//! one loop that brings them together.
//!
//! What a guest sends is not trusted to make sense: a malformed request is answered with an I/O
//! error or given back without an answer, a malformed message ends the run with a [`DiskError`],
//! and nothing panics. It is trusted not to change its memory while it waits for an answer, and
//! not to shrink the file that its memory is in.

mod backend;
mod calendar;
mod device;
mod disk;
mod error;
mod fingerprint;
mod log;
mod run;
mod socket;
mod vhost;

pub use backend::{Backend, BackendError, Flash, Memory, SparseFile};
pub use device::{
    AnyBackend, Device, DiscardLimits, Features, Served, Shape, ShapeFault, Status, WriteCache,
    WriteZeroesLimits, answer,
};
pub use disk::{Counts, Disk};
pub use error::DiskError;
pub use fingerprint::{Fingerprint, Seen, Witness};
pub use run::{Options, Outcome, run};
pub use socket::Door;

//! Guests: a real kernel in virtual time, with this program as its only process.
//!
//! A [`GuestMachine`] starts the lab kernel on a [`Root`] and serves it two disks: the drive under
//! test, and the [`HostChannel`], a disk without a drive: the guest reads its job from it, and a
//! write to it is a message, which arrives at an exact moment of virtual time, in order with all
//! requests to the drive, and can neither block the guest nor be lost.
//!
//! This room does not know what a guest is for.

mod channel;
mod confinement;
mod in_place;
mod init;
mod machine;
mod root;

pub use channel::{GuestChannel, HostChannel};
pub use confinement::is_confined;
pub use in_place::{InPlace, can_show};
pub use init::{prepare, shut_down};
pub use machine::{GuestExit, GuestMachine, MachineError, pin, room};
pub use root::{Root, RootError};

//! Guests: a real kernel in virtual time, with this program as its only process.
//!
//! A [`Machine`] starts the lab kernel on a [`Root`] and serves it two disks: the drive under test,
//! and the [`Channel`], a disk that is nobody's: what a guest reads there is its job, and what it
//! writes there is a message, which arrives at an exact moment of virtual time, in order with all
//! requests to the drive, and can neither block the guest nor be lost.
//!
//! What a guest is for, this room does not know.

mod channel;
mod init;
mod machine;
mod root;

pub use channel::{Channel, Line, Message};
pub use init::{prepare, shut_down};
pub use machine::{Ended, Machine, MachineError, pin, room};
pub use root::{Root, RootError};

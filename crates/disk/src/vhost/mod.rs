//! Defines the transport between a guest and a disk: vhost-user, as User-Mode Linux and QEMU speak
//! it.
//!
//! The protocol is "Vhost-user Protocol" in QEMU's documentation
//! (<https://www.qemu.org/docs/master/interop/vhost-user.html>); the guest's side is
//! `arch/um/drivers/virtio_uml.c` and `hw/virtio/vhost-user.c`. It serves to set a disk up. How
//! guest and disk then notify each other depends on their time ([`Notifications`]).

mod frame;
mod memory;
mod ring;
mod session;
mod shrunk;

pub use frame::{Frame, VhostReply, answer_next};
pub use ring::PendingRequest;
pub use session::{Notifications, Session, VhostRequest};

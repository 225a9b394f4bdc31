//! Defines the transport between a guest and a device: vhost-user, as User-Mode Linux speaks it.
//!
//! The protocol is "Vhost-user Protocol" in QEMU's documentation
//! (<https://www.qemu.org/docs/master/interop/vhost-user.html>); the guest's side is
//! `arch/um/drivers/virtio_uml.c`. In time travel everything is in-band: kicks and completions are
//! messages with replies, so that no time passes unnoticed.

mod frame;
mod ring;
mod rules;
mod session;

pub use frame::{Frame, Purpose, receive_frame, send_frame};
pub use ring::{Pending, RingFault};
pub use session::{Answer, Session};

/// The device's request to look at the ring (`VHOST_USER_SLAVE_VRING_CALL`).
pub const CALL: u32 = 4;

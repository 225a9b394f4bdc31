//! Defines the transport between a guest and a device: vhost-user, as User-Mode Linux speaks it.
//!
//! The protocol is "Vhost-user Protocol" in QEMU's documentation
//! (<https://www.qemu.org/docs/master/interop/vhost-user.html>); the guest's side is
//! `arch/um/drivers/virtio_uml.c`. It serves to set a disk up; kicks and completions are messages
//! of the calendar, so that no time passes unnoticed.

mod frame;
mod ring;
mod rules;
mod session;

pub use frame::{Frame, Purpose, receive_frame, send_frame};
pub use ring::{Pending, RingFault};
pub use session::{Answer, Session};

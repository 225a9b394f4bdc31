//! Defines the framing of vhost-user: a header of 12 bytes, a body, file descriptors.

use std::os::fd::OwnedFd;

use zerocopy::byteorder::little_endian::U32;
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::DiskError;
use crate::socket::{Arrived, Socket};

/// The version of the protocol, in the flags of every message.
const VERSION: u32 = 1;
const REPLY: u32 = 1 << 2;
const NEED_REPLY: u32 = 1 << 3;

/// The longest body: the memory table has 72 bytes, a configuration space 12 more than its size.
pub const LONGEST_BODY_BYTES: u32 = 1024;

#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct Header {
    request: U32,
    flags: U32,
    size: U32,
}

/// What a message is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A request whose sender waits for a reply even if the request itself has none.
    Acknowledge,
    /// A request.
    Ask,
    /// A reply.
    Reply,
}

/// A message.
#[derive(Debug)]
pub struct Frame {
    /// The number of the request.
    pub request: u32,
    /// Its purpose.
    pub purpose: Purpose,
    /// Its body.
    pub body: Vec<u8>,
    /// Its file descriptors.
    pub descriptors: Vec<OwnedFd>,
}

/// Receives a message; `None` if the guest has ended.
pub fn receive_frame(socket: &Socket) -> Result<Option<Frame>, DiskError> {
    let mut header = Header::new_zeroed();
    let mut descriptors = Vec::new();
    if socket.fill(header.as_mut_bytes(), &mut descriptors)? == Arrived::End {
        return Ok(None);
    }
    let (request, size) = (header.request.get(), header.size.get());
    let fault = |what, expected: &str, found: u32| DiskError::Message {
        peer: socket.peer().to_owned(),
        message: format!("message {request}"),
        what,
        expected: expected.to_owned(),
        found: found.to_string(),
    };
    let purpose = match header.flags.get() {
        flags if flags == VERSION => Purpose::Ask,
        flags if flags == VERSION | NEED_REPLY => Purpose::Acknowledge,
        flags if flags == VERSION | REPLY => Purpose::Reply,
        flags => return Err(fault("the set of flags", "1, 5 or 9", flags)),
    };
    if size > LONGEST_BODY_BYTES {
        return Err(fault("the size of its body", "at most 1024", size));
    }
    let mut body = vec![0; size as usize];
    if !body.is_empty() && socket.fill(&mut body, &mut descriptors)? == Arrived::End {
        return Err(fault("what follows its header", "a body", 0));
    }
    Ok(Some(Frame { request, purpose, body, descriptors }))
}

/// Sends a message. Returns whether the guest is still there.
pub fn send_frame(
    socket: &Socket,
    request: u32,
    purpose: Purpose,
    body: &[u8],
) -> Result<Arrived, DiskError> {
    let flags = match purpose {
        Purpose::Ask => VERSION,
        Purpose::Acknowledge => VERSION | NEED_REPLY,
        Purpose::Reply => VERSION | REPLY,
    };
    let size = u32::try_from(body.len()).expect("bodies are short");
    let header = Header { request: request.into(), flags: flags.into(), size: size.into() };
    let mut bytes = Vec::with_capacity(size_of::<Header>() + body.len());
    bytes.extend_from_slice(header.as_bytes());
    bytes.extend_from_slice(body);
    socket.send(&bytes, &[])
}

#[cfg(test)]
mod tests;

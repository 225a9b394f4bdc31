//! Defines the framing of vhost-user: a header of 12 bytes, a body, file descriptors.

use std::os::fd::OwnedFd;

use zerocopy::byteorder::little_endian::U32;
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::DiskError;
use crate::invalid::InvalidValue;
use crate::socket::{GuestSocket, SocketRead};

/// The version of the protocol, in the flags of every message.
const VERSION: u32 = 1;
const REPLY: u32 = 1 << 2;
const NEED_REPLY: u32 = 1 << 3;

/// The longest body: a memory table has 264 bytes, a configuration space 12 more than its size.
const LONGEST_BODY_BYTES: u32 = 1024;

#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct Header {
    request: U32,
    flags: U32,
    size: U32,
}

/// A message of a guest.
#[derive(Debug)]
pub struct Frame {
    pub request: u32,
    pub body: Vec<u8>,
    /// Its file descriptors.
    pub descriptors: Vec<OwnedFd>,
    /// Whether the guest waits for a reply even if the request itself has none.
    needs_reply: bool,
}

/// The answer to a message.
#[derive(Debug, PartialEq, Eq)]
pub enum VhostReply {
    /// An acknowledgement if the guest waits for one, with 0 for success.
    Acknowledge(u64),
    Reply(Vec<u8>),
}

/// Receives a message and answers it. Returns whether the guest is still there.
pub fn answer_next(
    socket: &GuestSocket,
    handle: impl FnOnce(Frame) -> Result<VhostReply, DiskError>,
) -> Result<SocketRead, DiskError> {
    let Some(frame) = receive(socket)? else { return Ok(SocketRead::End) };
    let (request, needs_reply) = (frame.request, frame.needs_reply);
    match handle(frame)? {
        VhostReply::Reply(body) => send(socket, request, &body),
        VhostReply::Acknowledge(number) if needs_reply => {
            send(socket, request, &number.to_le_bytes())
        }
        VhostReply::Acknowledge(_) => Ok(SocketRead::All),
    }
}

/// Receives a message; `None` if the guest has ended.
fn receive(socket: &GuestSocket) -> Result<Option<Frame>, DiskError> {
    let mut header = Header::new_zeroed();
    let mut descriptors = Vec::new();
    if socket.fill(header.as_mut_bytes(), &mut descriptors)? == SocketRead::End {
        return Ok(None);
    }
    let (request, flags, size) = (header.request.get(), header.flags.get(), header.size.get());
    let invalid = |what, expected: &str, found: u32| DiskError::Message {
        peer: socket.peer().to_owned(),
        cause: InvalidValue::new(what, expected, found).of(format!("message {request}")),
    };
    if flags & !NEED_REPLY != VERSION {
        return Err(invalid("the set of flags", "1 or 9", flags));
    }
    if size > LONGEST_BODY_BYTES {
        return Err(invalid("the size of its body", "at most 1024", size));
    }
    let mut body = vec![0; size as usize];
    if !body.is_empty() && socket.fill(&mut body, &mut descriptors)? == SocketRead::End {
        return Err(invalid("what follows its header", "a body", 0));
    }
    Ok(Some(Frame { request, body, descriptors, needs_reply: flags & NEED_REPLY != 0 }))
}

/// Sends a reply.
fn send(socket: &GuestSocket, request: u32, body: &[u8]) -> Result<SocketRead, DiskError> {
    let size = u32::try_from(body.len()).expect("bodies are short");
    let flags = (VERSION | REPLY).into();
    let header = Header { request: request.into(), flags, size: size.into() };
    socket.send(&[header.as_bytes(), body].concat(), &[])
}

#[cfg(test)]
mod tests;

//! Defines the framing of vhost-user: a header of 12 bytes, a body, file descriptors.

use std::os::fd::OwnedFd;

use zerocopy::byteorder::little_endian::U32;
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::DiskError;
use crate::socket::{Arrived, Socket};

/// The version of the protocol, which every message bears in its flags.
const VERSION: u32 = 1;
const REPLY: u32 = 1 << 2;
const NEED_REPLY: u32 = 1 << 3;

/// The longest body: the memory table has 72 bytes, a configuration space 12 more than it is long.
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
    /// It asks for something; whoever sent it waits for an answer even where the request itself
    /// has none.
    Acknowledge,
    /// It asks for something.
    Ask,
    /// It answers.
    Reply,
}

/// A message.
#[derive(Debug)]
pub struct Frame {
    /// The number of the request.
    pub request: u32,
    /// What it is for.
    pub purpose: Purpose,
    /// What it says.
    pub body: Vec<u8>,
    /// What came with it.
    pub descriptors: Vec<OwnedFd>,
}

/// Receives a message; none if the guest has ended.
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
mod tests {
    use std::io::Write;
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;

    use super::*;

    fn pair() -> (Socket, UnixStream) {
        let (here, there) = UnixStream::pair().unwrap();
        (Socket::new(here, "disk test").unwrap(), there)
    }

    #[test]
    fn a_message_arrives_as_it_was_sent() {
        let (here, there) = pair();
        let there = Socket::new(there, "device").unwrap();
        send_frame(&there, 35, Purpose::Acknowledge, &[1, 2, 3]).unwrap();
        let frame = receive_frame(&here).unwrap().unwrap();
        assert_eq!((frame.request, frame.purpose), (35, Purpose::Acknowledge));
        assert_eq!((frame.body, frame.descriptors.len()), (vec![1, 2, 3], 0));
        drop(there);
        assert!(receive_frame(&here).unwrap().is_none());
    }

    #[test]
    fn file_descriptors_come_with_their_message() {
        let (here, there) = pair();
        let header = [21_u32, 9, 0].map(u32::to_le_bytes).concat();
        let other = Socket::new(there, "device").unwrap();
        other.send(&header, &[here.as_fd()]).unwrap();
        assert_eq!(receive_frame(&here).unwrap().unwrap().descriptors.len(), 1);
    }

    #[test]
    fn what_is_no_message_is_an_error() {
        let wrong = [
            [3_u32, 0, 0].map(u32::to_le_bytes).concat(),
            [3_u32, 1 | 1 << 5, 0].map(u32::to_le_bytes).concat(),
            [3_u32, 1, 1 << 20].map(u32::to_le_bytes).concat(),
            [3_u32, 1, 8].map(u32::to_le_bytes).concat(),
            vec![3, 0, 0],
        ];
        for bytes in wrong {
            let (here, mut there) = pair();
            there.write_all(&bytes).unwrap();
            drop(there);
            assert!(receive_frame(&here).is_err(), "{bytes:?}");
        }
    }
}

//! Defines the sockets to a guest: whole messages in and out, with their file descriptors.
//!
//! A guest is one thread that sends a message in one write. So waiting for a message may take as
//! long as the guest computes, but the rest of a started one arrives immediately, or never.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::Duration;

use rustix::cmsg_space;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, retry_on_intr};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

use crate::DiskError;

/// How long the rest of a message may take: far more than a busy machine needs, to detect a broken
/// guest.
const MESSAGE_TIMEOUT: Duration = Duration::from_secs(30);

/// The maximum number of file descriptors of a message.
const DESCRIPTORS: usize = 8;

/// The connection point of a guest, which may not have connected yet.
#[derive(Debug)]
pub enum Listener {
    /// It will connect.
    Listening(UnixListener),
    /// It has connected.
    Open(UnixStream),
}

impl From<UnixListener> for Listener {
    fn from(listener: UnixListener) -> Self {
        Self::Listening(listener)
    }
}

impl From<UnixStream> for Listener {
    fn from(stream: UnixStream) -> Self {
        Self::Open(stream)
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Listening(listener) => listener.as_fd(),
            Self::Open(stream) => stream.as_fd(),
        }
    }
}

impl Listener {
    /// Accepts the guest. Blocks until it has connected.
    pub fn accept(&self, peer: &str) -> Result<GuestSocket, DiskError> {
        let stream = match self {
            Self::Listening(listener) => listener.accept().map(|(stream, _)| stream),
            Self::Open(stream) => stream.try_clone(),
        };
        stream.and_then(|stream| GuestSocket::new(stream, peer)).map_err(|cause| {
            DiskError::Socket { peer: peer.to_owned(), doing: "connect to", cause }
        })
    }
}

/// The result of reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SocketRead {
    /// Everything arrived.
    All,
    /// The other side has ended.
    End,
}

#[derive(Debug)]
pub struct GuestSocket {
    stream: UnixStream,
    peer: String,
}

impl AsFd for GuestSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

impl GuestSocket {
    /// A socket over a stream to `peer`.
    pub fn new(stream: UnixStream, peer: &str) -> io::Result<Self> {
        stream.set_nonblocking(false)?;
        stream.set_read_timeout(Some(MESSAGE_TIMEOUT))?;
        stream.set_write_timeout(Some(MESSAGE_TIMEOUT))?;
        Ok(Self { stream, peer: peer.to_owned() })
    }

    /// Ends the connection for both sides, and any wait for it.
    pub fn shut_down(&self) {
        // It may have ended already.
        let _ = self.stream.shutdown(Shutdown::Both);
    }

    pub fn peer(&self) -> &str {
        &self.peer
    }

    /// Fills a buffer, and collects the file descriptors sent along. An end after the first byte,
    /// or a missing rest, is an error.
    pub fn fill(
        &self,
        into: &mut [u8],
        descriptors: &mut Vec<OwnedFd>,
    ) -> Result<SocketRead, DiskError> {
        let mut got = 0;
        while got < into.len() {
            match self.receive(&mut into[got..], descriptors) {
                Ok(0) if got == 0 => return Ok(SocketRead::End),
                Ok(0) => return Err(self.fault("read a whole message from", Errno::PIPE.into())),
                Ok(count) => got += count,
                // Nothing has arrived: the guest computes.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock && got == 0 => {}
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset && got == 0 => {
                    return Ok(SocketRead::End);
                }
                Err(error) => return Err(self.fault("read a whole message from", error)),
            }
        }
        Ok(SocketRead::All)
    }

    fn receive(&self, into: &mut [u8], descriptors: &mut Vec<OwnedFd>) -> io::Result<usize> {
        let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(DESCRIPTORS))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let received = retry_on_intr(|| {
            let mut pieces = [IoSliceMut::new(into)];
            recvmsg(&self.stream, &mut pieces, &mut control, RecvFlags::CMSG_CLOEXEC)
        })?;
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(rights) = message {
                descriptors.extend(rights);
            }
        }
        if received.flags.contains(ReturnFlags::CTRUNC) || descriptors.len() > DESCRIPTORS {
            return Err(io::Error::other(format!(
                "a message has more than {DESCRIPTORS} file descriptors"
            )));
        }
        Ok(received.bytes)
    }

    /// Sends a message. Returns whether the other side is still there.
    pub fn send(
        &self,
        bytes: &[u8],
        descriptors: &[BorrowedFd<'_>],
    ) -> Result<SocketRead, DiskError> {
        let mut sent = 0;
        while sent < bytes.len() {
            let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(DESCRIPTORS))];
            let mut control = SendAncillaryBuffer::new(&mut space);
            if sent == 0 && !descriptors.is_empty() {
                control.push(SendAncillaryMessage::ScmRights(descriptors));
            }
            let pieces = [IoSlice::new(&bytes[sent..])];
            match sendmsg(&self.stream, &pieces, &mut control, SendFlags::NOSIGNAL) {
                Ok(count) => sent += count,
                Err(Errno::INTR) => {}
                Err(Errno::PIPE | Errno::CONNRESET) => return Ok(SocketRead::End),
                Err(error) => return Err(self.fault("send a message to", error.into())),
            }
        }
        Ok(SocketRead::All)
    }

    /// The error for a failed system call.
    pub fn fault(&self, doing: &'static str, cause: io::Error) -> DiskError {
        DiskError::Socket { peer: self.peer.clone(), doing, cause }
    }
}

/// Waits until at least one of these is readable, or has ended. Returns which are; `None` on
/// timeout.
pub fn wait(
    sources: &[Option<BorrowedFd<'_>>],
    limit: Option<Duration>,
) -> io::Result<Option<Vec<bool>>> {
    let present = sources.iter().flatten();
    let mut polled: Vec<PollFd<'_>> =
        present.map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::IN)).collect();
    let limit = limit.map(Timespec::try_from).transpose().map_err(io::Error::other)?;
    if retry_on_intr(|| poll(&mut polled, limit.as_ref()))? == 0 {
        return Ok(None);
    }
    let mut events = polled.iter().map(|one| !one.revents().is_empty());
    let ready = sources.iter().map(|s| s.is_some() && events.next().unwrap_or(false)).collect();
    Ok(Some(ready))
}

//! A guest's side of vhost-user: messages out, answers in, in the order of User-Mode Linux's driver
//! and QEMU's.

use std::io::{self, IoSlice, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};

use crate::driver::{AVAILABLE, BASE, DESCRIPTORS, MEMORY_BYTES, Ring, USED};

/// Where a virtual machine has its memory among its own addresses.
const USER_BASE: u64 = 0x7f00_0000_0000;

pub struct Frontend(pub UnixStream);

/// Numbers as they are sent.
pub fn words(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// A message about a part of the configuration space.
pub fn config(offset: u32, bytes: &[u8]) -> Vec<u8> {
    let size = u32::try_from(bytes.len()).unwrap();
    [[offset, size, 0].map(u32::to_le_bytes).concat(), bytes.to_vec()].concat()
}

impl Frontend {
    /// Asks; returns the answer.
    pub fn ask(&self, request: u32, needs: bool, body: &[u8]) -> Vec<u8> {
        self.send(request, needs, body, &[]);
        self.answer(request).unwrap()
    }

    /// Sends a message that has to be acknowledged.
    pub fn tell(&self, request: u32, body: &[u8], fds: &[OwnedFd]) {
        self.send(request, true, body, fds);
        assert_eq!(self.answer(request).unwrap(), words(&[0]), "{request}");
    }

    pub fn send(&self, request: u32, needs: bool, body: &[u8], fds: &[OwnedFd]) {
        let flags: u32 = if needs { 9 } else { 1 };
        let length = u32::try_from(body.len()).unwrap();
        let header = [request, flags, length].map(u32::to_le_bytes).concat();
        let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        let fds: Vec<_> = fds.iter().map(AsFd::as_fd).collect();
        if !fds.is_empty() {
            control.push(SendAncillaryMessage::ScmRights(&fds));
        }
        let pieces = [IoSlice::new(&header), IoSlice::new(body)];
        let sent = sendmsg(&self.0, &pieces, &mut control, SendFlags::NOSIGNAL).unwrap();
        assert_eq!(sent, header.len() + body.len());
    }

    /// Takes in the answer to a request.
    pub fn answer(&self, request: u32) -> io::Result<Vec<u8>> {
        let mut header = [0; 12];
        (&self.0).read_exact(&mut header)?;
        let word = |at: usize| u32::from_le_bytes(header[at..at + 4].try_into().unwrap());
        assert_eq!((word(0), word(4)), (request, 5));
        let mut body = vec![0; word(8) as usize];
        (&self.0).read_exact(&mut body)?;
        Ok(body)
    }

    /// Takes the disk into use, with a virtual machine's events for kicks and calls, or as a guest
    /// in time travel. Returns its capacity.
    pub fn take_up(&self, ring: &Ring, events: Option<[OwnedFd; 2]>) -> u64 {
        self.send(3, false, &[], &[]);
        let features = self.ask(1, false, &[]);
        let protocol = self.ask(15, false, &[]);
        assert_eq!(protocol, words(&[if events.is_some() { 0x208 } else { 0x4228 }]));
        self.tell(16, &protocol, &[]);
        let (_ours, theirs) = UnixStream::pair().unwrap();
        if events.is_none() {
            self.tell(21, &[], &[theirs.into()]);
        }
        self.tell(2, &features, &[]);
        let question = config(0, &[0; 60]);
        let config = self.ask(24, false, &question);
        assert_eq!(config[..12], question[..12]);
        assert_eq!(config[32..36], 512_u32.to_le_bytes());
        // User-Mode Linux sends room for two regions.
        let (base, regions) = if events.is_some() { (USER_BASE, 1) } else { (BASE, 2) };
        let mut table = words(&[1, BASE, MEMORY_BYTES, base, BASE]);
        table.resize(8 + regions * 32, 0);
        self.tell(5, &table, &[ring.file()]);
        self.tell(8, &words(&[u64::from(ring.slots) << 32]), &[]);
        self.tell(10, &words(&[0]), &[]);
        let [descriptors, used, available] =
            [DESCRIPTORS, USED, AVAILABLE].map(|at| at - BASE + base);
        self.tell(9, &words(&[0, descriptors, used, available, u64::MAX]), &[]);
        for (request, event) in [12, 13].into_iter().zip(events.into_iter().flatten()) {
            self.tell(request, &words(&[0]), &[event]);
        }
        self.tell(18, &words(&[1 << 32]), &[]);
        u64::from_le_bytes(config[12..20].try_into().unwrap()) * 512
    }
}

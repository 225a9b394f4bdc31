//! The channel between a guest and its host: a disk whose reads are the job and whose writes are
//! messages.
//!
//! Both directions are framed alike: eight bytes of length, little-endian, then JSON. A message
//! starts at offset 0 and takes as many blocks as it needs.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::{Backend, BackendError};
use rustix::fs::{Mode, OFlags};
use serde::Serialize;
use serde::de::DeserializeOwned;
use ssdlab_flash::{Extent, Nanos};
use ssdlab_workload::engine::{Aligned, BLOCK_BYTES};

/// The size of the disk, and so of the longest job or message.
const CAPACITY_BYTES: u64 = 64 << 20;

/// The length before the text.
const HEADER_BYTES: usize = 8;

/// The host's end: a disk to serve.
pub struct HostChannel<'a, M> {
    job: Vec<u8>,
    message: Vec<u8>,
    heard: Box<dyn FnMut(Nanos, M) + Send + 'a>,
}

impl<'a, M: DeserializeOwned> HostChannel<'a, M> {
    /// A channel with a job in it; `heard` is called with each message at its virtual time.
    pub fn new(job: &impl Serialize, heard: impl FnMut(Nanos, M) + Send + 'a) -> Self {
        Self { job: framed(job), message: Vec::new(), heard: Box::new(heard) }
    }

    /// Receives a piece of a message. An invalid message is dropped; the guest will then count as
    /// ended without being done.
    fn take(&mut self, now: Nanos, offset_bytes: u64, from: &[u8]) {
        if offset_bytes == 0 {
            self.message.clear();
        }
        if offset_bytes != self.message.len() as u64 {
            return;
        }
        self.message.extend(from);
        if let Some(text) = text(&self.message)
            && let Ok(message) = serde_json::from_slice(text)
        {
            (self.heard)(now, message);
        }
    }
}

impl<M: DeserializeOwned> Backend for HostChannel<'_, M> {
    fn capacity_bytes(&self) -> u64 {
        CAPACITY_BYTES
    }

    fn read(
        &mut self,
        now: Nanos,
        offset_bytes: u64,
        into: &mut [u8],
    ) -> Result<Nanos, BackendError> {
        let start = usize::try_from(offset_bytes).unwrap_or(usize::MAX).min(self.job.len());
        let length = into.len().min(self.job.len() - start);
        into[..length].copy_from_slice(&self.job[start..start + length]);
        into[length..].fill(0);
        Ok(now)
    }

    fn write(&mut self, now: Nanos, offset_bytes: u64, from: &[u8]) -> Result<Nanos, BackendError> {
        self.take(now, offset_bytes, from);
        Ok(now)
    }

    fn discard(&mut self, now: Nanos, _: Extent) -> Result<Nanos, BackendError> {
        Ok(now)
    }

    fn flush(&mut self, now: Nanos) -> Result<Nanos, BackendError> {
        Ok(now)
    }
}

/// The guest's end: the disk's node.
#[derive(Debug)]
pub struct GuestChannel {
    node: File,
}

impl GuestChannel {
    /// Opens the disk for direct I/O.
    pub fn open(node: &Path) -> io::Result<Self> {
        let flags = OFlags::RDWR | OFlags::DIRECT | OFlags::CLOEXEC;
        Ok(Self { node: File::from(rustix::fs::open(node, flags, Mode::empty())?) })
    }

    /// Reads the job.
    pub fn job<T: DeserializeOwned>(&self) -> io::Result<T> {
        let mut blocks = Aligned::new(BLOCK_BYTES);
        self.node.read_exact_at(blocks.bytes(), 0)?;
        let length = length(blocks.bytes()).unwrap_or(0);
        if length as u64 > CAPACITY_BYTES {
            return Err(io::Error::other(format!("a job cannot have {length} bytes")));
        }
        let mut blocks = Aligned::new(HEADER_BYTES + length);
        self.node.read_exact_at(blocks.bytes(), 0)?;
        let job = &blocks.bytes()[HEADER_BYTES..HEADER_BYTES + length];
        Ok(serde_json::from_slice(job)?)
    }

    /// Sends a message to the host, which has received it when this returns.
    pub fn tell(&self, message: &impl Serialize) -> io::Result<()> {
        let framed = framed(message);
        let mut blocks = Aligned::new(framed.len());
        blocks.bytes()[..framed.len()].copy_from_slice(&framed);
        self.node.write_all_at(blocks.bytes(), 0)
    }
}

fn framed(value: &impl Serialize) -> Vec<u8> {
    let text = serde_json::to_vec(value).expect("jobs and messages are plain data");
    let mut framed = (text.len() as u64).to_le_bytes().to_vec();
    framed.extend(text);
    framed
}

fn length(framed: &[u8]) -> Option<usize> {
    let header = framed.first_chunk::<HEADER_BYTES>()?;
    usize::try_from(u64::from_le_bytes(*header)).ok()
}

/// The text, once it is complete.
fn text(framed: &[u8]) -> Option<&[u8]> {
    framed.get(HEADER_BYTES..HEADER_BYTES.checked_add(length(framed)?)?)
}

#[cfg(test)]
mod tests;

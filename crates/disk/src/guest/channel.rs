//! The channel between a guest and its host: a disk whose reads are the job and whose writes are
//! messages.
//!
//! Both directions are framed alike: eight bytes of length, little-endian, then JSON. A message
//! starts at offset 0 and takes as many blocks as it needs.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::{Backend, BackendError};
use rustix::fs::{Mode, OFlags};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use ssdlab_flash::{Extent, Nanos};
use ssdlab_operations::cuts::{Deed, Recovery};
use ssdlab_workload::engine::{Aligned, BLOCK_BYTES};

/// The size of the disk, and so of the longest job or message.
const CAPACITY_BYTES: u64 = 64 << 20;

/// The length before the text.
const HEADER_BYTES: usize = 8;

/// A message from a guest to its host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Message {
    /// A phase begins.
    Begins(String),
    /// A phase is over and the disk is quiet.
    Over(String),
    /// The blocks of each function of the kernel that were executed in the phase before.
    Functions(BTreeMap<String, u64>),
    /// The layout of the disk's filesystem, after the phases.
    Layout(serde_json::Value),
    /// An operation on a file that a power cut may undo, or a promise about the file.
    Deed(Deed),
    /// A line that a program of the workload printed.
    Said(String),
    /// The drive may be replaced by that of the next power cut: nothing uses it.
    Next,
    /// The drive may be replaced by the same again: a check may have changed it.
    Again,
    /// A piece of the archive of the files that it has once it is recovered.
    Packed(Vec<u8>),
    /// A name of which something is missing in that archive, and why.
    Unreadable(String),
    /// The result of recovering it.
    Recovered(Recovery),
    /// The job is done; this is its result.
    Done(serde_json::Value),
}

/// The host's end: a disk to serve.
pub struct Channel<'a> {
    job: Vec<u8>,
    message: Vec<u8>,
    heard: Box<dyn FnMut(Nanos, Message) + Send + 'a>,
}

impl<'a> Channel<'a> {
    /// A channel with a job in it; `heard` is called with each message at its virtual time.
    pub fn new(job: &impl Serialize, heard: impl FnMut(Nanos, Message) + Send + 'a) -> Self {
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

impl Backend for Channel<'_> {
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
pub struct Line {
    node: File,
}

impl Line {
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
    pub fn tell(&self, message: &Message) -> io::Result<()> {
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

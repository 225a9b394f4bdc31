//! The write ledger of a phase: its written bytes by layer and by kind.
//!
//! Layers are counted where they are; kinds come from the requests themselves, so that they add up
//! to the device's own counter, to the byte, or are not given at all.

use std::ops::AddAssign;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_filesystem::layout::Kind;
use ssdlab_flash::FlashActivity;
use ssdlab_meter::block::Counters;

/// Where the bytes written in a phase come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ledger {
    /// What each layer wrote.
    pub by_layer: ByLayer,
    /// What the filesystem wrote, by what it is; absent where the requests were not seen.
    pub by_kind: Option<ByKind>,
    /// Why the kinds are not known, where they were to be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What each layer wrote, from the program down.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ByLayer {
    /// What the workload handed to write(2): in calls.
    pub application: Layer,
    /// What the filesystem submitted: in requests before they are merged.
    pub filesystem: Layer,
    /// What the device completed.
    pub device: Layer,
    /// What the flash of a simulated drive was programmed with, for the host and for the drive's
    /// own work; its pages are counted by their bytes alone.
    pub flash: Layer,
}

/// What a layer wrote; what it does not count is absent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Layer {
    /// Bytes.
    pub bytes: Option<u64>,
    /// Requests of this layer.
    pub requests: Option<u64>,
}

/// What a filesystem wrote, by what it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ByKind {
    /// What files hold.
    pub data: Written,
    /// The journal, or a log of metadata.
    pub journal: Written,
    /// Inodes, where access times are.
    pub inode: Written,
    /// Directories, and where files' blocks are noted: extents, indirect blocks, attributes.
    pub directory: Written,
    /// Which blocks and inodes are free: bitmaps, trees and tables of free space.
    pub allocation: Written,
    /// Superblocks, group descriptors, checkpoints.
    pub superblock: Written,
    /// Trees of metadata that are never written in place.
    pub cow_metadata: Written,
    /// What cannot be told.
    pub unattributed: Written,
}

/// Bytes written of one kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Written {
    /// Bytes.
    pub bytes: u64,
    /// Requests most of whose bytes are of this kind. Those that only flush are of none.
    pub requests: u64,
}

impl AddAssign for Written {
    fn add_assign(&mut self, other: Self) {
        self.bytes += other.bytes;
        self.requests += other.requests;
    }
}

impl ByLayer {
    /// What is counted on the way to the device; the flash is counted by who has it.
    #[must_use]
    pub fn of(application: Layer, device: &Counters) -> Self {
        let Counters { written_bytes, write_requests, write_merges, .. } = *device;
        let layer = |requests| Layer { bytes: Some(written_bytes), requests: Some(requests) };
        Self {
            application,
            filesystem: layer(write_requests + write_merges),
            device: layer(write_requests),
            flash: Layer::default(),
        }
    }

    /// Adds what the flash did.
    pub fn reach(&mut self, flash: &FlashActivity) {
        self.flash = Layer { bytes: Some(flash.flash_written_bytes), requests: None };
    }
}

impl ByKind {
    /// What was written of a kind.
    #[must_use]
    pub fn of(&self, kind: Kind) -> Written {
        let mut own = *self;
        *own.of_mut(kind)
    }

    /// Where a kind is counted.
    pub fn of_mut(&mut self, kind: Kind) -> &mut Written {
        match kind {
            Kind::Data => &mut self.data,
            Kind::Journal => &mut self.journal,
            Kind::Inode => &mut self.inode,
            Kind::Directory => &mut self.directory,
            Kind::Allocation => &mut self.allocation,
            Kind::Superblock => &mut self.superblock,
            Kind::CowMetadata => &mut self.cow_metadata,
            Kind::Unattributed => &mut self.unattributed,
        }
    }

    /// All kinds together.
    #[must_use]
    pub fn total(&self) -> Written {
        let mut total = Written::default();
        for kind in Kind::ALL {
            total += self.of(kind);
        }
        total
    }
}

#[cfg(test)]
mod tests;

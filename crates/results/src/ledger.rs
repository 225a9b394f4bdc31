//! The write ledger of a phase: its written bytes by layer, by kind, and by who caused them.
//!
//! Each layer has its own counters. Kinds come from the requests, so they add up to the device's
//! counter to the byte, or are absent.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::AddAssign;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_causes::CauserRole;
use ssdlab_filesystem::layout::BlockKind;
use ssdlab_flash::FlashActivity;
use ssdlab_host::meter::block::Counters;

/// The most programs of which a record keeps the bytes: those beyond them write next to nothing.
const MOST_PROGRAMS: usize = 20;

/// Where the bytes written in a phase come from.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ledger {
    /// What each layer wrote.
    pub by_layer: ByLayer,
    /// What the filesystem wrote, by kind; absent if the requests were not recorded.
    pub by_kind: Option<ByKind>,
    /// Who caused what the device completed; absent in the virtual lab, and if the kernel's events
    /// were not recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_cause: Option<ByCause>,
    /// The same by program, in a stretch of the running machine's time (live lab).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_program: Option<ByProgram>,
    /// Why it is unknown who caused it, if that was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause_reason: Option<String>,
    /// Why the kinds are unknown, if they were requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What each layer wrote, from the program down.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ByLayer {
    /// What the workload passed to write(2), in calls.
    pub application: LayerWrites,
    /// What the filesystem submitted, in requests before merging.
    pub filesystem: LayerWrites,
    /// What the device completed.
    pub device: LayerWrites,
    /// What a simulated drive programmed into its flash, for the host and for its own work; only
    /// bytes are counted.
    pub flash: LayerWrites,
}

/// What a layer wrote; counts that it does not have are absent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Layer")]
pub struct LayerWrites {
    /// Bytes.
    pub bytes: Option<u64>,
    /// Requests of this layer.
    pub requests: Option<u64>,
}

/// What a filesystem wrote, by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ByKind {
    /// File contents.
    pub data: KindWrites,
    /// The journal, or a log of metadata.
    pub journal: KindWrites,
    /// Inodes, which include access times.
    pub inode: KindWrites,
    /// Directories, and maps of files' blocks: extents, indirect blocks, attributes.
    pub directory: KindWrites,
    /// Allocation state of blocks and inodes: bitmaps, trees and tables of free space.
    pub allocation: KindWrites,
    /// Superblocks, group descriptors, checkpoints.
    pub superblock: KindWrites,
    /// Trees of metadata that are never written in place.
    pub cow_metadata: KindWrites,
    /// Bytes of unknown kind.
    pub unattributed: KindWrites,
}

/// Bytes written to the device by who caused them, whoever submitted them; together the device's
/// own count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ByCause {
    /// The workload, with all programs that it runs.
    pub workload_bytes: u64,
    /// The reader beside it: access times.
    pub reader_bytes: u64,
    /// The kernel on nobody's behalf: the filesystem itself, and threads of the kernel.
    pub kernel_bytes: u64,
    /// Whoever dirtied it before the first phase.
    pub before_bytes: u64,
    /// Other programs.
    pub others_bytes: u64,
    /// Bytes of which no event was seen.
    pub unseen_bytes: u64,
}

/// Bytes written to the device by the program that caused them, whoever submitted them; together
/// the device's own count.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ByProgram {
    /// The programs with the most bytes, the first with most.
    pub largest: Vec<ProgramBytes>,
    /// The bytes of all others.
    pub rest_bytes: u64,
}

/// What a program caused to be written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProgramBytes {
    /// The program as the kernel names it (`comm`); or a line in brackets, as for what was dirtied
    /// before.
    pub program: String,
    /// The unit, container or guest that it is of, as people call it; absent for the root cgroup.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub service: String,
    /// Its bytes.
    pub bytes: u64,
}

/// Bytes written of one kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Written")]
pub struct KindWrites {
    /// Bytes.
    pub bytes: u64,
    /// Requests most of whose bytes are of this kind. Pure flushes count nowhere.
    pub requests: u64,
}

impl AddAssign for KindWrites {
    fn add_assign(&mut self, other: Self) {
        self.bytes += other.bytes;
        self.requests += other.requests;
    }
}

impl ByLayer {
    /// The counts on the way to the device; [`Self::reach`] adds the flash.
    pub fn of(application: LayerWrites, device: &Counters) -> Self {
        let Counters { written_bytes, write_requests, write_merges, .. } = *device;
        let layer = |requests| LayerWrites { bytes: Some(written_bytes), requests: Some(requests) };
        Self {
            application,
            filesystem: layer(write_requests + write_merges),
            device: layer(write_requests),
            flash: LayerWrites::default(),
        }
    }

    /// Adds what the flash programmed.
    pub fn reach(&mut self, flash: &FlashActivity) {
        self.flash = LayerWrites { bytes: Some(flash.flash_written_bytes), requests: None };
    }
}

impl ByCause {
    /// By the roles of who caused them; nothing of roles that are absent.
    pub fn new(bytes: impl IntoIterator<Item = (CauserRole, u64)>) -> Self {
        let mut by_role = BTreeMap::new();
        for (role, bytes) in bytes {
            *by_role.entry(role).or_insert(0) += bytes;
        }
        let of = |role| by_role.get(&role).copied().unwrap_or(0);
        Self {
            workload_bytes: of(CauserRole::Workload),
            reader_bytes: of(CauserRole::Reader),
            kernel_bytes: of(CauserRole::Kernel),
            before_bytes: of(CauserRole::Before),
            others_bytes: of(CauserRole::Others),
            unseen_bytes: of(CauserRole::Unseen),
        }
    }

    /// The bytes of a role.
    pub fn of(&self, role: CauserRole) -> u64 {
        match role {
            CauserRole::Workload => self.workload_bytes,
            CauserRole::Reader => self.reader_bytes,
            CauserRole::Kernel => self.kernel_bytes,
            CauserRole::Before => self.before_bytes,
            CauserRole::Others => self.others_bytes,
            CauserRole::Unseen => self.unseen_bytes,
        }
    }
}

impl ByProgram {
    /// By programs and their services, and the bytes that no row is kept of.
    pub fn new(rows: impl IntoIterator<Item = (String, String, u64)>, rest_bytes: u64) -> Self {
        let mut by_name: BTreeMap<(String, String), u64> = BTreeMap::new();
        for (program, service, bytes) in rows {
            *by_name.entry((program, service)).or_default() += bytes;
        }
        let row = |((program, service), bytes)| ProgramBytes { program, service, bytes };
        let mut largest: Vec<ProgramBytes> =
            by_name.into_iter().filter(|(_, bytes)| *bytes > 0).map(row).collect();
        largest.sort_by_key(|row| Reverse(row.bytes));
        let rest = largest.split_off(MOST_PROGRAMS.min(largest.len()));
        let rest: u64 = rest.iter().map(|row| row.bytes).sum();
        Self { largest, rest_bytes: rest_bytes + rest }
    }

    /// Those of several stretches together.
    pub fn total<'a>(all: impl Iterator<Item = &'a Self> + Clone) -> Self {
        let rows = all.clone().flat_map(|own| own.largest.iter().cloned());
        let rows = rows.map(|ProgramBytes { program, service, bytes }| (program, service, bytes));
        Self::new(rows, all.map(|own| own.rest_bytes).sum())
    }
}

impl ByKind {
    /// What was written of a kind.
    pub fn of(&self, kind: BlockKind) -> KindWrites {
        let mut own = *self;
        *own.of_mut(kind)
    }

    /// The count of a kind.
    pub fn of_mut(&mut self, kind: BlockKind) -> &mut KindWrites {
        match kind {
            BlockKind::Data => &mut self.data,
            BlockKind::Journal => &mut self.journal,
            BlockKind::Inode => &mut self.inode,
            BlockKind::Directory => &mut self.directory,
            BlockKind::Allocation => &mut self.allocation,
            BlockKind::Superblock => &mut self.superblock,
            BlockKind::CowMetadata => &mut self.cow_metadata,
            BlockKind::Unattributed => &mut self.unattributed,
        }
    }

    /// All kinds together.
    pub fn total(&self) -> KindWrites {
        let mut total = KindWrites::default();
        for kind in BlockKind::ALL {
            total += self.of(kind);
        }
        total
    }
}

#[cfg(test)]
mod tests;

//! Defines a guest's memory, which its disks map from the guest's files.

use std::fs::File;
use std::ops::Deref;
use std::sync::Arc;

use vm_memory::mmap::MmapRegion;
use vm_memory::{FileOffset, GuestAddress, GuestMemoryMmap, GuestMemoryRegion, GuestRegionMmap};
use zerocopy::byteorder::little_endian::{U32, U64};
use zerocopy::{FromBytes, Immutable, KnownLayout, Unaligned};

use crate::invalid::InvalidValue;

use super::shrunk::WatchedMapping;

/// A guest's memory; a clone is the same memory.
#[derive(Debug, Clone)]
pub struct SharedMemory(Arc<Mapped>);

#[derive(Debug)]
struct Mapped {
    /// No longer watched before it is unmapped: another mapping may take its place.
    watched: Vec<WatchedMapping>,
    memory: GuestMemoryMmap,
    regions: Vec<Region>,
}

/// A region in a guest's table of its memory.
#[derive(Debug, Clone, Copy, FromBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct Region {
    guest_address: U64,
    size: U64,
    /// Where the guest's process has it.
    user_address: U64,
    file_offset: U64,
}

/// Why memory is not mapped.
pub enum Unmapped {
    /// The table is invalid.
    Invalid(InvalidValue),
    /// This machine cannot.
    Failed(String),
}

impl From<InvalidValue> for Unmapped {
    fn from(value: InvalidValue) -> Self {
        Self::Invalid(value)
    }
}

impl Deref for SharedMemory {
    type Target = GuestMemoryMmap;

    fn deref(&self) -> &GuestMemoryMmap {
        &self.0.memory
    }
}

impl SharedMemory {
    /// Maps the memory of a table, of as many regions as there are files.
    pub fn map(table: &[u8], files: Vec<File>) -> Result<Self, Unmapped> {
        let short = || InvalidValue::new("the size of its body", "that of its table", table.len());
        let ([count, _], rest) = <[U32; 2]>::read_from_prefix(table).map_err(|_| short())?;
        let count = (count.get() as usize).max(1);
        if files.len() != count {
            let what = "the number of its file descriptors";
            return Err(InvalidValue::new(what, count, files.len()).into());
        }
        let (regions, _) =
            <[Region]>::ref_from_prefix_with_elems(rest, count).map_err(|_| short())?;
        let mapped = regions.iter().zip(files).map(|(region, file)| map(region, file));
        let mut mapped = mapped.collect::<Result<Vec<_>, _>>()?;
        mapped.sort_by_key(GuestMemoryRegion::start_addr);
        let watch = |region: &GuestRegionMmap| WatchedMapping::new(region.as_ptr(), region.size());
        let watched = mapped.iter().map(watch).collect::<Result<_, _>>();
        let watched = watched.map_err(|cause| Unmapped::Failed(cause.to_string()))?;
        let memory = GuestMemoryMmap::from_regions(mapped)
            .map_err(|cause| Unmapped::Failed(cause.to_string()))?;
        Ok(Self(Arc::new(Mapped { watched, memory, regions: regions.to_vec() })))
    }

    /// The address of what the guest's process has at one of its own.
    pub fn translate(&self, user_address: u64) -> Option<GuestAddress> {
        self.0.regions.iter().find_map(|region| {
            let offset = user_address.checked_sub(region.user_address.get())?;
            let address = region.guest_address.get();
            (offset < region.size.get()).then(|| GuestAddress(address + offset))
        })
    }

    /// Whether a file of it was found to have become shorter.
    pub fn has_shrunk(&self) -> bool {
        self.0.watched.iter().any(WatchedMapping::has_shrunk)
    }
}

fn map(region: &Region, file: File) -> Result<GuestRegionMmap, Unmapped> {
    let failed = |cause: String| Unmapped::Failed(cause);
    let file_bytes = file.metadata().map_err(|cause| failed(cause.to_string()))?.len();
    let end = region.file_offset.get().checked_add(region.size.get());
    if end.is_none_or(|end| end > file_bytes) || region.size.get() == 0 {
        let found = format!("{} at {}", region.size, region.file_offset);
        let expected = format!("within the {file_bytes} of its file, and not 0");
        return Err(InvalidValue::new("the bytes of a region", expected, found).into());
    }
    let bytes = usize::try_from(region.size.get()).map_err(|cause| failed(cause.to_string()))?;
    let place = FileOffset::new(file, region.file_offset.get());
    let mapping = MmapRegion::from_file(place, bytes).map_err(|cause| failed(cause.to_string()))?;
    GuestRegionMmap::new(mapping, GuestAddress(region.guest_address.get()))
        .ok_or_else(|| failed("a region ends beyond the address space".to_owned()))
}

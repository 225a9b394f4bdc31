//! Defines a disk in memory, in which pages of zeros take no space.
//!
//! A filesystem on a large drive touches little of it, and much of what a trial writes is deleted
//! again. So data are stored in pages that exist only while they contain a byte other than 0, in a
//! two-level table: lookups take two steps for any capacity, and nothing depends on addresses or
//! the order of a hash.

use std::io::{self, Seek, SeekFrom, Write};

use ssdlab_flash::{Extent, Nanos, Refusal};

use super::{Backend, BackendError};

/// The unit of allocation: a filesystem's block, so that deleting one frees memory.
const PAGE_BYTES: usize = 4096;

/// The pages of a stretch, the lower level of the table: 2 MiB of the disk.
const STRETCH_PAGES: usize = 512;
const STRETCH_BYTES: u64 = (PAGE_BYTES * STRETCH_PAGES) as u64;

static ZEROS: [u8; PAGE_BYTES] = [0; PAGE_BYTES];

type Page = Box<[u8; PAGE_BYTES]>;

/// What the allocator adds to a page (glibc's header, with the alignment).
const ALLOCATION_BYTES: usize = 16;

/// A stretch of the disk in which some page is not all zeros.
#[derive(Debug, Clone)]
struct Stretch {
    pages: Box<[Option<Page>]>,
    held: usize,
}

impl Stretch {
    fn new() -> Self {
        Self { pages: vec![None; STRETCH_PAGES].into(), held: 0 }
    }
}

/// A disk in memory. Commands take no time.
///
/// A clone is a snapshot.
#[derive(Debug, Clone)]
pub struct Memory {
    stretches: Vec<Option<Stretch>>,
    capacity_bytes: u64,
}

/// A part of a page: which page, where in it, and where in the caller's data.
struct Part {
    stretch: usize,
    page: usize,
    offset: usize,
    length: usize,
    at: u64,
}

impl Memory {
    /// An empty disk of so many bytes, a multiple of 512.
    pub fn new(capacity_bytes: u64) -> Self {
        let stretches = usize::try_from(capacity_bytes.div_ceil(STRETCH_BYTES))
            .expect("the table of a disk fits the address space");
        Self { stretches: vec![None; stretches], capacity_bytes }
    }

    /// The maximum memory of a disk of this capacity, in bytes: if no page is all zeros.
    pub const fn most_bytes(capacity_bytes: u64) -> u64 {
        let page_bytes = (PAGE_BYTES + ALLOCATION_BYTES + size_of::<Option<Page>>()) as u64;
        let stretch_bytes = (ALLOCATION_BYTES + size_of::<Option<Stretch>>()) as u64;
        let pages = capacity_bytes.div_ceil(PAGE_BYTES as u64);
        let stretches = pages.div_ceil(STRETCH_PAGES as u64);
        pages.saturating_mul(page_bytes).saturating_add(stretches.saturating_mul(stretch_bytes))
    }

    /// The pages that are not all zeros, each with its offset in bytes, in order; the last ends at
    /// the capacity.
    pub fn pages(&self) -> impl Iterator<Item = (u64, &[u8])> {
        let stretches = self.stretches.iter().enumerate();
        stretches.flat_map(move |(stretch, held)| {
            let pages = held.iter().flat_map(|held| held.pages.iter().enumerate());
            pages.filter_map(move |(page, held)| {
                let held = held.as_ref()?;
                let offset_bytes = ((stretch * STRETCH_PAGES + page) * PAGE_BYTES) as u64;
                let within = usize::try_from(self.capacity_bytes - offset_bytes);
                Some((offset_bytes, &held[..within.unwrap_or(PAGE_BYTES).min(PAGE_BYTES)]))
            })
        })
    }

    /// Writes the contents into a new file, with holes where they are zeros. The caller sets its
    /// length.
    pub fn write_into(&self, file: &mut (impl Write + Seek)) -> io::Result<()> {
        self.pages().try_for_each(|(offset_bytes, page)| {
            file.seek(SeekFrom::Start(offset_bytes))?;
            file.write_all(page)
        })
    }

    /// Reads data; refused beyond the capacity.
    pub fn load(&self, offset_bytes: u64, into: &mut [u8]) -> Result<(), Refusal> {
        let extent = Extent { offset_bytes, length_bytes: into.len() as u64 };
        let extent = extent.within(self.capacity_bytes)?;
        for part in parts(extent) {
            let page = self.stretches[part.stretch]
                .as_ref()
                .and_then(|stretch| stretch.pages[part.page].as_ref());
            let page = page.map_or(&ZEROS, |page| page);
            part.of_mut(into).copy_from_slice(&page[part.offset..part.offset + part.length]);
        }
        Ok(())
    }

    pub(super) fn store(&mut self, offset_bytes: u64, from: &[u8]) -> Result<(), Refusal> {
        let extent = Extent { offset_bytes, length_bytes: from.len() as u64 };
        let extent = extent.within(self.capacity_bytes)?;
        for part in parts(extent) {
            let data = part.of(from);
            if data == &ZEROS[..data.len()] {
                self.zero(&part);
            } else {
                self.page(&part)[part.offset..part.offset + part.length].copy_from_slice(data);
            }
        }
        Ok(())
    }

    pub(super) fn clear(&mut self, extent: Extent) -> Result<(), Refusal> {
        let extent = extent.within(self.capacity_bytes)?;
        let end = extent.offset_bytes + extent.length_bytes;
        let mut at = extent.offset_bytes;
        // A stretch at a time: most of a large disk holds nothing.
        while at < end {
            let next = (at / STRETCH_BYTES + 1).saturating_mul(STRETCH_BYTES).min(end);
            let within = Extent { offset_bytes: at, length_bytes: next - at };
            if self.holds_any(at) {
                parts(within).for_each(|part| self.zero(&part));
            }
            at = next;
        }
        Ok(())
    }

    /// Whether the stretch around an offset holds anything.
    fn holds_any(&self, offset_bytes: u64) -> bool {
        let stretch = usize::try_from(offset_bytes / STRETCH_BYTES);
        stretch.is_ok_and(|stretch| self.stretches[stretch].is_some())
    }

    /// The page of a part, created if missing.
    fn page(&mut self, part: &Part) -> &mut [u8; PAGE_BYTES] {
        let stretch = self.stretches[part.stretch].get_or_insert_with(Stretch::new);
        let page = &mut stretch.pages[part.page];
        if page.is_none() {
            stretch.held += 1;
        }
        page.get_or_insert_with(|| Box::new(ZEROS))
    }

    /// Zeroes a part, and drops its page if it becomes all zeros.
    fn zero(&mut self, part: &Part) {
        let Some(stretch) = &mut self.stretches[part.stretch] else { return };
        let Some(page) = &mut stretch.pages[part.page] else { return };
        page[part.offset..part.offset + part.length].fill(0);
        if page[..] != ZEROS {
            return;
        }
        stretch.pages[part.page] = None;
        stretch.held -= 1;
        if stretch.held == 0 {
            self.stretches[part.stretch] = None;
        }
    }
}

impl Part {
    fn of<'a>(&self, data: &'a [u8]) -> &'a [u8] {
        let at = usize::try_from(self.at).expect("it lies within a slice");
        &data[at..at + self.length]
    }

    fn of_mut<'a>(&self, data: &'a mut [u8]) -> &'a mut [u8] {
        let at = usize::try_from(self.at).expect("it lies within a slice");
        &mut data[at..at + self.length]
    }
}

/// The parts of pages that make up an extent of the disk.
fn parts(extent: Extent) -> impl Iterator<Item = Part> {
    let page_bytes = PAGE_BYTES as u64;
    let mut at = 0;
    std::iter::from_fn(move || {
        if at == extent.length_bytes {
            return None;
        }
        let here = extent.offset_bytes + at;
        let length = (page_bytes - here % page_bytes).min(extent.length_bytes - at);
        let small = |number: u64| usize::try_from(number).expect("the table fits memory");
        let page = small(here / page_bytes);
        let part = Part {
            stretch: page / STRETCH_PAGES,
            page: page % STRETCH_PAGES,
            offset: small(here % page_bytes),
            length: small(length),
            at,
        };
        at += length;
        Some(part)
    })
}

impl Backend for Memory {
    fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    fn read(
        &mut self,
        now: Nanos,
        offset_bytes: u64,
        into: &mut [u8],
    ) -> Result<Nanos, BackendError> {
        self.load(offset_bytes, into)?;
        Ok(now)
    }

    fn write(&mut self, now: Nanos, offset_bytes: u64, from: &[u8]) -> Result<Nanos, BackendError> {
        self.store(offset_bytes, from)?;
        Ok(now)
    }

    fn discard(&mut self, now: Nanos, extent: Extent) -> Result<Nanos, BackendError> {
        self.clear(extent)?;
        Ok(now)
    }

    fn flush(&mut self, now: Nanos) -> Result<Nanos, BackendError> {
        Ok(now)
    }
}

#[cfg(test)]
mod tests;

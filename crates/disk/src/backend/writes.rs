//! Defines how the data of writes are kept: each page's contents once, as most of them repeat.

use std::collections::BTreeMap;
use std::sync::Arc;

use twox_hash::XxHash3_128;

/// The unit of contents, in bytes.
const PAGE_BYTES: usize = 4096;

type Page = Arc<[u8]>;

/// The data of writes, in the order of the writes.
#[derive(Debug, Clone, Default)]
pub struct Writes {
    /// By the hash of their contents.
    pages: BTreeMap<u128, Page>,
    writes: Vec<Vec<Page>>,
}

impl Writes {
    /// Adds the data of the next write, and returns its number.
    pub fn push(&mut self, data: &[u8]) -> usize {
        let pages = data.chunks(PAGE_BYTES).map(|page| {
            let kept = self.pages.entry(XxHash3_128::oneshot(page));
            Arc::clone(kept.or_insert_with(|| page.into()))
        });
        self.writes.push(pages.collect());
        self.writes.len() - 1
    }

    /// Copies what a write, by its number from 0, wrote from an offset in it on.
    ///
    /// # Panics
    ///
    /// If there was no such write, or if it was shorter.
    pub fn copy(&self, write: usize, offset: usize, into: &mut [u8]) {
        let mut done = 0;
        while done < into.len() {
            let at = offset + done;
            let page = &self.writes[write][at / PAGE_BYTES];
            let from = at % PAGE_BYTES;
            let length = (page.len() - from).min(into.len() - done);
            into[done..done + length].copy_from_slice(&page[from..from + length]);
            done += length;
        }
    }

    /// The bytes that a write, by its number from 0, wrote.
    ///
    /// # Panics
    ///
    /// If there was no such write.
    pub fn data(&self, write: usize) -> Vec<u8> {
        self.writes[write].iter().flat_map(|page| page.iter().copied()).collect()
    }
}

#[cfg(test)]
mod tests;

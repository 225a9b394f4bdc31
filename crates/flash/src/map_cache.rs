//! The part of the map that a drive without enough memory caches. Missing pages of the map are read
//! from the flash first, and dirty ones are written back when they are evicted.
//!
//! The clock algorithm (second chance) decides which page of the map is evicted. Pages of the map
//! that are written count as flash pages and take die time, but no space in data blocks.

use crate::units::count;

/// The cached pages of the map.
#[derive(Debug, Clone)]
pub(crate) struct CachedMap {
    covers_pages: u32,
    slots: Vec<Slot>,
    capacity: usize,
    /// The slot of each page of the map.
    slot_of: Vec<u32>,
    hand: usize,
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    map_page: u32,
    is_used: bool,
    is_dirty: bool,
}

const NONE: u32 = u32::MAX;

/// The work of a cache miss.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Miss {
    /// The page of the map to read.
    pub read: u32,
    /// The page of the map to write back first.
    pub write_back: Option<u32>,
}

impl CachedMap {
    pub fn new(map_pages: u32, covers_pages: u32, logical_pages: u32) -> Self {
        Self {
            covers_pages,
            slots: Vec::new(),
            capacity: map_pages as usize,
            slot_of: vec![NONE; logical_pages.div_ceil(covers_pages) as usize],
            hand: 0,
        }
    }

    /// The page of the map for a logical page.
    pub fn map_page(&self, page: u32) -> u32 {
        page / self.covers_pages
    }

    /// Brings a page of the map into the cache, and marks it dirty if it changes.
    pub fn look_up(&mut self, map_page: u32, changes: bool) -> Option<Miss> {
        let known = self.slot_of[map_page as usize];
        if let Some(slot) = self.slots.get_mut(known as usize) {
            slot.is_used = true;
            slot.is_dirty |= changes;
            return None;
        }
        let new = Slot { map_page, is_used: true, is_dirty: changes };
        if self.slots.len() < self.capacity {
            self.slot_of[map_page as usize] = count(self.slots.len());
            self.slots.push(new);
            return Some(Miss { read: map_page, write_back: None });
        }
        while self.slots[self.hand].is_used {
            self.slots[self.hand].is_used = false;
            self.hand = (self.hand + 1) % self.capacity;
        }
        let old = std::mem::replace(&mut self.slots[self.hand], new);
        self.slot_of[old.map_page as usize] = NONE;
        self.slot_of[map_page as usize] = count(self.hand);
        self.hand = (self.hand + 1) % self.capacity;
        Some(Miss { read: map_page, write_back: old.is_dirty.then_some(old.map_page) })
    }
}

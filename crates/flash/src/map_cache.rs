//! The part of the map that a drive without enough memory keeps at hand. What is missing is read
//! from the flash first, and what has changed is written there when its place is needed.
//!
//! Which page of the map goes is decided by the clock algorithm (second chance). Pages of the map
//! that are written count as flash pages and take a die's time, but no data block's space.

use crate::units::count;

/// Pages of the map at hand.
#[derive(Debug, Clone)]
pub(crate) struct MapCache {
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

/// What has to be done before the map says where a page is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Miss {
    /// The page of the map to read.
    pub read: u32,
    /// The page of the map to write back first.
    pub write_back: Option<u32>,
}

impl MapCache {
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

    /// Makes a page of the map be at hand, and changes it if asked to.
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

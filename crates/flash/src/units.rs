//! The units of the model: nanoseconds, logical pages, and places on the flash.

use std::ops::{Add, AddAssign, Sub};

use schemars::JsonSchema;
use serde::Deserialize;
use ssdlab_quantity::Span;

/// A million: ratios are counted in millionths.
pub const MILLION: u32 = 1_000_000;

/// A point in virtual time, or a duration, in nanoseconds. Files give it a unit: `50 us`.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, JsonSchema,
)]
#[serde(from = "Span")]
pub struct Nanos(pub u64);

impl Nanos {
    /// The beginning of time, and the empty duration.
    pub const ZERO: Self = Self(0);

    /// The time since an `earlier` point; none if that was later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }
}

impl From<Span> for Nanos {
    fn from(span: Span) -> Self {
        Self(span.nanos())
    }
}

impl Add for Nanos {
    type Output = Self;

    /// Saturates: the end of time is 584 years away.
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Nanos {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Nanos {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self.since(other)
    }
}

/// A page of the space the host sees, counted from 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LogicalPage(pub u32);

/// A block of flash, the unit of erasing, counted from 0. On a drive with superblocks it is the
/// superblock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Block(pub u32);

impl Block {
    /// Its index into a table of blocks.
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A page of flash: a block, and which of its pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PhysicalPage {
    pub block: Block,
    /// The page within the block, counted from 0.
    pub offset: u32,
}

/// Consecutive logical pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageRun {
    pub first: LogicalPage,
    pub count: u32,
}

impl PageRun {
    /// A single page.
    pub const fn page(page: LogicalPage) -> Self {
        Self { first: page, count: 1 }
    }

    /// Whether a page is one of them.
    pub const fn contains(self, page: LogicalPage) -> bool {
        page.0 >= self.first.0 && page.0 - self.first.0 < self.count
    }

    /// The pages in order.
    pub fn pages(self) -> impl ExactSizeIterator<Item = LogicalPage> {
        (self.first.0..self.first.0 + self.count).map(LogicalPage)
    }

    /// The parts of the run that lie in one stretch of `length` pages each (an erase block, say):
    /// the stretch, the page within it where the part starts, and the number of pages.
    pub(crate) fn split(self, length: u32) -> impl Iterator<Item = Part> {
        let end = self.first.0 + self.count;
        let mut at = self.first.0;
        std::iter::from_fn(move || {
            if at == end {
                return None;
            }
            let (stretch, offset) = (at / length, at % length);
            let count = (length - offset).min(end - at);
            at += count;
            Some(Part { stretch, offset, count })
        })
    }
}

/// Counts things of which a drive has fewer than 2^32.
#[inline]
pub(crate) fn count(things: usize) -> u32 {
    u32::try_from(things).expect("a drive has fewer than 2^32 of anything")
}

pub(crate) fn is_set(bits: &[u64], page: LogicalPage) -> bool {
    bits[(page.0 / u64::BITS) as usize] >> (page.0 % u64::BITS) & 1 == 1
}

/// Inverts the bit of a page.
pub(crate) fn flip(bits: &mut [u64], page: LogicalPage) {
    bits[(page.0 / u64::BITS) as usize] ^= 1 << (page.0 % u64::BITS);
}

/// The part of a run that lies in one stretch of the logical space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Part {
    pub stretch: u32,
    pub offset: u32,
    pub count: u32,
}

//! Flash that watches: it knows what every page holds, and that the rules of NAND are kept.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use ssdlab_flash::{Block, FlashArray, LogicalPage, Nand, Nanos, OperationReason, PhysicalPage};

/// What the host has written to each page: a number that grows with every write.
pub type Versions = Rc<RefCell<BTreeMap<LogicalPage, u64>>>;

/// Watches an array.
///
/// Invariants: a page is programmed once between two erases; pages of a block are programmed in
/// ascending order; only what was programmed is read; a copy holds what was read before.
#[derive(Debug)]
pub struct Watched {
    array: FlashArray,
    /// The versions the host would have the drive keep.
    newest: Versions,
    held: BTreeMap<PhysicalPage, (LogicalPage, u64)>,
    /// The first page of each block that can still be programmed.
    next: BTreeMap<Block, u32>,
    /// What has been read to be copied.
    staged: BTreeMap<LogicalPage, u64>,
}

impl Watched {
    pub fn new(array: FlashArray, newest: Versions) -> Self {
        Self {
            array,
            newest,
            held: BTreeMap::new(),
            next: BTreeMap::new(),
            staged: BTreeMap::new(),
        }
    }

    /// What a page of flash holds.
    pub fn held(&self, place: PhysicalPage) -> Option<(LogicalPage, u64)> {
        self.held.get(&place).copied()
    }
}

impl AsRef<FlashArray> for Watched {
    fn as_ref(&self) -> &FlashArray {
        &self.array
    }
}

impl AsMut<FlashArray> for Watched {
    fn as_mut(&mut self) -> &mut FlashArray {
        &mut self.array
    }
}

impl Nand for Watched {
    fn read(&mut self, place: PhysicalPage, why: OperationReason, earliest: Nanos) -> Nanos {
        let (page, version) = self.held(place).unwrap_or_else(|| panic!("{place:?} is erased"));
        if why != OperationReason::Host {
            self.staged.insert(page, version);
        }
        self.array.read(place, why, earliest)
    }

    fn program(
        &mut self,
        place: PhysicalPage,
        holds: LogicalPage,
        why: OperationReason,
        earliest: Nanos,
    ) -> Nanos {
        let next = self.next.entry(place.block).or_insert(0);
        assert!(place.offset >= *next, "{place:?} is programmed after {next}");
        *next = place.offset + 1;
        let version = match why {
            OperationReason::Host => self.newest.borrow()[&holds],
            _ => self.staged.remove(&holds).unwrap_or_else(|| panic!("{holds:?} was not read")),
        };
        let before = self.held.insert(place, (holds, version));
        assert_eq!(before, None, "{place:?} is programmed twice");
        self.array.program(place, holds, why, earliest)
    }

    fn erase(&mut self, block: Block, why: OperationReason, earliest: Nanos) -> Nanos {
        let first = PhysicalPage { block, offset: 0 };
        let last = PhysicalPage { block, offset: u32::MAX };
        let held: Vec<PhysicalPage> =
            self.held.range(first..=last).map(|(place, _)| *place).collect();
        for place in held {
            self.held.remove(&place);
        }
        self.next.remove(&block);
        let erases = self.array.erases_of(block);
        let done = self.array.erase(block, why, earliest);
        assert_eq!(self.array.erases_of(block), erases + 1, "erase counts grow by one");
        done
    }
}

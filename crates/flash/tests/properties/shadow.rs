//! A drive beside the oracle: a plain map of what the host has written.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use ssdlab_flash::specification::Flush;
use ssdlab_flash::{
    Command, Completion, Drive, Extent, LogicalPage, Nand, Nanos, Specification, Stream,
};

use crate::watched::{Versions, Watched};

/// Something done to a drive. Sectors are taken modulo the drive's.
#[derive(Debug, Clone, Copy)]
pub enum Step {
    Read {
        sector: u32,
        sectors: u32,
    },
    Write {
        sector: u32,
        sectors: u32,
        is_hot: bool,
    },
    WriteFua {
        sector: u32,
        sectors: u32,
    },
    Discard {
        sector: u32,
        sectors: u32,
    },
    WriteZeroes {
        sector: u32,
        sectors: u32,
    },
    Flush,
    /// Time passes.
    Wait {
        nanos: u32,
    },
    CutPower,
}

impl Step {
    /// The command on a drive of so many bytes, if it is one.
    fn command(self, capacity_bytes: u64) -> Option<Command> {
        let extent = |sector: u32, sectors: u32| {
            let all = capacity_bytes / 512;
            let first = u64::from(sector) % all;
            let sectors = u64::from(sectors).min(all - first);
            Extent { offset_bytes: first * 512, length_bytes: sectors * 512 }
        };
        match self {
            Self::Read { sector, sectors } => Some(Command::Read(extent(sector, sectors))),
            Self::Write { sector, sectors, is_hot } => {
                let stream = if is_hot { Stream::Hot } else { Stream::Cold };
                Some(Command::Write(extent(sector, sectors), stream))
            }
            Self::WriteFua { sector, sectors } => Some(Command::WriteFua(extent(sector, sectors))),
            Self::Discard { sector, sectors } => Some(Command::Discard(extent(sector, sectors))),
            Self::WriteZeroes { sector, sectors } => {
                Some(Command::WriteZeroes(extent(sector, sectors)))
            }
            Self::Flush => Some(Command::Flush),
            Self::Wait { .. } | Self::CutPower => None,
        }
    }

    /// Does the step. Returns when a command was done.
    pub fn submit<N: Nand>(self, drive: &mut Drive<N>, now: &mut Nanos) -> Option<Nanos> {
        match (self, self.command(drive.specification().capacity_bytes())) {
            (_, Some(command)) => {
                let Completion { at } = drive.submit(*now, command).expect("it is in range");
                assert!(at >= *now, "{command:?} is done before it comes");
                Some(at)
            }
            (Self::Wait { nanos }, None) => {
                *now += Nanos(nanos.into());
                None
            }
            (_, None) => {
                drive.cut_power();
                None
            }
        }
    }
}

/// A drive, and what should be on it.
pub struct Shadowed {
    drive: Drive<Watched>,
    now: Nanos,
    /// The next version.
    version: u64,
    newest: Versions,
    /// What the host would read.
    expected: BTreeMap<LogicalPage, u64>,
    /// The same at the last flush; no page may fall behind it.
    flushed: BTreeMap<LogicalPage, u64>,
}

impl Shadowed {
    pub fn new(specification: Specification) -> Self {
        let newest: Versions = Rc::new(RefCell::new(BTreeMap::new()));
        let watch = newest.clone();
        Self {
            drive: Drive::watched(specification, 1, |array| Watched::new(array, watch)),
            now: Nanos::ZERO,
            version: 0,
            newest,
            expected: BTreeMap::new(),
            flushed: BTreeMap::new(),
        }
    }

    pub fn drive(&self) -> &Drive<Watched> {
        &self.drive
    }

    /// Does a step on both.
    pub fn perform(&mut self, step: Step) {
        if let Step::CutPower = step {
            self.cut_power();
            return;
        }
        let specification = self.drive.specification();
        let page_bytes = u64::from(specification.page_bytes);
        let honours = specification.trim.honoured;
        let flush = specification.power_loss.flush;
        match step.command(specification.capacity_bytes()) {
            Some(Command::Write(extent, _) | Command::WriteFua(extent)) => {
                self.write(touched(extent, page_bytes));
            }
            Some(Command::WriteZeroes(extent)) if !honours => {
                self.write(touched(extent, page_bytes));
            }
            Some(Command::WriteZeroes(extent)) => {
                // Whole pages become unmapped; what is left at the ends is written.
                let covered: BTreeSet<_> = covered(extent, page_bytes).collect();
                self.write(touched(extent, page_bytes).filter(|page| !covered.contains(page)));
                self.forget(covered);
            }
            Some(Command::Discard(extent)) if honours => self.forget(covered(extent, page_bytes)),
            _ => {}
        }
        step.submit(&mut self.drive, &mut self.now);
        let (takes_fua, command) = {
            let specification = self.drive.specification();
            (specification.takes_fua(), step.command(specification.capacity_bytes()))
        };
        match command.filter(|_| flush == Flush::Honest) {
            Some(Command::WriteFua(extent)) if takes_fua => {
                let own = touched(extent, page_bytes);
                self.flushed
                    .extend(own.filter_map(|page| Some((page, *self.expected.get(&page)?))));
            }
            Some(Command::Flush | Command::WriteFua(_)) => self.flushed = self.expected.clone(),
            _ => {}
        }
    }

    fn write(&mut self, pages: impl Iterator<Item = LogicalPage>) {
        for page in pages {
            self.version += 1;
            self.newest.borrow_mut().insert(page, self.version);
            self.expected.insert(page, self.version);
        }
    }

    fn forget(&mut self, pages: impl IntoIterator<Item = LogicalPage>) {
        for page in pages {
            self.expected.remove(&page);
            self.flushed.remove(&page);
        }
    }

    /// The version of a page on the flash.
    fn stored(&self, page: LogicalPage) -> Option<u64> {
        let place = self.drive.locate(page)?;
        let (held, version) = self.drive.nand().held(place).expect("a mapped page is programmed");
        assert_eq!(held, page, "{place:?} holds another page");
        Some(version)
    }

    /// Exactly what is listed is lost, nothing of it was flushed, and what is left of it is not
    /// older than the last flush.
    fn cut_power(&mut self) {
        let is_protected = self.drive.specification().power_loss.protection;
        let lost = self.drive.cut_power();
        assert!(!is_protected || lost.is_empty(), "a protected buffer loses {lost:?}");
        self.now = Nanos::ZERO;
        for page in lost {
            let was = self.expected.remove(&page);
            assert_ne!(was, self.flushed.get(&page).copied(), "{page:?} was flushed and is lost");
            let left = self.stored(page);
            assert!(left >= self.flushed.get(&page).copied(), "{page:?} is older than its flush");
            self.expected.extend(left.map(|version| (page, version)));
        }
        self.check();
    }

    /// Compares every page.
    pub fn check(&self) {
        let mut on_flash = 0;
        for number in 0..self.drive.specification().logical_pages {
            let page = LogicalPage(number);
            let stored = self.stored(page);
            on_flash += u32::from(stored.is_some());
            match self.expected.get(&page) {
                Some(version) if !self.drive.is_buffered(page) => {
                    assert_eq!(stored, Some(*version), "{page:?}");
                }
                Some(_) => {}
                None => assert!(!self.drive.is_mapped(page), "{page:?} was discarded"),
            }
        }
        assert_eq!(self.drive.mapped_pages(), on_flash, "pages that hold data");
    }
}

fn touched(extent: Extent, page_bytes: u64) -> impl Iterator<Item = LogicalPage> {
    let end = extent.offset_bytes + extent.length_bytes;
    let first = extent.offset_bytes / page_bytes;
    pages(first, if extent.length_bytes == 0 { first } else { end.div_ceil(page_bytes) })
}

fn covered(extent: Extent, page_bytes: u64) -> impl Iterator<Item = LogicalPage> {
    let end = extent.offset_bytes + extent.length_bytes;
    pages(extent.offset_bytes.div_ceil(page_bytes), end / page_bytes)
}

fn pages(first: u64, end: u64) -> impl Iterator<Item = LogicalPage> {
    (first..end).map(|page| LogicalPage(u32::try_from(page).expect("a small drive")))
}

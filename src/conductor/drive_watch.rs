//! Watches a simulated drive from its host's side while a guest works on it: what its flash does
//! in each phase, and how the drive fares over all of them.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ssdlab_disk::Flash;
use ssdlab_flash::{Moment, Nanos, Specification, WearSummary, Work};

use crate::guest::Message;
use crate::results::{DriveCourse, Flashed, Record, Wear, WearBin};

/// Moments of a drive's course.
const MOMENTS: usize = 48;

/// What is seen of a drive in a trial.
pub(super) struct Watch<'a> {
    flash: &'a Mutex<Flash>,
    specification: &'a Specification,
    /// What the flash had done when the last phase ended, or the first began.
    last: Option<Work>,
    phases: BTreeMap<String, Flashed>,
    /// The beginning of the first phase.
    began: Option<Moment>,
    phases_ns: BTreeMap<String, u64>,
    course: Option<DriveCourse>,
}

impl<'a> Watch<'a> {
    /// Nothing is seen yet.
    pub fn new(flash: &'a Mutex<Flash>, specification: &'a Specification) -> Self {
        Self {
            flash,
            specification,
            last: None,
            phases: BTreeMap::new(),
            began: None,
            phases_ns: BTreeMap::new(),
            course: None,
        }
    }

    /// A guest tells, at a moment, where it is.
    pub fn hear(&mut self, now: Nanos, message: &Message) {
        match message {
            Message::Begins(name) => {
                let mut flash = locked(self.flash);
                self.last.get_or_insert(*flash.drive().work());
                let began = *self.began.get_or_insert_with(|| flash.watch(now, MOMENTS));
                self.phases_ns.insert(name.clone(), now.since(began.at).0);
            }
            Message::Over(name) => {
                let work = *locked(self.flash).drive().work();
                let before = self.last.replace(work).unwrap_or_default();
                self.phases.insert(name.clone(), flashed(self.specification, &before, &work));
            }
            Message::Done(_) => {
                let mut flash = locked(self.flash);
                let moments = flash.watched(now);
                let wear = wear(&flash.drive().wear(), self.specification);
                self.course = self.began.map(|began| self.course(&began, &moments, wear));
            }
        }
    }

    /// Adds what was seen to the guest's record.
    pub fn complete(mut self, record: &mut Record) {
        for phase in &mut record.phases {
            phase.flash = self.phases.remove(&phase.name);
        }
        record.drive = self.course;
    }

    fn course(&self, began: &Moment, moments: &[Moment], wear: Wear) -> DriveCourse {
        let bytes = |pages: u64| pages * u64::from(self.specification.page_bytes);
        let each = |of: fn(&Moment) -> u64| -> Vec<u64> {
            moments.iter().map(|moment| of(moment) - of(began)).collect()
        };
        let in_bytes = |pages: Vec<u64>| pages.into_iter().map(bytes).collect();
        DriveCourse {
            phases_ns: self.phases_ns.clone(),
            at_ns: each(|moment| moment.at.0),
            free_blocks: moments.iter().map(|moment| moment.free_blocks).collect(),
            host_page_bytes: in_bytes(each(|moment| moment.host_pages)),
            flash_written_bytes: in_bytes(each(|moment| moment.flash_pages)),
            stalled_ns: each(|moment| moment.stalled.0),
            wear,
        }
    }
}

fn locked(flash: &Mutex<Flash>) -> MutexGuard<'_, Flash> {
    flash.lock().unwrap_or_else(PoisonError::into_inner)
}

fn wear(summary: &WearSummary, specification: &Specification) -> Wear {
    let bins = summary.histogram.iter();
    Wear {
        blocks: summary.blocks,
        least: summary.least,
        median: summary.median,
        most: summary.most,
        mean: summary.mean(),
        endurance: specification.wear.endurance,
        histogram: bins
            .map(|bin| WearBin { from: bin.from, to: bin.to, blocks: bin.blocks })
            .collect(),
    }
}

/// What a drive's flash has done between two moments. It counts superblocks; drives are rated in
/// blocks.
fn flashed(specification: &Specification, before: &Work, after: &Work) -> Flashed {
    let pages = |before: u64, after: u64| (after - before) * u64::from(specification.page_bytes);
    let erases = after.erases.total() - before.erases.total();
    Flashed {
        flash_written_bytes: pages(before.programs.total(), after.programs.total()),
        flash_read_bytes: pages(before.reads.total(), after.reads.total()),
        erases: erases * u64::from(specification.superblock),
        stalled_ns: (after.stalled - before.stalled).0,
    }
}

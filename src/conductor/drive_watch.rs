//! Watches a simulated drive from its host's side while a guest works on it: what its flash does
//! in each phase, and how the drive fares over all of them.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ssdlab_disk::Flash;
use ssdlab_flash::{Moment, Nanos, Specification, WearSummary, Work};
use ssdlab_quantity::DAYS_PER_YEAR;

use crate::guest::Message;
use crate::plan::schedule::Phase;
use crate::results::{DriveCourse, Flashed, Record, Wear, WearBin};

/// Moments of a drive's course.
const MOMENTS: usize = 48;

/// What is seen of a drive in a trial.
pub(super) struct Watch<'a> {
    flash: &'a Mutex<Flash>,
    specification: &'a Specification,
    planned: &'a [Phase],
    /// What the flash had done when the last phase ended, or the first began, and how often each
    /// block had been erased.
    last: Option<(Work, Vec<u32>)>,
    phases: BTreeMap<String, Flashed>,
    /// When the first phase began.
    began: Option<Nanos>,
    phases_ns: BTreeMap<String, u64>,
    course: Option<DriveCourse>,
}

impl<'a> Watch<'a> {
    /// Nothing is seen yet.
    pub fn new(
        flash: &'a Mutex<Flash>,
        specification: &'a Specification,
        planned: &'a [Phase],
    ) -> Self {
        Self {
            flash,
            specification,
            planned,
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
                self.last.get_or_insert_with(|| seen(&flash));
                let began = *self.began.get_or_insert_with(|| {
                    flash.watch(now, MOMENTS);
                    now
                });
                self.phases_ns.insert(name.clone(), now.since(began).0);
            }
            Message::Over(name) => {
                let now = seen(&locked(self.flash));
                let planned = self.planned.iter().find(|planned| planned.name == *name);
                let a_day = planned.and_then(|planned| planned.a_day);
                let flashed =
                    self.last.as_ref().map(|last| flashed(self.specification, a_day, last, &now));
                self.phases.extend(flashed.map(|flashed| (name.clone(), flashed)));
                self.last = Some(now);
            }
            Message::Layout(_) => {}
            Message::Done(_) => {
                let mut flash = locked(self.flash);
                let moments = flash.watched(now);
                let wear = wear(&flash.drive().wear(), self.specification);
                self.course = self.course(&moments, wear);
            }
        }
    }

    /// Adds what was seen to the guest's record.
    pub fn complete(mut self, record: &mut Record) {
        for phase in &mut record.phases {
            phase.flash = self.phases.remove(&phase.name);
            if let Some((ledger, flash)) = phase.ledger.as_mut().zip(phase.flash) {
                ledger.by_layer.reach(&flash);
            }
        }
        record.drive = self.course;
    }

    fn course(&self, moments: &[Moment], wear: Wear) -> Option<DriveCourse> {
        let first = moments.first()?;
        let bytes = |pages: u64| pages * u64::from(self.specification.page_bytes);
        let each = |of: fn(&Moment) -> u64| -> Vec<u64> {
            moments.iter().map(|moment| of(moment).saturating_sub(of(first))).collect()
        };
        let in_bytes = |pages: Vec<u64>| pages.into_iter().map(bytes).collect();
        Some(DriveCourse {
            phases_ns: self.phases_ns.clone(),
            at_ns: moments.iter().map(|moment| moment.at.0).collect(),
            free_blocks: moments.iter().map(|moment| moment.free_blocks).collect(),
            host_page_bytes: in_bytes(each(|moment| moment.host_pages)),
            flash_written_bytes: in_bytes(each(|moment| moment.flash_pages)),
            stalled_ns: each(|moment| moment.stalled.0),
            wear,
        })
    }
}

/// The flash, whatever became of who had it last.
pub(super) fn locked(flash: &Mutex<Flash>) -> MutexGuard<'_, Flash> {
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

/// How long it takes to repeat something so often, in years.
fn years(repeats: f64, a_day: f64) -> f64 {
    repeats / (a_day * DAYS_PER_YEAR)
}

/// What the flash has done by now, and how often each block was erased.
fn seen(flash: &Flash) -> (Work, Vec<u32>) {
    (*flash.drive().work(), flash.drive().erases().to_vec())
}

/// What a drive's flash has done between two moments. It counts superblocks; drives are rated in
/// blocks.
fn flashed(
    specification: &Specification,
    a_day: Option<f64>,
    (before, erased_before): &(Work, Vec<u32>),
    (after, erased_after): &(Work, Vec<u32>),
) -> Flashed {
    let grown = erased_before.iter().zip(erased_after).map(|(before, after)| after - before);
    let hottest = grown.max().unwrap_or(0);
    let endurance = specification.wear.endurance.filter(|_| hottest > 0);
    let repeats = endurance.map(|endurance| f64::from(endurance) / f64::from(hottest));
    let pages = |before: u64, after: u64| (after - before) * u64::from(specification.page_bytes);
    let erases = after.erases.total() - before.erases.total();
    Flashed {
        flash_written_bytes: pages(before.programs.total(), after.programs.total()),
        flash_read_bytes: pages(before.reads.total(), after.reads.total()),
        erases: erases * u64::from(specification.superblock),
        hottest_erases: hottest.into(),
        repeats_until_worn: repeats,
        years_until_worn: repeats.zip(a_day).map(|(repeats, a_day)| years(repeats, a_day)),
        stalled_ns: (after.stalled - before.stalled).0,
    }
}

#[cfg(test)]
mod tests {
    use ssdlab_disk::Backend;
    use ssdlab_flash::{Drive, presets};

    use super::*;

    #[test]
    fn what_is_done_ten_times_a_day_lasts_a_tenth_of_the_time() {
        assert!((years(36_525.0, 10.0) - 10.0).abs() < 1e-9);
        assert!((years(36_525.0, 1.0) - 100.0).abs() < 1e-9);
    }

    /// A drive is watched from the first phase on, with that moment and the last.
    #[test]
    fn a_course_begins_with_the_first_phase_and_ends_with_the_trial() {
        let preset = presets::find("x25m-g1").unwrap();
        let specification = Specification::parse(preset.text).unwrap();
        let flash = Mutex::new(Flash::new(Drive::new(specification.clone(), 1)));
        let write = |at: u64, page: u64| {
            let data = [1; 4096];
            locked(&flash).write(Nanos(at), page * 4096, &data).unwrap();
            locked(&flash).flush(Nanos(at)).unwrap();
        };
        write(1_000, 0);
        let mut watch = Watch::new(&flash, &specification, &[]);
        let second = 1_000_000_000;
        watch.hear(Nanos(2 * second), &Message::Begins("one".to_owned()));
        for page in 1..=100 {
            write(2 * second + page * 20_000_000, page);
        }
        watch.hear(Nanos(4 * second), &Message::Over("one".to_owned()));
        watch.hear(Nanos(4 * second), &Message::Begins("two".to_owned()));
        watch.hear(Nanos(5 * second), &Message::Over("two".to_owned()));
        watch.hear(Nanos(5 * second), &Message::Done(serde_json::Value::Null));
        assert_eq!(watch.phases["one"].flash_written_bytes, 100 * 4096);
        assert_eq!(watch.phases["two"], Flashed::default());
        let course = watch.course.unwrap();
        assert_eq!(
            course.phases_ns,
            [("one".to_owned(), 0), ("two".to_owned(), 2 * second)].into()
        );
        assert_eq!((course.at_ns[0], course.host_page_bytes[0]), (0, 0));
        assert!((24..=MOMENTS + 2).contains(&course.at_ns.len()), "{course:?}");
        assert_eq!(course.host_page_bytes.last(), Some(&(100 * 4096)));
        assert_eq!(course.flash_written_bytes.last(), Some(&(100 * 4096)));
    }
}

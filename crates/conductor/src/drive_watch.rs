//! Watches a simulated drive from its host's side while a guest works on it: what its flash does
//! in each phase, and how the drive fares over all of them.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ssdlab_disk::Flash;
use ssdlab_flash::{FlashActivity, FlashTotals, Nanos};
use ssdlab_guest::Message;
use ssdlab_plan::schedule::Phase;
use ssdlab_results::DriveCourse;

use super::performed::Measured;

/// Moments of a drive's course.
const MOMENTS: usize = 48;

/// What is seen of a drive in a trial.
pub(super) struct Watch<'a> {
    flash: &'a Mutex<Flash>,
    planned: &'a [Phase],
    /// What the flash had done when the last phase ended, or the first began.
    last: Option<FlashTotals>,
    phases: BTreeMap<String, FlashActivity>,
    /// When the first phase began.
    began: Option<Nanos>,
    phases_ns: BTreeMap<String, u64>,
    course: Option<DriveCourse>,
}

impl<'a> Watch<'a> {
    /// Nothing is seen yet.
    pub fn new(flash: &'a Mutex<Flash>, planned: &'a [Phase]) -> Self {
        Self {
            flash,
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
                self.last.get_or_insert_with(|| flash.drive().flash_totals());
                let began = *self.began.get_or_insert_with(|| {
                    flash.watch(now, MOMENTS);
                    now
                });
                self.phases_ns.insert(name.clone(), now.since(began).0);
            }
            Message::Over(name) => {
                let flash = locked(self.flash);
                let last = self.last.replace(flash.drive().flash_totals());
                let Some(last) = last else { return };
                let activity = flash.drive().activity_since(&last);
                let planned = self.planned.iter().find(|planned| planned.name == *name);
                let activity = match planned.and_then(|planned| planned.a_day) {
                    Some(a_day) => activity.repeated(a_day),
                    None => activity,
                };
                self.phases.insert(name.clone(), activity);
            }
            Message::Layout(_)
            | Message::Functions(_)
            | Message::Deed(_)
            | Message::Next
            | Message::Recovered(_) => {}
            Message::Done(_) => {
                let mut flash = locked(self.flash);
                let (moments, wear) = (flash.watched(now), flash.drive().wear());
                self.course = DriveCourse::of(&moments, self.phases_ns.clone(), wear);
            }
        }
    }

    /// Adds what was seen to what the guest has measured.
    pub fn complete(mut self, measured: &mut Measured) {
        for phase in &mut measured.phases {
            phase.flash = self.phases.remove(&phase.name);
            if let Some((ledger, flash)) = phase.ledger.as_mut().zip(phase.flash) {
                ledger.by_layer.reach(&flash);
            }
        }
        measured.drive = self.course;
    }
}

/// The flash, whatever became of who had it last.
pub(super) fn locked(flash: &Mutex<Flash>) -> MutexGuard<'_, Flash> {
    flash.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;

//! Watches a simulated drive from the host while a guest works on it: the activity of its flash in
//! each phase, and its state over all of them.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ssdlab_disk::Flash;
use ssdlab_flash::{FlashActivity, FlashTotals, Nanos};
use ssdlab_plan::schedule::Phase;
use ssdlab_results::{DriveCourse, Record};

use super::message::Message;

/// The number of moments in a drive's time series.
const MOMENTS: usize = 48;

/// The observations of a drive in a trial.
pub(super) struct DriveWatch<'a> {
    flash: &'a Mutex<Flash>,
    planned: &'a [Phase],
    /// The flash's totals when the last phase ended, or the first began.
    last: Option<FlashTotals>,
    phases: BTreeMap<String, FlashActivity>,
    /// When the first phase began.
    began: Option<Nanos>,
    phases_ns: BTreeMap<String, u64>,
    course: Option<DriveCourse>,
}

impl<'a> DriveWatch<'a> {
    /// A watch without observations.
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

    /// Hears a guest's progress, at a moment.
    pub fn hear<T>(&mut self, now: Nanos, message: &Message<T>) {
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
            Message::Done(_) => {
                let mut flash = locked(self.flash);
                let (moments, wear) = (flash.watched(now), flash.drive().wear());
                self.course = DriveCourse::of(&moments, self.phases_ns.clone(), wear);
            }
            _ => {}
        }
    }

    /// Adds the observations to the guest's measurements.
    pub fn complete(mut self, measured: &mut Record) {
        for phase in &mut measured.phases {
            phase.flash = self.phases.remove(&phase.name);
            if let Some((ledger, flash)) = phase.ledger.as_mut().zip(phase.flash) {
                ledger.by_layer.reach(&flash);
            }
        }
        measured.drive = self.course;
    }
}

/// The flash, even if the last holder of the lock panicked.
pub(super) fn locked(flash: &Mutex<Flash>) -> MutexGuard<'_, Flash> {
    flash.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;

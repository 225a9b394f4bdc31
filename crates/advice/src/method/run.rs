//! A run under examination, as the checks look at it.

use std::collections::BTreeMap;

use ssdlab_plan::metric::{PHORONIX_HIGHER, PHORONIX_LOWER};
use ssdlab_plan::{Levels, Schedule};
use ssdlab_results::{Record, Status, Told};

use crate::machine::Machine;

/// A run under examination.
pub(super) struct ExaminedRun<'a> {
    pub schedule: &'a Schedule,
    pub all: &'a [Record],
    /// The records of trials that went well.
    pub well: Vec<&'a Record>,
}

impl<'a> ExaminedRun<'a> {
    /// A run by its schedule and its records.
    pub fn of(schedule: &'a Schedule, all: &'a [Record]) -> Self {
        Self {
            schedule,
            all,
            well: all.iter().filter(|record| record.status == Status::Ok).collect(),
        }
    }

    pub fn is_imported(&self) -> bool {
        self.schedule.target.is_none()
    }

    /// A treatment by the levels in which it differs.
    pub fn distinct(&self, treatment: usize) -> Levels {
        self.schedule.distinct(&self.schedule.treatments[treatment].levels)
    }

    /// A treatment's trials that went well, in the order they ran.
    pub fn of_treatment(&self, treatment: usize) -> Vec<&'a Record> {
        let own = self.well.iter().copied();
        let mut own: Vec<&Record> =
            own.filter(|record| record.trial.treatment == treatment).collect();
        own.sort_by_key(|record| record.trial.position);
        own
    }

    /// The same by the machine they ran on, where results depend on it.
    pub fn of_treatment_by_machine(&self, treatment: usize) -> Vec<Vec<&'a Record>> {
        let mut machines: BTreeMap<Option<Machine<'_>>, Vec<&Record>> = BTreeMap::new();
        for record in self.of_treatment(treatment) {
            machines.entry(Machine::of(record)).or_default().push(record);
        }
        machines.into_values().collect()
    }

    /// The metric of a phase in a record: the run's own, or where results of several units were
    /// imported, what this one has.
    pub fn value(&self, record: &Record, phase: &str) -> Option<f64> {
        let phases = [phase.to_owned()];
        let metrics = [self.schedule.metric.as_str(), PHORONIX_HIGHER, PHORONIX_LOWER];
        metrics.iter().find_map(|metric| record.over(metric, &phases))
    }

    /// What imported files tell about their phases, each phase in the first file that has it.
    pub fn told(&self) -> Vec<(String, Vec<&'a Told>)> {
        let of_phase = |name: String| {
            let told = self.well.iter().filter_map(|r| r.imported.as_ref()?.told.get(&name));
            let told: Vec<&Told> = told.collect();
            (name, told)
        };
        self.schedule.phase_names().into_iter().map(of_phase).collect()
    }
}

/// Names in a sentence: a few, and how many more.
pub(super) fn few(names: &[String]) -> String {
    const FEW: usize = 4;
    let quoted: Vec<String> = names.iter().take(FEW).map(|name| format!("`{name}`")).collect();
    match names.len().saturating_sub(FEW) {
        0 => quoted.join(", "),
        more => format!("{} and {more} more", quoted.join(", ")),
    }
}

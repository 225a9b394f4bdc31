//! A run as the method checks see it.

use std::collections::BTreeMap;

use ssdlab_plan::metric::{PHORONIX_HIGHER, PHORONIX_LOWER};
use ssdlab_plan::{Levels, Schedule};
use ssdlab_results::{Record, StatedMethod};

use crate::counted::counted;
use crate::machine::MeasuredMachine;

/// A run to be checked.
pub(super) struct ExaminedRun<'a> {
    pub schedule: &'a Schedule,
    pub all: &'a [Record],
    /// The records of successful trials.
    pub well: Vec<&'a Record>,
}

impl<'a> ExaminedRun<'a> {
    pub fn of(schedule: &'a Schedule, all: &'a [Record]) -> Self {
        Self { schedule, all, well: counted(all).collect() }
    }

    pub fn is_imported(&self) -> bool {
        self.schedule.target.is_none()
    }

    /// The levels in which a treatment differs from others.
    pub fn distinct(&self, treatment: usize) -> Levels {
        self.schedule.distinct(&self.schedule.treatments[treatment].levels)
    }

    /// A treatment's successful trials, in the order they ran.
    pub fn of_treatment(&self, treatment: usize) -> Vec<&'a Record> {
        let own = self.well.iter().copied();
        let mut own: Vec<&Record> =
            own.filter(|record| record.trial.treatment == treatment).collect();
        own.sort_by_key(|record| record.trial.position);
        own
    }

    /// A treatment's successful trials, by the machine they ran on if results depend on it.
    pub fn of_treatment_by_machine(&self, treatment: usize) -> Vec<Vec<&'a Record>> {
        let mut machines: BTreeMap<Option<MeasuredMachine<'_>>, Vec<&Record>> = BTreeMap::new();
        for record in self.of_treatment(treatment) {
            machines.entry(MeasuredMachine::of(record)).or_default().push(record);
        }
        machines.into_values().collect()
    }

    /// The metric of a phase in a record: the run's own or, if results in several units were
    /// imported, the one that this record has.
    pub fn value(&self, record: &Record, phase: &str) -> Option<f64> {
        let phases = [phase.to_owned()];
        let mut metrics = [self.schedule.metric, PHORONIX_HIGHER, PHORONIX_LOWER].into_iter();
        metrics.find_map(|metric| record.over(metric, &phases))
    }

    /// What imported files tell about each phase.
    pub fn stated_methods(&self) -> Vec<(String, Vec<&'a StatedMethod>)> {
        let of_phase = |name: String| {
            let told = self.well.iter().filter_map(|r| r.imported.as_ref()?.told.get(&name));
            let told: Vec<&StatedMethod> = told.collect();
            (name, told)
        };
        self.schedule.phase_names().into_iter().map(of_phase).collect()
    }
}

/// Names as part of a sentence: a few, and how many more there are.
pub(super) fn few(names: &[String]) -> String {
    const FEW: usize = 4;
    let quoted: Vec<String> = names.iter().take(FEW).map(|name| format!("`{name}`")).collect();
    match names.len().saturating_sub(FEW) {
        0 => quoted.join(", "),
        more => format!("{} and {more} more", quoted.join(", ")),
    }
}

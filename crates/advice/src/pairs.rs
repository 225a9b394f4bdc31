//! Pairs values of two treatments by block, or of two phases of one trial.
//!
//! Only blocks in which both succeeded count. The trials of a block share seed, time and machine; a
//! pair across machines would compare the machines.

use std::collections::BTreeMap;
use std::iter;

use ssdlab_plan::metric::{DIRTIED_BYTES, FEWEST_ERASES, Metric, Source};
use ssdlab_plan::{Factor, LabKind, Schedule, differ_in_machine};
use ssdlab_results::{PhaseRecord, Record};
use ssdlab_stats::{LogRatio, UnpairedRatio};

use super::counted::counted;
use super::machine::{Host, MeasuredMachine};
use super::nothing::Signs;
use super::switchback::{self, LiveRatio};

/// Whether two treatments are meant to run on different machines.
fn are_of_different_machines(schedule: &Schedule, one: usize, other: usize) -> bool {
    let levels = |treatment: usize| &schedule.treatments[treatment].levels;
    differ_in_machine(levels(one), levels(other))
}

/// What a value measures: a metric over phases.
#[derive(Debug, Clone, Copy)]
pub(super) struct Quantity<'a> {
    pub metric: Metric,
    pub phases: &'a [String],
}

impl<'a> Quantity<'a> {
    pub fn of(self, treatment: usize) -> ComparedSide<'a> {
        ComparedSide { quantity: self, treatment, excess_over: None }
    }
}

/// One side of a comparison: a quantity of a treatment, and the treatment over which its excess is
/// taken, if any.
#[derive(Debug, Clone, Copy)]
pub(super) struct ComparedSide<'a> {
    pub quantity: Quantity<'a>,
    pub treatment: usize,
    pub excess_over: Option<usize>,
}

impl ComparedSide<'_> {
    /// The treatments whose values it needs.
    fn treatments(self) -> impl Iterator<Item = usize> {
        iter::once(self.treatment).chain(self.excess_over)
    }

    /// The value in a block, which has a place for each treatment.
    fn value(self, block: &[Option<&Record>]) -> Option<f64> {
        let Quantity { metric, phases } = self.quantity;
        let of = |treatment: usize| block[treatment]?.over(metric, phases);
        let value = of(self.treatment)?;
        match self.excess_over {
            Some(other) => Some(value - of(other)?),
            None => Some(value),
        }
    }

    /// Whether a trial that it needs lacks the metric, although its phases were performed.
    fn is_lacking(self, block: &[Option<&Record>]) -> bool {
        let Quantity { metric, phases } = self.quantity;
        let mut trials = self.treatments().filter_map(|treatment| block[treatment]);
        trials.any(|trial| trial.lacks(metric, phases))
    }
}

/// Which step's blocks a comparison uses, if a run has steps.
///
/// A step's blocks are biased in favour of the treatments that they select, but judge fairly what
/// was fixed before: a claim was made before the run, so it is judged in the first step that has
/// measured both sides, whether or not they were kept. What is shown of each treatment is from the
/// last step: a selected treatment has to perform again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StepChoice {
    /// The first step with a value.
    FirstStep,
    /// The last step with a value.
    LastStep,
}

/// The ratio of two treatments.
pub(super) enum Ratio {
    /// Over blocks.
    Paired(LogRatio),
    /// Of independent samples, with the size of the smaller: imported trials are in no blocks, and
    /// pairs would be those of an order that means nothing.
    Unpaired(UnpairedRatio, usize),
    /// Of a running machine.
    Live(LiveRatio),
}

/// The two sides' values in a block, 1 in place of a missing baseline, and the machine if all ran
/// on the same one.
struct Pair<'a> {
    values: (f64, f64),
    machine: Option<MeasuredMachine<'a>>,
}

/// The successful trials, by block and treatment.
pub(super) struct Blocks<'a> {
    schedule: &'a Schedule,
    /// The trials of each block, by treatment.
    blocks: BTreeMap<u32, Vec<Option<&'a Record>>>,
}

impl<'a> Blocks<'a> {
    pub fn of(schedule: &'a Schedule, records: &'a [Record]) -> Self {
        let none = || vec![None; schedule.treatments.len()];
        let mut blocks = BTreeMap::new();
        for record in counted(records) {
            let block: &mut Vec<_> = blocks.entry(record.trial.block).or_insert_with(none);
            if let Some(place) = block.get_mut(record.trial.treatment) {
                *place = Some(record);
            }
        }
        let own = Self { schedule, blocks };
        if schedule.is_in(LabKind::Live) { own.at_last_look() } else { own }
    }

    /// Only the whole blocks at the last look of a run of the live lab.
    fn at_last_look(mut self) -> Self {
        let has_run = |treatment: usize| {
            self.blocks.values().any(|block: &Vec<Option<&Record>>| block[treatment].is_some())
        };
        let able: Vec<usize> =
            (0..self.schedule.treatments.len()).filter(|own| has_run(*own)).collect();
        self.blocks.retain(|_, block| able.iter().all(|own| block[*own].is_some()));
        let judged = switchback::looked_at(self.blocks.len());
        if let Some(first) = self.blocks.keys().nth(judged).copied() {
            self.blocks.split_off(&first);
        }
        self
    }

    /// Whether they are stretches of a running machine's time.
    pub fn are_live(&self) -> bool {
        self.schedule.is_in(LabKind::Live)
    }

    pub fn before(mut self, block: u32) -> Self {
        self.blocks.retain(|number, _| *number < block);
        self
    }

    /// The paired log-ratio of two sides, or of one to a unit of the metric, or why there is none.
    pub fn compare(
        &self,
        side: ComparedSide<'_>,
        baseline: Option<ComparedSide<'_>>,
        which: StepChoice,
    ) -> Result<LogRatio, String> {
        let metric = side.quantity.metric;
        let values = self.values(side, baseline, which)?;
        let word = if side.excess_over.is_some() { "excess of " } else { "" };
        let (number, nothing) = (values.len(), values.iter().filter(|own| are_nothing(**own)));
        let nothing = nothing.count();
        ratio(values.into_iter()).map_err(|_| match baseline {
            Some(_) if nothing > 0 => format!(
                "the {word}{metric} is 0 on both sides in {nothing} of {number} blocks: nothing \
                 against nothing has no ratio"
            ),
            Some(_) => {
                format!("the {word}{metric} is not above 0 in every trial, so there is no ratio")
            }
            None => format!("the {word}{metric} is not above 0 in every trial"),
        })
    }

    /// The values of both sides by block, 1 in place of a missing baseline, or why there are none.
    /// If some trials lack the metric, there are none: the others are a biased sample.
    pub fn values(
        &self,
        side: ComparedSide<'_>,
        baseline: Option<ComparedSide<'_>>,
        which: StepChoice,
    ) -> Result<Vec<(f64, f64)>, String> {
        let metric = side.quantity.metric;
        let blocks = self.pairs(side, baseline, which);
        let number = blocks.len();
        let pairs: Vec<Pair<'_>> = blocks.into_iter().flatten().collect();
        if pairs.len() < number && metric.is_of_a_block() {
            return Err(format!(
                "in {} of {number} blocks no flash block was erased {FEWEST_ERASES} times, which \
                 tells nothing about wear; use years_by_bytes",
                number - pairs.len()
            ));
        }
        if pairs.is_empty() {
            let what = if baseline.is_some() { "both sides were" } else { "it was" };
            return Err(format!("no block in which {what} measured"));
        }
        if pairs.len() < number {
            let lacking = number - pairs.len();
            return Err(format!(
                "{lacking} of {number} blocks lack {metric}, and the others may not be like them"
            ));
        }
        Ok(pairs.into_iter().map(|pair| pair.values).collect())
    }

    /// The ratio of the totals of two treatments of a running machine, or why there is none.
    pub fn compare_totals(
        &self,
        side: ComparedSide<'_>,
        baseline: ComparedSide<'_>,
    ) -> Result<LiveRatio, String> {
        let values = |[own, other]: [ComparedSide<'_>; 2]| {
            self.values(own, Some(other), StepChoice::FirstStep)
        };
        let metric = side.quantity.metric;
        let found = values([side, baseline])?;
        // Pages that were changed have to be written.
        let is_of_written = matches!(
            metric.source,
            Source::WrittenBytes | Source::WriteRequests | Source::WriteMerges
        );
        // A tweak may be what changes them, as a log in memory does.
        let tweak =
            |treatment: usize| self.schedule.treatments[treatment].levels.0.get(&Factor::Tweak);
        let is_same_tweak = tweak(side.treatment) == tweak(baseline.treatment);
        let asked = (is_of_written && is_same_tweak)
            .then(|| values([side, baseline].map(dirtied)).ok())
            .flatten();
        let asked = asked.filter(|asked| asked.len() == found.len());
        LiveRatio::of(&found, asked.as_deref()).ok_or_else(|| {
            format!("{metric} is 0 in every stretch: nothing against nothing has no ratio")
        })
    }

    /// The pairs of [`Self::compare`], where it finds no ratio because one side has nothing; from
    /// two machines on, the sums of each.
    pub fn against_nothing(
        &self,
        side: ComparedSide<'_>,
        baseline: Option<ComparedSide<'_>>,
        which: StepChoice,
    ) -> Option<Signs> {
        let pairs: Vec<Pair<'_>> =
            self.pairs(side, baseline, which).into_iter().collect::<Option<_>>()?;
        let mut machines: BTreeMap<Option<MeasuredMachine<'_>>, (f64, f64)> = BTreeMap::new();
        for Pair { values, machine } in &pairs {
            let sums = machines.entry(*machine).or_default();
            *sums = (sums.0 + values.0, sums.1 + values.1);
        }
        let values = if machines.len() > 1 && baseline.is_some() {
            machines.into_values().collect()
        } else {
            pairs.iter().map(|pair| pair.values).collect()
        };
        Signs::of(values, baseline.is_some())
    }

    /// The ratio of two treatments whose trials are in no blocks; `None` if some trials lack the
    /// metric, or if there is no ratio.
    pub fn compare_unpaired(&self, quantity: Quantity<'_>, sides: [usize; 2]) -> Option<Ratio> {
        let Quantity { metric, phases } = quantity;
        let values = |treatment: usize| {
            let trials = self.trials(treatment);
            let is_whole = !trials.iter().any(|trial| trial.lacks(metric, phases));
            let values = || trials.iter().filter_map(|trial| trial.over(metric, phases)).collect();
            is_whole.then(values)
        };
        let [own, other]: [Vec<f64>; 2] = [values(sides[0])?, values(sides[1])?];
        let ratio = UnpairedRatio::of(&own, &other).ok()?;
        Some(Ratio::Unpaired(ratio, own.len().min(other.len())))
    }

    /// Whether two sides are the same computation up to the end of the last of some phases, in
    /// every block that has both, in virtual time: what is planned is the same until then, and so
    /// are the requests in these phases; or else, in these phases all counts and all times are
    /// equal, which does not happen by chance. Two phases are two computations, whatever they do.
    pub fn are_identical(&self, one: ComparedSide<'_>, other: ComparedSide<'_>) -> bool {
        let phases = one.quantity.phases;
        let have_excess = one.excess_over.is_some() || other.excess_over.is_some();
        if have_excess || other.quantity.phases != phases {
            return false;
        }
        let are_planned_alike = self.schedule.begin_alike([one.treatment, other.treatment], phases);
        let mut both = self
            .blocks
            .values()
            .filter_map(|block| Some((block[one.treatment]?, block[other.treatment]?)));
        let mut are_any = false;
        both.all(|(one, other)| {
            are_any = true;
            are_identical(one, other, phases, are_planned_alike)
        }) && are_any
    }

    /// What [`Self::compare`] finds on each host; empty if any host has no ratio, or if a block
    /// lacks the metric.
    pub fn compare_by_host(
        &self,
        side: ComparedSide<'_>,
        baseline: Option<ComparedSide<'_>>,
        which: StepChoice,
    ) -> BTreeMap<Host, LogRatio> {
        let mut by_machine: BTreeMap<MeasuredMachine<'_>, Vec<(f64, f64)>> = BTreeMap::new();
        let pairs = self.pairs(side, baseline, which).into_iter();
        for pair in pairs.collect::<Option<Vec<_>>>().unwrap_or_default() {
            if let Some(machine) = pair.machine {
                by_machine.entry(machine).or_default().push(pair.values);
            }
        }
        let of = |(machine, pairs): (MeasuredMachine<'_>, Vec<(f64, f64)>)| {
            Some((Host::from(machine), ratio(pairs.into_iter()).ok()?))
        };
        by_machine.into_iter().map(of).collect::<Option<_>>().unwrap_or_default()
    }

    /// The pair of each block in which both sides succeeded; `None` if a trial lacks the quantity.
    fn pairs(
        &self,
        side: ComparedSide<'_>,
        baseline: Option<ComparedSide<'_>>,
        which: StepChoice,
    ) -> Vec<Option<Pair<'a>>> {
        let sides = || iter::once(side).chain(baseline);
        let treatments = || sides().flat_map(ComparedSide::treatments);
        self.in_step(which, |block| {
            let trials: Vec<&Record> = treatments().map(|own| block[own]).collect::<Option<_>>()?;
            if !self.can_be_compared(block, treatments()) {
                return None;
            }
            let other = baseline.map_or(Some(1.0), |baseline| baseline.value(block));
            let Some(values) = side.value(block).zip(other) else {
                return sides().any(|side| side.is_lacking(block)).then_some(None);
            };
            let mut machines = trials.into_iter().map(MeasuredMachine::of);
            let first = machines.next()?;
            let machine = first.filter(|_| machines.all(|other| other == first));
            Some(Some(Pair { values, machine }))
        })
    }

    /// Whether a block's trials of some treatments ran on one machine, or were meant to differ in
    /// it.
    fn can_be_compared(
        &self,
        block: &[Option<&Record>],
        mut treatments: impl Iterator<Item = usize>,
    ) -> bool {
        let machine = |treatment: usize| block[treatment].and_then(MeasuredMachine::of);
        treatments.next().is_none_or(|first| {
            treatments.all(|other| {
                machine(other) == machine(first)
                    || are_of_different_machines(self.schedule, first, other)
            })
        })
    }

    /// How often a treatment and its baseline ran in the same block but cannot be compared, because
    /// they ran on different machines.
    pub fn across_machines(&self) -> usize {
        let sides = self.schedule.treatments.iter().enumerate();
        let sides = sides.filter_map(|(index, treatment)| Some([index, treatment.baseline?]));
        let is_across = |block: &&Vec<Option<&Record>>, sides: [usize; 2]| {
            sides.iter().all(|side| block[*side].is_some())
                && !self.can_be_compared(block, sides.into_iter())
        };
        let count = |sides| self.blocks.values().filter(|block| is_across(block, sides)).count();
        sides.map(count).sum()
    }

    /// The trials of a treatment, in the first step that has any.
    pub fn trials(&self, treatment: usize) -> Vec<&'a Record> {
        self.in_step(StepChoice::FirstStep, |block| block[treatment])
    }

    /// The value of one side in each block, or its ratio to another's, which is infinite if that is
    /// nothing. Fails if any block has no ratio.
    pub fn found(
        &self,
        side: ComparedSide<'_>,
        baseline: Option<ComparedSide<'_>>,
    ) -> Result<BTreeMap<u32, f64>, String> {
        let mut found = BTreeMap::new();
        for (number, block) in &self.blocks {
            let Some(own) = side.value(block) else { continue };
            let ratio = match baseline {
                Some(baseline) => match baseline.value(block) {
                    Some(other) => own / other,
                    None => continue,
                },
                None => own,
            };
            if ratio.is_nan() || ratio < 0.0 {
                return Err(format!(
                    "{} is not above 0 on every plausible drive, so there is no ratio",
                    side.quantity.metric
                ));
            }
            found.insert(*number, ratio);
        }
        Ok(found)
    }

    /// What `of_block` finds in the blocks of one step.
    fn in_step<T>(
        &self,
        which: StepChoice,
        of_block: impl Fn(&[Option<&'a Record>]) -> Option<T>,
    ) -> Vec<T> {
        let mut found: Vec<(usize, T)> = self
            .blocks
            .iter()
            .filter_map(|(number, block)| Some((self.schedule.step_of(*number), of_block(block)?)))
            .collect();
        let ends = match which {
            StepChoice::FirstStep => found.first(),
            StepChoice::LastStep => found.last(),
        };
        let step = ends.map(|(step, _)| *step);
        found.retain(|(of_value, _)| Some(*of_value) == step);
        found.into_iter().map(|(_, value)| value).collect()
    }

    /// The values of several treatments in the blocks of a step in which all were measured, one
    /// list per treatment.
    pub fn of_step(
        &self,
        quantity: Quantity<'_>,
        treatments: &[usize],
        step: usize,
    ) -> Vec<Vec<f64>> {
        let mut values = vec![Vec::new(); treatments.len()];
        let is_of_step = |number: &u32| self.schedule.step_of(*number) == step;
        let can_be_compared =
            |block: &[Option<&Record>]| self.can_be_compared(block, treatments.iter().copied());
        for (_, block) in self.blocks.iter().filter(|(number, _)| is_of_step(number)) {
            if !can_be_compared(block) {
                continue;
            }
            let of = |treatment: &usize| quantity.of(*treatment).value(block);
            if let Some(all) = treatments.iter().map(of).collect::<Option<Vec<f64>>>() {
                for (own, value) in values.iter_mut().zip(all) {
                    own.push(value);
                }
            }
        }
        values
    }
}

fn ratio(pairs: impl Iterator<Item = (f64, f64)>) -> Result<LogRatio, ssdlab_stats::StatsError> {
    let (of_side, of_baseline): (Vec<f64>, Vec<f64>) = pairs.unzip();
    LogRatio::paired(&of_side, &of_baseline)
}

/// A side with the pages that were changed in place of its metric.
fn dirtied(mut side: ComparedSide<'_>) -> ComparedSide<'_> {
    side.quantity.metric = DIRTIED_BYTES;
    side
}

/// Whether neither of two values is anything.
fn are_nothing((one, other): (f64, f64)) -> bool {
    one.abs().max(other.abs()) <= 0.0
}

/// Whether two trials did the same in some phases. A guest is told the whole trial, so that one
/// with a longer plan may differ by microseconds from the start.
fn are_identical(one: &Record, other: &Record, phases: &[String], are_planned_alike: bool) -> bool {
    let of = |record: &'_ Record| -> Vec<PhaseRecord> {
        record.phases.iter().filter(|own| phases.contains(&own.name)).cloned().collect()
    };
    let is_virtual = one.fingerprint.is_some() && other.fingerprint.is_some();
    let (one, other) = (of(one), of(other));
    let requests = |phase: &PhaseRecord| (phase.device, phase.at_return, phase.commits);
    let make_the_same = || one.iter().map(requests).eq(other.iter().map(requests));
    is_virtual && !one.is_empty() && (one == other || are_planned_alike && make_the_same())
}

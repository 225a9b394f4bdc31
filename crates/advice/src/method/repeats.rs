//! Checks repetitions: how many, in which order, and whether they agree.

use std::collections::{BTreeMap, BTreeSet};

use ssdlab_plan::LabKind;
use ssdlab_plan::live::LOOKS;
use ssdlab_results::Record;
use ssdlab_stats::{Drift, DriftSample, FEWEST_RUNS, Summary};

use super::check::{Check, Criterion};
use super::run::ExaminedRun;
use crate::judgement::{ClaimEstimate, Judgement, Verdict};
use crate::machine::MeasuredMachine;
use crate::precision::precision;
use crate::warning::Warning;

/// A 95 % interval reaches 12.7 standard errors to each side after two runs, 4.3 after three and
/// 2.8 after five (Student's t): below three runs it is useless.
const FEWEST: usize = 3;

/// The fewest runs in which a trend, or an outlier among them, shows.
const FEW: usize = 5;

/// The spread between runs that is reported: above what Cao et al. (FAST'17) found normal.
const MUCH_SPREAD: f64 = 0.10;

/// A drift is reported when it is unlikely to be chance and large enough to matter.
const DRIFT_P: f64 = 0.01;
const DRIFT_SIZE: f64 = 0.02;

/// The modified z-score above which a value is an outlier (Iglewicz and Hoaglin, "How to detect and
/// handle outliers", 1993), and the factor from the median absolute deviation to the standard one.
const OUTLIER_Z: f64 = 3.5;
const MAD_TO_SD: f64 = 1.4826;

pub(super) fn repetitions(
    run: &ExaminedRun<'_>,
    claims: &[Judgement],
    intervals: &[[f64; 2]],
) -> Check {
    let criterion = Criterion::Repetitions;
    let counts: Vec<(usize, usize)> = (0..run.schedule.treatments.len())
        .map(|index| (index, run.of_treatment(index).len()))
        .filter(|(_, count)| *count > 0)
        .collect();
    let of = |pick: fn(usize, usize) -> usize| counts.iter().map(|(_, n)| *n).reduce(pick);
    let (least, most) = (of(usize::min).unwrap_or(0), of(usize::max).unwrap_or(0));
    let range = if least == most { most.to_string() } else { format!("{least} to {most}") };
    let evidence = format!("n = {range} a treatment");
    let are_compared = run.schedule.treatments.iter().any(|own| own.baseline.is_some());
    let compares = are_compared || claims.iter().any(|claim| claim.claim.against_phase.is_some());
    if run.schedule.plausible > 0 {
        let drives = match run.schedule.plausible {
            1 => "1 plausible drive".to_owned(),
            several => format!("{several} plausible drives"),
        };
        return Check::met(
            criterion,
            format!(
                "the published drive once, and {drives}: what repeats is the verdict, not the \
                 number"
            ),
        );
    }
    let is_open = claims.is_empty() || claims.iter().any(needs_runs);
    let are_enough = !is_open || least >= FEWEST_RUNS;
    if !run.is_imported() && compares && are_enough {
        return match imprecise(run, claims, intervals) {
            None if precision(run.schedule, run.all).is_reached => {
                Check::met(criterion, format!("{evidence}: as precise as the plan asks for"))
            }
            None if claims.iter().all(|claim| claim.outcome.verdict() != Verdict::Undecided) => {
                Check::met(criterion, format!("{evidence}: every claim is decided"))
            }
            None => Check::met(criterion, format!("{evidence}: only power cuts are too few")),
            Some(warning) => {
                let is_across = |of: &ClaimEstimate| of.across_hosts.is_some();
                let is_open_across_hosts = |claim: &Judgement| {
                    needs_runs(claim) && claim.outcome.estimate().is_some_and(is_across)
                };
                let advice = if claims.iter().any(is_open_across_hosts) {
                    "run on more hosts: more blocks do not narrow an interval across hosts"
                } else {
                    "run more blocks: a larger `most` in [repetitions], or --runs N"
                };
                Check::not_met(criterion, vec![warning], evidence, advice)
            }
        };
    }
    let few: Vec<Warning> = counts
        .iter()
        .filter(|(_, count)| *count < FEWEST_RUNS)
        .map(|(index, count)| Warning::FewTrials {
            levels: run.distinct(*index),
            trials: *count,
            has_interval: *count >= FEWEST,
        })
        .collect();
    if few.is_empty() {
        return Check::met(criterion, evidence);
    }
    let advice = "run each treatment ten times, or until the interval is as narrow as the question \
                  needs; fewer than six runs decide nothing";
    Check::not_met(criterion, few, evidence, advice)
}

/// Whether a run of the live lab has come to its first look.
pub(super) fn looks(run: &ExaminedRun<'_>) -> Check {
    let criterion = Criterion::Repetitions;
    let counts = (0..run.schedule.treatments.len()).map(|index| run.of_treatment(index).len());
    let blocks = counts.filter(|count| *count > 0).min().unwrap_or(0);
    let evidence = format!("{blocks} blocks, judged after {LOOKS:?}");
    if blocks >= LOOKS[0] as usize {
        return Check::met(criterion, evidence);
    }
    Check::unknown(criterion, evidence, "go on with the run: fewer than 12 blocks decide nothing")
}

/// Whether more trials may decide a claim: of power cuts only more cuts may.
fn needs_runs(claim: &Judgement) -> bool {
    claim.outcome.verdict() == Verdict::Undecided && !claim.claim.metric.is_of_cuts()
}

fn imprecise(
    run: &ExaminedRun<'_>,
    claims: &[Judgement],
    intervals: &[[f64; 2]],
) -> Option<Warning> {
    // Reports also show intervals that no number of runs would narrow; these never stop a run.
    let half_width = |[low, high]: &[f64; 2]| (high / low).sqrt() - 1.0;
    let widths = intervals.iter().map(half_width).filter(|width| width.is_finite());
    let widest_shown = widths.reduce(f64::max);
    let precision = precision(run.schedule, run.all);
    // The width does not matter if every claim is decided, or if only more power cuts can decide
    // the open ones.
    let is_open = claims.is_empty() || claims.iter().any(needs_runs);
    (is_open && !precision.is_reached).then(|| Warning::Imprecise {
        widest: precision.widest,
        widest_shown,
        asked: run.schedule.repetitions.precision,
        blocks: match run.schedule.steps.last() {
            Some(_) => run.schedule.repetitions.least,
            None => run.well.iter().map(|record| record.trial.block + 1).max().unwrap_or(0),
        },
    })
}

pub(super) fn variance(run: &ExaminedRun<'_>) -> Check {
    let criterion = Criterion::Variance;
    if run.schedule.plausible > 0 {
        return Check::met(criterion, "what differs is the drive, which is shown as a range");
    }
    let mut warnings = Vec::new();
    let mut largest: Option<f64> = None;
    for treatment in 0..run.schedule.treatments.len() {
        let machines = run.of_treatment_by_machine(treatment);
        for phase in run.schedule.phases(treatment) {
            let of_machine = |own: &Vec<&Record>| {
                let values: Vec<f64> =
                    own.iter().filter_map(|r| run.value(r, &phase.name)).collect();
                Summary::of(&values)?.cv
            };
            let Some(cv) = machines.iter().filter_map(of_machine).reduce(f64::max) else {
                continue;
            };
            largest = Some(largest.map_or(cv, |largest| largest.max(cv)));
            if cv > MUCH_SPREAD {
                let levels = run.distinct(treatment);
                warnings.push(Warning::Spread { levels, phase: phase.name, cv });
            }
        }
    }
    let Some(largest) = largest else {
        return Check::unknown(
            criterion,
            "no treatment was measured twice",
            "run each treatment several times: what differs by itself cannot be told from one run",
        );
    };
    let evidence = format!("coefficient of variation up to {:.1} %", largest * 100.0);
    if warnings.is_empty() {
        return Check::met(criterion, evidence);
    }
    let advice = "look for what else ran, for heat and for a drive that is not in its steady \
                  state; more runs narrow the interval, not the spread";
    Check::not_met(criterion, warnings, evidence, advice)
}

/// Treatments are mixed if they alternate at least this share of how often random order would.
const MIXED: f64 = 0.75;

pub(super) fn order(run: &ExaminedRun<'_>) -> Check {
    let criterion = Criterion::Order;
    let treatments = run.schedule.treatments.len();
    if treatments < 2 {
        return Check::met(criterion, "one treatment, so there is nothing to order");
    }
    if !run.is_imported() {
        let evidence = format!("random within blocks, from seed {}", run.schedule.seed);
        return Check::met(criterion, evidence);
    }
    let advice = "run the treatments in turn, in random order within each round";
    let mut records = run.well.clone();
    records.sort_by_key(|record| record.trial.position);
    if records.len() <= treatments {
        let warning = Warning::OneAfterAnother { treatments, trials: records.len() };
        let evidence = "each treatment ran once: its place and its effect are the same";
        return Check::not_met(criterion, vec![warning], evidence, advice);
    }
    if !is_order_known(run) {
        return Check::unknown(criterion, "the files do not say when each trial ran", advice);
    }
    let changes = |two: &&[&Record]| two[0].trial.treatment != two[1].trial.treatment;
    let stretches = 1 + records.windows(2).filter(changes).count();
    let evidence = format!(
        "{} trials of {treatments} treatments, in {stretches} stretches of one treatment",
        records.len()
    );
    // Random order has 1 + (N^2 - sum of n^2) / N stretches on average (A. Wald and J. Wolfowitz,
    // "On a test whether two samples are from the same population", 1940).
    let all = records.len() as f64;
    let squares: f64 = (0..treatments).map(|own| run.of_treatment(own).len().pow(2) as f64).sum();
    let expected = 1.0 + (all * all - squares) / all;
    if stretches as f64 >= MIXED * expected {
        return Check::met(criterion, evidence);
    }
    if stretches > treatments {
        let evidence = format!("{evidence}; {expected:.0} are usual in random order");
        return Check::unknown(criterion, evidence, advice);
    }
    let warning = Warning::OneAfterAnother { treatments, trials: records.len() };
    Check::not_met(criterion, vec![warning], evidence, advice)
}

fn is_order_known(run: &ExaminedRun<'_>) -> bool {
    run.well.iter().all(|record| record.imported.as_ref().is_none_or(|from| from.is_order_known))
}

pub(super) fn drift(run: &ExaminedRun<'_>) -> Check {
    let criterion = Criterion::Drift;
    if run.schedule.is_in(LabKind::Virtual) {
        return Check::met(criterion, "each trial has a machine and a time of its own");
    }
    if !is_order_known(run) {
        let advice = "run the treatments in turn and keep the time of each run";
        return Check::unknown(criterion, "the files do not say when each trial ran", advice);
    }
    if !run.schedule.steps.is_empty() {
        let evidence = "the blocks of different steps have different treatments";
        return Check::unknown(criterion, evidence, "run the last step's treatments by themselves");
    }
    let mut warnings = drifts(run);
    // A degree of freedom is left after estimating a slope and every treatment's mean.
    let mut is_told = run.well.len() > run.schedule.treatments.len() + 1;
    for treatment in 0..run.schedule.treatments.len() {
        for own in run.of_treatment_by_machine(treatment) {
            is_told |= own.len() >= FEW;
            for phase in run.schedule.phases(treatment) {
                warnings.extend(first_run(run, treatment, &own, &phase.name));
            }
        }
    }
    if !warnings.is_empty() {
        let advice = "warm up first, wait between runs, and put the treatments in random order";
        return Check::not_met(criterion, warnings, "the order of trials shows in them", advice);
    }
    if is_told {
        return Check::met(criterion, format!("none among {} trials", run.well.len()));
    }
    let evidence = format!("too few trials to see one ({})", run.well.len());
    Check::unknown(criterion, evidence, "run each treatment five times at least")
}

fn drifts(run: &ExaminedRun<'_>) -> Vec<Warning> {
    let of_phase = |phase: String| {
        let trials = if run.is_imported() { singly(run, &phase) } else { block_means(run, &phase) };
        let drift = Drift::of(&trials).ok()??;
        let (change, p) = (drift.over_span, drift.p);
        let is_in_blocks = !run.is_imported();
        (p < DRIFT_P && change.abs() > DRIFT_SIZE).then_some(Warning::Drift {
            phase,
            change,
            p,
            is_in_blocks,
        })
    };
    run.schedule.phase_names().into_iter().filter_map(of_phase).collect()
}

/// The trials of a run without blocks, one by one.
fn singly(run: &ExaminedRun<'_>, phase: &str) -> Vec<DriftSample> {
    let trial = |record: &&Record| {
        let value = run.value(record, phase).filter(|value| *value > 0.0)?;
        let placed = record.trial;
        Some(DriftSample { treatment: placed.treatment, position: placed.position, value })
    };
    run.well.iter().filter_map(trial).collect()
}

/// The geometric mean of the metric over each whole block, at the block's place in the run.
///
/// Drift is tested on blocks, not on trials: the trials of a block share their seed, and one by
/// one they would make the difference between two seeds look like a trend. Each machine has its
/// own level, like a treatment.
fn block_means(run: &ExaminedRun<'_>, phase: &str) -> Vec<DriftSample> {
    let machines: BTreeSet<Option<MeasuredMachine<'_>>> =
        run.well.iter().map(|record| MeasuredMachine::of(record)).collect();
    let mut blocks: BTreeMap<(Option<MeasuredMachine<'_>>, u32), Vec<f64>> = BTreeMap::new();
    for record in &run.well {
        let value = run.value(record, phase).filter(|value| *value > 0.0);
        let key = (MeasuredMachine::of(record), record.trial.block);
        blocks.entry(key).or_default().extend(value.map(f64::ln));
    }
    let whole = blocks.values().map(Vec::len).max().unwrap_or(0);
    blocks
        .into_iter()
        .filter(|(_, logs)| logs.len() == whole && whole > 0)
        .map(|((machine, block), logs)| {
            let value = (logs.iter().sum::<f64>() / whole as f64).exp();
            DriftSample { treatment: machines.range(..machine).count(), position: block, value }
        })
        .collect()
}

/// A first run that is an outlier had something to warm up: caches, clocks, a drive.
fn first_run(
    run: &ExaminedRun<'_>,
    treatment: usize,
    own: &[&Record],
    phase: &str,
) -> Option<Warning> {
    let values: Vec<f64> = own.iter().filter_map(|record| run.value(record, phase)).collect();
    let (first, others) = values.split_first().filter(|_| values.len() >= FEW)?;
    let median = Summary::of(others)?.median;
    let distances: Vec<f64> = others.iter().map(|value| (value - median).abs()).collect();
    let usual = MAD_TO_SD * Summary::of(&distances)?.median;
    let distance = (first - median).abs();
    (median > 0.0 && distance > OUTLIER_Z * usual && distance > DRIFT_SIZE * median).then(|| {
        let levels = run.distinct(treatment);
        Warning::FirstRun { levels, phase: phase.to_owned(), ratio: first / median }
    })
}

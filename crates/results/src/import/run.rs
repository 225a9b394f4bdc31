//! Turns the contents of files into treatments, blocks and trials.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::{Imported, Record, TrialStatus};
use ssdlab_plan::schedule::{Action, ImportedTrials, Phase, Trial};
use ssdlab_plan::{Factor, Levels, Schedule, check_name};

use super::error::{ImportError, ImportFault};
use super::sample::{ImportSource, ImportedFile, ImportedSample, check_trials};

/// Limits: the largest results seen have some hundred tests on some dozen systems.
const MOST_PHASES: usize = 1000;
const MOST_CELLS: usize = 50_000;

/// The contents of a run's folder.
#[derive(Debug)]
pub struct ImportedRun {
    /// The schedule, as far as it is known.
    pub schedule: Schedule,
    /// The measurements.
    pub records: Vec<Record>,
}

/// A sample, its trial and its file.
struct PlacedSample {
    treatment: usize,
    block: u32,
    file: usize,
    sample: ImportedSample,
}

/// Makes one run from the files of one program.
pub(super) fn assemble(
    name: Option<&str>,
    files: Vec<(ImportSource<'_>, String, ImportedFile)>,
) -> Result<ImportedRun, ImportError> {
    let (first, _, found) = files.first().expect("the command line requires at least one file");
    let (program, metric) = (found.program, found.metric);
    let name = name.unwrap_or(if program == "bonnie++" { "bonnie" } else { program });
    check_name(name).map_err(|message| {
        ImportFault::new(message, "use letters, digits, `-` and `_`: --name NAME").of(first.name)
    })?;
    let question = question(&files);
    let mut notes: Vec<String> =
        files.iter().flat_map(|(_, _, found)| found.notes.clone()).collect();

    let names: Vec<&str> = files.iter().map(|(source, ..)| source.name).collect();
    let mut origins = Vec::new();
    let mut treatments: Vec<Levels> = Vec::new();
    // Each treatment's index, and its number of trials so far.
    let mut known: BTreeMap<Levels, (usize, u32)> = BTreeMap::new();
    let mut placed: Vec<PlacedSample> = Vec::new();
    let is_one_file = files.len() == 1;
    let mut is_in_order = is_one_file;
    for (file, (source, sha256, found)) in files.into_iter().enumerate() {
        is_in_order &= found.is_in_order;
        let is_alone = found.samples.windows(2).all(|two| two[0].name == two[1].name);
        for sample in found.samples {
            let is_told_apart = is_one_file && source.label.is_none() && sample.name.is_none();
            let levels = if is_told_apart && !sample.levels.0.is_empty() {
                sample.levels.clone()
            } else {
                let label = label(&source, sample.name.as_deref(), is_alone, &names);
                sample.levels.with(&Levels([(Factor::Label, label)].into()))
            };
            let next = treatments.len();
            let (treatment, trials) = known.entry(levels).or_insert_with_key(|levels| {
                treatments.push(levels.clone());
                (next, 0)
            });
            placed.push(PlacedSample { treatment: *treatment, block: *trials, file, sample });
            *trials += 1;
        }
        origins.push((source.name.to_owned(), sha256, found.version));
    }
    check_numbers(&placed).map_err(|fault| fault.of(names[0]))?;
    let phases = phases(&placed);
    check_trials(placed.len())
        .and_then(|()| check_size(treatments.len(), phases.len()))
        .map_err(|fault| fault.of(names[0]))?;
    let is_order_known = is_in_order || sort_by_time(&mut placed);
    if treatments.len() > 1 {
        notes.push(
            "the trials were not in blocks: each treatment is compared with the first as an \
             independent sample (Welch)"
                .to_owned(),
        );
    }
    let schedule = Schedule::imported(ImportedTrials {
        plan: name.to_owned(),
        question,
        metric,
        notes,
        treatments,
        phases,
        trials: placed.iter().map(|placed| (placed.block, placed.treatment)).collect(),
    });
    let record = |(placed, trial): (PlacedSample, &Trial)| {
        let (file, sha256, version) = origins[placed.file].clone();
        let program = program.to_owned();
        let told = placed.sample.told;
        let imported = Imported { file, sha256, program, version, is_order_known, told };
        let failure = placed.sample.failure;
        Record {
            imported: Some(imported),
            status: if failure.is_some() { TrialStatus::Failed } else { TrialStatus::Ok },
            reason: failure,
            phases: placed.sample.phases,
            applied: placed.sample.applied,
            environment: placed.sample.environment,
            ..Record::new(&schedule, *trial, placed.sample.at_ms.unwrap_or(0) / 1000)
        }
    };
    let records = placed.into_iter().zip(&schedule.trials).map(record).collect();
    Ok(ImportedRun { schedule, records })
}

/// The name of a treatment, from the command line, the file's contents, or its name. Files of the
/// same name in different folders are different treatments.
fn label(source: &ImportSource<'_>, own: Option<&str>, is_alone: bool, names: &[&str]) -> String {
    match (source.label, own) {
        (Some(label), Some(own)) if !is_alone => format!("{label}, {own}"),
        (Some(label), _) => label.to_owned(),
        (None, Some(own)) => own.to_owned(),
        (None, None) => {
            let stem = |name: &str| Some(Path::new(name).file_stem()?.to_str()?.to_owned());
            let own = stem(source.name);
            let is_shared = names.iter().filter(|name| stem(name) == own).count() > 1;
            own.filter(|_| !is_shared).unwrap_or_else(|| source.name.to_owned())
        }
    }
}

/// Sorts by the recorded times; returns whether all are known and different.
fn sort_by_time(placed: &mut [PlacedSample]) -> bool {
    let mut times: Vec<Option<u64>> = placed.iter().map(|placed| placed.sample.at_ms).collect();
    times.sort_unstable();
    let is_known =
        times.iter().all(Option::is_some) && times.windows(2).all(|two| two[0] != two[1]);
    if is_known {
        placed.sort_by_key(|placed| placed.sample.at_ms);
    }
    is_known
}

fn question(files: &[(ImportSource<'_>, String, ImportedFile)]) -> String {
    let (_, _, found) = &files[0];
    let version = found.version.as_deref().unwrap_or_default();
    // fio's version includes its name.
    let program = match version.strip_prefix(found.program) {
        Some(_) => version.to_owned(),
        None => format!("{} {version}", found.program).trim_end().to_owned(),
    };
    let names: Vec<&str> = files.iter().map(|(source, ..)| source.name).collect();
    let listed = match names.as_slice() {
        [first, .., last] if names.len() > 3 => format!("{first} to {last}, {} files", names.len()),
        _ => names.join(", "),
    };
    format!("Results imported from {program} ({listed})")
}

/// Refuses impossible values: negative, infinite or not a number.
fn check_numbers(placed: &[PlacedSample]) -> Result<(), ImportFault> {
    let phases = placed.iter().flat_map(|placed| &placed.sample.phases);
    let mut numbers = phases.flat_map(|phase| phase.reported.iter().map(move |all| (phase, all)));
    match numbers.find(|(_, (_, value))| !(0.0..f64::MAX).contains(*value)) {
        None => Ok(()),
        Some((phase, (metric, value))) => Err(ImportFault::new(
            format!("`{}`: {metric} is {value}, expected a number of at least 0", phase.name),
            "the file was changed, or the program that wrote it failed",
        )),
    }
}

/// Refuses more than a readable report can show.
fn check_size(treatments: usize, phases: usize) -> Result<(), ImportFault> {
    let refused = |found: usize, what: &str, most: usize| {
        let message = format!("it has {found} {what}, expected at most {most}");
        Err(ImportFault::new(message, "import a part of it"))
    };
    match (treatments * phases, phases) {
        (_, phases) if phases > MOST_PHASES => refused(phases, "phases", MOST_PHASES),
        (cells, _) if cells > MOST_CELLS => {
            refused(cells, "phases over all treatments", MOST_CELLS)
        }
        _ => Ok(()),
    }
}

/// The phases of all samples, in order of appearance.
fn phases(placed: &[PlacedSample]) -> Vec<Phase> {
    let mut names: BTreeSet<&str> = BTreeSet::new();
    let all = placed.iter().flat_map(|placed| &placed.sample.phases);
    let new = all.filter(|phase| names.insert(&phase.name));
    new.map(|phase| Phase::new(&phase.name, Action::Imported, 0)).collect()
}

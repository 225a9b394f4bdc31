//! What differs between runs beside what was measured: machines, programs, drives, settings, plans.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

use super::Candidate;
use crate::plan::{Bytes, Factor};
use crate::results::Record;

/// The most values of one thing that are told.
const MOST_VALUES: usize = 3;

/// A thing that is not the same in all runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Difference {
    /// What: the name in records, schedules or plans.
    pub what: String,
    /// Its value in each run; absent where a run has none.
    pub values: Vec<Option<String>>,
}

/// Facts about the trials of a treatment: by name, every value that occurred.
pub(super) type Facts = BTreeMap<String, BTreeSet<String>>;

/// Options of imported results that decide what was done; the others are told as differences.
const DECISIVE: [&str; 14] = [
    "bs",
    "blocksize",
    "rw",
    "readwrite",
    "size",
    "filesize",
    "io_size",
    "iodepth",
    "numjobs",
    "direct",
    "buffered",
    "rwmixread",
    "rwmixwrite",
    "fsync",
];

/// What two imported runs did differently, in words: another program, or another of its options.
pub(super) fn done_differently(one: &Facts, other: &Facts) -> Option<String> {
    let decides = |name: &str| {
        name == "program" || name.rsplit_once(": ").is_some_and(|(_, o)| DECISIVE.contains(&o))
    };
    let names: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
    let differs = |name: &&&String| decides(name) && one.get(**name) != other.get(**name);
    let name = names.iter().find(differs)?;
    let told = |facts: &Facts| match facts.get(*name) {
        Some(values) => values.iter().map(String::as_str).collect::<Vec<_>>().join(", "),
        None => "nothing".to_owned(),
    };
    Some(format!("{name} {} against {}", told(one), told(other)))
}

/// What records say about the machine and about the settings as the kernel reported them.
pub(super) fn facts<'a>(records: impl Iterator<Item = &'a Record>) -> Facts {
    let mut facts = Facts::new();
    let mut add = |what: &str, value: &str| {
        if value.is_empty() {
            return;
        }
        if let Some(values) = facts.get_mut(what) {
            if !values.contains(value) {
                values.insert(value.to_owned());
            }
        } else {
            facts.insert(what.to_owned(), BTreeSet::from([value.to_owned()]));
        }
    };
    let mut environment = None;
    for record in records {
        for (name, value) in record.applied.iter().filter(|(name, _)| !name.ends_with("_ns")) {
            add(&format!("applied {name}"), &without_uuids(value));
        }
        if let Some(imported) = &record.imported {
            add("program", &imported.program);
            add("version", imported.version.as_deref().unwrap_or_default());
            for (phase, told) in &imported.told {
                add(
                    &format!("{phase}: size"),
                    &told.size_bytes.map_or_else(String::new, |b| Bytes(b).to_string()),
                );
                for (option, value) in &told.options {
                    add(&format!("{phase}: {option}"), value);
                }
            }
        }
        // Nearly always it is that of the trial before.
        if environment == Some(&record.environment) {
            continue;
        }
        let machine = &record.environment;
        environment = Some(machine);
        add("record schema", &record.schema.to_string());
        add("ssdlab", &machine.ssdlab);
        add("kernel", &machine.kernel);
        add("cpu", &machine.cpu);
        add("cpus", &machine.cpus.to_string());
        add("memory", &Bytes(machine.memory_bytes).to_string());
        add("distribution", &machine.distribution);
        for tool in &machine.tools {
            let word = tool.split_whitespace().next().unwrap_or_default();
            let name = word.rsplit('/').next().unwrap_or_default();
            add(&format!("tool {}", unversioned(name.trim_end_matches([':', ',']))), tool);
        }
        add("drive model", machine.drive_model.as_deref().unwrap_or_default());
        add("drive firmware", machine.drive_firmware.as_deref().unwrap_or_default());
        add("drive link", machine.drive_link.as_deref().unwrap_or_default());
    }
    facts
}

/// A tool's name without the version that some write behind it, like fio-3.33.
fn unversioned(name: &str) -> &str {
    let version = |(_, rest): &(&str, &str)| rest.starts_with(|c: char| c.is_ascii_digit());
    name.rsplit_once('-').filter(version).map_or(name, |(name, _)| name)
}

/// A text with `UUID` in the place of each: they follow from seeds.
fn without_uuids(text: &str) -> String {
    const LENGTHS: [usize; 5] = [8, 4, 4, 4, 12];
    let is_uuid = |word: &str| {
        let parts: Vec<&str> = word.split('-').collect();
        parts.len() == LENGTHS.len()
            && parts.iter().zip(LENGTHS).all(|(part, length)| {
                part.len() == length && part.chars().all(|c| c.is_ascii_hexdigit())
            })
    };
    let words = text.split_inclusive([' ', ',', '=']).map(|piece| {
        let word = piece.trim_end_matches([' ', ',', '=']);
        if is_uuid(word) { piece.replace(word, "UUID") } else { piece.to_owned() }
    });
    words.collect()
}

/// Everything that differs; `shared` are the treatments that are compared, by their places in each
/// run.
pub(super) fn differences(
    candidates: &[Candidate],
    shared: &[Vec<Option<usize>>],
    of_run: &BTreeSet<Factor>,
) -> Vec<Difference> {
    let mut found = of_schedules(candidates);
    for factor in of_run {
        let level = |candidate: &Candidate| {
            candidate.schedule.treatments.first()?.levels.0.get(factor).cloned()
        };
        found.push((factor.name().to_owned(), candidates.iter().map(level).collect()));
    }
    found.extend(of_records(candidates, shared));
    let differs = |values: &[Option<String>]| values.iter().any(|value| *value != values[0]);
    found
        .into_iter()
        .filter(|(_, values)| differs(values))
        .map(|(what, values)| Difference { what, values })
        .collect()
}

fn quiet(run: &Candidate) -> String {
    let quiet = Duration::from_nanos(run.schedule.workload.quiet_ns);
    humantime::format_duration(quiet).to_string()
}

type Named = (String, Vec<Option<String>>);

/// What the schedules say of a run as a whole.
fn of_schedules(candidates: &[Candidate]) -> Vec<Named> {
    type Get = fn(&Candidate) -> Option<String>;
    let rows: [(&str, Get); 9] = [
        ("plan", |run| Some(run.schedule.plan.clone())),
        ("schedule schema", |run| Some(run.schedule.schema.to_string())),
        ("lab", |run| Some(run.schedule.target.lab.to_string())),
        ("device", |run| Some(run.schedule.target.device.as_ref()?.display().to_string())),
        ("directory", |run| Some(run.schedule.target.directory.as_ref()?.display().to_string())),
        ("capacity", |run| Some(Bytes(run.schedule.target.capacity_bytes?).to_string())),
        ("image size", |run| Some(Bytes(run.schedule.target.size_bytes).to_string())),
        ("wait for quiet", |run| Some(quiet(run))),
        ("seed", |run| Some(run.schedule.seed.to_string())),
    ];
    rows.into_iter()
        .map(|(what, get)| (what.to_owned(), candidates.iter().map(get).collect()))
        .collect()
}

/// What the trials' records say, over the treatments that are compared. A thing differs where it
/// does for any of them.
fn of_records(candidates: &[Candidate], shared: &[Vec<Option<usize>>]) -> Vec<Named> {
    // None where no trial of it went well.
    let of = |run: usize, places: &[Option<usize>]| {
        let facts = &candidates[run].facts[places[run]?];
        (!facts.is_empty()).then_some(facts)
    };
    let runs = 0..candidates.len();
    let mut names: BTreeSet<&String> = BTreeSet::new();
    for places in shared {
        names.extend(runs.clone().filter_map(|run| of(run, places)).flat_map(BTreeMap::keys));
    }
    let differs = |name: &&String| {
        shared.iter().any(|places| {
            let Some(first) = of(0, places) else { return false };
            let mut others = runs.clone().filter_map(|run| of(run, places));
            others.any(|own| own.get(*name) != first.get(*name))
        })
    };
    let told = |name: &String, run: usize| {
        let all = shared.iter().filter_map(|places| of(run, places)?.get(name));
        let all: BTreeSet<&String> = all.flatten().collect();
        let mut told: Vec<&str> =
            all.iter().take(MOST_VALUES).map(|value| value.as_str()).collect();
        let more = format!("{} more", all.len().saturating_sub(MOST_VALUES));
        told.extend((all.len() > MOST_VALUES).then_some(more.as_str()));
        (!told.is_empty()).then(|| told.join("; "))
    };
    let row =
        |name: &String| (name.clone(), runs.clone().map(|run| told(name, run)).collect::<Vec<_>>());
    names.into_iter().filter(differs).map(row).collect()
}

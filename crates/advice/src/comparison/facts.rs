//! What records say about a treatment's trials besides measurements: machines, programs, drives,
//! settings.

use std::collections::{BTreeMap, BTreeSet};

use ssdlab_plan::Bytes;
use ssdlab_results::Record;

/// Facts about the trials of a treatment: by name, every value that occurred.
pub(crate) type TreatmentFacts = BTreeMap<String, BTreeSet<String>>;

/// Options of imported results that define the workload; the others are reported as differences.
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

/// How the workloads of two imported runs differ, in words: by the program or one of its options.
pub(crate) fn done_differently(one: &TreatmentFacts, other: &TreatmentFacts) -> Option<String> {
    let decides = |name: &str| {
        name == "program" || name.rsplit_once(": ").is_some_and(|(_, o)| DECISIVE.contains(&o))
    };
    let names: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
    let differs = |name: &&&String| decides(name) && one.get(**name) != other.get(**name);
    let name = names.iter().find(differs)?;
    let told = |facts: &TreatmentFacts| match facts.get(*name) {
        Some(values) => values.iter().map(String::as_str).collect::<Vec<_>>().join(", "),
        None => "nothing".to_owned(),
    };
    Some(format!("{name} {} against {}", told(one), told(other)))
}

/// What records say about the machine and about the settings as the kernel reported them.
pub(crate) fn facts<'a>(records: impl Iterator<Item = &'a Record>) -> TreatmentFacts {
    let mut facts = TreatmentFacts::new();
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
        // Nearly always it is the same as that of the previous trial.
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

/// A tool's name without the version that some append, as in fio-3.33.
fn unversioned(name: &str) -> &str {
    let version = |(_, rest): &(&str, &str)| rest.starts_with(|c: char| c.is_ascii_digit());
    name.rsplit_once('-').filter(version).map_or(name, |(name, _)| name)
}

/// A text with each UUID replaced by `UUID`: they follow from seeds.
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

//! hyperfine's JSON (`--export-json`), as `BenchmarkResult` in its `benchmark_result.rs` has it: a
//! command is a treatment, a time is a trial.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::Value;

use super::error::Fault;
use super::{Found, Sample, check_trials, phase};
use crate::plan::Factor;
use crate::results::Told;

/// The longest time that is believed, in seconds: ten years.
const LONGEST_S: f64 = 3.2e8;

/// The name of the one phase.
const PHASE: &str = "command";

#[derive(Deserialize)]
struct Benchmark {
    command: String,
    #[serde(default)]
    times: Vec<f64>,
    #[serde(default)]
    exit_codes: Vec<Option<i32>>,
    #[serde(default)]
    parameters: BTreeMap<String, Value>,
}

pub(super) fn read(object: &Value) -> Result<Found, Fault> {
    let help = "export again with hyperfine --export-json; --show-output is not needed";
    let results = object["results"].as_array().map_or(&[][..], Vec::as_slice);
    let mut samples = Vec::new();
    let mut seen: BTreeSet<String> = BTreeSet::new();
    for (index, result) in results.iter().enumerate() {
        let at = |message: &str| Fault::new(format!("results[{index}]: {message}"), help);
        let benchmark: Benchmark =
            Benchmark::deserialize(result).map_err(|error| at(&error.to_string()))?;
        let command = benchmark.command.trim().to_owned();
        if !seen.insert(command.clone()) {
            return Err(Fault::new(
                format!("results[{index}]: a command before it is called `{command}` as well"),
                "what differed between them is not in the file; name them: hyperfine -n NAME",
            ));
        }
        if benchmark.times.is_empty() {
            return Err(at("it has no `times`, expected one at least"));
        }
        check_trials(samples.len() + benchmark.times.len())?;
        samples.extend(trials(&benchmark, &command, index)?);
    }
    if samples.is_empty() {
        return Err(Fault::new("it has no results, expected one at least", help));
    }
    Ok(Found {
        program: "hyperfine",
        // It does not write which.
        version: None,
        metric: "time_ns",
        // All runs of a command, then all of the next (sharkdp/hyperfine#21).
        is_in_order: true,
        samples,
        notes: Vec::new(),
    })
}

fn trials(benchmark: &Benchmark, command: &str, index: usize) -> Result<Vec<Sample>, Fault> {
    let mut levels = super::Levels::default();
    let mut options = BTreeMap::new();
    for (name, value) in &benchmark.parameters {
        let level = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        match Factor::find(name).filter(|factor| *factor != Factor::Label) {
            Some(factor) => levels.0.insert(factor, level),
            None => options.insert(name.clone(), level),
        };
    }
    // Only what is in the command's own words can be told.
    let (syncs, writes) = (names(command, &SYNCS), names(command, &WRITERS));
    let told = Told {
        writes: writes.then_some(true),
        syncs: (syncs || writes).then_some(syncs),
        options,
        ..Told::default()
    };
    let sample = |(number, seconds): (usize, &f64)| {
        if !(0.0..LONGEST_S).contains(seconds) {
            return Err(Fault::new(
                format!("results[{index}].times[{number}]: {seconds} is no time in seconds"),
                "expected a number from 0 up",
            ));
        }
        let time_ns = nanos(*seconds);
        let mut phase = phase(PHASE, BTreeMap::new());
        phase.time_ns = Some(time_ns);
        let code = benchmark.exit_codes.get(number).copied().flatten().filter(|code| *code != 0);
        phase.remark =
            code.map(|code| format!("`{command}` ended with {code} in some of its runs"));
        Ok(Sample {
            name: Some(command.to_owned()).filter(|command| !command.is_empty()),
            levels: levels.clone(),
            told: [(PHASE.to_owned(), told.clone())].into(),
            phases: vec![phase],
            ..Sample::default()
        })
    };
    benchmark.times.iter().enumerate().map(sample).collect()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked by the caller"
)]
fn nanos(seconds: f64) -> u64 {
    (seconds * 1e9).round() as u64
}

/// What makes data durable: sync(1), and words of dd, fio and others.
const SYNCS: [&str; 6] = ["sync", "fsync", "fdatasync", "dsync", "end_fsync", "syncfs"];

/// Programs that are there to write files.
const WRITERS: [&str; 12] = [
    "cp", "mv", "rm", "dd", "tar", "unzip", "rsync", "install", "touch", "mkdir", "mkfs",
    "truncate",
];

/// Whether one of these is a word of a command.
fn names(command: &str, known: &[&str]) -> bool {
    let mut words = command.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.any(|word| known.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sync_is_seen_by_its_word() {
        for command in ["cp a b && sync", "dd of=x conv=fsync", "sh -c 'tar x; sync -f .'"] {
            assert!(names(command, &SYNCS), "{command}");
        }
        for command in ["rsync a b", "cp async_notes b", "cat x"] {
            assert!(!names(command, &SYNCS), "{command}");
        }
    }
}

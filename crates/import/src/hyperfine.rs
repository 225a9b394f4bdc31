//! Reads hyperfine's JSON (`--export-json`, `BenchmarkResult` in its `benchmark_result.rs`): a
//! command is a treatment, a time is a trial.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::Value;
use ssdlab_plan::Factor;
use ssdlab_results::Told;

use super::error::Fault;
use super::{Found, Sample, check_trials, phase};

/// The longest plausible time, in seconds: ten years.
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
                format!("results[{index}]: an earlier command is also called `{command}`"),
                "the file does not say how they differ; name them: hyperfine -n NAME",
            ));
        }
        if benchmark.times.is_empty() {
            return Err(at("it has no `times`, expected at least one"));
        }
        check_trials(samples.len() + benchmark.times.len())?;
        samples.extend(trials(&benchmark, &command, index)?);
    }
    if samples.is_empty() {
        return Err(Fault::new("it has no results, expected at least one", help));
    }
    Ok(Found {
        program: "hyperfine",
        // The file does not say.
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
    // Only the words of the command tell.
    let (synced, written) = (last(command, &SYNCS), last(command, &WRITERS));
    let syncs = match (synced, written) {
        (None, None) => None,
        (None, Some(_)) => Some(false),
        // `sync; dd ...` starts with a sync; whether it ends with one is unknown.
        (Some(synced), Some(written)) => (synced > written).then_some(true),
        (Some(_), None) => Some(true),
    };
    let told = Told { writes: written.map(|_| true), syncs, options, ..Told::default() };
    let sample = |(number, seconds): (usize, &f64)| {
        if !(0.0..LONGEST_S).contains(seconds) {
            return Err(Fault::new(
                format!("results[{index}].times[{number}]: {seconds} is not a time in seconds"),
                "expected a number of at least 0",
            ));
        }
        let time_ns = nanos(*seconds);
        let mut phase = phase(PHASE, BTreeMap::new());
        phase.time_ns = Some(time_ns);
        let code = benchmark.exit_codes.get(number).copied().flatten().filter(|code| *code != 0);
        Ok(Sample {
            failure: code.map(|code| format!("`{command}` ended with exit code {code}")),
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

/// Programs that write files.
const WRITERS: [&str; 12] = [
    "cp", "mv", "rm", "dd", "tar", "unzip", "rsync", "install", "touch", "mkdir", "mkfs",
    "truncate",
];

/// Where the last of these words ends in a command, in bytes. Words that are switched off
/// (`--fsync=0`) or part of a path do not count.
fn last(command: &str, known: &[&str]) -> Option<usize> {
    let is_of_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let starts = command
        .char_indices()
        .filter(|(at, c)| is_of_word(*c) && !command[..*at].ends_with(is_of_word));
    let mut found = starts.filter_map(|(at, _)| {
        let rest = &command[at..];
        let end = rest.find(|c| !is_of_word(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        let is_path =
            after.starts_with('/') || command[..at].ends_with('/') && !is_program(command, at);
        let is_off = after.starts_with("=0");
        (known.contains(&word) && !is_path && !is_off).then_some(at + end)
    });
    found.next_back()
}

/// Whether the path that ends in a word is the program: `/bin/cp a b`.
fn is_program(command: &str, at: usize) -> bool {
    let path = command[..at].rfind([' ', ';', '&', '|', '(', '\'']).map_or(0, |space| space + 1);
    let before = command[..path].trim_end();
    before.is_empty() || before.ends_with([';', '&', '|', '(', '\'']) || before.ends_with("sudo")
}

#[cfg(test)]
mod tests;

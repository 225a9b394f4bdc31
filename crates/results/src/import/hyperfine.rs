//! Reads hyperfine's JSON (`--export-json`, `BenchmarkResult` in its `benchmark_result.rs`): a
//! command is a treatment, a time is a trial.
//!
//! Parameters named like a factor are its levels. Commands of one name differ by them, or by their
//! other parameters, which then are part of the name: a parameter may only be in `--prepare`.
//! Processor times are means over the runs of a command, so they belong to a trial only if there is
//! one.

use std::collections::{BTreeMap, BTreeSet};

use crate::StatedMethod;
use serde::Deserialize;
use serde_json::Value;
use ssdlab_plan::metric::{HYPERFINE_MEMORY, Metric};
use ssdlab_plan::{Factor, Levels};

use super::error::ImportFault;
use super::sample::{ImportedFile, ImportedSample, check_trials, phase};

/// The longest plausible time, in seconds: ten years.
const LONGEST_S: f64 = 3.2e8;

/// The name of the one phase.
const PHASE: &str = "command";

#[derive(Deserialize)]
struct Benchmark {
    command: String,
    #[serde(default)]
    times: Vec<f64>,
    /// `None` where a run had none, as one that a signal ended may have.
    #[serde(default)]
    exit_codes: Option<Vec<Option<i32>>>,
    /// Means in seconds.
    user: Option<f64>,
    system: Option<f64>,
    /// The peak of each run.
    memory_usage_byte: Option<Vec<Option<u64>>>,
    #[serde(default)]
    parameters: Option<BTreeMap<String, Value>>,
}

/// A command and its parameters.
struct Treatment {
    command: String,
    levels: Levels,
    /// Parameters that are not levels.
    options: BTreeMap<String, String>,
}

impl Treatment {
    fn of(benchmark: &Benchmark) -> Self {
        let (mut levels, mut options) = (Levels::default(), BTreeMap::new());
        for (name, value) in benchmark.parameters.iter().flatten() {
            let level = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            match Factor::find(name).filter(|factor| *factor != Factor::Label) {
                Some(factor) => levels.0.insert(factor, level),
                None => options.insert(name.clone(), level),
            };
        }
        Self { command: benchmark.command.trim().to_owned(), levels, options }
    }

    /// The command, with the parameters by which others that are called so differ.
    fn name(&self, all: &[Self]) -> String {
        let alike: Vec<&Self> = all
            .iter()
            .filter(|other| other.command == self.command && other.levels == self.levels)
            .collect();
        let differs = |name: &str| {
            alike.iter().any(|other| other.options.get(name) != self.options.get(name))
        };
        let own: Vec<String> = self
            .options
            .iter()
            .filter(|(name, _)| differs(name))
            .map(|(name, value)| format!("{name} = {value}"))
            .collect();
        [&self.command[..], &own.join(", ")]
            .iter()
            .filter(|part| !part.is_empty())
            .copied()
            .collect::<Vec<_>>()
            .join(", ")
    }
}

pub(super) fn read(object: &Value) -> Result<ImportedFile, ImportFault> {
    let help = "export again with hyperfine --export-json; --show-output is not needed";
    let results = object["results"].as_array().map_or(&[][..], Vec::as_slice);
    let mut benchmarks = Vec::new();
    for (index, result) in results.iter().enumerate() {
        let at = |message: &str| ImportFault::new(format!("results[{index}]: {message}"), help);
        let benchmark = Benchmark::deserialize(result).map_err(|error| at(&error.to_string()))?;
        if benchmark.times.is_empty() {
            return Err(at("it has no `times`, expected at least one"));
        }
        let (times, codes) = (benchmark.times.len(), benchmark.codes().len());
        if codes > 0 && codes != times {
            return Err(at(&format!(
                "it has {codes} `exit_codes`, expected one for each of its \
                                    {times} `times`"
            )));
        }
        benchmarks.push(benchmark);
    }
    if benchmarks.is_empty() {
        return Err(ImportFault::new("it has no results, expected at least one", help));
    }
    check_trials(benchmarks.iter().map(|benchmark| benchmark.times.len()).sum())?;
    let treatments: Vec<Treatment> = benchmarks.iter().map(Treatment::of).collect();
    let names = names(&treatments)?;
    let notes = notes(&benchmarks, &treatments);
    let mut samples = Vec::new();
    for (index, (benchmark, treatment)) in benchmarks.iter().zip(treatments).enumerate() {
        let name = names.as_ref().map(|names| names[index].as_str());
        samples.extend(trials(benchmark, treatment, name, index)?);
    }
    Ok(ImportedFile {
        program: "hyperfine",
        // The file does not say.
        version: None,
        metric: Metric::default(),
        // All runs of a command, then all of the next (sharkdp/hyperfine#21).
        is_in_order: true,
        samples,
        notes,
    })
}

/// The names of treatments; `None` if they are one command whose levels tell them apart.
fn names(treatments: &[Treatment]) -> Result<Option<Vec<String>>, ImportFault> {
    let names: Vec<String> =
        treatments.iter().map(|treatment| treatment.name(treatments)).collect();
    let mut seen = BTreeSet::new();
    for (index, (name, treatment)) in names.iter().zip(treatments).enumerate() {
        if !seen.insert((name, &treatment.levels)) {
            return Err(ImportFault::new(
                format!("results[{index}]: an earlier command is also called `{name}`"),
                "the file does not say how they differ; name them: hyperfine -n NAME",
            ));
        }
    }
    let is_one = names.len() > 1 && names.iter().all(|name| *name == names[0]);
    Ok((!is_one).then_some(names))
}

/// What the file says of commands but not of trials, and what it does not say.
fn notes(benchmarks: &[Benchmark], treatments: &[Treatment]) -> Vec<String> {
    let unknown =
        |benchmark: &Benchmark| benchmark.times.len() - benchmark.codes().iter().flatten().count();
    let (runs, unknown) = benchmarks.iter().fold((0, 0), |(runs, sum), benchmark| {
        (runs + benchmark.times.len(), sum + unknown(benchmark))
    });
    let mut notes = Vec::new();
    if unknown > 0 {
        notes.push(format!(
            "the file has no exit code of {unknown} of {runs} runs: whether those succeeded is \
             unknown"
        ));
    }
    let means: Vec<String> = benchmarks
        .iter()
        .zip(treatments)
        .filter(|(benchmark, _)| benchmark.times.len() > 1)
        .filter_map(|(benchmark, treatment)| {
            let (user, system) = (benchmark.user?, benchmark.system?);
            let levels = treatment.levels.to_string();
            let of = if levels.is_empty() { String::new() } else { format!(" ({levels})") };
            let (user, system) = (user * 1e3, system * 1e3);
            Some(format!("`{}`{of} {user:.3} ms and {system:.3} ms", treatment.command))
        })
        .collect();
    if !means.is_empty() {
        notes.push(format!(
            "user and system time are known only as means over all runs of a command: {}",
            means.join("; ")
        ));
    }
    notes
}

impl Benchmark {
    fn codes(&self) -> &[Option<i32>] {
        self.exit_codes.as_deref().unwrap_or_default()
    }

    /// The processor time of the only run.
    fn cpu_ns(&self) -> Option<u64> {
        let seconds = self.user? + self.system?;
        (self.times.len() == 1 && (0.0..LONGEST_S).contains(&seconds)).then(|| nanos(seconds))
    }
}

fn trials(
    benchmark: &Benchmark,
    treatment: Treatment,
    name: Option<&str>,
    index: usize,
) -> Result<Vec<ImportedSample>, ImportFault> {
    let Treatment { command, levels, mut options } = treatment;
    let command = &command[..];
    if name.is_none() {
        options.insert("command".to_owned(), command.to_owned());
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
    let told =
        StatedMethod { writes: written.map(|_| true), syncs, options, ..StatedMethod::default() };
    let sample = |(number, seconds): (usize, &f64)| {
        if !(0.0..LONGEST_S).contains(seconds) {
            return Err(ImportFault::new(
                format!("results[{index}].times[{number}]: {seconds} is not a time in seconds"),
                "expected a number of at least 0",
            ));
        }
        let time_ns = nanos(*seconds);
        let memory = benchmark.memory_usage_byte.as_ref().and_then(|peaks| *peaks.get(number)?);
        let reported = memory.map(|bytes| (HYPERFINE_MEMORY, bytes as f64));
        let mut phase = phase(PHASE, reported.into_iter().collect());
        phase.time_ns = Some(time_ns);
        phase.cpu_ns = benchmark.cpu_ns();
        let code = benchmark.codes().get(number).copied().flatten().filter(|code| *code != 0);
        Ok(ImportedSample {
            failure: code.map(|code| format!("`{command}` ended with exit code {code}")),
            name: name.filter(|name| !name.is_empty()).map(str::to_owned),
            levels: levels.clone(),
            told: [(PHASE.to_owned(), told.clone())].into(),
            phases: vec![phase],
            ..ImportedSample::default()
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

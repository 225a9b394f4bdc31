//! Reports over long runs: time and memory of `ssdlab report` and `ssdlab compare` for 10,000
//! trials with all latencies, and time of `ssdlab history` for 1,000 runs.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use ssdlab_host::meter::block::Counters;
use ssdlab_host::meter::environment::Environment;
use ssdlab_plan::schedule::Trial;
use ssdlab_plan::{self as plan, Overrides, Schedule};
use ssdlab_results::{Ending, PhaseRecord, Record, RunFolder, Work};
use ssdlab_workload::engine::OperationTally;

/// 20 treatments of the twelve phases of Bonnie's tests.
const PLAN: &str = r#"
name = "long"
question = "How long does a report take?"
metric = "ops_per_second"
[factors]
filesystem = ["ext4", "ext2", "xfs", "btrfs", "reiserfs"]
scheduler = ["none", "mq-deadline", "bfq", "kyber"]
[baseline]
filesystem = "ext4"
scheduler = "none"
[workload]
bonnie = { files = "8:200" }
phases = [{ do = "bonnie" }]
[ranking]
[[claims]]
id = "deletes"
says = "btrfs deletes faster"
phases = ["seq_delete", "random_delete"]
compare = { filesystem = "btrfs" }
at_least = 1.05
"#;

/// Blocks of a long run, and of a typical one.
const LONG: u32 = 500;
const USUAL: u32 = 1;
const RUNS: u64 = 1_000;
const ROUNDS: usize = 5;

fn main() {
    let place = tempfile::tempdir_in("/dev/shm").unwrap();
    let long = place.path().join("long");
    for seed in [1, 2] {
        run(&long, LONG, seed);
    }
    println!("{} trials of 12 phases, {ROUNDS} rounds:", 20 * LONG);
    for format in ["text", "markdown", "json", "html", "csv", "ods"] {
        measure(&long, &["report", "run-1", "--format", format]);
    }
    measure(&long, &["compare", "run-1", "run-2"]);
    measure(&long, &["compare", "run-1", "run-2", "--json"]);
    fs::remove_dir_all(&long).unwrap();
    let usual = place.path().join("usual");
    for seed in 1..=RUNS {
        run(&usual, USUAL, seed);
    }
    println!("{RUNS} runs of {} trials:", 20 * USUAL);
    measure(&usual, &["history"]);
}

/// A run's folder, as `ssdlab run` leaves it.
fn run(results: &Path, blocks: u32, seed: u64) {
    let overrides = Overrides { runs: Some(blocks), seed: Some(seed), ..Overrides::default() };
    let schedule = plan::schedule("plan.toml", PLAN, &overrides, Path::new("/")).unwrap();
    let mut run = RunFolder::create(results, &format!("run-{seed}"), PLAN, &schedule).unwrap();
    for trial in &schedule.trials {
        run.push(&record(&schedule, *trial)).unwrap();
    }
    run.ended(Ending::AllBlocks).unwrap();
}

fn record(schedule: &Schedule, trial: Trial) -> Record {
    let phases = schedule.phases(trial.treatment);
    let phase = |(index, phase): (usize, &plan::schedule::Phase)| {
        self::phase(&phase.name, trial.seed.rotate_left(u32::try_from(index).unwrap()) % 1000)
    };
    let applied = ["drive", "host", "mkfs", "mount_options", "mount_type", "scheduler"];
    Record {
        fingerprint: Some(format!("{:032x}", trial.seed)),
        took_ns: 1_000_000_000,
        written_bytes: 10_000_000_000,
        phases: phases.iter().enumerate().map(phase).collect(),
        applied: applied.map(|name| (name.to_owned(), format!("as {name} was set"))).into(),
        environment: Environment {
            kernel: "6.1.0".to_owned(),
            tools: (0..8).map(|tool| format!("mkfs.{tool} 1.47.0 (5-Feb-2023)")).collect(),
            ..Environment::default()
        },
        ..Record::new(schedule, trial, 1_310_000_000 + trial.seed % 1_000_000)
    }
}

/// A phase of 1,000 operations, a few per mille faster or slower.
fn phase(name: &str, variation: u64) -> PhaseRecord {
    let ns = 1_000_000 + 20 * variation;
    let mut counted = OperationTally { bytes: 8_192_000, ..OperationTally::new() };
    counted.took = Duration::from_nanos(1000 * ns);
    for operation in 0..1000 {
        let latency = ns + operation * operation * 7919 % 100_000;
        counted.count(Duration::from_nanos(operation * ns), Duration::from_nanos(latency));
    }
    let device = Counters {
        written_bytes: 8_192_000 + 4096 * variation,
        write_requests: 1000 + variation,
        ..Counters::default()
    };
    PhaseRecord {
        name: name.to_owned(),
        time_ns: Some(1000 * ns),
        settled_ns: Some(1010 * ns),
        is_quiet: Some(true),
        cpu_ns: Some(1_000_000),
        application_bytes: Some(8_192_000),
        device: Some(device),
        at_return: Some(device),
        work: Work::of(&counted),
        ..PhaseRecord::default()
    }
}

/// Prints the median time and the peak memory of a command.
fn measure(results: &Path, arguments: &[&str]) {
    let mut rounds: Vec<(Duration, u64)> = (0..ROUNDS).map(|_| once(results, arguments)).collect();
    rounds.sort();
    let memory = rounds.iter().map(|(_, memory)| *memory).max().unwrap_or(0);
    println!(
        "{:32} {:5.2} s  {:4} MB",
        arguments.join(" "),
        rounds[ROUNDS / 2].0.as_secs_f64(),
        memory * 1024 / 1_000_000
    );
}

/// The time of a command, and its peak memory in KiB, from proc(5).
fn once(results: &Path, arguments: &[&str]) -> (Duration, u64) {
    let said = File::create(results.join("said")).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_ssdlab"));
    command.args(arguments).arg("--results").arg(results).stdout(said).stderr(Stdio::null());
    let started = Instant::now();
    let mut child = command.spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut memory = 0;
    loop {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let peak = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let peak = peak.and_then(|rest| rest.split_whitespace().next()?.parse().ok());
        memory = memory.max(peak.unwrap_or(0));
        if let Some(exit) = child.try_wait().unwrap() {
            assert!(exit.success(), "{arguments:?}");
            return (started.elapsed(), memory);
        }
        sleep(Duration::from_millis(2));
    }
}

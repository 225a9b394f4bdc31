//! Fixed records, like those of runs, for golden reports.

#![allow(dead_code, reason = "each test target uses a part")]

use std::path::Path;

use serde_json::{Value, json};
use ssdlab_advice as advice;
use ssdlab_host::meter::block::Counters;
use ssdlab_host::meter::environment::Environment;
use ssdlab_plan::schedule::Trial;
use ssdlab_plan::{self as plan, LabKind, Overrides, Schedule, shipped};
use ssdlab_results::{
    Attempt, AttemptId, ByKind, ByLayer, EngineSeries, KindWrites, Latency, LayerWrites, Ledger,
    PhaseRecord, Record, TrialStatus, Work,
};
use ssdlab_stats::latency::LatencySummary;

pub fn schedule(plan: &str, runs: u32) -> Schedule {
    let overrides =
        Overrides { lab: Some(LabKind::Image), runs: Some(runs), ..Overrides::default() };
    let text = shipped::find(plan).unwrap().text;
    plan::schedule("plan.toml", text, &overrides, Path::new("/")).unwrap()
}

pub fn phase(name: &str, time_ms: u64, written: u64, discards: u64) -> PhaseRecord {
    let counters = Counters {
        written_bytes: written,
        write_requests: written / 100_000,
        discard_requests: discards,
        discarded_bytes: discards * 50_000_000,
        ..Counters::default()
    };
    PhaseRecord {
        name: name.to_owned(),
        time_ns: Some(time_ms * 1_000_000),
        settled_ns: Some(time_ms * 1_000_000),
        is_quiet: Some(true),
        cpu_ns: Some(1_000),
        application_bytes: Some(if name == "unpack" { 493_000_000 } else { 0 }),
        device: Some(counters),
        at_return: Some(counters),
        ledger: Some(ledger(&counters)),
        ..PhaseRecord::default()
    }
}

/// The kinds of bytes that ext4 writes for a tree of small files.
fn ledger(counters: &Counters) -> Ledger {
    let of = |percent: u64| KindWrites {
        bytes: counters.written_bytes / 100 * percent,
        requests: counters.write_requests / 100 * percent,
    };
    let by_kind = ByKind {
        data: of(92),
        journal: of(4),
        inode: of(2),
        directory: of(1),
        allocation: of(1),
        ..ByKind::default()
    };
    let by_layer = ByLayer::of(LayerWrites::default(), counters);
    Ledger { by_layer, by_kind: Some(by_kind), ..Ledger::default() }
}

fn environment() -> Environment {
    Environment {
        ssdlab: "0.1.0 0123456".to_owned(),
        kernel: "6.1.0 #1 SMP".to_owned(),
        cpu: "AMD Phenom(tm) II X4 965".to_owned(),
        cpus: 4,
        memory_bytes: 8 << 30,
        distribution: "Debian".to_owned(),
        tools: vec!["mke2fs 1.47.0".to_owned(), "fstrim 2.38".to_owned()],
        ..Environment::default()
    }
}

pub fn record(schedule: &Schedule, trial: &Trial, phases: Vec<PhaseRecord>) -> Record {
    Record { phases, environment: environment(), ..Record::new(schedule, *trial, 1_310_000_000) }
}

/// Founding post 1's numbers as records: its three tries, with a spread of a few per cent.
pub fn post_1(schedule: &Schedule) -> Vec<Record> {
    schedule
        .trials
        .iter()
        .map(|trial| {
            let levels = schedule.treatments[trial.treatment].levels.clone();
            let jitter = |ms: u64| ms * (100 + (u64::from(trial.position) * 7) % 5) / 100;
            let discard = levels.to_string();
            let sync = if discard.contains("discard = on") { 40_410 } else { 170 };
            let mut phases = vec![
                phase("unpack", jitter(1_210), 0, 0),
                phase("sync_unpacked", jitter(1_660), 520_000_000, 0),
                phase("delete", jitter(470), 0, 0),
                phase("sync_deleted", jitter(sync), 20_000_000, u64::from(sync > 1000) * 12),
            ];
            if discard.contains("discard = fstrim") {
                phases.push(phase("fstrim", 9_000, 0, 30));
            }
            record(schedule, trial, phases)
        })
        .collect()
}

/// The same on four nodes with two kinds of drives, one of which discards do not slow down.
pub fn fleet() -> (Schedule, Vec<Record>) {
    let schedule = schedule("discard", 12);
    let mut records = post_1(&schedule);
    for record in &mut records {
        let node = record.trial.block % 4;
        let drive = if node == 3 { "INTEL SSDSA2M080G2GC" } else { "OCZ VERTEX-LE" };
        record.environment.drive_model = Some(drive.to_owned());
        record.environment.drive_firmware =
            Some(if node == 3 { "2CV1" } else { "1.11" }.to_owned());
        let id = AttemptId::read(&format!("7_{}", record.trial.block)).unwrap();
        record.attempt = Some(Attempt { id, node: format!("node{node}") });
        // The ratio of 170 ms to 40.4 s, less a tenth.
        let phase = &mut record.phases[3];
        if node == 3 && phase.device.is_some_and(|device| device.discard_requests > 0) {
            phase.time_ns = phase.time_ns.map(|ns| ns * 9 / 2377);
        }
    }
    (schedule, records)
}

/// A chain of steps: five filesystems, one of which cannot run; then schedulers; then tandems.
const CHAIN: &str = r#"
    name = "chain"
    question = "Which tandem is the best?"
    metric = "ops_per_second"
    [factors]
    filesystem = ["ext4", "xfs", "btrfs", "jfs", "reiserfs"]
    scheduler = ["none", "bfq"]
    [baseline]
    filesystem = "ext4"
    scheduler = "none"
    [workload]
    phases = [
        { do = "io", name = "unpack", io = { size = "1 MiB", operations = 10 } },
        { do = "io", name = "sync", io = { size = "1 MiB", operations = 10 } },
    ]
    [[steps]]
    name = "filesystems"
    where = { scheduler = "none" }
    keep = { filesystem = 2 }
    [[steps]]
    name = "schedulers"
    keep = { scheduler = 1 }
    [[steps]]
    name = "tandems"
    [[claims]]
    id = "xfs-first"
    says = "xfs is the fastest"
    phases = ["unpack", "sync"]
    best = { filesystem = "xfs" }
    where = { scheduler = "none" }
    [[claims]]
    id = "ext4-first"
    says = "ext4 is the fastest"
    phases = ["unpack", "sync"]
    best = { filesystem = "ext4" }
    where = { scheduler = "none" }
"#;

pub fn work(ops_per_second: f64) -> Work {
    let summary = LatencySummary {
        mean_ns: 1e9 / ops_per_second,
        p50_ns: 1,
        p90_ns: 1,
        p99_ns: 1,
        p999_ns: 1,
        max_ns: 1,
    };
    let latency = Latency { summary, histogram: String::new() };
    let series = EngineSeries { step_ns: 1, operations: vec![1] };
    Work { operations: 1, ops_per_second, bytes_per_second: None, latency, series }
}

pub fn chain() -> (Schedule, Vec<Record>) {
    let overrides = Overrides { lab: Some(LabKind::Virtual), ..Overrides::default() };
    let schedule = plan::schedule("plan.toml", CHAIN, &overrides, Path::new("/")).unwrap();
    let mut records: Vec<Record> = Vec::new();
    for step in 0..3 {
        let chosen = advice::taking_part(&schedule, &records, step);
        let of_step = schedule.trials.iter().filter(|trial| {
            schedule.step_of(trial.block) == step && chosen.contains(&trial.treatment)
        });
        let new: Vec<Record> = of_step
            .map(|trial| {
                let levels = schedule.treatments[trial.treatment].levels.clone();
                let text = levels.to_string();
                let speed = [("xfs", 120.0), ("ext4", 100.0), ("btrfs", 99.9), ("reiserfs", 50.0)];
                let speed = speed.iter().find(|(name, _)| text.contains(&format!("= {name},")));
                let scheduler = if text.contains("bfq") { 1.1 } else { 1.0 };
                let jitter = 1.0 + f64::from((trial.position * 7) % 5) / 500.0;
                let phases = ["unpack", "sync"].map(|name| {
                    let mut phase = phase(name, 1, 0, 0);
                    phase.work = speed.map(|(_, speed)| work(speed * scheduler * jitter));
                    phase
                });
                let mut record = record(&schedule, trial, phases.to_vec());
                if speed.is_none() {
                    record.status = TrialStatus::Unavailable;
                    record.reason = Some("mkfs.jfs is not installed (package jfsutils)".to_owned());
                }
                record
            })
            .collect();
        records.extend(new);
    }
    (schedule, records)
}

/// Hostile text that somebody might write where this program prints it.
pub const HOSTILE: &str = r#"</script></style>"><img src=x onerror=alert('1')>&lt;"#;

/// A schedule as if somebody had edited its file.
pub fn edited(schedule: &Schedule, edit: impl FnOnce(&mut Value)) -> Schedule {
    let mut stored = serde_json::to_value(schedule).unwrap();
    edit(&mut stored);
    serde_json::from_value(stored).unwrap()
}

/// A run in which every text is hostile, and has characters that control a terminal.
pub fn hostile() -> (Schedule, Vec<Record>) {
    let text = format!("{HOSTILE}\u{1b}[2J\u{0}\u{7}\u{9b}");
    let schedule = schedule("discard", 8);
    let mut records = post_1(&schedule);
    let phase = format!("{text} phase");
    let schedule = edited(&schedule, |stored| {
        for (index, treatment) in
            stored["treatments"].as_array_mut().unwrap().iter_mut().enumerate()
        {
            treatment["levels"]["mount"] = json!(format!("{text} {index}"));
        }
        stored["workload"]["phases"][0]["name"] = json!(phase);
        for claim in stored["claims"].as_array_mut().unwrap() {
            for key in ["id", "says", "if_holds", "if_refuted"] {
                claim[key] = json!(text);
            }
        }
        stored["source"] = json!(text);
        stored["overrides"] = json!([text]);
        stored["notes"].as_array_mut().unwrap().push(json!(text));
        stored["question"] = json!(text);
    });
    for record in &mut records {
        record.levels = schedule.treatments[record.trial.treatment].levels.clone();
        record.phases[0].name.clone_from(&phase);
        record.phases[1].remark = Some(text.clone());
        record.environment.cpu.clone_from(&text);
        let node = format!("{text} {}", record.trial.block);
        let id = AttemptId::read("7_0").unwrap();
        record.attempt = Some(Attempt { id, node });
        record.applied.insert(text.clone(), text.clone());
    }
    records[0].status = TrialStatus::Failed;
    records[0].reason = Some(text);
    (schedule, records)
}

//! Runs to export, and the numbers in their records.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use ssdlab_flash::FlashActivity;
use ssdlab_host::meter::block::Counters;
use ssdlab_plan::schedule::Trial;
use ssdlab_plan::{self as plan, LabKind, Overrides, Schedule, metric, shipped};
use ssdlab_results::{
    ByKind, Ending, EngineSeries, KindWrites, Latency, Ledger, PhaseRecord, Record, RunFolder,
    Teardown, TrialStatus, Work,
};
use ssdlab_stats::latency::LatencySummary;
use tempfile::TempDir;

/// A run's folder, and a place for its exports.
pub struct Fixture {
    place: TempDir,
    pub run: PathBuf,
}

/// The numbers of a run, by position, phase and metric.
pub type Numbers = BTreeMap<(u64, String, String), f64>;

impl Fixture {
    pub fn new() -> Self {
        let schedule = schedule();
        let records = records(&schedule);
        Self::of(&schedule, &records)
    }

    pub fn of(schedule: &Schedule, records: &[Record]) -> Self {
        let place = TempDir::new().unwrap();
        let mut run =
            RunFolder::create(&place.path().join("results"), "run", "", schedule).unwrap();
        for record in records {
            run.push(record).unwrap();
        }
        run.ended(Ending::AllBlocks).unwrap();
        Self { run: run.folder().to_owned(), place }
    }

    pub fn place(&self) -> &Path {
        self.place.path()
    }

    /// Every number of every phase in `records.jsonl`.
    pub fn numbers(&self) -> Numbers {
        let text = fs::read_to_string(self.run.join("records.jsonl")).unwrap();
        let records = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let mut numbers = Numbers::new();
        for record in records {
            let position = record["trial"]["position"].as_u64().unwrap();
            let mut add = |phase: &str, metric: String, value: &Value| {
                if let Some(value) = value.as_f64() {
                    let is_new = numbers.insert((position, phase.to_owned(), metric), value);
                    assert!(is_new.is_none());
                }
            };
            for phase in record["phases"].as_array().unwrap() {
                let name = phase["name"].as_str().unwrap();
                // The one metric that is a ratio of two others.
                let [flash, written] = ["flash_written_bytes", "written_bytes"];
                if let Some((flash, written)) = phase[flash].as_f64().zip(phase[written].as_f64()) {
                    add(name, "write_amplification".to_owned(), &(flash / written).into());
                }
                for (key, value) in phase.as_object().unwrap() {
                    match (key.as_str(), value) {
                        ("latency", Value::Object(own)) => each("latency.", own, name, &mut add),
                        ("ledger", Value::Object(own)) => {
                            for (kind, written) in own["by_kind"].as_object().unwrap() {
                                add(name, format!("{kind}_bytes"), &written["bytes"]);
                            }
                        }
                        ("reported", Value::Object(own)) => each("", own, name, &mut add),
                        // Recorded, but not a metric.
                        ("lifetime_kib" | "repeats_by_bytes", _) => {}
                        _ => add(name, key.clone(), value),
                    }
                }
            }
            if let Some(teardown) = record["teardown"].as_object() {
                each("teardown.", teardown, "teardown", &mut add);
            }
        }
        numbers
    }
}

fn each(
    prefix: &str,
    all: &Map<String, Value>,
    phase: &str,
    add: &mut impl FnMut(&str, String, &Value),
) {
    for (key, value) in all {
        add(phase, format!("{prefix}{key}"), value);
    }
}

/// Three treatments, one of which has an additional phase.
pub fn schedule() -> Schedule {
    let overrides =
        Overrides { lab: Some(LabKind::Virtual), runs: Some(4), ..Overrides::default() };
    let text = shipped::find("discard").unwrap().text;
    plan::schedule("plan.toml", text, &overrides, Path::new("/")).unwrap()
}

/// Records of every kind, with numbers that need all digits of a double.
pub fn records(schedule: &Schedule) -> Vec<Record> {
    let mut state = 1;
    let records = schedule.trials.iter().map(|trial| record(schedule, trial, &mut state));
    let mut records: Vec<Record> = records.collect();
    for (index, status) in
        [(2, TrialStatus::Failed), (4, TrialStatus::Void), (6, TrialStatus::Unavailable)]
    {
        records[index].status = status;
        records[index].reason = Some(format!("it was {status}"));
    }
    records[2].phases.truncate(1);
    records[6].phases.clear();
    records[6].teardown = None;
    // Concurrent trials finish in any order.
    records.swap(0, 5);
    records
}

fn record(schedule: &Schedule, trial: &Trial, state: &mut u64) -> Record {
    let phases = schedule.phases(trial.treatment);
    let phases = phases.iter().map(|phase| measured(&phase.name, state)).collect();
    Record {
        fingerprint: Some(format!("{:032x}", random(state))),
        took_ns: random(state) >> 20,
        written_bytes: random(state) >> 20,
        phases,
        teardown: Some(Teardown { time_ns: random(state) >> 20, device: counters(state) }),
        ..Record::new(schedule, *trial, 1_795_287_399)
    }
}

fn measured(name: &str, state: &mut u64) -> PhaseRecord {
    let (device, at_return) = (counters(state), counters(state));
    let mut integer = || random(state) >> 12;
    let [time_ns, settled_ns, cpu_ns, bytes, operations] = [(); 5].map(|()| integer());
    let flash = FlashActivity {
        flash_written_bytes: integer(),
        flash_read_bytes: integer(),
        erases: integer(),
        hottest_erases: integer(),
        repeats_until_worn: Some(integer() as f64 / 1024.0),
        years_until_worn: Some(integer() as f64 / 1024.0),
        repeats_by_bytes: Some(integer() as f64 / 1024.0),
        years_by_bytes: Some(integer() as f64 / 1024.0),
        stalled_ns: integer(),
    };
    let [p50_ns, p90_ns, p99_ns, longest_but_1_ns, max_ns] = [(); 5].map(|()| integer());
    let summary = LatencySummary {
        mean_ns: fraction(state),
        p50_ns,
        p90_ns,
        p99_ns,
        p999_ns: longest_but_1_ns,
        max_ns,
    };
    let latency = Latency { summary, histogram: "HISTFAAAACx".to_owned() };
    let reported = ["reader.p99_ns", "sync.ops_per_second", "fio.read_iops", "odd"];
    PhaseRecord {
        name: name.to_owned(),
        time_ns: Some(time_ns),
        settled_ns: Some(settled_ns),
        is_quiet: Some(true),
        cpu_ns: Some(cpu_ns),
        application_bytes: Some(bytes),
        device: Some(device),
        at_return: Some(at_return),
        flash: Some(flash),
        commits: Some(random(state) >> 12),
        ledger: Some(ledger(state)),
        work: Some(Work {
            operations,
            ops_per_second: fraction(state),
            bytes_per_second: Some(fraction(state)),
            latency,
            series: EngineSeries { step_ns: 1_000_000, operations: vec![1, 2, 3] },
        }),
        reported: reported.map(|name| (metric::of(name), fraction(state))).into(),
        ..PhaseRecord::default()
    }
}

fn ledger(state: &mut u64) -> Ledger {
    let mut integer = || random(state) >> 12;
    let mut written = || KindWrites { bytes: integer(), requests: integer() };
    let by_kind = ByKind {
        data: written(),
        journal: written(),
        inode: written(),
        directory: written(),
        allocation: written(),
        superblock: written(),
        cow_metadata: written(),
        unattributed: written(),
    };
    Ledger { by_kind: Some(by_kind), ..Ledger::default() }
}

fn counters(state: &mut u64) -> Counters {
    let mut integer = || random(state) >> 12;
    Counters {
        read_requests: integer(),
        read_bytes: integer(),
        write_requests: integer(),
        write_merges: integer(),
        written_bytes: integer(),
        discard_requests: 0,
        discarded_bytes: integer(),
        flushes: integer(),
    }
}

/// A number above 0 with as many digits as a double has, small or large.
fn fraction(state: &mut u64) -> f64 {
    let exponent = i32::try_from(random(state) % 40).unwrap() - 20;
    (random(state) >> 11) as f64 / (1_u64 << 53) as f64 * 10_f64.powi(exponent)
}

/// `SplitMix64` (G. L. Steele, D. Lea and C. H. Flood 2014).
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

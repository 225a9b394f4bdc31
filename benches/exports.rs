//! How long reports of a large run take, and how much memory: 10,000 trials of 12 phases.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Instant;

use ssdlab::meter::block::Counters;
use ssdlab::meter::environment::Environment;
use ssdlab::plan::schedule::Trial;
use ssdlab::plan::{self, LabKind, Overrides, Schedule};
use ssdlab::results::{Ending, Flashed, Phase, RECORD_SCHEMA, Record, Run, Status, Teardown};

const TRIALS: usize = 10_000;

/// Twelve phases, and twenty treatments of which one is the baseline.
const PLAN: &str = r#"
    name = "large"
    question = "How long does a report take?"
    [target]
    lab = "virtual"
    [factors]
    filesystem = ["ext4", "xfs", "btrfs", "f2fs", "ext2"]
    scheduler = ["none", "mq-deadline", "bfq", "kyber"]
    [baseline]
    filesystem = "ext4"
    scheduler = "none"
    [workload]
    phases = [
        { do = "unpack", name = "unpack_1" }, { do = "sync", name = "sync_1" },
        { do = "delete", name = "delete_1" }, { do = "sync", name = "sync_2" },
        { do = "unpack", name = "unpack_2" }, { do = "sync", name = "sync_3" },
        { do = "delete", name = "delete_2" }, { do = "sync", name = "sync_4" },
        { do = "unpack", name = "unpack_3" }, { do = "sync", name = "sync_5" },
        { do = "delete", name = "delete_3" }, { do = "sync", name = "sync_6" },
    ]
"#;

fn main() -> ExitCode {
    // Each format is measured in a process of its own, which is this program again.
    if std::env::args().nth(1).is_some_and(|first| first == "report") {
        let code = ssdlab::cli::main();
        eprintln!("{}", peak_memory_kib());
        return code;
    }
    let place = tempfile::tempdir().expect("a folder");
    let run = large_run(place.path());
    let folder = run.folder().to_str().expect("a plain path");
    let size = |path: &Path| fs::metadata(path).map_or(0, |found| found.len()) / 1_000_000;
    println!("records: {} MB", size(&run.folder().join("records.jsonl")));
    for format in ["csv", "parquet", "ods", "markdown", "json"] {
        let out = place.path().join(format);
        let start = Instant::now();
        let output = Command::new(std::env::current_exe().expect("this program"))
            .args(["report", folder, "--format", format, "--out"])
            .arg(&out)
            .output()
            .expect("a child");
        let took = start.elapsed().as_secs_f64();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        let peak: u64 = said.trim().parse().expect("a number");
        println!("{format}: {took:.2} s, {} MB of memory, {} MB", peak / 1000, size(&out));
    }
    ExitCode::SUCCESS
}

fn large_run(place: &Path) -> Run {
    let runs = u32::try_from(TRIALS / 20).expect("few");
    let overrides =
        Overrides { lab: Some(LabKind::Virtual), runs: Some(runs), ..Overrides::default() };
    let schedule = plan::schedule("plan.toml", PLAN, &overrides, Path::new("/")).expect("a plan");
    assert_eq!(schedule.trials.len(), TRIALS);
    let run = Run::create(place, "large", PLAN, &schedule).expect("a run");
    let mut lines = Vec::new();
    for trial in &schedule.trials {
        serde_json::to_writer(&mut lines, &record(&schedule, trial)).expect("plain data");
        lines.push(b'\n');
    }
    fs::write(run.folder().join("records.jsonl"), lines).expect("room");
    run.ended(Ending::AllBlocks).expect("room");
    run
}

fn record(schedule: &Schedule, trial: &Trial) -> Record {
    let number = |of: u64| 1_000_000_000 + trial.seed.rotate_left(7).wrapping_mul(of) % 100_000_007;
    let counters = Counters {
        read_requests: number(2),
        read_bytes: number(3),
        write_requests: number(5),
        written_bytes: number(7),
        ..Counters::default()
    };
    let phases = schedule.phases(trial.treatment).into_iter().zip(11..);
    let phase = |(phase, of): (plan::schedule::Phase, u64)| Phase {
        name: phase.name,
        time_ns: number(of),
        settled_ns: number(of + 1),
        is_quiet: true,
        cpu_ns: number(of + 2),
        application_bytes: Some(number(of + 3)),
        device: Some(counters),
        at_return: Some(counters),
        flash: Some(Flashed { flash_written_bytes: number(of), ..Flashed::default() }),
        lifetime_kib: None,
        work: None,
        reported: BTreeMap::new(),
        remark: None,
    };
    Record {
        schema: RECORD_SCHEMA,
        trial: *trial,
        levels: schedule.treatments[trial.treatment].levels.clone(),
        lab: schedule.target.lab,
        status: Status::Ok,
        reason: None,
        fingerprint: Some(format!("{:032x}", trial.seed)),
        started_s: 1_795_287_399,
        took_ns: 1,
        aged: None,
        written_bytes: 0,
        background_written_bytes: 0,
        phases: phases.map(phase).collect(),
        teardown: Some(Teardown { time_ns: number(13), device: counters }),
        applied: BTreeMap::new(),
        features: BTreeMap::new(),
        environment: Environment::default(),
        smart: None,
    }
}

/// The most memory this process has had resident, as proc(5) says.
fn peak_memory_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

//! The cost of running trials on Slurm nodes: a thousand small ones in the virtual lab, on one node
//! of a real Slurm on this machine.
//!
//! It needs root, slurm-wlm, munge and a lab kernel.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use serde_json::Value;

const SSDLAB: &str = env!("CARGO_BIN_EXE_ssdlab");
const FLEET: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/fleet");

/// Concurrent trials per element: the node's number of processors.
const AT_A_TIME: u32 = 2;

const PLAN: &str = r#"
    name = "many"
    question = "What does a node cost?"
    [target]
    lab = "virtual"
    [factors]
    discard = ["off", "on"]
    drive = "vertex-le"
    [baseline]
    discard = "off"
    [virtual]
    capacity = "5 GB"
    [workload]
    tree = { files = 10, size = "100 kB" }
    phases = [{ do = "unpack", sync = true }]
"#;

fn main() {
    let blocks: u32 = std::env::var("BLOCKS").map_or(500, |text| text.parse().unwrap());
    let place = tempfile::Builder::new().prefix("fleet-bench-").tempdir_in("/var/tmp").unwrap();
    let path = |name: &str| place.path().join(name);
    let fleet = |what: &str| {
        let mut command = Command::new(FLEET);
        command.arg(what).arg(path("slurm")).stdin(Stdio::null()).stdout(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    if !fleet("start") {
        println!("not measured: no Slurm can be started here");
        return;
    }
    fs::write(path("plan.toml"), PLAN).unwrap();
    let started = Instant::now();
    let run = Command::new(SSDLAB)
        .args(["run", "--on", "slurm:one", "--json", "--runs", &blocks.to_string(), "--results"])
        .arg(path("results"))
        .arg(path("plan.toml"))
        .env("SLURM_CONF", path("slurm/slurm.conf"))
        .stderr(Stdio::null())
        .output()
        .unwrap();
    let took = started.elapsed();
    fleet("stop");
    assert!(run.status.success(), "{}", run.status);
    let run = fs::read_dir(path("results")).unwrap().next().unwrap().unwrap().path();
    report(&run, took, 2 * blocks);
}

fn report(run: &Path, took: Duration, trials: u32) {
    let text = fs::read_to_string(run.join("records.jsonl")).unwrap();
    let nanos = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["took_ns"].as_u64().unwrap());
    let of_trials = Duration::from_nanos(nanos.sum()) / AT_A_TIME;
    let (mut elements, mut of_elements) = (0_u32, Duration::ZERO);
    for entry in fs::read_dir(run.join("attempts")).unwrap().flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|ending| ending == "out") {
            // Slurm makes the output file when it starts the element; the last action of the
            // element is to empty its node file.
            let begun: SystemTime = fs::metadata(&path).unwrap().created().unwrap();
            let ended = fs::metadata(path.with_extension("node")).unwrap().modified().unwrap();
            of_elements += ended.duration_since(begun).unwrap();
            elements += 1;
        }
    }
    println!("{trials} trials in {elements} elements, {AT_A_TIME} at a time: {took:.1?}");
    let each = |what: &str, time: Duration| {
        println!("{what:48} {:8.1} ms a trial", time.as_secs_f64() * 1e3 / f64::from(trials));
    };
    each("in the trials", of_trials);
    each("in the elements, outside the trials", of_elements.saturating_sub(of_trials));
    each("outside the elements: Slurm", took.saturating_sub(of_elements));
}

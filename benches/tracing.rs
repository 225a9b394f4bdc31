//! The cost of tracing in the image lab, and whether the kernel's buffers keep up: the same writes
//! with and without a trace, alternating, on a loop device over memory. Needs root.
//!
//! Random 4 KiB direct writes, first at fixed rates, like a device with this many requests per
//! second; then as fast as possible, limited only by the processor.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

const ROUNDS: usize = 6;

/// The rates, each with enough writes for a few seconds.
const RATES: [(&str, &str); 3] = [
    ("50,000 a second", "rate = \"50000/s\", operations = 200_000"),
    ("100,000 a second", "rate = \"100000/s\", operations = 400_000"),
    ("as fast as they go", "operations = 400_000"),
];

fn main() {
    if !rustix::process::geteuid().is_root() {
        println!("tracing bench: ignored: it needs root");
        return;
    }
    let memory = tempfile::tempdir_in("/dev/shm").unwrap();
    println!("writes               reached/s   with a trace   lowest   highest   events lost in");
    for (name, keys) in RATES {
        let (mut changes, mut reached, mut lost) = (Vec::new(), Vec::new(), 0);
        for round in 0..ROUNDS {
            // The order affects the state of the machine.
            let is_traced_first = round % 2 == 0;
            let order = [is_traced_first, !is_traced_first];
            let mut phases = order.map(|is_traced| trial(memory.path(), keys, is_traced));
            if !is_traced_first {
                phases.reverse();
            }
            let [with, without] = phases;
            lost += usize::from(with["ledger"]["by_kind"].is_null());
            let time = |phase: &Value| phase["time_ns"].as_f64().unwrap();
            changes.push(100.0 * (time(&with) / time(&without) - 1.0));
            reached.push(without["ops_per_second"].as_f64().unwrap());
        }
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        changes.sort_by(f64::total_cmp);
        println!(
            "{name:<18} {:11.0} {:+12.2} % {:+6.2} % {:+7.2} % {lost:11} of {ROUNDS}",
            mean(&reached),
            mean(&changes),
            changes[0],
            changes[ROUNDS - 1],
        );
    }
}

/// One trial; returns its phase.
fn trial(memory: &Path, keys: &str, is_traced: bool) -> Value {
    let plan = memory.join("plan.toml");
    let io = format!("{{ size = \"512 MiB\", direct = true, depth = 32, {keys} }}");
    fs::write(
        &plan,
        format!(
            "name = \"tracing\"\nquestion = \"?\"\n[target]\nsize = \"1 GiB\"\n[factors]\n\
             filesystem = \"ext4\"\n[workload]\nphases = [{{ do = \"io\", io = {io} }}]\n"
        ),
    )
    .unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_ssdlab"));
    command.arg("run").arg(&plan).args(["--runs", "1", "--json", "--dir"]).arg(memory);
    if !is_traced {
        command.arg("--no-trace");
    }
    let output = command
        .env("XDG_DATA_HOME", memory.join("data"))
        .env("XDG_STATE_HOME", memory.join("run"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    fs::remove_dir_all(memory.join("data")).unwrap();
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    json["treatments"][0]["trials"][0]["phases"][0].clone()
}

//! Whether simulations of several drives at once scale with the processors: the same drives
//! sequentially and concurrently, alternating.

use std::process::Command;
use std::time::{Duration, Instant};

/// Drives of one sweep, and their capacity: about a second of work each.
const DRIVES: usize = 8;
const CAPACITY: &str = "16 GiB";
const ROUNDS: usize = 3;

fn main() {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let mut ratios = Vec::new();
    for _ in 0..ROUNDS {
        let (alone, together) = (sweep(1), sweep(processors));
        println!(
            "{DRIVES} drives of {CAPACITY}: one after another {:.2} s, {processors} at once \
             {:.2} s",
            alone.as_secs_f64(),
            together.as_secs_f64()
        );
        ratios.push(alone.as_secs_f64() / together.as_secs_f64());
    }
    ratios.sort_by(f64::total_cmp);
    println!("{processors} processors: {:.2} times as fast", ratios[ROUNDS / 2]);
}

fn sweep(jobs: usize) -> Duration {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ssdlab"));
    command.args(["simulate", "--json", "--capacity", CAPACITY, "--jobs", &jobs.to_string()]);
    command.args(["--drive", "ideal"].iter().cycle().take(2 * DRIVES));
    let start = Instant::now();
    let output = command.output().expect("the program runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    start.elapsed()
}

//! The speed of generating synthetic contents and trees, on one core.

use std::hint::black_box;
use std::time::Instant;

use ssdlab_workload::synthetic::content::ContentPool;
use ssdlab_workload::synthetic::tree::{TreeShape, synthetic};

/// The player's write size, and the mean file size of a kernel tree.
const BUFFERS: [usize; 2] = [1 << 20, 13_431];

/// The tree of a plan that says nothing about it.
const TREE: TreeShape = TreeShape { files: 36_706, bytes: 493_000_000 };

/// The number of bytes generated per figure.
const TOTAL_BYTES: usize = 4 << 30;

fn main() {
    let start = Instant::now();
    let pool = ContentPool::new(black_box(1));
    println!("content pool: {:.1} ms", start.elapsed().as_secs_f64() * 1e3);
    let start = Instant::now();
    let operations = synthetic(black_box(TREE), 1).unpack().operations;
    println!(
        "operations of the default tree: {} in {:.1} ms",
        operations.len(),
        start.elapsed().as_secs_f64() * 1e3
    );
    for buffer in BUFFERS {
        report("text", buffer, |seed, buffer| pool.fill_text(seed, 0, buffer));
        report("binary", buffer, |seed, buffer| pool.fill_binary(seed, 0, buffer));
    }
    println!("peak memory: {} MB", peak_memory_kib() / 1000);
}

fn report(kind: &str, bytes: usize, fill: impl Fn(u64, &mut [u8])) {
    let mut buffer = vec![0; bytes];
    let rounds = TOTAL_BYTES / bytes;
    let start = Instant::now();
    for seed in 0..rounds as u64 {
        fill(black_box(seed), &mut buffer);
        black_box(&buffer);
    }
    let gigabytes = (rounds * bytes) as f64 / 1e9;
    println!(
        "{kind}, files of {bytes} bytes: {:.1} GB/s",
        gigabytes / start.elapsed().as_secs_f64()
    );
}

/// This process's peak resident memory, from proc(5).
fn peak_memory_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

//! How fast the model is, on one core: pages a second in the steady state and for a sequential
//! fill. The items that divan counts are pages the host writes.

use std::sync::Mutex;

use divan::Bencher;
use divan::counter::ItemsCount;
use ssdlab_flash::{Condition, Drive, DriveWorkload, Nanos, RequestGenerator, Specification, play};

fn main() {
    divan::main();
}

/// Pages of one sample: enough that a sample takes a good part of a second.
const PAGES: u64 = 4 << 20;

fn specification(capacity_gib: u32, rest: &str) -> Specification {
    let text = format!(
        "name = \"bench\"\ncapacity = \"{capacity_gib} GiB\"\nspare_factor = 0.10\n{rest}\n"
    );
    Specification::parse(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Uniform overwrites of single pages, after `warm_up` capacities of them.
fn overwrite(bencher: Bencher, specification: Specification, warm_up: f64, pages: u64) {
    let capacity = specification.logical_pages;
    let mut drive = Drive::new(specification, 1);
    let mut requests = RequestGenerator::new(DriveWorkload::uniform_writes(capacity), 1);
    let mut now = Nanos::ZERO;
    let mut write = |pages: u64| {
        now = play(&mut drive, &mut requests, pages, 32, now, |_, _| {}).expect("it fits");
    };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    write((f64::from(capacity) * warm_up) as u64);
    let write = Mutex::new(write);
    bencher.counter(ItemsCount::new(pages)).bench(|| {
        (*write.lock().expect("no sample panics"))(pages);
    });
}

const TIMING: &str = "
pages_per_block = 8
superblock = 32
[timing]
channels = 8
dies_per_channel = 4
read = \"50 us\"
program = \"900 us\"
erase = \"3 ms\"
bus = \"166 MB/s\"
link_read = \"500 MB/s\"
link_write = \"500 MB/s\"
controller_write = \"2 us\"";

#[divan::bench(args = [64, 512], sample_count = 5, sample_size = 1)]
fn steady_page_mapped_greedy(bencher: Bencher, gib: u32) {
    overwrite(bencher, specification(gib, ""), 2.0, PAGES);
}

#[divan::bench(args = [64, 512], sample_count = 5, sample_size = 1)]
fn steady_page_mapped_greedy_with_timing(bencher: Bencher, gib: u32) {
    overwrite(bencher, specification(gib, TIMING), 2.0, PAGES);
}

#[divan::bench(
    args = ["fifo", "random", "d-choices", "cost-benefit"],
    sample_count = 3,
    sample_size = 1
)]
fn steady_page_mapped_4_gib(bencher: Bencher, collection: &str) {
    overwrite(bencher, specification(4, &format!("collection = \"{collection}\"")), 2.0, PAGES / 4);
}

#[divan::bench(args = ["block", "bast", "fast"], sample_count = 3, sample_size = 1)]
fn steady_by_blocks_4_gib(bencher: Bencher, mapping: &str) {
    let rest = format!("mapping = \"{mapping}\"\npages_per_block = 32\nlog_fraction = 0.03");
    overwrite(bencher, specification(4, &rest), 0.1, PAGES / 16);
}

#[divan::bench(args = [64], sample_count = 3, sample_size = 1)]
fn sequential_fill(bencher: Bencher, gib: u32) {
    let specification = specification(gib, "");
    let pages = specification.logical_pages;
    bencher
        .counter(ItemsCount::new(pages))
        .with_inputs(|| {
            // Memory that a machine gives out for the first time is slow; a drive that has been
            // filled and purged has all of its memory already.
            let mut drive = Drive::new(specification.clone(), 1);
            for condition in [Condition::Filled, Condition::Purged] {
                drive
                    .condition(condition, pages, 1, &mut ssdlab_flash::unwatched)
                    .expect("the span is on it");
            }
            drive
        })
        .bench_local_refs(|drive| {
            let end = play(
                drive,
                &mut RequestGenerator::new(
                    DriveWorkload {
                        pattern: ssdlab_flash::Pattern::Sequential,
                        request_pages: 256,
                        ..DriveWorkload::uniform_writes(pages)
                    },
                    1,
                ),
                u64::from(pages / 256),
                1,
                Nanos::ZERO,
                |_, _| {},
            );
            end.expect("it fits")
        });
}

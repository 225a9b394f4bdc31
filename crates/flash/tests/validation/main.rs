//! The model against theory: the table of `docs/flash-model.md`.
//!
//! The theory is of infinitely many blocks in the steady state. Thousands of blocks and a warm-up
//! of several capacities come close enough for a tolerance of 0.5 % to be honest. `make validation`
//! prints the table.

mod measure;
mod theory;

use measure::{Measured, Point, amplification_windows, steady, steady_with};
use ssdlab_flash::pattern::Pattern;
use theory::{block_mapped, hot_cold, page_mapped, transient, trim};

const SPARE_FACTORS: [f64; 5] = [0.05, 0.07, 0.10, 0.20, 0.28];

/// Prints a line of the table, and fails if what was measured is too far off.
fn check(what: &str, theory: f64, measured: f64, tolerance: f64) {
    let off = measured / theory - 1.0;
    println!("| {what} | {theory:.3} | {measured:.3} | {:+.2} % |", 100.0 * off);
    assert!(
        off.abs() <= tolerance,
        "{what}: theory {theory}, measured {measured}, off by {:.2} %",
        100.0 * off
    );
}

fn check_uniform(collection: &str, pages_per_block: u32, theory: impl Fn(f64) -> f64) {
    for spare_factor in SPARE_FACTORS {
        let point = Point { spare_factor, pages_per_block, collection, ..Point::default() };
        let what = format!("{collection}, b = {pages_per_block}, Sf {spare_factor:.2}");
        check(&what, theory(spare_factor), steady(point).amplification, 0.005);
    }
}

#[test]
fn random_collection() {
    check_uniform("random", 64, page_mapped::random);
}

#[test]
fn fifo_collection() {
    check_uniform("fifo", 64, page_mapped::fifo);
}

#[test]
fn greedy_collection_of_small_blocks() {
    check_uniform("greedy", 64, |spare_factor| page_mapped::greedy(spare_factor, 64));
}

#[test]
fn greedy_collection_of_large_blocks() {
    check_uniform("greedy", 256, |spare_factor| page_mapped::greedy(spare_factor, 256));
}

#[test]
fn the_best_of_two_blocks() {
    check_uniform("2-choices", 64, |spare_factor| page_mapped::d_choices(spare_factor, 64, 2));
}

#[test]
fn the_best_of_ten_blocks() {
    check_uniform("10-choices", 64, |spare_factor| page_mapped::d_choices(spare_factor, 64, 10));
}

#[test]
fn trim_requests() {
    for (spare_factor, share) in
        [(0.07, 0.05), (0.07, 0.1), (0.07, 0.2), (0.10, 0.1), (0.10, 0.2), (0.10, 0.3)]
    {
        // It takes a while until writes and discards are in balance.
        let point = Point { spare_factor, warm_up: 12.0, ..Point::default() };
        let measured = steady_with(point, |workload| {
            workload.trims_ppm = measure::ppm(share);
        });
        let effective = trim::spare_with_requests(spare_factor, share);
        let theory = page_mapped::greedy(effective, 64);
        let what = format!("greedy, b = 64, Sf {spare_factor:.2}, TRIM {share:.2}");
        check(&what, theory, measured.amplification, 0.005);
    }
}

#[test]
fn a_drive_that_is_not_full() {
    for fill in [1.0, 0.9, 0.8, 0.6, 0.5] {
        let point = Point { spare_factor: 0.07, pages_per_block: 256, fill, ..Point::default() };
        let theory = page_mapped::greedy(trim::spare_with_fill(0.07, fill), 256);
        let what = format!("greedy, b = 256, Sf 0.07, {:.0} % full", 100.0 * fill);
        check(&what, theory, steady(point).amplification, 0.005);
    }
}

fn hot_cold(point: Point<'_>, hot_writes: f64, hot_pages: f64) -> Measured {
    // Cold pages are written seldom.
    steady_with(Point { warm_up: 12.0, ..point }, |workload| {
        workload.pattern = Pattern::HotCold {
            requests_ppm: measure::ppm(hot_writes),
            pages_ppm: measure::ppm(hot_pages),
        };
    })
}

#[test]
fn hot_and_cold_data_side_by_side() {
    for (spare_factor, writes, pages) in
        [(0.07, 0.8, 0.2), (0.07, 0.9, 0.1), (0.20, 0.8, 0.2), (0.20, 0.9, 0.1)]
    {
        let point = Point { spare_factor, collection: "fifo", ..Point::default() };
        let measured = hot_cold(point, writes, pages);
        let theory = hot_cold::fifo_hot_cold(spare_factor, writes, pages);
        let what = format!("fifo, b = 64, Sf {spare_factor:.2}, {writes} of writes to {pages}");
        check(&what, theory, measured.amplification, 0.005);
    }
}

#[test]
fn hot_and_cold_data_apart() {
    for (writes, pages) in [(0.8, 0.2), (0.9, 0.1)] {
        let point = Point { spare_factor: 0.07, frontiers: "hot-cold", ..Point::default() };
        let measured = hot_cold(point, writes, pages);
        let theory = hot_cold::separated(0.07, 64, writes, pages).amplification;
        let what = format!("greedy, apart, b = 64, Sf 0.07, {writes} of writes to {pages}");
        check(&what, theory, measured.amplification, 0.005);
    }
}

#[test]
fn block_mapping() {
    for run in [1, 4, 8] {
        let point = Point { pages_per_block: 32, mapping: "block", ..Point::default() };
        let measured = steady_with(point, |workload| workload.request_pages = run);
        let theory = block_mapped::block_mapped(32, run);
        let what = format!("block mapping, b = 32, runs of {run}");
        check(&what, theory.amplification, measured.amplification, 0.002);
        let what = format!("block mapping, b = 32, runs of {run}, erases a page");
        check(&what, theory.erases, measured.erases, 0.002);
    }
}

#[test]
fn allocation_units_of_a_flash_card() {
    let point = Point { pages_per_block: 1024, mapping: "block", ..Point::default() };
    let theory = block_mapped::block_mapped(1024, 1);
    check("block mapping, b = 1024", theory.amplification, steady(point).amplification, 0.002);
}

#[test]
fn bast() {
    let point = Point { pages_per_block: 32, mapping: "bast", log: 0.03, ..Point::default() };
    let measured = steady(point);
    let theory = block_mapped::bast(32, 0.03);
    check("BAST, b = 32, phi .03", theory.amplification, measured.amplification, 0.002);
    check("BAST, b = 32, phi .03, erases a page", theory.erases, measured.erases, 0.002);
}

#[test]
fn fast() {
    for (pages_per_block, log) in [(32, 0.03), (64, 0.01)] {
        let point = Point { pages_per_block, mapping: "fast", log, ..Point::default() };
        let measured = steady(point);
        let theory = block_mapped::fast(pages_per_block, log);
        let what = format!("FAST, b = {pages_per_block}, phi {log}");
        check(&what, theory.amplification, measured.amplification, 0.02);
        check(&format!("{what}, erases a page"), theory.erases, measured.erases, 0.02);
        // A page that is written again while it is in the log saves a merge.
        let theory = block_mapped::fast_with_rewrites(pages_per_block, log);
        let what = format!("{what}, rewrites counted");
        check(&what, theory.amplification, measured.amplification, 0.005);
    }
}

#[test]
fn whole_blocks_in_order_are_switched_in() {
    for mapping in ["block", "bast", "fast"] {
        for run in [1, 8, 32] {
            let point = Point { pages_per_block: 32, mapping, log: 0.03, ..Point::default() };
            let measured = steady_with(point, |workload| {
                workload.pattern = Pattern::Sequential;
                workload.request_pages = run;
            });
            let what = format!("{mapping}, b = 32, sequential runs of {run}");
            check(&what, 1.0, measured.amplification, 0.0);
        }
    }
}

#[test]
fn after_a_fill() {
    let theory = transient::after_fill(0.07, 256, 10);
    let measured = amplification_windows(0.07, 256, true, 10);
    for window in [0, 1, 2, 5, 9] {
        let what = format!("greedy, b = 256, Sf 0.07, window {} after a fill", window + 1);
        check(&what, theory[window], measured[window], 0.005);
    }
}

#[test]
fn after_a_purge() {
    let theory = transient::after_purge(0.07, 256, 40);
    let measured = amplification_windows(0.07, 256, false, 40);
    for window in [0, 9, 10, 11, 15, 24, 39] {
        let what = format!("greedy, b = 256, Sf 0.07, window {} after a purge", window + 1);
        check(&what, theory[window], measured[window], 0.005);
    }
}

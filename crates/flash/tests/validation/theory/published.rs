//! Tests that the theory gives the figures others have computed from it, or simulated.
//!
//! The tables were computed by a separate implementation of the same formulae. Figures called
//! simulated come from separate page-by-page simulations that share no code with any drive here.

use super::{block_mapped, hot_cold, page_mapped, transient, trim};

/// Checks every digit of `expected`, a decimal number.
#[track_caller]
fn assert_digits(found: f64, expected: &str) {
    let decimals = expected.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    assert_eq!(format!("{found:.decimals$}"), expected, "{found} is not {expected}");
}

#[track_caller]
fn assert_within(found: f64, expected: f64, relative: f64) {
    let error = (found / expected - 1.0).abs();
    assert!(error <= relative, "{found} is not within {relative} of {expected}");
}

#[test]
fn page_mapping() {
    let rows = [
        (0.05, ["20.0", "10.172", "8.850", "9.798", "13.266", "9.284"]),
        (0.07, ["14.29", "7.318", "6.615", "7.124", "9.635", "6.894"]),
        (0.10, ["10.0", "5.179", "4.821", "5.083", "6.852", "5.000"]),
        (0.20, ["5.0", "2.693", "2.599", "2.668", "3.533", "2.675"]),
        (0.28, ["3.571", "1.992", "1.942", "1.979", "2.573", "1.993"]),
    ];
    for (spare_factor, [random, fifo, greedy_64, greedy_256, d_2, d_10]) in rows {
        assert_digits(page_mapped::random(spare_factor), random);
        assert_digits(page_mapped::fifo(spare_factor), fifo);
        assert_digits(page_mapped::greedy(spare_factor, 64), greedy_64);
        assert_digits(page_mapped::greedy(spare_factor, 256), greedy_256);
        assert_digits(page_mapped::d_choices(spare_factor, 64, 2), d_2);
        assert_digits(page_mapped::d_choices(spare_factor, 64, 10), d_10);
    }
}

/// The example in the abstract of Xiang & Kurkoski 2012: an over-provisioning of 0.3 gives 2.36.
#[test]
fn fifo_as_in_its_paper() {
    assert_digits(page_mapped::fifo(0.3 / 1.3), "2.36");
}

#[test]
fn collectors_join_at_their_limits() {
    for spare_factor in [0.01, 0.07, 0.28, 0.7, 0.99] {
        let one = page_mapped::d_choices(spare_factor, 64, 1);
        assert_within(one, page_mapped::random(spare_factor), 1e-9);
        let many = page_mapped::d_choices(spare_factor, 64, 10_000_000);
        assert_within(many, page_mapped::greedy(spare_factor, 64), 1e-5);
        let large = page_mapped::greedy(spare_factor, 1_000_000);
        assert_within(large, page_mapped::fifo(spare_factor), 1e-4);
    }
}

#[test]
fn fifo_solves_the_lambert_equation() {
    for spare_factor in [0.001, 0.07, 0.5, 0.9] {
        let alpha: f64 = 1.0 / (1.0 - spare_factor);
        let w = alpha / page_mapped::fifo(spare_factor) - alpha;
        assert!((-1.0..0.0).contains(&w), "{w} is not on the principal branch");
        assert_within(w * w.exp(), -alpha * (-alpha).exp(), 1e-9);
    }
}

#[test]
fn trim_requests() {
    let rows = [
        (0.07, 0.05, "4.130"),
        (0.07, 0.1, "2.950"),
        (0.07, 0.2, "1.821"),
        (0.10, 0.1, "2.599"),
        (0.10, 0.2, "1.716"),
        (0.10, 0.3, "1.264"),
    ];
    for (spare_factor, trim_share, expected) in rows {
        let effective = trim::spare_with_requests(spare_factor, trim_share);
        assert_digits(page_mapped::greedy(effective, 64), expected);
    }
}

#[test]
fn static_fill() {
    let rows = [(1.0, "7.124"), (0.9, "3.218"), (0.8, "2.140"), (0.6, "1.366"), (0.5, "1.196")];
    for (fill, expected) in rows {
        let effective = trim::spare_with_fill(0.07, fill);
        assert_digits(page_mapped::greedy(effective, 256), expected);
    }
}

#[test]
fn hot_and_cold_mixed() {
    let rows = [
        (0.07, 0.8, 0.2, "7.682"),
        (0.07, 0.9, 0.1, "8.358"),
        (0.20, 0.8, 0.2, "3.034"),
        (0.20, 0.9, 0.1, "3.533"),
    ];
    for (spare_factor, writes, pages, expected) in rows {
        assert_digits(hot_cold::fifo_hot_cold(spare_factor, writes, pages), expected);
    }
}

#[test]
fn classes_alike_make_no_difference() {
    let uniform = page_mapped::fifo(0.07);
    assert_within(hot_cold::fifo_hot_cold(0.07, 0.3, 0.3), uniform, 1e-9);
    let separated = hot_cold::separated(0.07, 64, 0.3, 0.3);
    assert_within(separated.amplification, page_mapped::greedy(0.07, 64), 1e-6);
    assert_within(separated.hot_share_of_spare, 0.3, 0.05);
}

#[test]
fn hot_and_cold_separated() {
    for (writes, pages, expected) in [(0.8, 0.2, "4.485"), (0.9, 0.1, "2.840")] {
        let best = hot_cold::separated(0.07, 64, writes, pages);
        assert_digits(best.amplification, expected);
        let mean = writes * best.hot + (1.0 - writes) * best.cold;
        assert_within(best.amplification, mean, 1e-12);
    }
}

/// The search assumes a single minimum; going through all splits does not.
#[test]
fn no_other_split_is_better() {
    for (spare_factor, writes, pages) in [(0.07, 0.8, 0.2), (0.07, 0.9, 0.1), (0.2, 0.95, 0.5)] {
        let best = hot_cold::separated(spare_factor, 64, writes, pages).amplification;
        for percent in 1..100 {
            let share = f64::from(percent) / 100.0;
            let other = hot_cold::split(spare_factor, 64, writes, pages, share).amplification;
            assert!(best <= other, "{other} at {share} is below {best}");
        }
    }
}

#[test]
fn block_mapping() {
    for (pages, run, amplification, erases) in [
        (32, 1, "32", "1"),
        (1024, 1, "1024", "1"),
        (32, 8, "4", "0.125"),
        (32, 32, "1", "0.03125"),
    ] {
        let cost = block_mapped::block_mapped(pages, run);
        assert_digits(cost.amplification, amplification);
        assert_digits(cost.erases, erases);
    }
}

#[test]
fn bast() {
    let cost = block_mapped::bast(32, 0.03);
    assert_digits(cost.amplification, "32.04");
    assert_digits(cost.erases, "1.94");
    // Simulated with 100,000 data blocks.
    assert_within(block_mapped::bast(64, 0.01).amplification, 64.359, 0.001);
}

#[test]
fn fast() {
    let cost = block_mapped::fast(32, 0.03);
    assert_digits(cost.amplification, "17.3");
    // Simulated with 1000 data blocks, which the formula is only about.
    assert_within(cost.erases, 0.540, 0.005);
    assert_digits(block_mapped::fast(64, 0.01).amplification, "40.0");
}

/// Simulated with 100,000 and 20,000 data blocks.
#[test]
fn fast_with_rewrites() {
    let rows = [
        (32, 0.03, 17.2332, 0.5385),
        (64, 0.01, 39.9493, 0.6242),
        (32, 0.1, 8.4958, 0.2655),
        (32, 0.3, 3.9323, 0.1229),
    ];
    for (pages, log_share, amplification, erases) in rows {
        let cost = block_mapped::fast_with_rewrites(pages, log_share);
        assert_within(cost.amplification, amplification, 0.001);
        assert_within(cost.erases, erases, 0.001);
    }
}

/// Simulated with 4096 and 16,384 blocks; chance moves the figures by some 0.2 %.
#[test]
fn settling_after_a_fill() {
    let windows = transient::after_fill(0.07, 256, 10);
    for (found, expected) in windows.iter().zip([3.017, 7.482, 7.135, 7.113]) {
        assert_within(*found, expected, 0.003);
    }
    // A smaller simulation.
    for (found, expected) in windows.iter().zip([3.03, 7.48]) {
        assert_within(*found, expected, 0.005);
    }
    for found in &windows[3..] {
        assert_within(*found, 7.12, 0.002);
    }
}

/// The windows that end at 2.5 and 4 U are elements 24 and 39.
#[test]
fn settling_after_a_purge() {
    let windows = transient::after_purge(0.07, 256, 45);
    assert!(windows[..10].iter().all(|&found| (found - 1.0).abs() < 1e-12), "{windows:?}");
    assert_digits(windows[10], "1.12");
    assert_digits(windows[11], "1.54");
    assert_digits(windows[39], "5.71");
    assert!(windows[9..].is_sorted_by(|earlier, later| earlier < later), "{windows:?}");
    // Simulated with 16,384 blocks, and a smaller simulation.
    assert_within(windows[24], 3.372, 0.001);
    assert_within(windows[24], 3.38, 0.005);
}

/// The stepping knows nothing of the closed form, so this holds each against the other.
#[test]
fn transients_end_in_the_steady_state() {
    for (spare_factor, pages) in [(0.07, 64), (0.07, 512), (0.28, 256)] {
        let last = *transient::after_fill(spare_factor, pages, 30).last().expect("30 windows");
        assert_within(last, page_mapped::greedy(spare_factor, pages), 0.0005);
    }
}

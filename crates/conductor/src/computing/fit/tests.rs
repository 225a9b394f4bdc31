//! Tests of fitting a computer's cost of a block.

use super::super::measured::PerKib;
use super::*;

const BLOCK_NS: f64 = 1.5;

const MEASURED: MeasuredCosts = MeasuredCosts {
    call: 1300.0,
    per_kib: PerKib {
        copy: 100.0,
        crc32: 50.0,
        xxhash: 110.0,
        sha256: 2200.0,
        blake2: 1200.0,
        aes: 180.0,
    },
};

/// Operations with the times that the costs make.
fn operations() -> Vec<(ChargedCounts, f64)> {
    [
        ChargedCounts { blocks: 9e6, calls: 8192.0, copied_kib: 0.0, checksummed_kib: 5_000.0 },
        ChargedCounts { blocks: 1e6, calls: 8192.0, copied_kib: 10.0, checksummed_kib: 0.0 },
        ChargedCounts { blocks: 5e6, calls: 12_000.0, copied_kib: 48_000.0, checksummed_kib: 0.0 },
        ChargedCounts { blocks: 3e6, calls: 1024.0, copied_kib: 65_536.0, checksummed_kib: 0.0 },
    ]
    .map(|counts| (counts, BLOCK_NS * counts.blocks + MEASURED.of(&counts)))
    .to_vec()
}

fn errors(operations: &[(ChargedCounts, f64)], block_ns: f64) -> f64 {
    let error =
        |(of, ns): &(ChargedCounts, f64)| (block_ns * of.blocks + MEASURED.of(of)) / ns - 1.0;
    operations.iter().map(|operation| error(operation).abs()).sum()
}

#[test]
fn the_cost_comes_back_from_the_times_that_it_makes() {
    let found = fit_block(&operations(), &MEASURED).unwrap();
    assert!((found / BLOCK_NS - 1.0).abs() < 1e-6, "{found}");
}

#[test]
fn an_operation_that_takes_another_time_leads_nowhere() {
    for outlier in 0..4 {
        let mut operations = operations();
        operations[outlier].1 *= 5.0;
        let found = fit_block(&operations, &MEASURED).unwrap();
        assert!((found / BLOCK_NS - 1.0).abs() < 1e-6, "{found}");
    }
}

#[test]
fn no_other_cost_has_smaller_relative_errors() {
    let mut operations = operations();
    for ((_, ns), factor) in operations.iter_mut().zip([1.3, 0.9, 1.1, 1.6]) {
        *ns *= factor;
    }
    let found = fit_block(&operations, &MEASURED).unwrap();
    let least = errors(&operations, found);
    for other in (1..=400).map(|percent| found * f64::from(percent) / 100.0) {
        assert!(errors(&operations, other) >= least - 1e-12, "{other} instead of {found}");
    }
}

#[test]
fn what_times_do_not_determine_is_not_fitted() {
    assert_eq!(fit_block(&[], &MEASURED), None);
    // Longer for CRC-32s than for all.
    let mut operations = operations();
    for (counts, _) in &mut operations {
        counts.checksummed_kib = 1e6;
    }
    assert_eq!(fit_block(&operations, &MEASURED), None);
}

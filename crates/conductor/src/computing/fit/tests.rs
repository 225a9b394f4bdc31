//! Tests of fitting a computer's costs.

use super::*;

const COUNTS: [Counts; 4] = [
    Counts { blocks: 9e6, calls: 8192.0, copied_kib: 0.0, checksummed_kib: 5_000.0 },
    Counts { blocks: 1e6, calls: 8192.0, copied_kib: 10.0, checksummed_kib: 0.0 },
    Counts { blocks: 5e6, calls: 12_000.0, copied_kib: 48_000.0, checksummed_kib: 0.0 },
    Counts { blocks: 3e6, calls: 1024.0, copied_kib: 65_536.0, checksummed_kib: 0.0 },
];

fn measured(costs: Fitted) -> Vec<(Counts, f64)> {
    COUNTS.iter().map(|counts| (*counts, costs.of(counts))).collect()
}

#[test]
fn costs_come_back_from_the_times_that_they_make() {
    let costs = Fitted { block_ns: 1.5, call_ns: 1300.0, copy_ns: 100.0, crc32_ns: 50.0 };
    let found = fit(&measured(costs), costs.crc32_ns).unwrap();
    for (found, cost) in [
        (found.block_ns, costs.block_ns),
        (found.call_ns, costs.call_ns),
        (found.copy_ns, costs.copy_ns),
    ] {
        assert!((found / cost - 1.0).abs() < 1e-6, "{found} instead of {cost}");
    }
}

#[test]
fn an_operation_that_takes_another_time_leads_astray_less_than_by_squares() {
    let costs = Fitted { block_ns: 1.5, call_ns: 1300.0, copy_ns: 100.0, crc32_ns: 50.0 };
    let mut times = measured(costs);
    times.extend(measured(costs).into_iter().map(|(mut counts, _)| {
        counts.blocks *= 1.7;
        (counts, costs.of(&counts))
    }));
    times[2].1 *= 5.0;
    let found = fit(&times, costs.crc32_ns).unwrap();
    assert!((found.block_ns / costs.block_ns - 1.0).abs() < 0.01, "{found:?}");
}

#[test]
fn no_cost_is_negative() {
    let costs = Fitted { block_ns: 1.5, call_ns: -50.0, copy_ns: 100.0, crc32_ns: 50.0 };
    let found = fit(&measured(costs), costs.crc32_ns).unwrap();
    assert!(found.call_ns.abs() < f64::EPSILON);
    assert!(found.block_ns > 0.0 && found.copy_ns > 0.0, "{found:?}");
}

#[test]
fn what_times_do_not_determine_is_not_fitted() {
    let costs = Fitted { block_ns: 1.5, call_ns: 1300.0, copy_ns: 100.0, crc32_ns: 50.0 };
    assert_eq!(fit(&measured(costs)[..2], 50.0), None);
    assert_eq!(fit(&[], 50.0), None);
    // Longer for CRC-32s than for all.
    let mut times = measured(costs);
    for (counts, _) in &mut times {
        counts.checksummed_kib = 1e6;
    }
    assert_eq!(fit(&times, costs.crc32_ns), None);
}

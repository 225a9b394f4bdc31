//! Tests of reading metrics from the records of phases.

use std::collections::BTreeMap;

use ssdlab_stats::latency::LatencySummary;

use super::*;
use crate::{ByLayer, EngineSeries, Latency, Ledger};

fn phase() -> PhaseRecord {
    let latency = Latency { summary: LatencySummary::default(), histogram: String::new() };
    let series = EngineSeries { step_ns: 1, operations: Vec::new() };
    let flash = FlashActivity {
        hottest_erases: 10,
        repeats_until_worn: Some(9.0),
        repeats_by_bytes: Some(9.0),
        ..FlashActivity::default()
    };
    PhaseRecord {
        time_ns: Some(1),
        settled_ns: Some(2),
        cpu_ns: Some(3),
        kernel_threads_ns: Some(2),
        interrupts_ns: Some(1),
        application_bytes: Some(4),
        device: Some(Counters { written_bytes: 8, ..Counters::default() }),
        flash: Some(flash.repeated(1.0)),
        commits: Some(5),
        work: Some(Work {
            operations: 6,
            ops_per_second: 7.0,
            bytes_per_second: Some(8.0),
            latency,
            series,
        }),
        ledger: Some(Ledger {
            by_layer: ByLayer::default(),
            by_kind: Some(ByKind::default()),
            by_cause: Some(ByCause::default()),
            ..Ledger::default()
        }),
        reported: BTreeMap::from([(metric::of("fio.read_iops"), 5.0), (metric::of("odd"), 6.0)]),
        ..PhaseRecord::default()
    }
}

#[test]
fn every_metric_that_ssdlab_measures_is_read() {
    let phase = phase();
    let own =
        metric::all().filter(|metric| metric.source != Source::Reported && !metric.is_of_cuts());
    let own: Vec<Metric> = own.collect();
    let found: Vec<(Metric, f64)> = phase.metrics().collect();
    let names: Vec<Metric> = found.iter().map(|(metric, _)| *metric).collect();
    assert_eq!(names[..own.len()], own);
    assert_eq!(names[own.len()..], ["fio.read_iops", "odd"].map(metric::of));
    assert!(found.iter().all(|(metric, value)| phase.metric(*metric) == Some(*value)));
    assert_eq!(phase.metric(metric::of("fio.write_iops")), None);
}

#[test]
fn what_was_imported_is_read_by_its_name() {
    let reported = BTreeMap::from([(Source::OpsRate.into(), 5.0)]);
    let phase = PhaseRecord { reported, ..PhaseRecord::default() };
    assert_eq!(phase.metrics().collect::<Vec<_>>(), [(Source::OpsRate.into(), 5.0)]);
    assert_eq!(phase.metric(Source::OpsRate.into()), Some(5.0));
}

#[test]
fn how_long_a_block_lasts_is_not_extrapolated_from_nine_erases_of_it() {
    let of = |hottest_erases| {
        let flash = FlashActivity {
            hottest_erases,
            repeats_until_worn: Some(9.0),
            repeats_by_bytes: Some(900.0),
            ..FlashActivity::default()
        };
        PhaseRecord { flash: Some(flash.repeated(1.0)), ..PhaseRecord::default() }
    };
    for metric in [Source::RepeatsUntilWorn, Source::YearsUntilWorn].map(Metric::from) {
        assert_eq!(of(9).metric(metric), None, "{metric}");
        assert!(of(10).metric(metric).is_some(), "{metric}");
    }
    let by_bytes = of(0).metric(Source::YearsByBytes.into());
    assert!(by_bytes.is_some_and(|years| (2.4..2.5).contains(&years)));
}

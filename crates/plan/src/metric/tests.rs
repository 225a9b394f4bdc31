//! Tests of the table of metrics.

use std::collections::BTreeSet;

use ssdlab_filesystem::layout::BlockKind;

use super::*;

#[test]
fn names_occur_once_and_end_in_their_unit() {
    let names: BTreeSet<&str> = METRICS.iter().map(|row| row.name).collect();
    assert_eq!(names.len(), METRICS.len());
    for MetricRow { name, says, unit, .. } in &METRICS {
        let ends = match unit {
            Ns => name.ends_with("_ns"),
            Bytes => name.ends_with("_bytes"),
            BytesPerS => name.ends_with("bytes_per_second"),
            PerS => name.ends_with("ops_per_second"),
            Years => name.starts_with("years"),
            Ratio | Percent | Number => !name.ends_with("_ns") && !name.contains("bytes"),
        };
        assert!(ends && !says.is_empty(), "{name}: {unit:?}");
    }
}

#[test]
fn every_kind_of_bytes_has_a_metric() {
    for kind in BlockKind::ALL {
        let metric = find(&format!("{}_bytes", kind.name())).unwrap();
        assert_eq!((metric.source, metric.unit, metric.together), (Written(kind), Bytes, Sum));
    }
}

#[test]
fn what_programs_report_is_known_by_all_of_its_name() {
    let is = |name: &str| find(name).map(|metric| (metric.unit, metric.better));
    assert_eq!(is("fio.read_bytes_per_s"), Some((BytesPerS, More)));
    assert_eq!(is("fio.a.b_ns.write_iops"), Some((PerS, More)));
    assert_eq!(is("fio.sync_p99_ns"), Some((Ns, Less)));
    assert_eq!(is("bonnie++.seq_output_char.bytes_per_second"), Some((BytesPerS, More)));
    assert_eq!(is("bonnie++.seq_create.latency.max_ns"), Some((Ns, Less)));
    for name in ["fio.iops", "fio.", "bonnie++.x.ops_per_second", "odd_ns", "bonnie++.rewrite"] {
        assert_eq!(is(name), None, "{name}");
        assert_eq!((of(name).unit, of(name).source), (Number, Reported), "{name}");
    }
    // It is the program's number, not the one of the same name that ssdlab measures.
    assert_eq!(of("bonnie++.seq_create.latency.max_ns").source, Reported);
}

#[test]
fn times_add_up_and_rates_do_not() {
    let together = |name: &str, values: &[f64]| of(name).taken_together(values);
    assert_eq!(together("time_ns", &[10.0, 30.0]), Some(40.0));
    assert!((together("ops_per_second", &[4.0, 9.0]).unwrap() - 6.0).abs() < 1e-9);
    assert_eq!(together("reader.p99_ns", &[1.0, 2.0]), None);
    assert_eq!(together("reader.p99_ns", &[2.0]), Some(2.0));
    assert_eq!(together("time_ns", &[]), None);
}

use serde_json::json;

use super::*;

#[test]
fn a_group_s_time_is_that_of_its_longest_job() {
    let report = json!({
        "fio version": "fio-3.33",
        "jobs": [{
            "jobname": "eight",
            "job_runtime": 80_000,
            "read": { "total_ios": 1, "runtime": 9_000, "iops": 1.0 },
            "write": { "total_ios": 1, "runtime": 10_000, "iops": 1.0 },
        }],
    });
    assert_eq!(of_object(&report).unwrap().groups[0].jobs[0].runtime_ms, Some(10_000));
}

fn values(report: &Value) -> BTreeMap<String, f64> {
    let report = of_object(report).unwrap();
    assert_eq!(report.groups.len(), 1);
    report.groups[0].values()
}

/// fio 3 prints zeros for what it was told not to measure (`disable_clat`), and fio 2 for
/// percentiles that it does not have.
#[test]
fn a_latency_of_0_is_no_latency() {
    let report = json!({ "jobs": [{ "jobname": "a", "error": 0, "read": {
        "total_ios": 9, "iops": 4.0, "bw_bytes": 8, "runtime": 9,
        "clat_ns": { "min": 0, "max": 0, "mean": 0.0, "percentile": { "50.000000": 0 } },
    } }] });
    let names: Vec<String> = values(&report).into_keys().collect();
    assert_eq!(names, ["read_bytes_per_s", "read_iops"]);
}

/// The first versions with JSON do not count operations.
#[test]
fn what_is_not_counted_was_done_if_it_moved_bytes() {
    let report = json!({ "fio version": "fio-2.0.15", "jobs": [{ "jobname": "a", "error": 0,
        "read": { "io_bytes": 0, "bw": 0, "iops": 0, "runtime": 0 },
        "write": { "io_bytes": 4096, "bw": 2048, "iops": 512, "runtime": 2000 },
    }] });
    let values = values(&report);
    assert_eq!(values.get("write_bytes_per_s"), Some(&2_097_152.0));
    assert_eq!(values.keys().len(), 2);
}

/// `unified_rw_reporting=both`: what is mixed is over the others.
#[test]
fn both_kinds_of_report_do_not_count_twice() {
    let side = |rate: f64| json!({ "total_ios": 9, "iops": rate, "bw_bytes": rate, "runtime": 9 });
    let report = json!({ "jobs": [{ "jobname": "b", "error": 0,
        "read": side(5800.0), "write": side(7000.0), "mixed": side(12_800.0) }] });
    assert_eq!(values(&report).get("mixed_iops"), Some(&12_800.0));
    let report = of_object(&report).unwrap();
    assert_eq!(report.rates().next(), Some(("ops_per_second".to_owned(), 12_800.0)));
    assert_eq!(report.groups[0].jobs[0].writes(), Some(true));
}

/// `continue_on_error`: a job with errors is no good one, though its own is 0.
#[test]
fn errors_that_fio_passed_over_are_errors() {
    let report = json!({ "jobs": [{ "jobname": "a", "error": 0, "total_err": 3, "first_error": 5,
        "read": { "total_ios": 9, "iops": 4.0, "runtime": 9 } }] });
    assert!(of_object(&report).unwrap_err().contains("3 errors, the first of them 5"));
}

#[test]
fn messages_are_apart_from_the_json() {
    let printed = "fio: err=25\n{\n  \"jobs\": []\n}\nfio: bye\n";
    assert_eq!(
        messages(printed).split_whitespace().collect::<Vec<_>>().join(" "),
        "fio: err=25 fio: bye"
    );
    assert_eq!(messages("fio: no\n"), "fio: no\n");
    let broken = object("a\nb\n{\n\"jobs\": ]\n}\n").unwrap_err();
    assert!(broken.contains("line 4 column"), "{broken}");
}

#[test]
fn other_formats_are_known() {
    let normal = "a: (groupid=0, jobs=1): err= 0: pid=1: Thu Jan 1 00:00:00 1970\n  read: IOPS=5\n";
    assert_eq!(other_format(normal), Some("normal"));
    assert_eq!(other_format("note\n3;fio-3.33;a;0;0;1024\n"), Some("terse"));
    assert_eq!(other_format("1;2;3\n"), None);
}

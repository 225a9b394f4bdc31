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
    assert_eq!(of_object(&report).unwrap().jobs[0].runtime_ms, Some(10_000));
}

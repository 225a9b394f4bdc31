use serde_json::json;

use super::*;

/// Which options a job had is not held against it if the file does not list them.
#[test]
fn unlisted_options_are_unknown() {
    let side = json!({ "total_ios": 9, "iops": 4.0, "bw_bytes": 4, "runtime": 9 });
    let told = |options: Value, global: Value| {
        let job = json!({ "jobname": "a", "error": 0, "write": side, "job options": options });
        let found = read(&json!({ "jobs": [job], "global options": global })).unwrap();
        found.samples[0].told["a"].clone()
    };
    let unknown = told(Value::Null, json!({ "iodepth": "1" }));
    assert_eq!((unknown.is_direct, unknown.syncs, unknown.writes), (None, None, Some(true)));
    let known = told(json!({ "rw": "write" }), Value::Null);
    assert_eq!((known.is_direct, known.syncs), (Some(false), Some(false)));
    let direct = told(Value::Null, json!({ "direct": "1", "end_fsync": "1" }));
    assert_eq!((direct.is_direct, direct.syncs), (Some(true), Some(true)));
}

//! fio's reports: whatever the rates of a job's copies, their sum is the job's, in the units of
//! every version, in every order, and whatever is printed around the JSON.

#![no_main]

use std::collections::BTreeMap;

use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};
use ssdlab_workload::printed::fio::report;

/// What a copy read and wrote a second, in KiB; it did so in operations of 1 KiB. 0 is nothing.
type Rates = [u16; 2];

fuzz_target!(|input: (Vec<Rates>, String)| {
    let (copies, around) = input;
    let prose: Vec<&str> = around.lines().filter(|line| !line.contains('{')).collect();
    let prose = prose.join("\n");
    let total: u64 = copies.iter().flatten().map(|rate| u64::from(*rate)).sum();
    for (is_old, is_reversed) in [(true, false), (true, true), (false, false), (false, true)] {
        let mut jobs: Vec<Value> = copies.iter().map(|copy| job(*copy, is_old)).collect();
        if is_reversed {
            jobs.reverse();
        }
        match report(&format!("{prose}\n{}\n{prose}", json!({ "jobs": jobs }))) {
            Ok(report) => {
                let rates: BTreeMap<String, f64> = report.rates().collect();
                assert_eq!(rates["ops_per_second"], total as f64);
                assert_eq!(rates["bytes_per_second"], total as f64 * 1024.0);
                let idle = copies.iter().filter(|copy| **copy == [0, 0]).count();
                assert_eq!(report.idle.len(), idle);
            }
            Err(reason) => assert_eq!(total, 0, "{reason}"),
        }
    }
});

/// A copy as fio 2 or 3 prints it.
fn job([read, written]: Rates, is_old: bool) -> Value {
    let side = |rate: u16| {
        let mut side = json!({ "iops": rate, "bw": rate, "total_ios": rate, "runtime": 1000 });
        if !is_old {
            side["bw_bytes"] = json!(u64::from(rate) * 1024);
        }
        side
    };
    json!({ "jobname": "a", "error": 0, "read": side(read), "write": side(written) })
}

use std::path::Path;

use super::*;
use crate::{Overrides, metric, schedule, shipped};

const PLAN: &str = r#"
name = "p"
question = "?"
[factors]
filesystem = "ext4"
[workload]
phases = [
    { do = "append", name = "log", append = { records = 1_000, sync_every = 1 } },
    { do = "sync", reader = true },
    { do = "io", name = "writes", io = { size = "1 MiB", operations = 10_000 } },
    { do = "io", name = "timed", io = { size = "1 MiB", time = "10 s" } },
]
"#;

fn planned(metric: &str) -> Vec<ShortPercentile> {
    let text = PLAN.replace("[factors]", &format!("metric = \"{metric}\"\n[factors]"));
    let schedule = schedule("p.toml", &text, &Overrides::default(), Path::new("/")).unwrap();
    schedule.short_percentiles(|phase, metric| schedule.planned_operations(phase, metric))
}

#[test]
fn a_percentile_needs_a_hundred_operations_beyond_it() {
    let short = |metric| -> Vec<(String, u64, u64)> {
        let short = planned(metric).into_iter();
        short.map(|own| (own.phase, own.operations, own.needed)).collect()
    };
    let log = |needed| ("log".to_owned(), 1_000, needed);
    assert_eq!(short("latency.p99_ns"), [log(10_000)]);
    assert_eq!(short("latency.p999_ns"), [log(100_000), ("writes".to_owned(), 10_000, 100_000)]);
    assert!(short("latency.p90_ns").is_empty() && short("latency.p50_ns").is_empty());
    // Other operations than the phase's own: only a run tells.
    assert!(short("reader.p99_ns").is_empty());
    let says = planned("latency.p99_ns")[0].to_string();
    assert!(says.starts_with("latency.p99_ns of `log` is over 1000 operations, of which 10"));
}

#[test]
fn a_claim_counts_as_much_as_the_metric_and_only_once() {
    let claim = "[[claims]]\nid = \"c\"\nsays = \"s\"\nphases = [\"log\"]\n\
                 metric = \"latency.p99_ns\"\ncompare = { filesystem = \"ext4\" }\n\
                 at_most = \"10 ms\"\n";
    for (metric, short) in [("latency.p99_ns", 1), ("time_ns", 1)] {
        let text = PLAN.replace("[factors]", &format!("metric = \"{metric}\"\n[factors]"));
        let text = format!("{text}{claim}");
        let schedule = schedule("p.toml", &text, &Overrides::default(), Path::new("/")).unwrap();
        let of = |phase: &str, metric| schedule.planned_operations(phase, metric);
        assert_eq!(schedule.short_percentiles(of).len(), short, "{metric}");
        assert!(schedule.short_percentiles(|_, _| None).is_empty());
    }
}

/// A larger scale makes phases longer; quantiles of power cuts are judged by their own intervals.
#[test]
fn what_is_scaled_down_is_shorter_and_cuts_are_none() {
    let etcd = shipped::find("etcd").unwrap();
    let short = |scale| {
        let overrides = Overrides { scale: Some(scale), ..Overrides::default() };
        let schedule = schedule("etcd", etcd.text, &overrides, Path::new("/")).unwrap();
        schedule.short_percentiles(|phase, metric| schedule.planned_operations(phase, metric)).len()
    };
    assert!(short(0.01) > 0 && short(100.0) == 0);
    let needed = ["lost.p99_ns", "fio.job.read_clat_p999_ns"].map(|name| needed(metric::of(name)));
    assert_eq!(needed, [None, Some(100_000)]);
}

//! Tests of the metrics that a plan lists, and of those that a reader asks for instead.

use std::path::Path;

use crate::{Overrides, Schedule, schedule};

fn read(metrics: &str) -> Result<Schedule, String> {
    let text = format!(
        "name = \"p\"\nquestion = \"?\"\n{metrics}\n[workload]\nphases = [{{ do = \"unpack\" }}]"
    );
    schedule("p.toml", &text, &Overrides::default(), Path::new("/")).map_err(|error| {
        let help = miette::Diagnostic::help(&error).map(|help| help.to_string());
        let mut labels = miette::Diagnostic::labels(&error).into_iter().flatten();
        let at = labels.next().map(|at| text[at.offset()..at.offset() + at.len()].to_owned());
        format!("{error} | {} | {}", at.unwrap_or_default(), help.unwrap_or_default())
    })
}

#[test]
fn the_first_of_several_metrics_is_the_plan_s() {
    let schedule = read("metrics = [\"settled_ns\", \"written_bytes\", \"flushes\"]").unwrap();
    let names = |of: &Schedule| of.metrics().map(|metric| metric.name).collect::<Vec<_>>();
    assert_eq!(names(&schedule), ["settled_ns", "written_bytes", "flushes"]);
    let schedule = schedule.showing("flushes").unwrap();
    assert_eq!(names(&schedule), ["flushes"]);
    let schedule = schedule.showing("flushes, time_ns").unwrap();
    assert_eq!(names(&schedule), ["flushes", "time_ns"]);
    for wrong in ["flushes,flushes", "flushes,", "flushes,times"] {
        assert!(schedule.clone().showing(wrong).is_err(), "{wrong}");
    }
    let one = read("metrics = [\"settled_ns\"]").unwrap();
    assert_eq!(names(&one), ["settled_ns"]);
}

#[test]
fn what_is_wrong_with_a_list_of_metrics_is_shown_at_its_place() {
    for (metrics, message) in [
        (
            "metric = \"time_ns\"\nmetrics = [\"flushes\"]",
            "the plan has both `metric` and `metrics` | [\"flushes\"] | put the one first",
        ),
        ("metrics = []", "`metrics` names none | [] | name one or more"),
        (
            "metrics = [\"time_ns\", \"writen_bytes\"]",
            "there is no metric `writen_bytes` | \"writen_bytes\" | did you mean `written_bytes`?",
        ),
        (
            "metrics = [\"time_ns\", \"time_ns\"]",
            "`time_ns` is named twice | \"time_ns\" | name each metric once",
        ),
        (
            "metrics = [\"time_ns\", \"latency.p99_ns\"]",
            "no phase has `latency.p99_ns`: `unpack` has no operations that are counted | \
             \"latency.p99_ns\" | ",
        ),
    ] {
        let told = read(metrics).map(|_| ()).unwrap_err();
        assert!(told.starts_with(message), "{told}");
    }
}

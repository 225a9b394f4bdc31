use std::path::Path;

use crate::{Overrides, Schedule, schedule};

fn of(phases: &str) -> Schedule {
    let text = format!(
        "name = \"usual\"\nquestion = \"?\"\n[factors]\nfilesystem = [\"ext4\", \"xfs\"]\n\
         [workload]\nphases = [{phases}]\n"
    );
    schedule("usual.toml", &text, &Overrides::default(), Path::new("/")).unwrap()
}

/// 1,000 records with a pause of 100 ms each take 100 s on every filesystem.
#[test]
fn work_with_pauses_is_compared_by_its_p99_latency_not_by_its_time() {
    let p99 = "latency.p99_ns";
    for (phases, metric) in [
        ("{ do = \"unpack\", sync = true }", "time_ns"),
        ("{ do = \"maildir\", maildir = { messages = 50 } }", p99),
        ("{ do = \"append\", append = { records = 1000 } }, { do = \"idle\" }", p99),
        ("{ do = \"append\", append = { records = 1000, think = \"0 s\" } }", "time_ns"),
        ("{ do = \"rotate\", rotate = { records = 1000 } }", p99),
        ("{ do = \"database\", database = { commits = 10 } }, { do = \"sync\" }", p99),
        ("{ do = \"transactions\", transactions = { number = 10 } }", p99),
        ("{ do = \"transactions\", transactions = { number = 10, rate = \"2/s\" } }", p99),
        ("{ do = \"io\", io = { size = \"1 MiB\", time = \"1 s\" } }", "ops_per_second"),
        ("{ do = \"io\", io = { size = \"1 MiB\", time = \"1 s\", rate = \"9/s\" } }", p99),
        ("{ do = \"io\", io = { size = \"1 MiB\", amount = \"1 MiB\" } }", "time_ns"),
    ] {
        let schedule = of(phases);
        assert_eq!(schedule.metric.name, metric, "{phases}");
        assert!(!schedule.notes.iter().any(|note| note.contains("decides")), "{phases}");
    }
    let mixed = of("{ do = \"unpack\" }, { do = \"append\", append = { records = 10 } }");
    assert_eq!(mixed.metric.name, "time_ns");
    assert!(mixed.notes.iter().any(|note| note.contains("takes to append")), "{:?}", mixed.notes);
}

use std::path::Path;

use crate::{LabKind, Overrides, Schedule, schedule, shipped};

fn of(plan: &str, lab: LabKind) -> Result<Schedule, String> {
    let directory = (lab == LabKind::Directory).then(|| "/".into());
    let overrides = Overrides { lab: Some(lab), directory, ..Overrides::default() };
    schedule("p.toml", plan, &overrides, Path::new("/")).map_err(|error| error.to_string())
}

fn with(metric: &str, phases: &str, claim: &str) -> String {
    format!(
        "name = \"p\"\nquestion = \"?\"\n{metric}\n[factors]\natime = [\"noatime\", \"relatime\"]\n\
         [workload]\nphases = [{phases}]\n{claim}"
    )
}

const PHASES: &str = "{ do = \"unpack\" }, \
    { do = \"io\", io = { size = \"1 MiB\", operations = 9 } }, \
    { do = \"transactions\", transactions = { number = 9 } }";

fn claim(metric: &str, phase: &str) -> String {
    let claim = format!(
        "[[claims]]\nid = \"c\"\nsays = \"it is\"\nmetric = \"{metric}\"\nphases = [\"{phase}\"]\n\
         compare = {{ atime = \"relatime\" }}\nat_least = 2\n"
    );
    with("", PHASES, &claim)
}

/// NEWCOMER.md: `check` passes metrics that a phase cannot measure.
#[test]
fn a_claim_about_what_its_phase_never_has_is_refused() {
    for (metric, phase, says) in [
        ("latency.p99_ns", "unpack", "has no operations that are counted"),
        ("ops_per_second", "unpack", "has no operations that are counted"),
        ("reader.max_ns", "io", "nothing reads beside `io`"),
        ("read.p99_ns", "io", "has no reads"),
        ("sync.p99_ns", "io", "has no syncs that are timed"),
        ("write.p99_ns", "transactions", "has no writes"),
        ("beside.bytes_per_second", "transactions", "has no writer beside it"),
        ("fio.read_iops", "io", "does not run fio"),
        ("phoronix.higher_is_better", "io", "is no imported test"),
    ] {
        let refused = of(&claim(metric, phase), LabKind::Virtual).unwrap_err();
        assert!(refused.contains(says), "{metric}: {refused}");
    }
    for (metric, phase) in [
        ("time_ns", "unpack"),
        ("latency.p99_ns", "io"),
        ("write.p99_ns", "io"),
        ("sync.p99_ns", "transactions"),
        ("erases", "unpack"),
    ] {
        of(&claim(metric, phase), LabKind::Virtual).map(drop).unwrap();
    }
}

#[test]
fn a_plan_s_metric_that_no_phase_has_is_refused() {
    let of = |metric, phases| of(&with(metric, phases, ""), LabKind::Virtual);
    let unpack = "{ do = \"unpack\" }";
    let refused = of("metric = \"latency.p99_ns\"", unpack).unwrap_err();
    assert!(refused.contains("no phase has `latency.p99_ns`"), "{refused}");
    of("metric = \"latency.p99_ns\"", PHASES).map(drop).unwrap();
    of("metric = \"fio.write_iops\"", "{ do = \"command\", run = \"fio x\" }").map(drop).unwrap();
}

#[test]
fn what_a_lab_cannot_measure_is_noted() {
    let daily = "{ do = \"unpack\", a_day = 2 }";
    for metric in ["years_until_worn", "years_by_bytes"] {
        let plan = with(&format!("metric = \"{metric}\""), daily, "");
        for (lab, notes) in [(LabKind::Virtual, 0), (LabKind::Image, 1), (LabKind::Directory, 1)] {
            let beyond = of(&plan, lab).unwrap().beyond_lab();
            assert_eq!(beyond.len(), notes, "{metric} in the {lab} lab: {beyond:?}");
        }
    }
    let plan = claim("erases", "io");
    assert_eq!(of(&plan, LabKind::Virtual).unwrap().beyond_lab(), [""; 0]);
    let [note] = &of(&plan, LabKind::Image).unwrap().beyond_lab()[..] else { panic!("one note") };
    assert!(note.contains("claim `c`") && note.contains("image lab"), "{note}");
    let plan = claim("journal_bytes", "io");
    assert_eq!(of(&plan, LabKind::Image).unwrap().beyond_lab(), [""; 0]);
    assert_eq!(of(&plan, LabKind::Directory).unwrap().beyond_lab().len(), 1);
}

#[test]
fn shipped_plans_ask_their_own_lab_for_what_it_measures() {
    for plan in shipped::ALL {
        let schedule = of(plan.text, LabKind::Virtual).unwrap();
        assert_eq!(schedule.beyond_lab(), [""; 0], "{}", plan.name);
    }
}

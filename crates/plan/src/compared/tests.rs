use std::path::Path;

use miette::Diagnostic;

use crate::{Overrides, PlanError, Schedule, schedule};

/// What each write of both phases is.
const SYNCED: &str = "size = \"4 MiB\", sync = \"every 1 write\", operations = 10";

/// A write-ahead log by both syncs, on two filesystems (tursodatabase/turso#1864, June 2025).
fn text(claim: &str) -> String {
    format!(
        r#"
name = "turso"
question = "?"
metric = "ops_per_second"
[factors]
filesystem = ["ext4", "xfs"]
[baseline]
filesystem = "ext4"
[workload]
tree = {{ files = 100, size = "1 MB" }}
phases = [
    {{ do = "io", name = "fdatasync", io = {{ {SYNCED} }} }},
    {{ do = "io", name = "fsync", io = {{ {SYNCED}, sync_by = "fsync" }} }},
    {{ do = "unpack" }},
    {{ do = "append", name = "log", append = {{ records = 10, sync_every = 1 }} }},
]
[[claims]]
id = "c"
says = "?"
{claim}
"#
    )
}

fn resolved(claim: &str) -> Result<Schedule, PlanError> {
    schedule("p.toml", &text(claim), &Overrides::default(), Path::new("/"))
}

const COMPARE: &str = "compare = { phase = \"fdatasync\" }\nagainst = { phase = \"fsync\" }\n";

#[test]
fn case_phases_cannot_be_compared_turso_1864_phases_are_compared() {
    let schedule = resolved(&format!("{COMPARE}at_least = 1.5")).unwrap();
    let claim = &schedule.claims[0];
    assert_eq!(claim.phases, ["fdatasync"]);
    assert_eq!(claim.other_phases(), ["fsync"]);
    assert!(claim.is_of_one_treatment());
    // Both sides of a pair are the same treatment, of which there are two.
    assert_eq!(claim.pairs(&schedule), [(0, Some(0)), (1, Some(1))]);
    // What is stored is read again.
    let stored = serde_json::to_string(&schedule).unwrap();
    let again: Schedule = serde_json::from_str(&stored).unwrap();
    assert_eq!(again.claims, schedule.claims);
}

#[test]
fn levels_beside_a_phase_limit_or_compare_as_they_do_without_one() {
    let pairs = |claim: &str| {
        let schedule = resolved(&format!("{claim}\nat_least = 1.5")).unwrap();
        schedule.claims[0].pairs(&schedule)
    };
    let xfs = "compare = { phase = \"fdatasync\", filesystem = \"xfs\" }";
    let of = |filesystem: &str| {
        pairs(&format!("{xfs}\nagainst = {{ phase = \"fsync\", filesystem = \"{filesystem}\" }}"))
    };
    assert_eq!(of("xfs"), [(1, Some(1))]);
    assert_eq!(of("ext4"), [(1, Some(0))]);
    assert_eq!(pairs(&format!("{COMPARE}where = {{ filesystem = \"xfs\" }}")), [(1, Some(1))]);
}

/// Each refusal is shown at the word that it is about, and says what to write.
#[test]
fn what_phases_cannot_say_is_refused_at_its_place() {
    let xfs = "compare = { phase = \"fdatasync\", filesystem = \"xfs\" }";
    for (claim, at, says) in [
        (
            "compare = { phase = \"fdatasnyc\" }\nagainst = { phase = \"fsync\" }",
            "\"fdatasnyc\"",
            "there is no phase `fdatasnyc`; did you mean `fdatasync`? phases: fdatasync, fsync, \
             unpack, log",
        ),
        (
            "compare = { phase = \"fsync\" }\nagainst = { phase = \"fsync\" }",
            "\"fsync\" }\nat_least",
            "compares phase `fsync` with itself; name another phase",
        ),
        (
            &format!("phases = [\"fsync\"]\n{COMPARE}"),
            "\"fdatasync\" }",
            "has `phases`, and compares phases; omit `phases`",
        ),
        (
            "compare = { phase = \"fdatasync\" }",
            "\"fdatasync\"",
            "`compare` names a phase and `against` does not; name the other phase, for example \
             against = { phase = \"fsync\" }",
        ),
        (
            "compare = { filesystem = \"xfs\" }\nagainst = { phase = \"fsync\" }",
            "\"fsync\" }\nat_least",
            "`against` names a phase and `compare` does not",
        ),
        (
            "compare = { phase = \"fdatasync\" }\nagainst = { phase = \"unpack\" }",
            "\"unpack\"",
            "phase `unpack` does not measure `ops_per_second`",
        ),
        (
            &format!("metric = \"reader.p99_ns\"\n{COMPARE}"),
            "\"fdatasync\"",
            "phase `fdatasync` does not measure `reader.p99_ns`",
        ),
        (
            "metric = \"latency.p50_ns\"\n\
             compare = { phase = \"log\" }\nagainst = { phase = \"fsync\" }",
            "\"log\"",
            "what `latency.p50_ns` times in `log` is not what it times in `fsync`; the time of a \
             write",
        ),
        (
            &format!("metric = \"damaged\"\n{COMPARE}"),
            "\"fdatasync\"",
            "`damaged` is about power cuts, which compare treatments",
        ),
        (
            &format!("{xfs}\nagainst = {{ phase = \"fsync\" }}"),
            "[[claims]]",
            "write, for example, against = { phase = \"fsync\", filesystem = \"ext4\" }",
        ),
        (
            &format!("{COMPARE}best = {{ filesystem = \"xfs\" }}"),
            "[[claims]]",
            "has `best` and a comparison",
        ),
        (
            &format!("{COMPARE}where = {{ phase = \"fsync\" }}"),
            "phase = \"fsync\" }\nat_least",
            "phases are named in `phases`, or in `compare` and `against`",
        ),
        (
            "compare = { phase = \"fdatasync\", filesytem = \"xfs\" }",
            "filesytem",
            "did you mean `filesystem`?",
        ),
    ] {
        let claim = format!("{claim}\nat_least = 1.5");
        let error = resolved(&claim).expect_err(&claim);
        let help = error.help().map_or(String::new(), |help| help.to_string());
        let said = format!("{error}; {help}");
        assert!(said.contains(says), "{claim}\n{said}");
        let label = error.labels().unwrap().next().unwrap();
        let text = text(&claim);
        let place = &text[label.offset()..];
        let at = if at.starts_with("[[") { at } else { at.trim_end_matches("\nat_least") };
        assert!(place.starts_with(at), "{claim}\n{said}\nat: {}", place.get(..30).unwrap_or(place));
    }
}

#[test]
fn an_amount_is_of_one_phase() {
    let error = resolved(&format!("{COMPARE}at_least = \"1500\"")).unwrap_err();
    assert!(error.to_string().contains("an amount is compared with nothing"), "{error}");
    assert!(error.help().unwrap().to_string().contains("write phases = [\"fdatasync\"]"));
}

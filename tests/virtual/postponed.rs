//! Discards that a filesystem postpones belong to the phase that caused them, if a plan asks for
//! them, and are told if they are left to unmounting.

use serde_json::Value;

use super::support::Place;

const SEGMENTS: &str = "file = \"segment\", files = 4, size = \"4 MiB\", pattern = \"sequential\", \
    block = \"128 KiB\", direct = true, depth = 8, amount = \"16 MiB\"";

pub const CASES: [(&str, fn()); 3] = [
    (
        "case_deferred_discard_in_unmount_scylladb_632_discards_are_of_the_claims_last_phase",
        followed,
    ),
    (
        "case_deferred_discard_in_unmount_scylladb_632_a_deliberate_wait_is_not_time_until_quiet",
        idle,
    ),
    ("case_deferred_discard_in_unmount_scylladb_632_discards_of_an_unmount_are_told", told),
];

/// What is deleted: 4 segments of a commit log.
const BYTES: f64 = 16.0 * 1_048_576.0;

/// What their discards take the drive at least, in ns (`trim.per_mapped_page` of vertex-le).
const DISCARDS_NS: f64 = BYTES / 4096.0 * 280_000.0;

/// Segments are written and deleted, by scylladb/scylladb#632, with and without discards. Returns
/// the analysis of the run.
fn run(filesystem: &str, last: &str, claim: &str) -> Value {
    let plan = format!(
        r#"
        name = "postponed"
        question = "Do reads wait when a filesystem with discard deletes a commit log's segments?"
        source = "scylladb/scylladb#632, December 2015"
        [target]
        lab = "virtual"
        [factors]
        filesystem = "{filesystem}"
        mount = ["nodiscard", "discard"]
        drive = "vertex-le"
        [baseline]
        mount = "nodiscard"
        [workload]
        phases = [
            {{ do = "io", name = "segments", sync = true, io = {{ {SEGMENTS} }} }},
            {{ do = "delete" }},
            {{ do = "sync", name = "after", reader = true }},
            {last}
        ]
        {claim}
    "#
    );
    let json = Place::new().run_on(&plan, "64GB");
    for mount in ["nodiscard", "discard"] {
        assert_eq!(trial(&json, mount)["status"], "ok", "{json}");
    }
    json
}

fn claim(metric: &str, phases: &str) -> String {
    format!(
        "[[claims]]\nid = \"c\"\nsays = \"?\"\nmetric = \"{metric}\"\nphases = {phases}\n\
         compare = {{ mount = \"discard\" }}\nat_least = 10"
    )
}

fn treatment<'a>(json: &'a Value, mount: &str) -> &'a Value {
    let mut all = json["treatments"].as_array().unwrap().iter();
    all.find(|own| own["levels"]["mount"] == mount).unwrap()
}

fn trial<'a>(json: &'a Value, mount: &str) -> &'a Value {
    &treatment(json, mount)["trials"][0]
}

/// A number of a trial's phase.
fn of(json: &Value, mount: &str, phase: &str, metric: &str) -> f64 {
    let phases = trial(json, mount)["phases"].as_array().unwrap();
    let own = phases.iter().find(|own| own["name"] == phase).unwrap();
    let metric = if own[metric].is_null() { &own["reported"][metric] } else { &own[metric] };
    metric.as_f64().unwrap_or_else(|| panic!("{own}"))
}

fn left(json: &Value, mount: &str) -> f64 {
    trial(json, mount)["teardown"]["discarded_bytes"].as_f64().unwrap()
}

fn followed() {
    for filesystem in ["xfs", "f2fs"] {
        let json = run(filesystem, "", &claim("settled_ns", r#"["delete", "after"]"#));
        let after = |mount, metric| of(&json, mount, "after", metric);
        assert!(after("discard", "discarded_bytes") >= BYTES, "{filesystem}");
        assert!(left(&json, "discard") < 0.1 * BYTES, "{filesystem}");
        let settled = after("discard", "settled_ns");
        assert!((DISCARDS_NS..2.0 * DISCARDS_NS).contains(&settled), "{filesystem}: {settled}");
        assert!(after("discard", "reader.max_ns") > DISCARDS_NS / 8.0, "{filesystem}");
        // The other side waits as long, but that is no work, and its reads tell nothing.
        assert!(after("nodiscard", "discarded_bytes") < 1.0);
        assert!(after("nodiscard", "settled_ns") < 1e9, "{filesystem}");
        assert!(after("nodiscard", "reader.reads") < 100.0, "{filesystem}");
        assert!(after("discard", "time_ns") < 1e9, "{filesystem}");
    }
}

fn idle() {
    let wait = r#"{ do = "idle", name = "later", quiet = "70 s" }"#;
    for filesystem in ["xfs", "f2fs"] {
        let json = run(filesystem, wait, &claim("settled_ns", r#"["delete", "after"]"#));
        let of = |mount, phase, metric| of(&json, mount, phase, metric);
        assert!(of("discard", "after", "discarded_bytes") < 1.0, "{filesystem}");
        assert!(of("discard", "later", "discarded_bytes") >= BYTES, "{filesystem}");
        let settled = of("discard", "later", "settled_ns");
        assert!((DISCARDS_NS..2.0 * DISCARDS_NS).contains(&settled), "{filesystem}: {settled}");
        assert!(of("nodiscard", "later", "settled_ns") < 1e9, "{filesystem}");
    }
}

fn told() {
    for filesystem in ["xfs", "f2fs"] {
        let json = run(filesystem, "", &claim("written_bytes", r#"["after"]"#));
        assert!(of(&json, "discard", "after", "discarded_bytes") < 1.0, "{filesystem}");
        assert!(left(&json, "discard") >= BYTES, "{filesystem}");
        let unmounting = &treatment(&json, "discard")["unmounting"];
        assert_eq!(unmounting["discarded_bytes"], left(&json, "discard"), "{json}");
        assert!(unmounting["time_ns"].as_f64().unwrap() > DISCARDS_NS, "{unmounting}");
        assert!(treatment(&json, "nodiscard")["unmounting"].is_null(), "{json}");
        let mut warnings = json["warnings"].as_array().unwrap().iter();
        let warning = warnings.find(|warning| warning["kind"] == "late_work").unwrap();
        let says = warning["says"].as_str().unwrap();
        // Whole MiB are written so; f2fs discards a little more.
        let sizes = ["16.0 MiB", "16.8 MB"];
        let is_told = |size: &&str| says.starts_with(&format!("unmounting discarded {size}, in "));
        assert!(sizes.iter().any(is_told), "{says}");
    }
}

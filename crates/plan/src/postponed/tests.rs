use std::path::Path;

use crate::{LabKind, Overrides, schedule};

/// For how many seconds each phase of a plan with a claim is followed.
fn followed(factors: &str, phases: &str, claim: &str) -> Vec<u64> {
    let claim = format!("[[claims]]\nid = \"c\"\nsays = \"?\"\n{claim}\nat_least = 1.1");
    let text = format!(
        "name = \"p\"\nquestion = \"?\"\nbaseline = {{ mount = \"nodiscard\" }}\n\
         workload = {{ phases = [{phases}] }}\n[factors]\n{factors}\n{claim}"
    );
    let overrides = Overrides { lab: Some(LabKind::Virtual), ..Overrides::default() };
    let schedule = schedule("p.toml", &text, &overrides, Path::new("/")).unwrap();
    schedule.workload.phases.iter().map(|phase| phase.postponed_ns / 1_000_000_000).collect()
}

const PHASES: &str = "{ do = \"unpack\", sync = true }, { do = \"delete\" }, { do = \"sync\" }";
const SETTLED: &str = "metric = \"settled_ns\"\nphases = [\"delete\", \"sync\"]\n\
                       compare = { mount = \"discard\" }";

fn on(filesystem: &str) -> String {
    format!("filesystem = \"{filesystem}\"\nmount = [\"nodiscard\", \"discard\"]")
}

#[test]
fn the_last_phase_of_a_claim_is_followed_as_long_as_discards_may_be_postponed() {
    assert_eq!(followed(&on("xfs"), PHASES, SETTLED), [0, 0, 31]);
    assert_eq!(followed(&on("f2fs"), PHASES, SETTLED), [0, 0, 66]);
    let async_too =
        "filesystem = \"btrfs\"\nmount = [\"nodiscard\", \"discard\", \"discard=async\"]";
    assert_eq!(followed(async_too, PHASES, SETTLED), [0, 0, 121]);
    // These discard as they commit, and the phase is followed until the device is idle.
    assert_eq!(followed(&on("btrfs"), PHASES, SETTLED), [0; 3]);
    assert_eq!(followed(&on("ext4"), PHASES, SETTLED), [0; 3]);
}

#[test]
fn nothing_waits_where_no_discards_are_asked_for() {
    let writes = SETTLED.replace("settled_ns", "written_bytes");
    assert_eq!(followed(&on("xfs"), PHASES, &writes), [0; 3]);
    let reads = SETTLED.replace("settled_ns", "discarded_bytes");
    assert_eq!(followed(&on("xfs"), PHASES, &reads), [0, 0, 31]);
    // What a phase leaves to the next is not waited for.
    let unsynced = SETTLED.replace(", \"sync\"", "");
    assert_eq!(followed(&on("xfs"), PHASES, &unsynced), [0; 3]);
}

#[test]
fn a_plan_that_waits_itself_has_its_discards_in_the_phase_that_waits() {
    let idle = |quiet| format!("{PHASES}, {{ do = \"idle\", quiet = \"{quiet}\" }}");
    assert_eq!(followed(&on("xfs"), &idle("40 s"), SETTLED), [0; 4]);
    assert_eq!(followed(&on("xfs"), &idle("1 s"), SETTLED), [0, 0, 31, 0]);
}

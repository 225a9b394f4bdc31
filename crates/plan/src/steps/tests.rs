use std::path::Path;

use super::*;
use crate::{LabKind, Overrides, schedule};

const PLAN: &str = r#"
        name = "t"
        question = "?"
        [factors]
        filesystem = ["ext2", "ext4", "xfs", "btrfs"]
        scheduler = ["none", "bfq"]
        [baseline]
        scheduler = "none"
        [workload]
        phases = [{ do = "unpack", sync = true }, { do = "delete", sync = true }]
    "#;

fn with(rest: &str) -> Result<Schedule, String> {
    let overrides = Overrides { lab: Some(LabKind::Virtual), ..Overrides::default() };
    let text = format!("{PLAN}{rest}");
    schedule("t.toml", &text, &overrides, Path::new("/")).map_err(|error| error.to_string())
}

const STEPS: &str = r#"
        [[steps]]
        name = "filesystems"
        where = { scheduler = "noop" }
        keep = { filesystem = 2 }
        [[steps]]
        name = "schedulers"
        keep = { scheduler = 1 }
        [[steps]]
        name = "tandems"
    "#;

#[test]
fn steps_have_blocks_and_treatments_of_their_own() {
    let schedule = with(STEPS).unwrap();
    assert_eq!(schedule.blocks(), [0..6, 6..12, 12..18]);
    assert_eq!([0, 5, 6, 11, 17].map(|block| schedule.step_of(block)), [0, 0, 1, 1, 2]);
    assert_eq!([0, 1, 2].map(|step| schedule.expected_treatments(step)), [4, 4, 2]);
    // Only what can be in a step is scheduled for it.
    assert_eq!(schedule.trials.len(), 6 * 4 + 6 * 8 + 6 * 8);
    let ranking = schedule.0.ranking.unwrap();
    assert_eq!((ranking.metric.name, ranking.phases.len()), ("time_ns", 2));
}

#[test]
fn faults_of_steps_and_rankings_are_named() {
    let step = |rest: &str| with(&format!("[[steps]]\nname = \"a\"\n{rest}")).unwrap_err();
    let last = "[[steps]]\nname = \"b\"\n";
    assert!(step("keep = { filesystem = 2 }\n").contains("no step follows it"));
    assert!(step(&format!("keep = {{ atime = 2 }}\n{last}")).contains("does not vary `atime`"));
    assert!(step(&format!("keep = {{ filesystem = 0 }}\n{last}")).contains("keeps zero levels"));
    let two = format!("keep = {{ filesystem = 1, scheduler = 1 }}\n{last}");
    assert!(step(&two).contains("one factor"));
    assert!(step("where = { scheduler = \"kyber\" }\n").contains("not one of the plan's levels"));
    assert!(step("[[steps]]\nname = \"a\"\n").contains("two steps are called"));
    let ranking = |rest: &str| with(&format!("[ranking]\n{rest}")).unwrap_err();
    assert!(ranking("metric = \"speed\"\n").contains("no metric"));
    assert!(ranking("metric = \"discarded_bytes\"\n").contains("neither more nor less"));
    assert!(ranking("phases = [\"sleep\"]\n").contains("no phase `sleep`"));
    assert!(ranking("metric = \"fio.read_iops\"\n").contains("cannot rank by"));
}

//! The plan is one that `ssdlab run` takes, whatever the commands are.

use std::path::{Path, PathBuf};

use super::CrashTest;
use crate::Overrides;
use crate::schedule::Action;

#[test]
fn the_plan_runs_the_commands_as_they_were_given() {
    let command = "printf '%s\\n' \"it's\"\n'''quoted''' \"\"\"";
    let test = CrashTest {
        run: command.to_owned(),
        check: "true".to_owned(),
        filesystems: vec!["ext4".to_owned(), "xfs".to_owned()],
        cuts: 120,
        drive: None,
        root: None,
        add: vec![PathBuf::from("/opt/it's")],
        write_errors: Some("2 % of writes".to_owned()),
    };
    let overrides = Overrides::default();
    let schedule =
        crate::schedule("plan.toml", &test.to_string(), &overrides, Path::new("/")).unwrap();
    let Action::Command { run, .. } = &schedule.workload.phases[0].action else { panic!() };
    assert_eq!(run, &["sh", "-c", command]);
    assert_eq!(schedule.treatments.len(), 2);
    assert_eq!(schedule.cuts.as_ref().unwrap().of_trial, 40);
    let system = schedule.workload.system.as_ref().unwrap();
    assert_eq!(system.add[0].at(), test.add[0]);
    assert_eq!(system.write_errors.unwrap().per_million, 20_000);
    assert!(schedule.programs().is_empty(), "all programs are the system's");
}

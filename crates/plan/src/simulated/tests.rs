use std::path::Path;

use crate::{Factor, KernelLevel, LabKind, Levels, Overrides, Schedule, schedule, shipped};

use super::SimulatedMachine;

const PLAN: &str = r#"
    name = "p"
    question = "?"
    [factors]
    filesystem = "ext4"
    [virtual.factors]
    kernel = ["6.1", "./linux"]
    [workload]
    phases = [{ do = "unpack" }]
    [[claims]]
    id = "newer"
    says = "?"
    phases = ["unpack"]
    compare = { kernel = "./linux" }
    against = { kernel = "6.1" }
    at_least = 1
"#;

fn level(level: &str) -> Result<KernelLevel, String> {
    let levels = Levels([(Factor::Kernel, level.to_owned())].into());
    SimulatedMachine::new(&levels).map(|of| of.kernel).map_err(|error| error.message + &error.help)
}

fn resolved(overrides: &Overrides) -> Result<Schedule, String> {
    schedule("p.toml", PLAN, overrides, Path::new("/plans")).map_err(|error| error.to_string())
}

#[test]
fn a_kernel_is_named_by_its_version_or_its_path() {
    assert_eq!(SimulatedMachine::new(&Levels::default()).unwrap().kernel, KernelLevel::Default);
    for version in ["6", "6.1", "6.12.117-ssdlab", "6.18-rc1"] {
        assert_eq!(level(version).unwrap(), KernelLevel::Version(version.to_owned()));
    }
    assert_eq!(level("/lab/6.1").unwrap(), KernelLevel::File("/lab/6.1".into()));
    for wrong in ["newest", "", "6.1 or so", "-6.1"] {
        assert!(level(wrong).unwrap_err().contains("a version, such as 6.1, or the path"));
    }
}

#[test]
fn the_default_drive_is_one_of_today() {
    assert_eq!(SimulatedMachine::new(&Levels::default()).unwrap().drive, "sata-tlc");
}

#[test]
fn shipped_plans_do_not_depend_on_the_default_drive() {
    let overrides = Overrides { lab: Some(LabKind::Virtual), ..Overrides::default() };
    for plan in shipped::ALL {
        let schedule = schedule(plan.name, plan.text, &overrides, Path::new(".")).unwrap();
        let mut levels = schedule.treatments.iter().map(|treatment| &treatment.levels.0);
        assert!(levels.all(|levels| levels.contains_key(&Factor::Drive)), "{}", plan.name);
    }
}

#[test]
fn a_wrong_amount_is_explained_and_a_wrong_name_corrected() {
    let help = |factor, level: &str| {
        let levels = Levels([(factor, level.to_owned())].into());
        SimulatedMachine::new(&levels).map(|_| ()).unwrap_err().help
    };
    let of = |level| help(Factor::Condition, level);
    assert_eq!(of("aged:much"), "aged:N takes a whole number of erases per block");
    assert!(of("purgd").starts_with("did you mean `purged`? `condition` can be: "));
    let levelling = help(Factor::WearLevelling, "static:much");
    assert_eq!(levelling, "static:N takes a whole number of erases, 1 or more");
}

#[test]
fn treatments_differ_by_their_kernel() {
    let schedule = resolved(&Overrides::default()).unwrap();
    let kernels: Vec<_> = schedule.setups().map(|setup| setup.simulated.kernel.clone()).collect();
    let version = KernelLevel::Version("6.1".to_owned());
    assert_eq!(kernels, [version, KernelLevel::File("/plans/linux".into())]);
    let files = schedule.setups().flat_map(|setup| setup.simulated.files());
    assert_eq!(files.collect::<Vec<_>>(), [Path::new("/plans/linux")]);
    assert_eq!(schedule.claims[0].pairs(&schedule), [(1, Some(0))]);
}

#[test]
fn other_labs_have_only_the_running_kernel() {
    let set = |lab| Overrides {
        lab: Some(lab),
        set: vec!["kernel=6.1,6.12".to_owned()],
        ..Overrides::default()
    };
    let refused = resolved(&set(LabKind::Image)).unwrap_err();
    assert!(refused.contains("trials in the image lab run under the kernel that is"), "{refused}");
    // What the plan names for the virtual lab is left out elsewhere.
    let elsewhere = Overrides { lab: Some(LabKind::Image), ..Overrides::default() };
    assert_eq!(resolved(&elsewhere).unwrap().treatments.len(), 1);
}

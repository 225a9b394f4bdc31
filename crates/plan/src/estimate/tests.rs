use std::path::Path;

use super::*;
use crate::{Overrides, schedule, shipped};

fn of(plan: &str, lab: LabKind, runs: u32) -> Option<Estimate> {
    let overrides = Overrides { lab: Some(lab), runs: Some(runs), ..Overrides::default() };
    let schedule = schedule("p.toml", plan, &overrides, Path::new("/")).unwrap();
    estimate(&schedule)
}

#[test]
fn a_run_of_twice_the_trials_takes_twice_the_time() {
    // Power cuts are divided among the trials of a treatment.
    for plan in shipped::ALL.into_iter().filter(|plan| plan.name != "power-loss") {
        for lab in [LabKind::Virtual, LabKind::Image] {
            let (one, two) = (of(plan.text, lab, 2).unwrap(), of(plan.text, lab, 4).unwrap());
            assert_eq!(one.time * 2, two.time, "{}", plan.name);
            assert_eq!(one.written_bytes * 2, two.written_bytes, "{}", plan.name);
            assert!(one.time > Duration::from_secs(1), "{}: {one:?}", plan.name);
        }
    }
}

#[test]
fn encryption_takes_real_time() {
    let of_layers = |layers: &str| {
        let plan = format!(
            "name = \"p\"\nquestion = \"?\"\n[virtual.factors]\nlayer = [{layers}]\n\
             [workload]\nphases = [{{ do = \"io\", \
             io = {{ amount = \"1024 MB\", size = \"1024 MB\" }} }}]\n"
        );
        of(&plan, LabKind::Virtual, 2).unwrap().time
    };
    let (none, both) = (of_layers("\"none\""), of_layers("\"none\", \"crypt\""));
    // Two trials of each layer; two of the four encrypt what is laid out and written again.
    assert_eq!(both, 2 * none + 2 * Duration::from_nanos(2_048_000 * ENCRYPTED_KILOBYTE_NS));
}

#[test]
fn a_directory_without_an_index_is_searched() {
    let of_files = |filesystem: &str, files: &str| {
        let plan = format!(
            "name = \"p\"\nquestion = \"?\"\n[factors]\nfilesystem = {filesystem}\n[workload]\n\
             bonnie = {{ files = \"{files}\" }}\n\
             phases = [{{ do = \"bonnie\", tests = [\"seq_create\"] }}]\n"
        );
        of(&plan, LabKind::Virtual, 1).unwrap().time
    };
    let searching = |filesystem, files| {
        of_files(filesystem, files).checked_sub(of_files("\"ext4\"", files)).unwrap()
    };
    for indexed in ["\"xfs\"", "\"ext2\"\nfilesystem_driver = \"ext4\""] {
        assert!(searching(indexed, "200:9").is_zero(), "{indexed}");
    }
    let of_twenty = searching("\"ext2\"", "20:9");
    assert!(!of_twenty.is_zero());
    assert_eq!(searching("\"nilfs2\"", "200:9"), 100 * of_twenty);
    assert_eq!(searching("\"ext2\"", "200:9:0:10"), 10 * of_twenty);
}

#[test]
fn each_power_cut_takes_a_recovery() {
    let of_cuts = |number, survivors| {
        let plan = format!(
            "name = \"p\"\nquestion = \"?\"\n[cuts]\nnumber = {number}\n\
             survivors = {survivors}\n[workload]\n\
             phases = [{{ do = \"append\", append = {{ records = 9 }} }}]\n"
        );
        of(&plan, LabKind::Virtual, 2).unwrap().time
    };
    let hundred = 100 * Duration::from_nanos(RECOVERY_NS);
    assert_eq!(of_cuts(110, 1), of_cuts(10, 1) + hundred);
    assert_eq!(of_cuts(20, 1), of_cuts(10, 2));
}

fn of_transactions(keys: &str) -> Estimate {
    let plan = format!(
        "name = \"p\"\nquestion = \"?\"\n[target]\nsize = \"4 GB\"\n[workload]\n\
             phases = [{{ do = \"transactions\", transactions = {{ {keys} }} }}]\n"
    );
    of(&plan, LabKind::Image, 1).unwrap()
}

#[test]
fn a_stream_writes_on_when_its_file_is_full() {
    let keys = |time| format!("time = \"{time} s\", beside = \"10 MB/s\"");
    let (minute, hour) = (of_transactions(&keys(60)), of_transactions(&keys(3600)));
    assert_eq!(minute.written_bytes, 600_000_000);
    assert_eq!(hour.written_bytes, 36_000_000_000);
}

#[test]
fn what_never_ends_is_estimated_too() {
    let endless = of_transactions("number = 9_000_000_000_000_000_000");
    assert!(endless.time > Duration::from_hours(1_000_000), "{endless:?}");
}

#[test]
fn what_a_program_takes_is_not_guessed() {
    let plan = "name = \"p\"\nquestion = \"?\"\n[workload]\n\
                    phases = [{ do = \"command\", run = \"sleep 9\" }]\n";
    assert_eq!(of(plan, LabKind::Image, 3), None);
}

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
            let (Some(one), Some(two)) = (of(plan.text, lab, 2), of(plan.text, lab, 4)) else {
                panic!("{} depends on nothing that is unknown", plan.name);
            };
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
    let (ten, more) = (of_cuts(10, 1), of_cuts(110, 1));
    assert!(more >= ten + 100 * Duration::from_nanos(RECOVERY_NS), "{ten:?}, {more:?}");
    assert_eq!(of_cuts(20, 1), of_cuts(10, 2));
}

/// NEWCOMER.md, B6: 7 s were announced, and it took nearly 7 minutes.
#[test]
fn what_is_looked_at_after_each_cut_takes_its_time() {
    let of_size = |size: &str| {
        let plan = format!(
            "name = \"p\"\nquestion = \"?\"\n[cuts]\nnumber = 100\n[workload]\n\
             phases = [{{ do = \"database\", \
             database = {{ commits = 100, size = \"{size}\" }} }}]\n"
        );
        of(&plan, LabKind::Virtual, 1).unwrap().time
    };
    let (small, large) = (of_size("24 MiB"), of_size("1024 MiB"));
    // A hundred times a gibibyte.
    assert!(large > small + Duration::from_mins(5), "{small:?} {large:?}");
}

#[test]
fn a_program_that_judges_what_a_cut_left_is_not_guessed() {
    let plan = "name = \"p\"\nquestion = \"?\"\n[cuts]\nnumber = 10\ncheck = \"true\"\n\
                [workload]\nphases = [{ do = \"append\", append = { records = 9 } }]\n";
    assert_eq!(of(plan, LabKind::Virtual, 1), None);
}

fn of_phases(phases: &str) -> Estimate {
    let plan = format!(
        "name = \"p\"\nquestion = \"?\"\n[target]\nsize = \"64 GB\"\n[workload]\n\
         phases = [{phases}]\n"
    );
    of(&plan, LabKind::Image, 1).unwrap()
}

fn of_transactions(keys: &str) -> Estimate {
    of_phases(&format!("{{ do = \"transactions\", transactions = {{ {keys} }} }}"))
}

fn of_io(keys: &str) -> Estimate {
    of_phases(&format!("{{ do = \"io\", io = {{ {keys} }} }}"))
}

/// The plan of the case `check-ignores-rate`: 1,200 writes of 4 KiB to a file of 64 MiB.
#[test]
fn case_check_ignores_rate_a_rate_decides_how_much_a_time_writes() {
    let keys = "size = \"64 MiB\", block = \"4 KiB\", sync = \"every 1 write\"";
    let estimate = of_io(&format!("{keys}, rate = \"10/s\", time = \"2 min\""));
    assert_eq!(estimate.written_bytes, (64 << 20) + 1_200 * 4096);
    assert_eq!(estimate.open, [""; 0]);
    assert!(estimate.time > Duration::from_mins(2), "{:?}", estimate.time);
    // So does it if the phase ends otherwise.
    let estimate = of_io(&format!("{keys}, rate = \"10/s\", operations = 1200"));
    assert!(estimate.time > Duration::from_mins(2), "{:?}", estimate.time);
}

#[test]
fn what_only_the_drive_decides_is_named_and_not_counted() {
    let estimate = of_io("size = \"64 MiB\", time = \"1 min\"");
    assert_eq!((estimate.written_bytes, estimate.open), (64 << 20, vec!["io".to_owned()]));
    let reads = of_io("size = \"64 MiB\", reads = \"100 %\", time = \"1 min\"");
    assert_eq!((reads.written_bytes, reads.open), (64 << 20, Vec::new()));
    let thinkless = of_transactions("time = \"1 min\", think = \"0 s\"");
    assert_eq!((thinkless.written_bytes, thinkless.open.len()), (16 << 20, 1));
}

#[test]
fn reads_write_nothing_and_blocks_count_by_their_weights() {
    let keys = "size = \"64 MiB\", amount = \"8 MiB\", reads = \"75 %\"";
    assert_eq!(of_io(keys).written_bytes, (64 << 20) + (2 << 20));
    let keys = "size = \"64 MiB\", block = [\"4 KiB: 3\", \"1 MiB: 1\"], operations = 400";
    assert_eq!(of_io(keys).written_bytes, (64 << 20) + 300 * 4096 + (100 << 20));
}

#[test]
fn phases_that_share_a_file_write_it_once() {
    let phase = "{ do = \"io\", io = { size = \"64 MiB\", operations = 1 } }";
    let second = phase.replace("do =", "name = \"second\", do =");
    assert_eq!(of_phases(&format!("{phase}, {second}")).written_bytes, (64 << 20) + 2 * 4096);
}

#[test]
fn transactions_write_pages_twice_and_the_database_before_them() {
    let database = 16 << 20;
    // 512 bytes of a header and some for each page are not counted.
    let rollback = of_transactions("number = 100, pages = 3").written_bytes;
    assert_eq!(rollback, database + 100 * 4 * 2 * 4096);
    // In 500 frames of a log nothing has reached the database yet; in 10,000 it has ten times.
    let log = |number| format!("number = {number}, pages = 4, journal = \"wal\"");
    assert_eq!(of_transactions(&log(100)).written_bytes, database + 500 * 4096);
    let moved = of_transactions(&log(2000)).written_bytes - database - 10_000 * 4096;
    assert!((8_000..9_500).contains(&(moved / 4096)), "{moved}");
}

#[test]
fn a_database_writes_its_pages_at_checkpoints() {
    let of = |keys: &str| {
        of_phases(&format!("{{ do = \"database\", database = {{ size = \"64 MiB\", {keys} }} }}"))
            .written_bytes
    };
    let none = |commits| of(&format!("torn_pages = \"nothing\", commits = {commits}"));
    // 200 commits are a checkpoint's.
    assert_eq!(none(199) - none(99), 100 * 8192);
    let checkpoint = none(200) - none(199) - 8192;
    assert!((700..800).contains(&(checkpoint / 8192)), "{checkpoint}");
}

#[test]
fn a_stream_writes_on_when_its_file_is_full() {
    let keys = |time| format!("time = \"{time} s\", rate = \"1/s\", beside = \"10 MB/s\"");
    let (minute, hour) = (of_transactions(&keys(60)), of_transactions(&keys(3600)));
    let each = 5 * 2 * 4096;
    assert_eq!(minute.written_bytes, (16 << 20) + 600_000_000 + 60 * each);
    assert_eq!(hour.written_bytes, (16 << 20) + 36_000_000_000 + 3600 * each);
}

#[test]
fn ageing_is_counted_once_for_each_state_and_block() {
    let of_levels = |levels: &str| {
        let plan = format!(
            "name = \"p\"\nquestion = \"?\"\n[target]\nsize = \"10 GB\"\n[factors]\n\
             filesystem = \"ext4\"\n{levels}\n[workload]\n\
             phases = [{{ do = \"append\", append = {{ records = 9 }} }}]\n"
        );
        of(&plan, LabKind::Image, 2).unwrap().written_bytes
    };
    let new = of_levels("atime = [\"noatime\", \"relatime\"]");
    let aged = of_levels("atime = [\"noatime\", \"relatime\"]\nage = \"desktop\"");
    // Two blocks fill four fifths and write them twice again.
    assert_eq!(aged - new, 2 * 3 * 8_000_000_000);
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

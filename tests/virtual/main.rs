//! The virtual lab end to end: every filesystem keeps its data, and a trial is the same to the last
//! request, whatever else the machine does and whoever runs it.
//!
//! The tests need a lab kernel, and are ignored with that reason without one; they need neither
//! root nor a quiet machine.

mod agreement;
mod baseline;
mod capacity;
mod checks;
#[path = "../common/mod.rs"]
mod common;
mod crashing;
mod cutting;
#[path = "../../crates/trace/tests/formats/device_log.rs"]
mod dm_log;
mod drivers;
mod durability;
#[path = "../common/every_workload.rs"]
mod every_workload;
mod failing;
mod flipping;
mod hosts;
mod kernels;
#[path = "../common/lab_kernel.rs"]
mod lab_kernel;
mod layers;
mod logged;
mod postponed;
#[path = "../common/program.rs"]
mod program;
mod programs;
#[path = "../common/readme_run.rs"]
mod readme_run;
mod repeating;
mod replaying;
mod shipped;
mod support;
mod workloads;

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZero;
use std::panic::UnwindSafe;
use std::path::Path;
use std::sync::{OnceLock, PoisonError, RwLock};

use libtest_mimic::{Arguments, Trial};
use serde_json::{Value, json};
use ssdlab_filesystem as filesystem;
use ssdlab_flash::presets;
use ssdlab_plan::{self as plan, Overrides, shipped as plans};

use self::support::{Load, Place, kernel};

/// The phases of Bonnie's tests.
const TESTS: [&str; 12] = [
    "seq_output_char",
    "seq_output_block",
    "rewrite",
    "seq_input_char",
    "seq_input_block",
    "random_seek",
    "seq_create",
    "seq_stat",
    "seq_delete",
    "random_create",
    "random_stat",
    "random_delete",
];

const FILESYSTEMS: [&str; 10] =
    ["ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "jfs", "nilfs2", "reiserfs", "zfs"];

/// Writes, deletes, and leaves something to be verified.
const PLAN: &str = r#"
    name = "every-filesystem"
    question = "Does every filesystem do the same again?"
    [target]
    lab = "virtual"
    [factors]
    filesystem = [
        "ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "jfs", "nilfs2", "reiserfs", "zfs",
        "reiser4",
    ]
    [workload]
    tree = { files = 300, size = "5 MB" }
    phases = [
        { do = "unpack" },
        { do = "sync" },
        { do = "delete", sync = true },
        { do = "unpack", name = "unpack_again" },
        { do = "remount" },
    ]
"#;

/// Bonnie's tests, whose seekers are threads.
const BONNIE: &str = r#"
    name = "bonnie"
    question = "Are its tests the same twice?"
    [target]
    lab = "virtual"
    [factors]
    filesystem = ["ext4", "btrfs"]
    [workload]
    bonnie = { size = "8 MiB", char_size = "16 KiB", seeks = 500, files = "1:2000:0:2" }
    phases = [{ do = "bonnie" }]
"#;

/// The engine's operations, with threads of the kernel and of the program itself.
const TIMED_PLAN: &str = r#"
    name = "timed-operations"
    question = "Does every operation take the same time again?"
    [target]
    lab = "virtual"
    [factors]
    filesystem = ["ext3", "btrfs"]
    [workload]
    [[workload.phases]]
    do = "io"
    name = "deep"
    io = { size = "16 MiB", direct = true, depth = 32, operations = 500, sync = "end" }
    [[workload.phases]]
    do = "io"
    name = "mixed"
    cold = true
    [workload.phases.io]
    size = "16 MiB"
    reads = "50 %"
    block = ["4 KiB: 3", "64 KiB: 1"]
    depth = 8
    operations = 200
    sync = "every 16 writes"
    [[workload.phases]]
    do = "io"
    name = "open"
    [workload.phases.io]
    size = "16 MiB"
    reads = "100 %"
    direct = true
    depth = 4
    rate = "500/s"
    time = "300 ms"
    [[workload.phases]]
    do = "transactions"
    transactions = { number = 20, rate = "10/s", beside = "8 MB/s" }
    sync = true
    [[workload.phases]]
    do = "transactions"
    name = "log"
    transactions = { number = 20, journal = "wal" }
    [[workload.phases]]
    do = "sync"
"#;

/// Two treatments of one aged filesystem.
const AGED_PLAN: &str = r#"
    name = "aged"
    question = "Is a kept drive the drive that was aged?"
    [target]
    lab = "virtual"
    [factors]
    filesystem = ["ext4", "f2fs"]
    discard = ["off", "on"]
    age = "mail to 0.9"
    [baseline]
    discard = "off"
    [workload]
    tree = { files = 100, size = "1 MB" }
    phases = [{ do = "unpack", sync = true }, { do = "delete", sync = true }]
"#;

/// A drive whose file is next to the plan.
const COMPRESSED_PLAN: &str = r#"
    name = "compressed"
    question = "How much of what is written reaches the flash?"
    [target]
    lab = "virtual"
    [factors]
    filesystem = "ext4"
    drive = "./half.toml"
    condition = "purged"
    [workload]
    tree = { files = 300, size = "5 MB" }
    phases = [{ do = "unpack", sync = true }]
"#;

/// A shipped computer, a copy of its file, and one of half its speed.
/// Features of the lab kernel that others may lack: f2fs with compression, xfs of version 4.
const SETTINGS: &str = r#"
    name = "settings"
    question = "Is it made as asked?"
    exclude = [
        { filesystem = "xfs", compression = "lzo" },
        { filesystem = "xfs", compression = "lz4" },
        { filesystem = "xfs", compression = "zstd" },
    ]
    [target]
    lab = "virtual"
    [factors]
    filesystem = ["f2fs", "xfs"]
    checksums = ["on", "off"]
    compression = ["off", "lzo", "lz4", "zstd"]
    [baseline]
    checksums = "on"
    compression = "off"
    [workload]
    tree = { files = 300, size = "5 MB" }
    phases = [{ do = "unpack", sync = true }]
"#;

/// Whoever measures this computer writes, everybody else reads.
static MACHINE: RwLock<()> = RwLock::new(());

const CASES: [(&str, fn()); 14] = [
    ("the_run_in_the_readme_comes_out_again", readme),
    ("the_plan_of_all_filesystems_runs_to_its_end", plan_of_all),
    ("every_workload_and_shipped_log_runs_in_lab_virtual", every_workload_runs),
    ("the_plan_of_the_tutorial_writes_what_was_foreseen", shipped::of_tutorial),
    ("a_trial_is_the_same_on_a_kept_drive_and_on_one_just_aged", aged),
    ("every_filesystem_is_what_is_stated_about_it", features),
    ("every_filesystem_keeps_what_it_is_told_to_keep", every_filesystem),
    ("checksums_and_compression_are_as_asked", settings),
    ("a_drive_s_course_agrees_with_its_phases", drives),
    ("a_run_and_a_simulation_of_its_requests_write_as_much_to_flash", compressed),
    ("load_changes_no_request", load),
    ("bonnie_s_tests_are_the_same_twice", bonnie),
    ("load_changes_no_operation_and_no_transaction", timed_operations),
    ("another_user_environment_and_folder_change_no_request", elsewhere),
];

fn main() {
    // In a guest this program is the first process.
    if std::process::id() == 1 {
        failing::in_guest();
    }
    let mut arguments = Arguments::from_args();
    // Load changes nothing in virtual time, so that tests may run beside each other.
    let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
    arguments.test_threads = arguments.test_threads.or(Some(processors));
    let reason = kernel().as_ref().err().map_or("", |reason| reason);
    let cases = CASES.into_iter().chain(replaying::CASES).chain(failing::CASES);
    let cases = cases.chain(cutting::CASES).chain(repeating::CASES).chain(flipping::CASES);
    let cases = cases.chain(kernels::CASES).chain(logged::CASES).chain(checks::CASES);
    let cases = cases.chain(drivers::CASES).chain(programs::CASES).chain(layers::CASES);
    let cases = cases.chain(workloads::CASES).chain(hosts::CASES);
    let cases = cases.chain(durability::CASES).chain(capacity::CASES).chain(postponed::CASES);
    let cases = cases.chain(agreement::CASES).chain(crashing::CASES).chain(baseline::CASES);
    let mut trials: Vec<Trial> = cases.map(|(name, run)| trial(name, run, reason)).collect();
    trials.extend(shipped::plans().map(|name| {
        trial(&format!("the_plan_{name}_runs_small"), move || shipped::run(name), reason)
    }));
    let long = if reason.is_empty() { "make crash-test" } else { reason };
    trials.extend(crashing::LONG.map(|(name, run)| trial(name, run, long)));
    let has_none =
        if hosts::has_filesystem_of_lab() { reason } else { "on a filesystem of the lab" };
    trials.extend(hosts::FITTING.map(|(name, run)| {
        let alone = move || {
            let _idle = MACHINE.write().unwrap_or_else(PoisonError::into_inner);
            run();
        };
        ignorable(name, alone, has_none)
    }));
    libtest_mimic::run(&arguments, trials).exit();
}

/// A test that may run beside others; it is ignored if there is a reason.
fn trial(name: &str, run: impl FnOnce() + UnwindSafe + Send + 'static, reason: &str) -> Trial {
    let beside_others = move || {
        let _shared = MACHINE.read().unwrap_or_else(PoisonError::into_inner);
        run();
    };
    ignorable(name, beside_others, reason)
}

fn ignorable(name: &str, run: impl FnOnce() + UnwindSafe + Send + 'static, reason: &str) -> Trial {
    common::trial(name, run).with_kind(reason).with_ignored_flag(!reason.is_empty())
}

/// Two of the README's trials, on the published drive. This program also runs in the guest, and
/// other builds of it have other page faults: times differ by up to 0.12 % between builds, and are
/// shown with three digits. Some unpacked data is written a little earlier or later.
fn readme() {
    let place = Place::new();
    let mut command = place.command(&["run", "sqlite", "--plausible", "0", "--runs", "1"]);
    command.arg("--json").arg("--kernel").arg(kernel().as_ref().unwrap());
    let output = command.output().unwrap();
    let json: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", common::shown(&output)));
    let plan = plans::find("sqlite").unwrap();
    let schedule = plan::schedule(plan.name, plan.text, &Overrides::default(), Path::new("/"));
    let readme = readme_run::records();
    shipped::assert_foreseen(&schedule.unwrap(), &readme);
    let kept: Vec<Value> = readme.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for treatment in json["treatments"].as_array().unwrap() {
        let own = &treatment["trials"][0];
        let is_first = |kept: &&Value| kept["trial"]["block"] == 0;
        let mut kept = kept.iter().filter(is_first);
        let kept = kept.find(|kept| kept["levels"] == treatment["levels"]).expect("no such levels");
        let phases = |trial: &Value| trial["phases"].as_array().unwrap().clone();
        for (now, then) in phases(own).iter().zip(phases(kept)) {
            assert_eq!(now["name"], then["name"]);
            for metric in ["written_bytes", "flushes", "settled_ns"] {
                let [now, then] = [now, &then].map(|phase| phase[metric].as_u64().unwrap());
                let most = if metric == "settled_ns" { then / 200 } else { 0 };
                assert!(now.abs_diff(then) <= most, "{metric}: {now} for {then}: {treatment}");
            }
        }
    }
}

fn every_filesystem() {
    let known = undisturbed();
    let known: Vec<&str> = known.keys().map(String::as_str).collect();
    let mut all = FILESYSTEMS;
    all.sort_unstable();
    assert_eq!(known, all);
}

fn aged() {
    let of = |place: &Place| {
        let json = place.run_on(AGED_PLAN, "128MiB");
        let one = |treatment: &Value| {
            let trial = &treatment["trials"][0];
            assert_eq!(trial["status"], "ok", "{}", treatment["reason"]);
            [&trial["fingerprint"], &trial["aged"]].map(Value::clone)
        };
        json["treatments"].as_array().unwrap().iter().map(one).collect::<Vec<_>>()
    };
    let place = Place::new();
    let first = of(&place);
    let kept = || std::fs::read_dir(place.cache().join("ssdlab/aged")).unwrap().count();
    // Discards are set by mounting: both treatments of a filesystem start from one state.
    assert_eq!(kept(), 2);
    assert_eq!((&first[0][1], &first[2][1]), (&first[1][1], &first[3][1]));
    assert!(first.iter().all(|[_, aged]| aged["layout_score"].as_f64().unwrap() < 0.9));
    assert_eq!(of(&place), first);
    assert_eq!(kept(), 2);
    assert_eq!(of(&Place::of_nobody()), first);
}

/// The course of a drive agrees with its flash activity in the phases.
fn drives() {
    let json = run();
    let mut seen = 0;
    for treatment in json["treatments"].as_array().unwrap() {
        for trial in treatment["trials"].as_array().unwrap() {
            let Some(drive) = trial["drive"].as_object() else { continue };
            let list = |name: &str| -> Vec<u64> {
                drive[name].as_array().unwrap().iter().map(|one| one.as_u64().unwrap()).collect()
            };
            let (at, written) = (list("at_ns"), list("flash_written_bytes"));
            assert!(at.len() > 1 && at.is_sorted() && written.is_sorted(), "{drive:?}");
            let blocks = drive["wear"]["blocks"].as_u64().unwrap();
            assert!(list("free_blocks").iter().all(|free| *free <= blocks));
            let phases = trial["phases"].as_array().unwrap();
            let in_phases: u64 =
                phases.iter().map(|phase| phase["flash_written_bytes"].as_u64().unwrap()).sum();
            // Unmounting may write more.
            assert!(in_phases > 0 && written.last() >= Some(&in_phases), "{drive:?}");
            for phase in phases {
                assert!(drive["phases_ns"][phase["name"].as_str().unwrap()].is_u64());
            }
            seen += 1;
        }
    }
    assert!(seen > 5, "{seen}");
}

/// On a drive that stores half of the data it gets, under a filesystem that writes whole pages.
fn compressed() {
    let place = Place::new();
    let ideal = presets::find("ideal").unwrap().text;
    let drive = format!("compression = 0.5\n{}", ideal.replace("\"ideal\"", "\"half\""));
    std::fs::write(place.path("half.toml"), drive).unwrap();
    let json = place.run(COMPRESSED_PLAN);
    let trial = &json["treatments"][0]["trials"][0];
    assert_eq!(trial["status"], "ok", "{json}");
    let phase = &trial["phases"][0];
    let of = |metric: &str| phase[metric].as_f64().unwrap();
    let measured = of("flash_written_bytes") / of("written_bytes");
    let run = std::fs::read_dir(place.path("data/ssdlab")).unwrap().next().unwrap().unwrap();
    let log = run.path().join("requests/0000.requests");
    let drive = place.path("half.toml");
    let [drive, log] = [&drive, &log].map(|path| path.to_str().unwrap());
    let simulate = ["simulate", "--capacity", "1GiB", "--condition", "purged", "--json"];
    let simulate = [&simulate[..], &["--drive", drive, "--trace", log]].concat();
    let output = place.command(&simulate).output().unwrap();
    let outcome: Value = serde_json::from_slice(&output.stdout).unwrap();
    let simulated = outcome["write_amplification"].as_f64().unwrap();
    assert!((measured - 0.5).abs() < 1e-9, "{measured}");
    assert!((simulated - measured).abs() < 1e-9, "{simulated} instead of {measured}");
}

/// The lab kernel from Debian's source has no reiser4: its row says so, and no guest starts.
fn features() {
    let json = run();
    let all = json["treatments"].as_array().unwrap();
    let of = |name: &str| all.iter().find(|t| t["levels"]["filesystem"] == name).unwrap();
    for name in FILESYSTEMS {
        let found = of(name)["features"].as_object().unwrap();
        let stated = filesystem::find(name).unwrap().stated();
        assert_eq!(found.len(), stated.len(), "{name}");
        for (feature, stated) in stated {
            assert_eq!(found[feature], *stated, "{name}: {feature}");
        }
    }
    assert_eq!(of("reiser4")["status"], "unavailable");
    assert_eq!(of("reiser4")["reason"], "the lab kernel has no reiser4");
    assert!(!json["warnings"].to_string().contains("is not as usual"));
}

fn settings() {
    let json = Place::new().run(SETTINGS);
    let all = json["treatments"].as_array().unwrap();
    assert_eq!(all.len(), 10);
    let mut fingerprints = BTreeSet::new();
    let written =
        |treatment: &Value| treatment["trials"][0]["phases"][0]["written_bytes"].as_u64().unwrap();
    for treatment in all {
        let levels = &treatment["levels"];
        assert_eq!(treatment["status"], "ok", "{levels}: {}", treatment["reason"]);
        fingerprints.insert(treatment["trials"][0]["fingerprint"].as_str().unwrap());
        let is_plain = |other: &&Value| {
            ["filesystem", "checksums"].iter().all(|same| other["levels"][same] == levels[same])
                && other["levels"]["compression"] == "off"
        };
        let plain = all.iter().find(is_plain).unwrap();
        let is_compressed = levels["compression"] != "off";
        assert_eq!(written(treatment) < written(plain) * 9 / 10, is_compressed, "{levels}");
    }
    // Every level makes a difference on the device.
    assert_eq!(fingerprints.len(), all.len());
}

fn load() {
    let place = Place::new();
    let load = Load::heavy();
    let loaded = fingerprints(&place.run(PLAN));
    drop(load);
    assert_eq!(loaded, undisturbed());
}

fn timed_operations() {
    let calm = Place::new().run(TIMED_PLAN);
    let place = Place::new();
    let load = Load::heavy();
    let loaded = place.run(TIMED_PLAN);
    drop(load);
    assert_eq!(fingerprints(&loaded), fingerprints(&calm));
    let operations = |json: &Value| -> Vec<Value> {
        let trials = json["treatments"].as_array().unwrap().iter();
        let phases = trials.flat_map(|t| t["trials"][0]["phases"].as_array().unwrap());
        phases.map(|phase| phase["operations"].clone()).collect()
    };
    let each = [500, 200, 150, 20, 20].map(|operations| json!(operations));
    let of_one = [&each[..], &[Value::Null]].concat();
    assert_eq!(operations(&calm), [of_one.clone(), of_one].concat());
    let latencies =
        |json: &Value| json["treatments"][0]["trials"][0]["phases"][1]["latency"].clone();
    assert_eq!(latencies(&loaded), latencies(&calm));
}

fn elsewhere() {
    let place = Place::of_nobody();
    assert_eq!(fingerprints(&place.run(PLAN)), undisturbed());
}

fn bonnie() {
    let place = Place::new();
    let first = place.run(BONNIE);
    let load = Load::heavy();
    let loaded = place.run(BONNIE);
    drop(load);
    assert_eq!(fingerprints(&first), fingerprints(&loaded));
    let phases = &first["treatments"][0]["trials"][0]["phases"];
    assert_eq!(phases[5]["name"], "random_seek");
    assert_eq!(phases[5]["operations"], 500);
    assert_eq!(phases[5]["latency"], loaded["treatments"][0]["trials"][0]["phases"][5]["latency"]);
}

/// An undisturbed run, which the tests share.
fn run() -> &'static Value {
    static FIRST: OnceLock<Value> = OnceLock::new();
    FIRST.get_or_init(|| Place::new().run(PLAN))
}

fn undisturbed() -> BTreeMap<String, String> {
    fingerprints(run())
}

fn every_workload_runs() {
    for workload in every_workload::all() {
        let json = Place::new().run(&format!(
            "name = \"all\"\nquestion = \"Does it run?\"\n[target]\nlab = \"virtual\"\n[factors]\n\
             filesystem = \"ext4\"\n[workload]\n{workload}\n"
        ));
        assert_eq!(json["treatments"][0]["status"], "ok", "{workload}: {json}");
    }
}

/// The shipped plan with small sizes: every filesystem succeeds and is left undamaged, except those
/// that the kernel lacks, which keep their rows.
fn plan_of_all() {
    let small =
        "bonnie = { size = \"4 MiB\", char_size = \"8 KiB\", seeks = 200, files = \"1:200\" }";
    let plan = plans::find("filesystems").unwrap().text;
    let plan =
        plan.replace("\"10 GB\"", "\"10 %\"").replace("bonnie = { files = \"8:200\" }", small);
    let json = Place::new().run(&plan);
    let treatments = json["treatments"].as_array().unwrap();
    assert_eq!(treatments.len(), 12);
    for treatment in treatments {
        let name = treatment["levels"]["filesystem"].as_str().unwrap();
        if !FILESYSTEMS.contains(&name) {
            assert_eq!(treatment["status"], "unavailable", "{name}");
            assert!(treatment["reason"].is_string(), "{name}");
            continue;
        }
        assert_eq!(treatment["status"], "ok", "{name}: {}", treatment["reason"]);
        let phases = treatment["trials"][0]["phases"].as_array().unwrap();
        let names: Vec<&str> = phases.iter().map(|phase| phase["name"].as_str().unwrap()).collect();
        assert_eq!(names, TESTS, "{name}");
        for phase in phases {
            assert!(phase["operations"].as_u64().unwrap() > 0, "{name}: {phase}");
            assert!(phase["ops_per_second"].as_f64().unwrap() > 0.0, "{name}: {phase}");
            assert!(phase["latency"]["p99_ns"].as_u64().unwrap() > 0, "{name}: {phase}");
        }
    }
    let ranked = json["rankings"][0]["places"].as_array().unwrap();
    assert_eq!(ranked.len(), FILESYSTEMS.len());
}

/// Checks that the written bytes of each phase are attributed to kinds and add up, except a small
/// percentage that may be unattributed.
fn check_kinds(filesystem: &str, phases: &[Value]) {
    let most = match filesystem {
        "ext2" | "ext3" | "ext4" => 1,
        "xfs" | "btrfs" | "f2fs" | "nilfs2" => 5,
        "jfs" | "reiserfs" => 25,
        _ => 100,
    };
    let (mut all, mut unattributed) = (0, 0);
    for phase in phases {
        let kinds = phase["ledger"]["by_kind"].as_object();
        let kinds = kinds.unwrap_or_else(|| panic!("{filesystem}: {phase}"));
        let bytes = |kind: &Value| kind["bytes"].as_u64().unwrap();
        let sum: u64 = kinds.values().map(bytes).sum();
        assert_eq!(phase["written_bytes"], sum, "{filesystem}: {phase}");
        all += sum;
        unattributed += bytes(&kinds["unattributed"]);
    }
    assert!(unattributed * 100 <= all * most, "{filesystem}: {unattributed} of {all} bytes");
}

/// The fingerprint of each filesystem's trial, which must have succeeded.
fn fingerprints(json: &Value) -> BTreeMap<String, String> {
    let of = |treatment: &Value| {
        let name = treatment["levels"]["filesystem"].as_str().unwrap().to_owned();
        let trial = &treatment["trials"][0];
        assert_eq!(trial["status"], "ok", "{name}: {}", treatment["reason"]);
        check_kinds(&name, trial["phases"].as_array().unwrap());
        (name, trial["fingerprint"].as_str().unwrap().to_owned())
    };
    let all = json["treatments"].as_array().unwrap().iter();
    all.filter(|treatment| treatment["status"] != "unavailable").map(of).collect()
}

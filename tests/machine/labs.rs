//! The labs end to end: what is created, what is read back, what the JSON contains.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use super::support::{Loop, Place, idle_schedulers, number, phases, sh, shown, treatment};
use super::{Case, Needs, case};
use crate::program::ssdlab;

pub fn cases() -> Vec<Case> {
    vec![
        case("discard_has_the_contracts_phases_and_fields", discard_contract),
        case("every_filesystem_is_made_measured_and_left_clean", every_filesystem),
        Case::new("zfs_is_served_synced_checked_and_left_clean", Needs::OwnZfs, zfs),
        case("journal_writes_agree_with_ext4s_own_counter", journal_counter),
        case("every_scheduler_is_set_read_back_and_restored", schedulers),
        case("a_schedulers_settings_are_set_and_read_back", scheduler_settings),
        case("a_tuned_drive_is_left_as_it_was_tuned", tuned_scheduler),
        case("old_scheduler_names_are_mapped_with_a_note", old_schedulers),
        case("atime_levels_differ_as_the_kernel_says", atime_levels),
        case("free_mkfs_and_mount_options_are_read_back", free_options),
        case("prefill_is_on_the_disk_and_survives_delete", prefill),
        case("a_trials_seed_follows_from_the_runs_seed", same_seed),
        case("a_folder_with_a_blank_in_its_name_is_no_trap", blank_in_name),
        case("a_device_is_measured_and_left_blank", device_lab),
        Case::new("a_directory_is_measured_without_root", Needs::Nothing, directory_lab),
        case("a_directory_that_is_read_only_is_refused_at_once", read_only_directory),
        case("nobody_is_told_what_the_image_lab_needs", image_lab_needs_root),
    ]
}

fn discard_contract() {
    let place = Place::new();
    let (code, json) = place.run("discard", &["--scale", "0.01", "--runs", "2"]);
    assert_eq!(code, 0);
    assert_eq!(
        (&json["plan"], &json["lab"], &json["status"]),
        (&"discard".into(), &"image".into(), &"complete".into())
    );
    let names = |level: &str| {
        let names = phases(treatment(&json, "discard", level)).iter().map(|phase| &phase["name"]);
        names.map(|name| name.as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let shared = ["unpack", "sync_unpacked", "delete", "sync_deleted"];
    assert_eq!(names("off"), shared);
    assert_eq!(names("on"), shared);
    assert_eq!(names("fstrim"), [&shared[..], &["fstrim"]].concat());
    for field in [
        "time_ns",
        "settled_ns",
        "written_bytes",
        "write_requests",
        "read_bytes",
        "discarded_bytes",
        "discard_requests",
        "flushes",
    ] {
        number(treatment(&json, "discard", "on"), "sync_deleted", field);
    }
    let trial = &treatment(&json, "discard", "on")["trials"][0];
    for field in ["block", "position", "seed", "fingerprint"] {
        assert!(trial.get(field).is_some(), "{field}");
    }
    // The treatments differ only in what they tell the device.
    assert_eq!(number(treatment(&json, "discard", "off"), "sync_deleted", "discard_requests"), 0);
    assert!(
        number(treatment(&json, "discard", "on"), "sync_deleted", "discarded_bytes") > 1_000_000
    );
    assert!(number(treatment(&json, "discard", "fstrim"), "fstrim", "discarded_bytes") > 1_000_000);
    // What was unpacked reached the device.
    let off = treatment(&json, "discard", "off");
    let application = number(off, "unpack", "application_bytes");
    assert_eq!(application, 4_930_000);
    let device =
        number(off, "unpack", "written_bytes") + number(off, "sync_unpacked", "written_bytes");
    assert!(device >= application);
    let effects = json["effects"].as_array().unwrap();
    let one =
        effects.iter().find(|e| e["metric"] == "time_ns" && e["phases"][0] == "delete").unwrap();
    let (low, ratio) = (one["interval"][0].as_f64(), one["ratio"].as_f64());
    assert!(low.unwrap() < ratio.unwrap());
    assert_eq!((&one["n"], &one["baseline"]["discard"]), (&2.into(), &"off".into()));
    assert_eq!(json["claims"].as_array().unwrap().len(), 6);
    assert_eq!(place.leftovers(), Vec::<String>::new());
}

fn every_filesystem() {
    let place = Place::new();
    // As in the plan `discard`, but nobody asks for discards that a filesystem postpones.
    let plan = place.plan(
        r#"
        name = "every-filesystem"
        question = "Is it made, measured and left clean?"
        [factors]
        filesystem = ["ext2", "ext3", "ext4", "xfs", "btrfs"]
        discard = ["off", "on", "fstrim"]
        [baseline]
        discard = "off"
        [workload]
        tree = { files = 300, size = "5 MB" }
        phases = [{ do = "unpack", sync = true }, { do = "delete", sync = true }]
    "#,
    );
    let (code, json) = place.run(&plan, &["--runs", "1"]);
    assert_eq!(code, 0, "{json:#}");
    for filesystem in ["ext2", "ext3", "ext4", "xfs", "btrfs"] {
        for discard in ["off", "on", "fstrim"] {
            let all = json["treatments"].as_array().unwrap();
            let found = all.iter().find(|t| {
                t["levels"]["filesystem"] == filesystem && t["levels"]["discard"] == discard
            });
            let found = found.unwrap();
            assert_eq!(found["status"], "ok", "{filesystem} {discard}: {}", found["reason"]);
        }
    }
    assert_eq!(place.leftovers(), Vec::<String>::new());
}

/// A sync ends with a commit: unpacked data is on the device after it, and no more follows.
fn zfs() {
    let folders = || ["/run/zfs", "/run/lock/zfs"].map(|folder| Path::new(folder).exists());
    let before = folders();
    let place = Place::new();
    let plan = place.plan(
        r#"
        name = "zfs"
        question = "Does zfs keep what it is told to keep?"
        [target]
        size = "512 MiB"
        [factors]
        filesystem = "zfs"
        atime = ["noatime", "strictatime"]
        [workload]
        tree = { files = 300, size = "5 MB" }
        phases = [
            { do = "unpack", sync = true },
            { do = "sync", name = "again" },
            { do = "remount" },
            { do = "delete", sync = true },
        ]
    "#,
    );
    let (code, json) = place.run(&plan, &["--runs", "1", "--verify"]);
    assert_eq!(code, 0, "{json:#}");
    for atime in ["noatime", "strictatime"] {
        let treatment = treatment(&json, "atime", atime);
        assert_eq!(treatment["status"], "ok", "{}", treatment["reason"]);
        let written = number(treatment, "unpack", "written_bytes");
        assert!(written >= number(treatment, "unpack", "application_bytes"), "{written}");
        let more = number(treatment, "again", "written_bytes");
        assert!(more < written / 4, "{more} after {written}");
        assert_eq!(treatment["features"]["snapshots"], "works");
    }
    assert_eq!(place.leftovers(), Vec::<String>::new());
    assert_eq!(folders(), before);
}

fn journal_counter() {
    let place = Place::new();
    let (code, json) = place.run("journal", &["--scale", "0.02", "--runs", "1"]);
    assert_eq!(code, 0, "{json:#}");
    let all = json["treatments"].as_array().unwrap();
    assert_eq!(all.len(), 16);
    for treatment in all {
        for phase in ["clone", "make", "clean"] {
            let own_kib = number(treatment, phase, "lifetime_kib");
            let device = number(treatment, phase, "written_bytes");
            let difference = (own_kib * 1024).abs_diff(device);
            assert!(difference < 1024, "{}: {phase}: {difference}", treatment["levels"]);
        }
    }
    let written = |journal: &str| {
        let found = all.iter().find(|t| {
            t["levels"]["filesystem"] == "ext4"
                && t["levels"]["journal"] == journal
                && t["levels"]["atime"] == "strictatime"
        });
        number(found.unwrap(), "clean", "written_bytes") as f64
    };
    // Founding post 3: metadata-only work is nearly doubled by the journal.
    let ratio = written("on") / written("off");
    assert!((1.3..4.0).contains(&ratio), "{ratio}");
}

fn schedulers() {
    let place = Place::new();
    let before = idle_schedulers();
    let set = "scheduler=none,mq-deadline,bfq,kyber";
    let plan = "discard";
    let arguments = ["--scale", "0.005", "--runs", "1", "--set", "discard=off", "--set", set];
    let (code, json) = place.run(plan, &arguments);
    assert_eq!(code, 0, "{json:#}");
    let offered = sh("cat /sys/block/loop0/queue/scheduler");
    for scheduler in ["none", "mq-deadline", "bfq", "kyber"] {
        let treatment = treatment(&json, "scheduler", scheduler);
        let is_offered = offered.contains(scheduler);
        assert_eq!(treatment["status"], if is_offered { "ok" } else { "unavailable" });
    }
    let after = idle_schedulers();
    let compared: Vec<&String> = before.keys().filter(|disk| after.contains_key(*disk)).collect();
    assert!(!compared.is_empty());
    for disk in compared {
        assert_eq!(after[disk], before[disk], "{disk}");
    }
    // Each record says what the kernel reported, not what was requested.
    let records = sh(&format!("cat {}/ssdlab/*/records.jsonl", place.path("data").display()));
    for line in records.lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        if record["status"] == "ok" {
            assert_eq!(record["applied"]["scheduler"], record["levels"]["scheduler"]);
        }
    }
}

fn scheduler_settings() {
    let place = Place::new();
    let plan = place.plan(
        r#"
        name = "expire"
        question = "Does it matter how long a read may wait?"
        [factors]
        filesystem = "ext4"
        scheduler = ["none", "mq-deadline"]
        scheduler_tunables = ["default", "read_expire=100", "no_such_tunable=1"]
        [[exclude]]
        scheduler = "none"
        scheduler_tunables = "read_expire=100"
        [baseline]
        scheduler = "mq-deadline"
        scheduler_tunables = "default"
        [workload]
        phases = [{ do = "unpack", sync = true }]
        "#,
    );
    let (code, json) = place.run(&plan, &["--scale", "0.005", "--runs", "1"]);
    assert_eq!(code, 0, "{json:#}");
    assert_eq!(json["treatments"].as_array().unwrap().len(), 5);
    let records = sh(&format!("cat {}/ssdlab/*/records.jsonl", place.path("data").display()));
    let records = records.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let (missing, done): (Vec<Value>, Vec<Value>) =
        records.partition(|record| record["levels"]["scheduler_tunables"] == "no_such_tunable=1");
    let applied = |record: &Value| {
        assert_eq!(record["status"], "ok", "{record}");
        record["applied"]["scheduler.read_expire"].as_str().map(str::to_owned)
    };
    assert_eq!(done.iter().filter_map(applied).collect::<Vec<_>>(), ["100"]);
    for record in missing {
        assert_eq!(record["status"], "unavailable", "{record}");
        assert!(record["reason"].as_str().unwrap().ends_with("has no no_such_tunable"), "{record}");
    }
    assert!(place.leftovers().is_empty());
}

/// A drive that an administrator has tuned: a run switches its scheduler, and asks for a value that
/// the kernel rounds.
fn tuned_scheduler() {
    let place = Place::new();
    let device = Loop::new(&place, "disk", 300);
    let queue = format!("/sys/block/{}/queue", device.name());
    sh(&format!("echo mq-deadline > {queue}/scheduler"));
    for (name, value) in
        [("nr_requests", 77), ("async_depth", 40), ("read_expire", 100), ("front_merges", 0)]
    {
        // Kernels differ in where some of them are.
        sh(&format!("echo {value} > $(ls {queue}/{name} {queue}/iosched/{name} 2> /dev/null)"));
    }
    let tuning = || sh(&format!("grep . {queue}/scheduler {queue}/nr_requests {queue}/iosched/*"));
    let before = tuning();
    let plan = place.plan(
        r#"
        name = "tuned"
        question = "Is the drive left as it was tuned?"
        [target]
        lab = "device"
        [factors]
        filesystem = "ext4"
        scheduler = ["none", "mq-deadline", "bfq"]
        scheduler_tunables = ["default", "front_merges=2"]
        [[exclude]]
        scheduler_tunables = "front_merges=2"
        scheduler = "none"
        [[exclude]]
        scheduler_tunables = "front_merges=2"
        scheduler = "bfq"
        [baseline]
        scheduler = "mq-deadline"
        scheduler_tunables = "default"
        [workload]
        phases = [{ do = "unpack", sync = true }]
        "#,
    );
    let arguments = ["--scale", "0.005", "--runs", "2", "--device", &device.device];
    let (_, json) = place.run(&plan, &arguments);
    assert_eq!(tuning(), before, "{json:#}");
    let switched = treatment(&json, "scheduler", "none");
    assert_eq!(switched["status"], "ok", "{switched:#}");
    let is_rounded = |row: &&Value| row["levels"]["scheduler_tunables"] == "front_merges=2";
    let row = json["treatments"].as_array().unwrap().iter().find(is_rounded).unwrap();
    let reason = row["reason"].as_str().unwrap_or_default();
    assert!(reason.contains("was set to `2`, but reads back as `1`"), "{row:#}");
    drop(device);
    assert!(place.leftovers().is_empty());
}

fn old_schedulers() {
    let place = Place::new();
    let arguments = [
        "--scale",
        "0.005",
        "--runs",
        "1",
        "--set",
        "discard=off",
        "--set",
        "scheduler=noop,deadline",
    ];
    let (code, json) = place.run("discard", &arguments);
    assert_eq!(code, 0);
    treatment(&json, "scheduler", "mq-deadline");
    assert!(json["warnings"].to_string().contains("`deadline` was removed"));
}

fn atime_levels() {
    let place = Place::new();
    let plan = place.plan(
        r#"
        name = "atime"
        question = "Do reads write?"
        [target]
        size = "256 MiB"
        [factors]
        filesystem = ["ext4", "btrfs"]
        atime = ["noatime", "strictatime", "relatime", "chattr"]
        [baseline]
        atime = "noatime"
        [workload]
        tree = { files = 400, size = "2 MB" }
        phases = [
            { do = "unpack", sync = true },
            { do = "remount" },
            { do = "command", name = "read", sync = true, run = [
                "sh", "-c", "cat $(find . -type f) > /dev/null",
            ] },
        ]
    "#,
    );
    let (code, json) = place.run(&plan, &["--runs", "1"]);
    assert_eq!(code, 0, "{json:#}");
    let all = json["treatments"].as_array().unwrap();
    assert_eq!(all.len(), 8);
    let written = |atime: &str| {
        let found = all
            .iter()
            .find(|t| t["levels"]["filesystem"] == "ext4" && t["levels"]["atime"] == atime);
        number(found.unwrap(), "read", "written_bytes")
    };
    // Every file was read once, and its inode written where access times are kept. btrfs is
    // only set and read back: its own housekeeping after a mount writes more than that.
    let kept = written("strictatime").min(written("relatime"));
    assert!(kept > written("noatime") + 20_000, "{kept} {}", written("noatime"));
    assert!(kept > written("chattr") + 20_000, "{kept} {}", written("chattr"));
    // Why: ext4's inodes inherit the attribute, links too; btrfs's do not.
    let who_inherits = |filesystem: &str| {
        let warnings = json["warnings"].as_array().unwrap();
        let mut of = warnings.iter().filter(|w| w["kind"] == "no_atime");
        let found = of.find(|warning| warning["filesystem"] == filesystem).unwrap();
        found["inherited_by"].clone()
    };
    assert_eq!(who_inherits("ext4"), "files, directories, symbolic links");
    assert_eq!(who_inherits("btrfs"), "");
}

fn free_options() {
    let place = Place::new();
    let plan = |mount: &str| {
        place.plan(&format!(
            r#"
            name = "options"
            question = "Are options read back?"
            [target]
            size = "256 MiB"
            [factors]
            filesystem = "ext4"
            mkfs = "-I 128 -O ^metadata_csum"
            mount = "{mount}"
            [workload]
            tree = {{ files = 10, size = "100 kB" }}
            phases = [{{ do = "unpack", sync = true }}]
        "#
        ))
    };
    let (code, json) =
        place.run(&plan("commit=77,data=writeback,noauto_da_alloc"), &["--runs", "1"]);
    assert_eq!(code, 0, "{json:#}");
    let records = sh(&format!("cat {}/ssdlab/*/records.jsonl", place.path("data").display()));
    let record: Value = serde_json::from_str(&records).unwrap();
    assert!(record["applied"]["mkfs"].as_str().unwrap().contains("-I 128"));
    assert!(record["applied"]["mount_options"].as_str().unwrap().contains("commit=77"));
    // An option the kernel does not know fails the trial and keeps its row.
    let (code, json) = place.run(&plan("no_such_option"), &["--runs", "1"]);
    assert_eq!(code, 1);
    assert_eq!(json["treatments"][0]["status"], "failed");
    assert!(json["treatments"][0]["reason"].as_str().unwrap().contains("no_such_option"));
}

fn prefill() {
    let place = Place::new();
    let arguments =
        ["--scale", "0.005", "--runs", "1", "--set", "discard=off", "--set", "prefill=40 MB,2 %"];
    let (code, json) = place.run("discard", &arguments);
    assert_eq!(code, 0, "{json:#}");
    assert_eq!(json["treatments"].as_array().unwrap().len(), 2);
    assert!(json["treatments"].as_array().unwrap().iter().all(|t| t["status"] == "ok"));
}

fn same_seed() {
    let place = Place::new();
    let trial_seed = |seed: &str| {
        let arguments = ["--scale", "0.01", "--runs", "1", "--seed", seed, "--set", "discard=off"];
        let (code, json) = place.run("discard", &arguments);
        assert_eq!(code, 0);
        json["treatments"][0]["trials"][0]["seed"].as_u64().unwrap()
    };
    assert_eq!(trial_seed("7"), trial_seed("7"));
    assert_ne!(trial_seed("7"), trial_seed("8"));
}

/// The kernel escapes blanks in its table of mounts.
fn blank_in_name() {
    let place = Place::new();
    let images = place.path("images").join("My Passport");
    fs::create_dir(&images).unwrap();
    let output = place
        .ssdlab(&["run", "discard", "--scale", "0.005", "--runs", "1", "--json", "--dir"])
        .arg(&images)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", shown(&output));
    assert_eq!(fs::read_dir(&images).unwrap().count(), 0);
    fs::remove_dir(&images).unwrap();
    assert_eq!(place.leftovers(), Vec::<String>::new());
}

fn device_lab() {
    let place = Place::new();
    let device = Loop::new(&place, "disk", 600);
    let arguments =
        ["run", "discard", "--json", "--scale", "0.01", "--runs", "2", "--device", &device.device];
    for _ in 0..2 {
        let output = place.ssdlab(&arguments).output().unwrap();
        assert!(output.status.success(), "{}", shown(&output));
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(json["lab"], "device");
        assert_eq!(json["treatments"].as_array().unwrap().len(), 3);
        // It was blank before and is blank again, so the next run needs no --wipe.
        assert_eq!(sh(&format!("wipefs --no-act {}", device.device)), "");
    }
    assert!(!fs::read_to_string("/proc/self/mounts").unwrap().contains(&device.device));
}

/// A folder with the program that nobody can use: this checkout and the temporary folder may be
/// private.
fn of_nobody() -> TempDir {
    let folder = tempfile::Builder::new().prefix("machine-test-").tempdir_in("/var/tmp").unwrap();
    fs::copy(ssdlab(), folder.path().join("ssdlab")).unwrap();
    fs::create_dir(folder.path().join("work")).unwrap();
    if rustix::process::geteuid().is_root() {
        sh(&format!("chown -R nobody {}", folder.path().display()));
    }
    folder
}

fn directory_lab() {
    let folder = of_nobody();
    let [run, data, work] = ["run", "data", "work"].map(|name| folder.path().join(name));
    let mut command = std::process::Command::new(folder.path().join("ssdlab"));
    command
        .args(["run", "discard", "--json", "--scale", "0.005", "--runs", "1"])
        .args(["--set", "filesystem=any", "--set", "discard=off,on"])
        // Two that can be compared.
        .args(["--set", "mount=defaults", "--set", "mount=rw", "--lab", "directory", "--dir"])
        .arg(&work)
        .env("XDG_STATE_HOME", &run)
        .env("XDG_DATA_HOME", &data);
    if rustix::process::geteuid().is_root() {
        command.uid(65534).gid(65534);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", shown(&output));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    // The directory has discard either on or off; the other level keeps its row.
    let mut states: Vec<_> =
        ["off", "on"].map(|level| &treatment(&json, "discard", level)["status"]).to_vec();
    states.sort_by_key(ToString::to_string);
    assert_eq!(states, ["ok", "unavailable"]);
    assert_eq!(fs::read_dir(&work).unwrap().count(), 0);
    // It is not traced, so there is no folder of traces.
    let results = data.join("ssdlab").join(json["run"].as_str().unwrap());
    assert!(results.join("records.jsonl").exists() && !results.join("requests").exists());
}

/// NEWCOMER.md, B7: an unwritable `--dir` failed 20 times over.
fn read_only_directory() {
    let folder = of_nobody();
    let [run, data, work] = ["run", "data", "work"].map(|name| folder.path().join(name));
    fs::set_permissions(&work, fs::Permissions::from_mode(0o555)).unwrap();
    for does in ["check", "run"] {
        let output = std::process::Command::new(folder.path().join("ssdlab"))
            .args([does, "discard", "--runs", "2", "--set", "filesystem=any"])
            .args(["--set", "discard=off", "--set", "mount=defaults", "--set", "mount=rw"])
            .args(["--lab", "directory", "--dir"])
            .arg(&work)
            .env("XDG_STATE_HOME", &run)
            .env("XDG_DATA_HOME", &data)
            .uid(65534)
            .gid(65534)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{does}: {}", shown(&output));
        assert!(said.contains("cannot write into the directory"), "{does}: {said}");
        assert_eq!(said.matches("Permission denied").count(), 1, "{does}: {said}");
        assert!(output.stdout.is_empty() && !data.exists(), "{does}: {}", shown(&output));
    }
    assert_eq!(fs::read_dir(&work).unwrap().count(), 0);
}

fn image_lab_needs_root() {
    let folder = of_nobody();
    let output = std::process::Command::new(folder.path().join("ssdlab"))
        .args(["run", "discard", "--lab", "image"])
        .env("XDG_STATE_HOME", folder.path().join("run"))
        .env("XDG_DATA_HOME", folder.path().join("data"))
        .uid(65534)
        .gid(65534)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(4), "{}", shown(&output));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--lab directory"));
    assert!(!folder.path().join("data").exists());
}

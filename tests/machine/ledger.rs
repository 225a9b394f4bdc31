//! The write ledger of the image lab: the requests that the kernel records add up to its counters.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::support::{Loop, Mounted, Place, number, phases, sh, shown, treatment};
use super::{Case, case};

pub fn cases() -> Vec<Case> {
    vec![
        case("kinds_add_up_to_the_devices_counter", kinds_add_up),
        case("access_times_and_the_journal_are_told_apart", atime_and_journal),
        case("the_journals_share_is_what_jbd2_has_logged", jbd2),
        case("causes_add_up_and_are_the_workloads", causes_add_up),
        case("the_readers_access_times_are_its_own", reader),
        case("what_others_write_beside_a_directory_is_theirs", others),
        case("an_untraced_run_has_layers_and_no_kinds", untraced),
    ]
}

/// Writes, reads with strict access times, and deletes.
const PLAN: &str = r#"
    name = "ledger"
    question = "What is written?"
    metric = "written_bytes"
    [target]
    size = "1 GiB"
    [factors]
    filesystem = ["ext2", "ext3", "ext4", "xfs", "btrfs"]
    [baseline]
    filesystem = "ext4"
    [workload]
    tree = { files = 3000, size = "40 MB" }
    phases = [
        { do = "unpack", sync = true },
        { do = "command", name = "read", sync = true, run = [
            "sh", "-c", "cat $(find . -type f) >/dev/null",
        ] },
        { do = "delete", sync = true },
    ]
"#;

/// The bytes of all kinds, and of each.
fn kinds(phase: &Value) -> (u64, impl Fn(&str) -> u64) {
    let kinds = phase["ledger"]["by_kind"].as_object();
    let kinds = kinds.unwrap_or_else(|| panic!("{}", phase["ledger"]["reason"])).clone();
    let sum = kinds.values().map(|written| written["bytes"].as_u64().unwrap()).sum();
    (sum, move |kind: &str| kinds[kind]["bytes"].as_u64().unwrap())
}

fn kinds_add_up() {
    let place = Place::new();
    let plan = place.plan(PLAN);
    let (code, json) = place.run(&plan, &["--runs", "2"]);
    assert_eq!(code, 0, "{json:#}");
    for treatment in json["treatments"].as_array().unwrap() {
        let filesystem = treatment["levels"]["filesystem"].as_str().unwrap();
        let (mut all, mut unattributed) = (0, 0);
        for phase in phases(treatment) {
            let (sum, of) = kinds(phase);
            assert_eq!(sum, phase["written_bytes"], "{filesystem}: {phase:#}");
            all += sum;
            unattributed += of("unattributed");
            let device = &phase["ledger"]["by_layer"]["device"];
            assert_eq!(device["requests"], phase["write_requests"]);
        }
        let most = if filesystem.starts_with("ext") { 1 } else { 5 };
        assert!(unattributed * 100 <= all * most, "{filesystem}: {unattributed} of {all}");
        let (_, of) = kinds(&phases(treatment)[0]);
        // 40 MB, in blocks; btrfs keeps small files in its trees.
        assert!((30_000_000..60_000_000).contains(&of("data")), "{filesystem}: {}", of("data"));
        let has_journal = ["ext3", "ext4", "xfs"].contains(&filesystem);
        assert_eq!(of("journal") > 0, has_journal, "{filesystem}");
        assert_eq!(of("cow_metadata") > 0, filesystem == "btrfs");
    }
    assert_eq!(place.leftovers(), [""; 0]);
    let logs = fs::read_dir(place.path("data/ssdlab")).unwrap().flatten().next().unwrap();
    assert_eq!(fs::read_dir(logs.path().join("requests")).unwrap().count(), 10);
}

/// The bytes of all causers, and of each.
fn causes(phase: &Value) -> (u64, impl Fn(&str) -> u64) {
    let causes = phase["ledger"]["by_cause"].as_object();
    let causes = causes.unwrap_or_else(|| panic!("{}", phase["ledger"]["cause_reason"])).clone();
    let sum = causes.values().map(|bytes| bytes.as_u64().unwrap()).sum();
    (sum, move |who: &str| causes[&format!("{who}_bytes")].as_u64().unwrap())
}

const COPIED_AND_REMOUNTED: &str = r#"
        { do = "command", name = "copy", sync = true, run = [
            "sh", "-c", "cp -r . ../copy; rm -r ../copy",
        ] },
        { do = "remount" },
        { do = "command", name = "again", sync = true, run = ["sh", "-c", "cp -r . ../copy"] },
        { do = "delete", sync = true, cold = true },
"#;

/// Also of programs that the workload runs, and after a remount.
fn causes_add_up() {
    let place = Place::new();
    let plan = PLAN.replace("{ do = \"delete\", sync = true },", COPIED_AND_REMOUNTED);
    let (code, json) = place.run(&place.plan(&plan), &["--runs", "1"]);
    assert_eq!(code, 0, "{json:#}");
    for treatment in json["treatments"].as_array().unwrap() {
        let filesystem = treatment["levels"]["filesystem"].as_str().unwrap();
        for phase in phases(treatment) {
            let (sum, of) = causes(phase);
            let name = phase["name"].as_str().unwrap();
            assert_eq!(sum, phase["written_bytes"], "{filesystem}: {phase:#}");
            assert_eq!(of("unseen") + of("others") + of("reader"), 0, "{filesystem} {phase:#}");
            // The superblock and what a commit writes for nobody are left.
            if ["unpack", "copy", "again", "delete"].contains(&name) {
                let own = of("workload");
                assert!(own * 100 >= sum * 90, "{filesystem} {name}: {own} of {sum}");
            }
        }
    }
    assert_eq!(place.leftovers(), [""; 0]);
}

/// A reader beside a phase changes access times, if they are kept, and nothing else.
fn reader() {
    let place = Place::new();
    let plan = place.plan(
        r#"
        name = "reader"
        question = "Who keeps access times?"
        metric = "written_bytes"
        [target]
        size = "1 GiB"
        [factors]
        filesystem = "ext4"
        atime = ["strictatime", "noatime"]
        [workload]
        phases = [
            { do = "command", name = "wait", reader = true, sync = true, run = ["sleep", "2"] },
        ]
        "#,
    );
    let (code, json) = place.run(&plan, &["--runs", "1"]);
    assert_eq!(code, 0, "{json:#}");
    for treatment in json["treatments"].as_array().unwrap() {
        let (sum, of) = causes(&phases(treatment)[0]);
        assert_eq!(sum, phases(treatment)[0]["written_bytes"]);
        assert_eq!(of("reader") > 0, treatment["levels"]["atime"] == "strictatime");
        assert_eq!(of("workload") + of("others") + of("unseen"), 0, "{treatment:#}");
    }
}

/// In a directory of a filesystem that is in use the counter is everybody's.
fn others() {
    let place = Place::new();
    let image = Loop::new(&place, "shared", 512);
    let now = "lazy_itable_init=0,lazy_journal_init=0";
    sh(&format!("mkfs.ext4 -q -E {now} {}", image.device));
    let mounted = Mounted::new(&image.device, &place);
    sh(&format!("mount -o remount,rw {}", mounted.path("").display()));
    let plan = place.plan(
        r#"
        name = "directory"
        question = "Whose are the bytes?"
        metric = "workload_bytes"
        [target]
        lab = "directory"
        [factors]
        filesystem = "any"
        [workload]
        phases = [
            { do = "io", io = {
                size = "16 MiB", operations = 300, sync = "every 1 write", rate = "200/s",
            } },
        ]
        "#,
    );
    let run = || {
        let folder = mounted.path("").display().to_string();
        let arguments = ["run", &plan, "--json", "--runs", "1", "--dir", &folder];
        let output = place.ssdlab(&arguments).output().unwrap();
        assert!(output.status.success(), "{}", shown(&output));
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        let phase = phases(&json["treatments"][0])[0].clone();
        let (sum, of) = causes(&phase);
        assert_eq!(sum, phase["written_bytes"], "{phase:#}");
        assert_eq!(of("unseen"), 0, "{phase:#}");
        (of("workload"), of("others"))
    };
    let (alone, others) = run();
    assert_eq!(others, 0);
    // It ends of its own accord, as a dd that outlives the shell would keep the filesystem busy.
    let [noise, running] = [mounted.path("noise"), place.path("running")];
    fs::write(&running, "").unwrap();
    let script = format!(
        "while [ -e {} ]; do dd if=/dev/zero of={} bs=1M count=2 conv=fsync; done",
        running.display(),
        noise.display()
    );
    let mut writer =
        Command::new("sh").args(["-c", &script]).stderr(Stdio::null()).spawn().unwrap();
    let (beside, others) = run();
    fs::remove_file(running).unwrap();
    writer.wait().unwrap();
    assert!(others > 1_000_000, "{others}");
    // Its data are the same; a sync commits its inode with what others changed, too.
    assert!((alone..4 * alone).contains(&beside), "{beside} beside others, {alone} alone");
}

/// Reading changes only inodes, and only if access times are kept.
fn atime_and_journal() {
    let place = Place::new();
    let levels = "filesystem = [\"ext4\"]\natime = [\"strictatime\", \"noatime\"]\n\
                  journal = [\"on\", \"off\"]";
    let filesystems = r#"filesystem = ["ext2", "ext3", "ext4", "xfs", "btrfs"]"#;
    let plan = place.plan(&PLAN.replace(filesystems, levels));
    let (code, json) = place.run(&plan, &["--runs", "1"]);
    assert_eq!(code, 0, "{json:#}");
    for treatment in json["treatments"].as_array().unwrap() {
        let level = |factor: &str| treatment["levels"][factor].as_str().unwrap().to_owned();
        let (sum, of) = kinds(&phases(treatment)[1]);
        assert_eq!(of("data") + of("directory"), 0, "{treatment:#}");
        assert_eq!(of("inode") > 100_000, level("atime") == "strictatime", "{sum}");
        let is_journaled = level("atime") == "strictatime" && level("journal") == "on";
        assert_eq!(of("journal") > 100_000, is_journaled);
    }
}

/// The journal counts the blocks it logs as a mean over its transactions, rounded down.
fn jbd2() {
    let place = Place::new();
    let note = |name: &str| {
        let path = place.path(name).display().to_string();
        let device = "$(basename $(findmnt --noheadings --output SOURCE --target .))";
        format!(
            "{{ do = \"command\", name = \"{name}\", \
             run = [\"sh\", \"-c\", \"cat /proc/fs/jbd2/{device}-8/info > {path}\"] }}"
        )
    };
    let plan = format!(
        r#"
        name = "jbd2"
        question = "Is the journal's share what it says itself?"
        metric = "written_bytes"
        [target]
        size = "2 GiB"
        [factors]
        filesystem = ["ext4"]
        [workload]
        tree = {{ files = 30_000, size = "60 MB" }}
        phases = [{}, {{ do = "unpack", sync = true }}, {}]
        "#,
        note("info_before"),
        note("info_after")
    );
    let (code, json) = place.run(&place.plan(&plan), &["--runs", "1"]);
    assert_eq!(code, 0, "{json:#}");
    let [before, after] = ["info_before", "info_after"].map(|name| logged(&place.path(name)));
    let of_filesystem = treatment(&json, "filesystem", "ext4");
    let (_, of) = kinds(&phases(of_filesystem)[1]);
    let commits = number(of_filesystem, "unpack", "commits");
    assert_eq!(commits, after.transactions - before.transactions);
    let blocks = after.blocks - before.blocks;
    // The journal also contains its superblock.
    let journal = of("journal") / 4096;
    let slack = after.transactions + before.transactions + blocks / 100;
    assert!(blocks > 1_000, "{blocks}");
    assert!(journal.abs_diff(blocks) <= slack, "{journal} blocks written, {blocks} logged");
}

struct Logged {
    transactions: u64,
    blocks: u64,
}

fn logged(info: &Path) -> Logged {
    let text = fs::read_to_string(info).unwrap();
    let number = |line: &str| line.split_whitespace().next().unwrap().parse().unwrap();
    let of = |what: &str| number(text.lines().find(|line| line.contains(what)).unwrap());
    let transactions: u64 = of("transactions (");
    Logged { transactions, blocks: transactions * of("logged blocks per transaction") }
}

fn untraced() {
    let place = Place::new();
    let plan = place.plan(PLAN);
    let (code, json) = place.run(&plan, &["--runs", "1", "--no-trace", "--set", "filesystem=ext4"]);
    assert_eq!(code, 0, "{json:#}");
    for phase in phases(treatment(&json, "filesystem", "ext4")) {
        let ledger = &phase["ledger"];
        assert!(ledger["by_kind"].is_null() && ledger["reason"].is_null());
        assert!(ledger["by_cause"].is_null());
        assert_eq!(ledger["by_layer"]["device"]["bytes"], phase["written_bytes"]);
    }
    assert_eq!(sh(&format!("find {} -name '*.requests'", place.path("data").display())), "");
}

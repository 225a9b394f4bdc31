//! What `ssdlab restore` undoes, and what it leaves alone because it belongs to others.

use std::ffi::OsStr;
use std::fs;
use std::mem;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::process::Stdio;

use super::support::{Loop, Place, Process, said, sh, shown};
use super::{Case, Needs, case};
use crate::program::ssdlab;

pub fn cases() -> Vec<Case> {
    vec![
        case("names_that_are_not_utf_8_are_in_nobodys_way", odd_names),
        case("what_others_mount_over_a_run_s_mount_is_left_alone", mounted_over),
        case("a_mount_inside_a_run_s_mount_is_named", mounted_inside),
        case("a_setting_of_another_disk_is_left_alone", other_disk),
        case("a_loop_device_over_another_file_of_the_same_name_is_left_alone", other_loop),
        Case::new(
            "who_keeps_a_loop_device_attached_is_named",
            Needs::RootAnd("mkfs.btrfs"),
            kept_attached,
        ),
        Case::new(
            "the_journal_and_the_folders_made_for_it_are_on_the_disk_before_a_change",
            Needs::Strace,
            synced_journal,
        ),
        Case::new(
            "programs_are_not_looked_for_where_one_happens_to_be",
            Needs::Strace,
            relative_path,
        ),
    ]
}

const SLEEPS: &str = r#"
    name = "sleeps"
    question = "?"
    [factors]
    filesystem = ["ext4"]
    [workload]
    phases = [{ do = "command", run = "sleep 4321" }]
"#;

/// Runs on any filesystem, however it is mounted.
const ANYWHERE: &str = r#"
    name = "anywhere"
    question = "?"
    [factors]
    filesystem = "any"
    [workload]
    tree = { files = 100, size = "1 MB" }
    phases = [{ do = "unpack", sync = true }]
"#;

/// Runs a script in a separate mount namespace, with the program as `$0` and a place as `$1`: a
/// mount with such a name would disturb other programs on this machine.
fn alone(place: &Place, script: &str) -> String {
    let mut command = place.program("unshare");
    command.args(["--mount", "--propagation", "private", "sh", "-euc", script]);
    command.arg(ssdlab()).arg(place.path(""));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", shown(&output));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Starts a run whose command sleeps, waits until it is mounted, and kills it.
const KILLED: &str = r#"
    "$0" run "$1/plan.toml" --dir "$1/images" >/dev/null 2>&1 & run=$!
    until pgrep -x -f 'sleep 4321' >/dev/null; do
        grep -q 'State:.[RSD]' "/proc/$run/status"
        sleep 0.05
    done
    mnt=$(find "$XDG_STATE_HOME/ssdlab/undo" -maxdepth 2 -name mnt)
    mountpoint -q "$mnt"
    kill -9 $run
    wait $run 2>/dev/null || true
"#;

fn odd_names() {
    let place = Place::new();
    place.plan(SLEEPS);
    fs::write(place.path("anywhere.toml"), ANYWHERE).unwrap();
    let script = r#"
        cd "$1"
        odd=$(printf 'odd \377')
        mkdir "$odd" dir
        mount -t tmpfs tmpfs "$odd"
        ln -s "$odd" plain
        "#
    .to_owned()
        + r#"
        "$0" run anywhere.toml --runs 1 --lab directory --dir dir
        "$0" run anywhere.toml --runs 1 --lab directory --dir plain
        "$0" run discard --scale 0.01 --runs 1 --set filesystem=ext4 --dir plain
        export XDG_STATE_HOME="$1/$odd/state"
        "$0" run discard --scale 0.01 --runs 1 --set filesystem=ext4 --dir plain
        rmdir images && ln -s plain images
    "# + KILLED
        + r#"
        "$0" restore
        if losetup --list | grep "$1"; then exit 1; fi
        if ls "$XDG_STATE_HOME/ssdlab/undo" plain | grep ssdlab-; then exit 1; fi
        if "$0" run discard --lab directory --dir "$odd" 2>said; then exit 1; fi
        cat said
    "#;
    let said = alone(&place, &script);
    assert!(said.contains(" 0 failed"), "{said}");
    assert!(said.contains("not UTF-8"), "{said}");
}

fn mounted_over() {
    let place = Place::new();
    place.plan(SLEEPS);
    let script = KILLED.to_owned()
        + r#"
        mount -t tmpfs theirs "$mnt"
        echo theirs >"$mnt/file"
        "$0" restore && exit 1
        cat "$mnt/file"
        umount "$mnt"
        "$0" restore
    "#;
    let said = alone(&place, &script);
    assert!(said.contains("theirs\n"), "{said}");
    assert_eq!(place.leftovers(), Vec::<String>::new());
}

fn mounted_inside() {
    let place = Place::new();
    place.plan(SLEEPS);
    let script = KILLED.to_owned()
        + r#"
        mkdir "$mnt/inner"
        mount -t tmpfs theirs "$mnt/inner"
        "$0" restore 2>&1 && exit 1
        umount "$mnt/inner"
        "$0" restore
    "#;
    let said = alone(&place, &script);
    // Long lines are wrapped for people.
    let words: String = said.replace('│', "").split_whitespace().collect();
    assert!(words.contains("mnt/innerismountedinit"), "{said}");
    assert_eq!(place.leftovers(), Vec::<String>::new());
}

/// Restores a change made since boot, from a journal in the previous version's format.
fn restore(place: &Place, change: &str) {
    let journal = journal(place, change);
    let output = place.ssdlab(&["restore"]).output().unwrap();
    assert!(output.status.success(), "{}", shown(&output));
    assert!(!journal.exists());
}

fn journal(place: &Place, change: &str) -> PathBuf {
    let folder = place.path("run/ssdlab/undo");
    fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder).unwrap();
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let journal = folder.join("1-dead.undo");
    fs::write(&journal, format!("{{\"boot\":\"{}\"}}\n{change}\n", boot.trim())).unwrap();
    journal
}

fn other_loop() {
    let place = Place::new();
    let theirs = Loop::new(&place, "disk.img", 16);
    let attached_after = |file: &str| {
        let (device, backing) = (&theirs.device, &theirs.backing);
        let change = format!(r#"{{"loop":{{"device":"{device}","backing":"{backing}"{file}}}}}"#);
        restore(&place, &change);
        let list = "losetup --list --noheadings --output BACK-FILE";
        sh(&format!("{list} {device} 2>/dev/null || true")).trim() == backing
    };
    assert!(attached_after(r#","file":{"filesystem":1,"inode":1}"#));
    // Earlier versions recorded only its name.
    assert!(!attached_after(""));
}

fn kept_attached() {
    let kept = [
        ("exec 3<DISK", "HOLDER still has it open"),
        (
            "mkfs.ext4 -q DISK; exec unshare --mount sh -ec 'mount DISK MNT; exec sleep 600'",
            "it is still mounted on MNT in the mount namespace of HOLDER",
        ),
        (
            "mkfs.btrfs -q DISK; exec unshare --mount sh -ec 'mount DISK MNT; exec sleep 600'",
            "it is still mounted on MNT in the mount namespace of HOLDER",
        ),
        // The last, so that no namespace gets a copy of it.
        ("mkfs.ext4 -q DISK; mount -o ro DISK MNT", "it is still mounted on MNT"),
    ];
    // Concurrently: each waits for some time before it gives up.
    let restoring = kept.map(|(script, message)| {
        let place = Place::new();
        let mnt = place.path("mnt");
        fs::create_dir(&mnt).unwrap();
        let mnt = mnt.display().to_string();
        let disk = Loop::new(&place, "disk.img", 128);
        let (device, backing) = (&disk.device, &disk.backing);
        let process = Process::holding(&script.replace("DISK", device).replace("MNT", &mnt));
        let message = message.replace("HOLDER", &process.named()).replace("MNT", &mnt);
        let change = format!(r#"{{"loop":{{"device":"{device}","backing":"{backing}"}}}}"#);
        let journal = journal(&place, &change);
        let restore = place.ssdlab(&["restore"]).stderr(Stdio::piped()).spawn().unwrap();
        (restore, message, journal, mnt, process, disk, place)
    });
    for (restore, message, journal, mnt, process, disk, place) in restoring {
        let output = restore.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        let message = format!("cannot detach {}: {message} help: stop", disk.device);
        assert!(said(&output).contains(&message), "no `{message}` in: {}", shown(&output));
        // As it says, what has been stopped is in nobody's way.
        drop(process);
        sh(&format!("umount {mnt} 2>/dev/null || true"));
        let output = place.ssdlab(&["restore"]).output().unwrap();
        assert!(output.status.success(), "{}", shown(&output));
        assert!(!journal.exists());
        // Another's may have its name by now.
        mem::forget(disk);
    }
}

fn other_disk() {
    let place = Place::new();
    let disk = Loop::new(&place, "disk.img", 16);
    let folder = PathBuf::from("/sys/block").join(disk.name()).canonicalize().unwrap();
    let attribute = folder.join("queue/iostats");
    let restored_by = |number: &str| {
        fs::write(&attribute, "1").unwrap();
        let path = attribute.display();
        let values = r#""before":"0","after":"1""#;
        restore(&place, &format!(r#"{{"sysfs":{{"path":"{path}",{values}{number}}}}}"#));
        fs::read_to_string(&attribute).unwrap().trim() == "0"
    };
    let number = fs::read_to_string(folder.join("diskseq")).unwrap();
    assert!(!restored_by(r#","disk":"0""#));
    assert!(restored_by(&format!(r#","disk":"{}""#, number.trim())));
    assert!(restored_by(""), "earlier versions have not noted the disk");
}

fn synced_journal() {
    let place = Place::new();
    let (state, log) = (place.path("a/b"), place.path("strace"));
    let folder = place.path("here");
    fs::create_dir(&folder).unwrap();
    let mut command = place.program("strace");
    command.args(["-f", "-y", "-e", "trace=mkdir,mkdirat,fsync,unlink,unlinkat", "-o"]).arg(&log);
    command.arg(ssdlab()).args([
        "run",
        &place.plan(ANYWHERE),
        "--runs",
        "1",
        "--lab",
        "directory",
        "--dir",
    ]);
    command.arg(&folder);
    command.env("XDG_STATE_HOME", &state);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", shown(&output));
    let log = fs::read_to_string(log).unwrap();
    let find = |what: &str, path: &PathBuf, from: usize| {
        let wanted = format!("{}>", path.display());
        let mut lines = log.lines().enumerate().skip(from);
        let is_it = |line: &str| line.contains(what) && line.contains(&wanted);
        lines.find(|(_, line)| is_it(line)).unwrap_or_else(|| panic!("no {what} of {wanted}")).0
    };
    let undo = state.join("ssdlab/undo");
    let made = log.lines().position(|line| {
        line.contains("mkdir") && line.contains(&format!("{}/ssdlab-", folder.display()))
    });
    let made = made.expect("a folder is made for the trial");
    for parent in
        [place.path(""), place.path("a"), state.clone(), state.join("ssdlab"), undo.clone()]
    {
        let parent = parent.components().collect();
        assert!(find("fsync(", &parent, 0) < made, "{}", parent.display());
    }
    let removed = log.lines().position(|line| line.contains("unlink") && line.contains(".undo\""));
    find("fsync(", &undo, removed.expect("the journal is removed"));
}

/// `record` needs strace, and somebody has planted one in the current folder.
fn relative_path() {
    let place = Place::new();
    let folder = place.path("images");
    let script = "#!/bin/sh\n: >searched\n";
    fs::write(folder.join("strace"), script).unwrap();
    sh(&format!("chmod +x {}/strace", folder.display()));
    for path in ["", ":/nowhere", ".:/nowhere", "../images:/nowhere"] {
        let mut command = place.ssdlab(&["record", "--out", "../log", "--", "true"]);
        command.env("PATH", OsStr::from_bytes(path.as_bytes())).current_dir(&folder);
        let output = command.output().unwrap();
        assert!(!folder.join("searched").exists(), "{path:?}: {}", shown(&output));
    }
}

//! Failures are recorded with their reason and keep their row; the run continues.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use serde_json::Value;

use super::support::{Place, file, said, shown, treatment};
use super::{Case, case};
use crate::program::ssdlab;

pub fn cases() -> Vec<Case> {
    vec![
        case("a_full_disk_fails_its_trial_and_the_run_goes_on", full_disk),
        case("a_failing_mkfs_fails_its_trials", failing_mkfs),
        case("a_missing_mkfs_is_unavailable_and_names_its_package", missing_mkfs),
        case("without_proc_or_sys_the_reason_is_said", without_kernel_folders),
        case("a_workload_that_fails_or_hangs_is_recorded", failing_command),
        case("a_daemon_that_a_workload_leaves_behind_is_ended", daemon),
        case("an_image_that_vanishes_fails_its_trial", vanishing_image),
    ]
}

fn tree_plan(place: &Place, phases: &str) -> String {
    place.plan(&format!(
        r#"
        name = "failing"
        question = "What happens when it fails?"
        [target]
        size = "64 MiB"
        [factors]
        filesystem = ["ext2", "ext4"]
        [workload]
        tree = {{ files = 10, size = "100 kB" }}
        phases = [{phases}]
    "#
    ))
}

fn reasons(json: &Value) -> Vec<String> {
    let all = json["treatments"].as_array().unwrap();
    all.iter().map(|t| t["reason"].as_str().unwrap_or("").to_owned()).collect()
}

fn full_disk() {
    let place = Place::new();
    let fill = r#"{ do = "unpack", sync = true }, { do = "command", name = "fill", run = [
        "sh", "-c", "[ $(stat -f -c %T .) != ext2/ext3 ] || dd if=/dev/zero of=big bs=1M",
    ] }"#;
    let (code, json) = place.run(&tree_plan(&place, fill), &["--runs", "1"]);
    assert_eq!(code, 1);
    assert_eq!(json["status"], "complete");
    assert!(reasons(&json).iter().all(|reason| reason.contains("No space left")), "{json:#}");
    // What had been measured before is kept.
    assert_eq!(json["treatments"][0]["trials"][0]["phases"][0]["name"], "unpack");
    assert_eq!(place.leftovers(), Vec::<String>::new());
}

fn stub(place: &Place, script: &str) -> String {
    let folder = place.path("bin");
    fs::create_dir_all(&folder).unwrap();
    file(&folder.join("mkfs.ext4"), script);
    let executable = fs::Permissions::from_mode(0o755);
    fs::set_permissions(folder.join("mkfs.ext4"), executable).unwrap();
    format!("{}:{}", folder.display(), std::env::var("PATH").unwrap())
}

fn failing_mkfs() {
    let place = Place::new();
    let path = stub(&place, "#!/bin/sh\necho 'no luck today' >&2\nexit 7\n");
    let plan = tree_plan(&place, r#"{ do = "unpack", sync = true }"#);
    let images = place.path("images").display().to_string();
    let output = place
        .ssdlab(&["run", &plan, "--json", "--runs", "2", "--dir", &images])
        .env("PATH", path)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let failed = treatment(&json, "filesystem", "ext4");
    assert_eq!(
        (&failed["status"], failed["trials"].as_array().unwrap().len()),
        (&"failed".into(), 2)
    );
    let reason = failed["reason"].as_str().unwrap();
    assert!(reason.contains("exit code 7") && reason.contains("no luck today"), "{reason}");
    assert_eq!(treatment(&json, "filesystem", "ext2")["status"], "ok");
    assert_eq!(place.leftovers(), Vec::<String>::new());
}

fn missing_mkfs() {
    let place = Place::new();
    let images = place.path("images").display().to_string();
    let mut ssdlab = place.ssdlab(&["run", "discard", "--json", "--scale", "0.005", "--runs", "1"]);
    ssdlab.args(["--set", "discard=off", "--set", "filesystem=ext4,xfs", "--dir", &images]);
    // In a separate mount namespace, where a file that is no program hides mkfs.xfs.
    let hide =
        "mount --bind /dev/null $(command -v mkfs.xfs || echo /usr/sbin/mkfs.xfs); exec \"$@\"";
    let mut hidden = Command::new("unshare");
    hidden.args(["--mount", "sh", "-ec", hide, "sh"]).arg(ssdlab.get_program());
    hidden.args(ssdlab.get_args());
    hidden.envs(ssdlab.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = hidden.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", shown(&output));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let xfs = treatment(&json, "filesystem", "xfs");
    assert_eq!(xfs["status"], "unavailable");
    assert!(xfs["reason"].as_str().unwrap().contains("package xfsprogs"), "{}", xfs["reason"]);
    assert_eq!(treatment(&json, "filesystem", "ext4")["status"], "ok");
}

fn without_kernel_folders() {
    let place = Place::new();
    for folder in ["/proc", "/sys"] {
        let hide = format!("mount -t tmpfs tmpfs {folder}; exec \"$@\"");
        let mut command = place.program("unshare");
        command.args(["--mount", "sh", "-ec", &hide, "sh", ssdlab()]);
        let images = place.path("images");
        let output = command.args(["run", "discard", "--dir"]).arg(images).output().unwrap();
        assert_eq!(output.status.code(), Some(4), "{}", shown(&output));
        assert!(said(&output).contains(&format!("{folder} is not mounted here")));
    }
    assert_eq!(place.leftovers(), Vec::<String>::new());
}

fn failing_command() {
    let place = Place::new();
    let phases = r#"{ do = "command", run = "sh -c 'echo went wrong >&2; exit 9'" }"#;
    let (code, json) = place.run(&tree_plan(&place, phases), &["--runs", "1"]);
    assert_eq!(code, 1);
    assert!(reasons(&json).iter().all(|reason| reason.contains("went wrong")), "{json:#}");
    let phases = r#"{ do = "command", run = "sleep 600", limit = "200 ms" }"#;
    let (code, json) = place.run(&tree_plan(&place, phases), &["--runs", "1"]);
    assert_eq!(code, 1);
    assert!(reasons(&json).iter().all(|reason| reason.contains("still running after 200ms")));
    assert_eq!(place.leftovers(), Vec::<String>::new());
}

fn daemon() {
    let place = Place::new();
    // It keeps the filesystem busy from its own session.
    let phases = r#"{ do = "command", run = [
        "sh", "-c", "setsid sleep 600 </dev/null >/dev/null 2>&1 & echo started",
    ] }"#;
    let (code, json) = place.run(&tree_plan(&place, phases), &["--runs", "1"]);
    assert_eq!(code, 0, "{json:#}");
    assert_eq!(place.leftovers(), Vec::<String>::new());
}

fn vanishing_image() {
    let place = Place::new();
    let images = place.path("images").display().to_string();
    let truncate = format!(
        r#"{{ do = "command", name = "vanish", run = [
            "sh", "-c", "truncate -s 0 {images}/*/disk.img",
        ] }}, {{ do = "remount" }}"#
    );
    let (code, json) = place.run(&tree_plan(&place, &truncate), &["--runs", "1"]);
    assert_eq!(code, 1, "{json:#}");
    assert_eq!(json["status"], "complete");
    assert_eq!(place.leftovers(), Vec::<String>::new());
}

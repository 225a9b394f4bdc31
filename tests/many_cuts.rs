//! Thousands of power cuts find each flush that a kernel leaves out, and nothing where a kernel and
//! a drive do what they should.

use std::env;
use std::fs;
use std::iter;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

const SOURCE: &str = "/usr/src/linux-source-6.1.tar.xz";

/// The kernel without a fault.
const INTACT: &str = "intact";

/// Cuts under each kernel, and states of each that are examined: no more than 1,000.
const CUTS: &str = "{ number = 200, survivors = 4 }";

/// Cuts of each filesystem under the lab kernel, unless `$SSDLAB_CUTS` says how many.
const MANY_CUTS: u32 = 10_000;

/// Records and replaced files, all synced: so few that most flushes and promises are cut at.
const FEW_SYNCED: &str = r#"
    { do = "append", append = { records = 20, sync_every = 2, think = "20 ms" } },
    { do = "replace", replace = { files = 4, rounds = 2, sync = "file and directory" } },
"#;

/// The same, and more of both.
const SYNCED: &str = r#"
    { do = "append", append = { records = 60, sync_every = 5, think = "20 ms" } },
    { do = "replace", replace = { files = 5, rounds = 8, sync = "file and directory" } },
"#;

/// One line of the kernel, as it is and as it becomes.
struct Change {
    kernel: &'static str,
    filesystem: &'static str,
    file: &'static str,
    line: &'static str,
    instead: &'static str,
}

/// Flushes that are left out.
const FAULTS: [Change; 6] = [
    Change {
        kernel: "jbd2-without-preflush",
        filesystem: "ext4",
        file: "fs/jbd2/commit.c",
        line: "write_flags |= REQ_PREFLUSH | REQ_FUA;",
        instead: "write_flags |= REQ_FUA;",
    },
    Change {
        kernel: "jbd2-without-fua",
        filesystem: "ext4",
        file: "fs/jbd2/commit.c",
        line: "write_flags |= REQ_PREFLUSH | REQ_FUA;",
        instead: "write_flags |= REQ_PREFLUSH;",
    },
    Change {
        kernel: "xfs-log-without-preflush",
        filesystem: "xfs",
        file: "fs/xfs/xfs_log.c",
        line: "iclog->ic_bio.bi_opf |= REQ_PREFLUSH;",
        instead: "iclog->ic_bio.bi_opf |= 0;",
    },
    Change {
        kernel: "xfs-log-without-fua",
        filesystem: "xfs",
        file: "fs/xfs/xfs_log.c",
        line: "iclog->ic_bio.bi_opf |= REQ_FUA;",
        instead: "iclog->ic_bio.bi_opf |= 0U;",
    },
    Change {
        kernel: "btrfs-super-without-flush",
        filesystem: "btrfs",
        file: "fs/btrfs/disk-io.c",
        line: "do_barriers = !btrfs_test_opt(fs_info, NOBARRIER);",
        instead: "do_barriers = 0;",
    },
    Change {
        kernel: "btrfs-super-without-fua",
        filesystem: "btrfs",
        file: "fs/btrfs/disk-io.c",
        line: "bio->bi_opf |= REQ_FUA;",
        instead: "bio->bi_opf |= 0;",
    },
];

/// The first node that f2fs writes after a checkpoint has the number 0, and a sync takes 0 to mean
/// that it has nothing to wait for.
const MENDED: Change = Change {
    kernel: "f2fs-that-waits",
    filesystem: "f2fs",
    file: "fs/f2fs/node.c",
    line: "fn->seq_id = sbi->fsync_seg_id++;",
    instead: "fn->seq_id = ++sbi->fsync_seg_id;",
};

/// The folder of the test: `$SSDLAB_CUT_TEST`, which keeps the kernels for another time, or a new
/// one.
fn folder(new: &Path) -> PathBuf {
    env::var_os("SSDLAB_CUT_TEST").map_or_else(|| new.to_owned(), PathBuf::from)
}

/// Makes one change, or none, in a tree that may have another from an interrupted test.
fn plant(tree: &Path, wanted: Option<&Change>) {
    let replace = |file: &str, old: &str, new: &str| {
        let path = tree.join(file);
        let text = fs::read_to_string(&path).unwrap();
        if text.contains(old) {
            fs::write(&path, text.replace(old, new)).unwrap();
        }
    };
    let all = || FAULTS.iter().chain([&MENDED]);
    for Change { file, line, instead, .. } in all() {
        replace(file, instead, line);
    }
    for Change { file, line, .. } in all() {
        let text = fs::read_to_string(tree.join(file)).unwrap();
        assert_eq!(text.matches(line).count(), 1, "{file}: {line}");
    }
    if let Some(Change { file, line, instead, .. }) = wanted {
        replace(file, line, instead);
    }
}

/// Builds a kernel beside the plans, in a tree that all share, unless it is there.
fn build(folder: &Path, name: &str, change: Option<&Change>) {
    let kernel = folder.join(name);
    if kernel.exists() {
        return;
    }
    let output = folder.join("build");
    if output.join(".source").exists() {
        plant(&output.join("tree"), change);
        // The script looks at its own source only.
        let _ = fs::remove_file(output.join(".done"));
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernel/build");
    let made = Command::new(script).arg(SOURCE).arg(&output).stdout(Stdio::null()).status();
    assert!(made.unwrap().success());
    fs::copy(output.join("linux"), folder.join("unfinished")).unwrap();
    fs::rename(folder.join("unfinished"), kernel).unwrap();
}

/// Cuts the power of each treatment, in trials with the same seeds: its levels, and what was found.
fn cut(folder: &Path, cuts: &str, seeds: u32, factors: &str, phases: &str) -> Vec<(Value, Value)> {
    let plan = format!(
        r#"
        name = "many-cuts"
        question = "Is everything there that was synced?"
        cuts = {cuts}
        workload = {{ phases = [{phases}] }}
        [virtual]
        capacity = "3 GB"
        seeds = {seeds}
        [factors]
        drive = "x25m-g2"
        {factors}
        "#
    );
    fs::write(folder.join("plan.toml"), plan).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_ssdlab"))
        .args(["run", "plan.toml", "--lab", "virtual", "--json", "--results", "runs"])
        .current_dir(folder)
        .env("XDG_STATE_HOME", folder.join("state"))
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let found = json["treatments"].as_array().unwrap().iter().map(|treatment| {
        assert_eq!(treatment["status"], "ok", "{treatment}");
        (treatment["levels"].clone(), treatment["cuts"].clone())
    });
    found.collect()
}

const FINDINGS: [&str; 4] = ["broken_promises", "damaged", "unmountable", "amiss"];

/// How many cuts had a finding, which was looked for after all that left something to mount.
fn count(cuts: &Value, finding: &str) -> u64 {
    let unmountable = cuts["unmountable"]["count"].as_u64().unwrap();
    let of = cuts[finding]["of"].as_u64().unwrap();
    assert!(of + unmountable >= cuts["number"].as_u64().unwrap(), "{finding}: {cuts}");
    cuts[finding]["count"].as_u64().unwrap()
}

/// A row of a table in docs/power-cuts.md.
fn row(filesystem: &str, kernel: &str, cuts: &Value) -> String {
    let cell = |finding: &&str| {
        let found = &cuts[*finding];
        let percent = |bound: &Value| bound.as_f64().unwrap_or(f64::NAN) * 100.0;
        let [lo, hi] = [0, 1].map(|end| percent(&found["interval"][end]));
        format!("{} of {} ({lo:.2} to {hi:.2} %)", found["count"], found["of"])
    };
    let cells: Vec<String> = FINDINGS.iter().map(cell).collect();
    format!("| {filesystem} | {kernel} | {} |", cells.join(" | "))
}

#[test]
#[ignore = "builds seven kernels, and cuts the power 1,800 times: make cut-test"]
fn a_flush_that_the_kernel_leaves_out_is_missed() {
    let new = tempfile::Builder::new().prefix("cut-test-").tempdir_in("/var/tmp").unwrap();
    let folder = folder(new.path());
    fs::create_dir_all(&folder).unwrap();
    build(&folder, INTACT, None);
    for fault in &FAULTS {
        build(&folder, fault.kernel, Some(fault));
    }
    for filesystem in ["ext4", "xfs", "btrfs"] {
        let faulty = FAULTS.iter().filter(|fault| fault.filesystem == filesystem);
        let kernels = iter::once(INTACT).chain(faulty.map(|fault| fault.kernel));
        let levels: Vec<String> = kernels.map(|kernel| format!("./{kernel}")).collect();
        let factors = format!("filesystem = \"{filesystem}\"\nkernel = {levels:?}");
        for (levels, cuts) in cut(&folder, CUTS, 1, &factors, FEW_SYNCED) {
            let kernel = levels["kernel"].as_str().unwrap().rsplit('/').next().unwrap();
            let row = row(filesystem, kernel, &cuts);
            println!("{row}");
            let found: u64 = FINDINGS.iter().map(|finding| count(&cuts, finding)).sum();
            assert_eq!(found == 0, kernel == INTACT, "{row}");
        }
    }
}

#[test]
#[ignore = "builds two kernels, and cuts the power 50,000 times: make cut-test"]
fn default_mounts_on_an_honest_drive_keep_what_was_synced() {
    let new = tempfile::Builder::new().prefix("cut-test-").tempdir_in("/var/tmp").unwrap();
    let folder = folder(new.path());
    fs::create_dir_all(&folder).unwrap();
    let number = env::var("SSDLAB_CUTS").map_or(MANY_CUTS, |number| number.parse().unwrap());
    build(&folder, INTACT, None);
    build(&folder, MENDED.kernel, Some(&MENDED));
    let cuts = format!("{{ number = {number} }}");
    let kernels = format!("kernel = {:?}", [INTACT, MENDED.kernel].map(|name| format!("./{name}")));
    let f2fs = format!("filesystem = \"{}\"\n{kernels}", MENDED.filesystem);
    let mut judged = 0;
    for factors in ["filesystem = [\"ext4\", \"xfs\", \"btrfs\"]", &f2fs] {
        for (levels, cuts) in cut(&folder, &cuts, 4, factors, SYNCED) {
            let is_mended =
                levels["kernel"].as_str().is_some_and(|path| path.ends_with(MENDED.kernel));
            let kernel = if is_mended { MENDED.kernel } else { INTACT };
            let filesystem = levels["filesystem"].as_str().unwrap();
            let row = row(filesystem, kernel, &cuts);
            println!("{row}");
            for finding in FINDINGS {
                let expected = match (filesystem, finding) {
                    ("f2fs", "broken_promises") => !is_mended,
                    // The log has records that were not synced.
                    ("f2fs", "damaged") => continue,
                    _ => false,
                };
                assert_eq!(count(&cuts, finding) > 0, expected, "{finding}: {row}");
            }
            judged += 1;
        }
    }
    assert_eq!(judged, 5);
}

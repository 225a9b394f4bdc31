//! The command line without root: messages at their place in the plan, exit codes, schemas.

use std::fs::{self, DirBuilder, File};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;
use tempfile::TempDir;

#[path = "cli/ask.rs"]
mod ask;
#[path = "cli/checks.rs"]
mod checks;
#[path = "cli/device_log.rs"]
mod device_log;
#[path = "../crates/trace/tests/formats/device_log.rs"]
mod dm_log;
#[path = "cli/drives.rs"]
mod drives;
#[path = "cli/earlier_runs.rs"]
mod earlier_runs;
#[path = "cli/fio.rs"]
mod fio;
#[path = "cli/kernels.rs"]
mod kernels;
#[path = "cli/killed.rs"]
mod killed;
#[path = "cli/lists.rs"]
mod lists;
#[path = "cli/reports.rs"]
mod reports;
#[path = "cli/who.rs"]
mod who;
#[path = "cli/words.rs"]
mod words;

struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn ssdlab(&self, arguments: &[&str]) -> Output {
        self.in_place(Command::new(env!("CARGO_BIN_EXE_ssdlab")).args(arguments))
    }

    /// Runs a program with its folders here. `CLICOLOR_FORCE` would colour messages even without a
    /// terminal.
    fn in_place(&self, command: &mut Command) -> Output {
        command
            .current_dir(self.0.path())
            .env("XDG_STATE_HOME", self.0.path().join("run"))
            .env("XDG_DATA_HOME", self.0.path().join("data"))
            .env("XDG_CACHE_HOME", self.0.path().join("cache"))
            .env("TMPDIR", self.0.path())
            .env("NO_COLOR", "1")
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }

    /// Checks an invalid plan; returns the message.
    fn wrong(&self, plan: &str) -> String {
        fs::write(self.0.path().join("plan.toml"), plan).unwrap();
        let output = self.ssdlab(&["check", "plan.toml"]);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{plan}: {message}");
        message
    }

    fn right(&self, plan: &str) {
        fs::write(self.0.path().join("plan.toml"), plan).unwrap();
        let output = self.ssdlab(&["check", "plan.toml"]);
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{plan}: {message}");
    }
}

const HEAD: &str = "name = \"p\"\nquestion = \"?\"\n";
const WORK: &str = "[workload]\nphases = [{ do = \"unpack\", sync = true }]\n";

#[test]
fn an_unknown_key_is_shown_at_its_place() {
    let plan = format!("{HEAD}{WORK}[repetitions]\nleest = 3\n");
    insta::assert_snapshot!(Place::new().wrong(&plan));
}

#[test]
fn an_impossible_combination_names_the_way_out() {
    let factors = "[factors]\nfilesystem = [\"ext4\", \"xfs\"]\njournal = [\"on\", \"off\"]\n\
                   [baseline]\njournal = \"on\"\n";
    insta::assert_snapshot!(Place::new().wrong(&format!("{HEAD}{factors}{WORK}")));
}

/// The help says what to write.
#[test]
fn a_side_that_nobody_names_is_refused_with_what_to_write() {
    let place = Place::new();
    let factors = "[factors]\nfilesystem = [\"ext4\", \"btrfs\"]\n\
                   [virtual.factors]\ndrive = [\"x25m-g1\", \"datacenter\"]\n\
                   [baseline]\nfilesystem = \"ext4\"\n";
    let claim = "[[claims]]\nid = \"c\"\nsays = \"?\"\nphases = [\"unpack\"]\n\
                 compare = { drive = \"datacenter\" }\nat_least = 2\n";
    let plan = format!("{HEAD}{factors}{WORK}\n{claim}");
    let told = place.wrong(&plan);
    let against = "against = { drive = \"x25m-g1\" }";
    assert!(told.contains(against), "{told}");
    place.right(&format!("{plan}{against}\n"));
}

/// A plan that is checked can be run: the files that its levels name are read.
#[test]
fn files_of_drives_and_hosts_are_checked_with_the_plan() {
    let place = Place::new();
    for (option, file) in [("--drive", "./none.toml"), ("--set", "host=./none.toml")] {
        let output = place.ssdlab(&["check", "discard", option, file]);
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && message.contains("none.toml"), "{message}");
    }
    fs::write(place.0.path().join("bad.toml"), "x = 3\n").unwrap();
    let output = place.ssdlab(&["check", "discard", "--set", "host=./bad.toml"]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && message.contains("host show"), "{message}");
}

#[test]
fn a_host_file_is_checked() {
    let place = Place::new();
    let shown = String::from_utf8(place.ssdlab(&["host", "show", "modern-2020s"]).stdout).unwrap();
    let checked = |text: &str| {
        fs::write(place.0.path().join("mine.toml"), text).unwrap();
        let output = place.ssdlab(&["host", "check", "mine.toml"]);
        let [out, err] = [output.stdout, output.stderr].map(|of| String::from_utf8(of).unwrap());
        (output.status.code(), out, err)
    };
    let (code, out, err) = checked(&shown);
    assert!(code == Some(0) && out.contains("mine\n") && err.is_empty(), "{out}{err}");
    let bare = shown.split("[evidence").next().unwrap();
    let (code, _, err) = checked(bare);
    assert!(code == Some(0) && err.contains("without evidence: memory, ns_per_block"), "{err}");
    let (code, _, err) = checked(&shown.replace("memory = ", "memori = "));
    assert!(code == Some(2) && err.contains("memori") && err.contains("mine.toml"), "{err}");
}

/// `--dir` puts an image there, unless the plan measures in a directory.
#[test]
fn a_plan_that_measures_in_a_directory_keeps_its_lab() {
    let place = Place::new();
    fs::create_dir(place.0.path().join("work")).unwrap();
    for (target, lab) in [("[target]\nlab = \"directory\"\n", "directory"), ("", "image")] {
        fs::write(place.0.path().join("plan.toml"), format!("{HEAD}{target}{WORK}")).unwrap();
        let output = place.ssdlab(&["check", "plan.toml", "--dir", "work"]);
        let says = String::from_utf8(output.stdout).unwrap();
        assert!(says.contains(&format!("in the {lab} lab")), "{says}");
    }
}

#[test]
fn faults_of_plans_are_named() {
    let place = Place::new();
    let cases = [
        ("", "missing field `name`"),
        ("name = 3", "expected a text: \"...\", found `3`"),
        ("[virtual]\nseeds = -3\n", "expected a whole number from 0 to 4294967295, found `-3`"),
        ("[virtual]\ncapacity = 1.5\n", "expected a whole number, or a text with a unit"),
        ("name = \"a/b\"\nquestion = \"?\"\n[workload]\nphases = []", "cannot be the name"),
        ("[factors]\nfilesistem = \"ext4\"\n", "unknown factor `filesistem`"),
        ("[factors]\nfilesystem = \"ext5\"\n", "`ext5` is not a level"),
        ("[factors]\nfilesystem = []\n", "has no level"),
        ("[factors]\natime = [\"noatime\", \"noatime\"]\n", "twice"),
        (
            "[factors]\natime = [\"noatime\", \"relatime\"]\ndiscard = [\"on\", \"off\"]\n",
            "no baseline",
        ),
        ("[factors]\nscheduler = [\"noop\", \"none\"]\n", "twice"),
        ("[factors]\nscheduler = { name = \"bfq\", slice_idle = 0 }\n", "scheduler_tunables = "),
        (
            "[factors]\n\"scheduler.slice_idle\" = [0, 8]\n",
            "expected scheduler_tunables = \"slice_idle=NUMBER\"",
        ),
        ("exclude = [{ scheduler = { slice_idle = 0 } }]\n", "scheduler_tunables = "),
        (
            "exclude = [{ \"scheduler.slice_idle\" = 0 }]\n",
            "expected scheduler_tunables = \"slice_idle=NUMBER\"",
        ),
        ("[factors]\nscheduler_tunables = \"slice_idle=0\"\n", "scheduler = \"mq-deadline\""),
        (
            "[factors]\nscheduler = \"bfq\"\nscheduler_tunables = \"slice_idle=long\"\n",
            "`slice_idle=long` is not a level",
        ),
        ("[baseline]\natime = \"noatime\"\n", "does not vary"),
        ("[target]\nsize = \"4 apples\"\n", "4 apples"),
        ("[target]\nlab = \"image\"\nsize = \"1 MiB\"\n", "too small"),
        ("[target]\nlab = \"cloud\"\n", "unknown variant `cloud`"),
        ("[repetitions]\nleast = 0\n", "cannot be run"),
        ("[repetitions]\nprecision = \"500 %\"\n", "is not a share"),
        ("metric = \"speed\"\n", "no metric `speed`"),
        ("exclude = [{ filesystem = \"ext4\" }]\n", "no combination"),
        ("exclude = [{ filesystem = \"ext5\" }]\n", "does not vary"),
        ("[factors]\nfilesystem = \"ext4\"\nmkfs = \"-F\"\n", "plans may not use"),
        ("[factors]\nmount = \"logdev=/dev/sdb\"\n", "another device"),
        (
            "[factors]\nfilesystem = \"xfs\"\ncompression = \"zstd\"\n",
            "exclude = [{ filesystem = \"xfs\", compression = \"zstd\" }]",
        ),
        ("[factors]\nchecksums = \"md5\"\n", "`md5` is not a level of `checksums`"),
        (
            "[factors]\nfilesystem = \"btrfs\"\nchecksums = \"sha256\"\nmkfs = \"--csum xxhash\"\n",
            "contradicts the factor `checksums`",
        ),
    ];
    for (part, message) in cases {
        // Keys of the top level must come before the first table.
        let plan = if part.starts_with("name") || part.is_empty() {
            part.to_owned()
        } else {
            format!("{HEAD}{part}{WORK}")
        };
        let said = place.wrong(&plan);
        assert!(said.contains(message), "{plan}\n{said}");
    }
    let phases = [
        ("", "no phases"),
        ("{ do = \"dance\" }", "unknown variant `dance`"),
        ("{ do = \"command\" }", "needs `run`"),
        ("{ do = \"sync\", run = \"x\" }", "does not apply to"),
        ("{ do = \"command\", run = \"'x\" }", "never closed"),
        ("{ do = \"make\" }", "nothing to build"),
        ("{ do = \"unpack\" }, { do = \"unpack\", name = \"again\" }", "would overwrite"),
        ("{ do = \"sync\" }, { do = \"sync\" }", "is already taken"),
    ];
    for (phase, message) in phases {
        let said = place.wrong(&format!("{HEAD}[workload]\nphases = [{phase}]\n"));
        assert!(said.contains(message), "{phase}\n{said}");
    }
}

#[test]
fn faults_of_claims_are_named() {
    let place = Place::new();
    let factors = "[factors]\ndiscard = [\"off\", \"on\"]\n";
    let claim =
        |rest: &str| format!("{HEAD}{factors}{WORK}[[claims]]\nid = \"c\"\nsays = \"?\"\n{rest}\n");
    let cases = [
        ("phases = [\"unpack\"]\ncompare = { discard = \"on\" }", "has no bound"),
        ("phases = []\ncompare = { discard = \"on\" }\nat_least = 2", "names no phase"),
        ("phases = [\"x\"]\ncompare = { discard = \"on\" }\nat_least = 2", "no phase `x`"),
        ("phases = [\"unpack\"]\ncompare = { discard = \"off\" }\nat_least = 2", "with itself"),
        ("phases = [\"unpack\"]\ncompare = { atime = \"noatime\" }\nat_least = 2", "does not vary"),
        (
            "phases = [\"unpack\"]\ncompare = { discard = \"fstrim\" }\nat_least = 2",
            "not one of the plan's",
        ),
        ("phases = [\"unpack\"]\ncompare = { discard = \"on\" }\nat_least = -2", "must be above 0"),
        (
            "phases = [\"unpack\"]\ncompare = { discard = \"on\" }\nat_least = 3\nat_most = 2",
            "at least 3 and at most 2",
        ),
    ];
    for (rest, message) in cases {
        let said = place.wrong(&claim(rest));
        assert!(said.contains(message), "{rest}\n{said}");
    }
}

#[test]
fn wrong_command_lines_end_with_2_and_missing_things_with_a_message() {
    let place = Place::new();
    let cases: [&[&str]; 14] = [
        &["run"],
        &["run", "no-such-plan"],
        &["run", "discard", "--set", "discard"],
        &["run", "discard", "--set", "speed=high"],
        &["run", "discard", "--set", "discard=sometimes"],
        &["run", "discard", "--scale", "0"],
        &["run", "discard", "--scale", "NaN"],
        &["run", "discard", "--scale", "-1"],
        &["run", "discard", "--scale", "1000"],
        &["run", "discard", "--runs", "0"],
        &["run", "discard", "--lab", "image", "--jobs", "2"],
        &["run", "discard", "--lab", "directory"],
        &["run", "discard", "--resume", "x"],
        &["frobnicate"],
    ];
    for arguments in cases {
        let output = place.ssdlab(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
        assert!(!output.stderr.is_empty(), "{arguments:?}");
    }
    let output = place.ssdlab(&["report", "no-such-run"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(!place.0.path().join("data").exists());
}

#[test]
fn shipped_plans_are_checked_and_follow_the_schema() {
    let place = Place::new();
    for plan in ["discard", "filesystems", "fsync", "journal", "power-loss", "schedulers", "tandem"]
    {
        let output = place.ssdlab(&["check", plan, "--json"]);
        assert!(output.status.success());
        let schedule: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(schedule["plan"], plan);
        insta::assert_snapshot!(
            format!("check_{plan}"),
            String::from_utf8(place.ssdlab(&["check", plan]).stdout).unwrap()
        );
    }
    let journal: Value =
        serde_json::from_slice(&place.ssdlab(&["check", "journal", "--json"]).stdout).unwrap();
    assert_eq!(journal["treatments"].as_array().unwrap().len(), 16);
    assert_eq!(journal["claims"].as_array().unwrap().len(), 11);
}

/// Levels that the command line takes out of a run leave the plan's claims open, not wrong.
#[test]
fn the_command_line_may_drop_the_baseline() {
    let output = Place::new().ssdlab(&["check", "discard", "--set", "discard=on,fstrim"]);
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("the baseline discard = off is not in this run"), "{text}");
}

#[test]
fn schemas_are_json_schemas() {
    let place = Place::new();
    let schema = |arguments: &[&str]| -> Value {
        serde_json::from_slice(&place.ssdlab(arguments).stdout).unwrap()
    };
    let plan = schema(&["schema"]);
    assert!(plan["properties"]["workload"].is_object());
    assert_eq!(plan["additionalProperties"], false);
    for of in ["record", "method", "comparison", "history", "cache", "simulation"] {
        assert!(schema(&["schema", of])["properties"].is_object(), "{of}");
    }
    assert_eq!(schema(&["schema", "trace"])["anyOf"].as_array().unwrap().len(), 3);
    let analysis = schema(&["schema", "analysis"]);
    for key in
        ["schema", "run", "plan", "lab", "status", "treatments", "effects", "claims", "warnings"]
    {
        assert!(analysis["properties"][key].is_object(), "{key}");
    }
}

/// The lab kernel of a package, which is found beside an empty cache.
const INSTALLED_KERNEL: &str = "/usr/lib/ssdlab/kernel";

#[test]
fn a_missing_lab_kernel_is_4_and_says_how_to_build_one() {
    let place = Place::new();
    let output = place.ssdlab(&["kernel", "info"]);
    let message = String::from_utf8(output.stderr).unwrap();
    // No repository has a package of this name.
    assert!(!message.contains("ssdlab-kernel"), "{message}");
    if Path::new(INSTALLED_KERNEL).exists() {
        assert_eq!(output.status.code(), Some(0), "{message}");
        return;
    }
    assert_eq!(output.status.code(), Some(4), "{message}");
    for word in ["cache/ssdlab/kernel", "ssdlab kernel build", "--kernel PATH"] {
        assert!(message.contains(word), "{word}: {message}");
    }
    // Looking for one creates nothing.
    assert!(!place.0.path().join("cache").exists());
}

#[test]
fn a_program_that_is_no_lab_kernel_is_refused() {
    let place = Place::new();
    fs::write(place.0.path().join("notes"), "of no use\n").unwrap();
    for (path, reason) in [
        ("/bin/true", "does not know the parameter ssdlab.seed="),
        ("notes", "does not know the parameter ssdlab.seed="),
        ("nowhere", "No such file"),
        (".", "it is not a regular file"),
        ("/dev/zero", "it is not a regular file"),
    ] {
        let output = place.ssdlab(&["kernel", "info", "--kernel", path]);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.contains(&format!("{path} is not a lab kernel")), "{message}");
        assert!(message.contains(reason), "{message}");
    }
}

#[test]
fn a_wrong_kernel_source_is_named() {
    let output = Place::new().ssdlab(&["kernel", "build", "--source", "nowhere.tar.xz"]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("nowhere.tar.xz: No such file"), "{message}");
}

#[test]
fn the_cache_is_shown_and_cleared() {
    let place = Place::new();
    let printed = |arguments: &[&str]| {
        let output = place.ssdlab(arguments);
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && message.is_empty(), "{arguments:?}: {message}");
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(printed(&["cache"]).contains("the cache is empty"));
    assert!(printed(&["cache", "clear"]).contains("0 folders removed"));
    assert!(!place.0.path().join("cache").exists(), "to look makes nothing");
    let cache = place.0.path().join("cache/ssdlab");
    let state = cache.join("aged/0123456789abcdef");
    let build = cache.join("kernel/work");
    let folder = |path: &std::path::Path| {
        DirBuilder::new().recursive(true).mode(0o700).create(path).unwrap();
    };
    folder(&state);
    folder(&build);
    let made_from = r#"{"filesystem": "ext4\u001b[2J", "profile": "mail", "target": 0.7, "seed": 7,
        "place": {"lab": "image", "size_bytes": "4294967296"}}"#;
    let record = format!(r#"{{"made_from": {made_from}, "sha256": {{}}}}"#);
    fs::write(state.join("state.json"), record).unwrap();
    let kernel = cache.join("kernel/linux-0123456789abcdef");
    for path in [&state.join("image"), &build.join("tree"), &kernel] {
        fs::write(path, vec![1; 100_000]).unwrap();
    }
    let shown = printed(&["cache"]);
    assert!(shown.contains("ext4 [2J, mail to 0.7, image lab, 4.0 GiB, seed 7"), "{shown}");
    assert!(shown.contains("lab kernel") && shown.contains("build folder"), "{shown}");
    let json: Value = serde_json::from_str(&printed(&["cache", "--json"])).unwrap();
    let entries = json["entries"].as_array().unwrap();
    let kinds: Vec<&Value> = entries.iter().map(|entry| &entry["kind"]).collect();
    assert!(kinds.len() == 3 && kinds[0] == "aged", "{json}");
    assert_eq!(entries[0]["made_from"]["seed"], 7);
    for entry in entries {
        assert!(entry["size_bytes"].as_u64().unwrap() >= 100_000, "{entry}");
        assert_eq!(entry["is_in_use"], false);
    }
    // Every user or builder holds a lock.
    let in_use = File::open(state.join("state.json")).unwrap();
    in_use.lock_shared().unwrap();
    assert!(printed(&["cache"]).contains("in use"));
    let cleared = printed(&["cache", "clear"]);
    assert!(
        cleared.contains("1 folder removed") && cleared.contains("1 folder in use"),
        "{cleared}"
    );
    assert!(state.join("image").exists() && !build.exists());
    in_use.unlock().unwrap();
    folder(&build);
    let building = File::create(cache.join("kernel/lock")).unwrap();
    building.lock().unwrap();
    assert!(printed(&["cache", "clear"]).contains("1 folder removed"));
    assert!(!state.exists() && build.exists() && kernel.exists());
}

#[test]
fn nothing_in_json_steers_a_terminal() {
    let place = Place::new();
    let hostile = "a\u{9b}31m\u{85}\u{202e}b\u{2066}";
    let plan = format!("name = \"p\"\nquestion = \"{hostile}\"\n{WORK}");
    fs::write(place.0.path().join("plan.toml"), plan).unwrap();
    let output = place.ssdlab(&["check", "plan.toml", "--json"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("\\u009b31m\\u0085\\u202eb\\u2066"), "{text}");
    assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text}");
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap()["question"], hostile);
    let output = place.ssdlab(&["check", "plan.toml"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("a 31m b\n") && !text.contains('\u{202e}'), "{text:?}");
}

/// A plan that unpacks an archive, and the arguments to run it without root.
const UNPACK: &str = "name = \"p\"\nquestion = \"?\"\n[workload]\ntree = { archive = \"a.tar\" }\n\
                      phases = [{ do = \"unpack\" }]\n";
const HERE: [&str; 10] =
    ["run", "plan.toml", "--lab", "directory", "--dir", ".", "--runs", "1", "--results", "runs"];

/// A few kilobytes of archive can expand to gigabytes of names, because every path implies the
/// directories on it.
#[test]
fn a_small_archive_of_deep_names_is_refused_before_memory_is_taken() {
    let place = Place::new();
    fs::write(place.0.path().join("plan.toml"), UNPACK).unwrap();
    let file = fs::File::create(place.0.path().join("a.tar")).unwrap();
    let mut builder = tar::Builder::new(GzEncoder::new(file, Compression::best()));
    let mut header = tar::Header::new_gnu();
    header.set_size(0);
    header.set_mode(0o644);
    for number in 0..2000 {
        let name = format!("{number}/{}", "d/".repeat(2000));
        builder.append_data(&mut header, name, &b""[..]).unwrap();
    }
    builder.into_inner().unwrap().finish().unwrap();
    assert!(place.0.path().join("a.tar").metadata().unwrap().len() < 100_000);
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -v 4000000; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_ssdlab")]);
    let output = place.in_place(shell.args(HERE));
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("a.tar") && message.contains("2001 names"), "{message}");
    assert!(!place.0.path().join("runs").exists());
}

#[test]
fn a_run_goes_on_only_with_the_files_that_it_began_with() {
    let place = Place::new();
    let archive = place.0.path().join("a.tar");
    fs::write(place.0.path().join("plan.toml"), UNPACK).unwrap();
    let write = |contents: &[u8]| {
        let mut builder = tar::Builder::new(fs::File::create(&archive).unwrap());
        let mut header = tar::Header::new_gnu();
        header.set_size(contents.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, "a", contents).unwrap();
        builder.finish().unwrap();
    };
    write(b"before");
    let output = place.ssdlab(&HERE);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let run = fs::read_dir(place.0.path().join("runs")).unwrap().next().unwrap().unwrap().path();
    let resume = || place.ssdlab(&["run", "--resume", run.to_str().unwrap()]);
    assert!(resume().status.success());
    // The same size and, as far as anything checks, the same time.
    write(b"after!");
    let output = resume();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.contains("a.tar has changed since the run began"), "{message}");
}

/// Reading a file that is not regular may block or never end.
#[test]
fn a_file_of_another_kind_is_refused_with_what_it_is() {
    let place = Place::new();
    let at = |name: &str| place.0.path().join(name);
    fs::write(at("file"), "").unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, at("fifo"), rustix::fs::Mode::RUSR).unwrap();
    let cases: [(&[&str], &str); 10] = [
        (&["report", "file"], "it is a file, not the folder of a run"),
        (&["method", "file"], "it is a file, not the folder of a run"),
        (&["report", "fifo"], "it is a FIFO, not the folder of a run"),
        (&["trace", "fifo"], "it is a FIFO, not a regular file"),
        (&["trace", "/dev/zero"], "it is a character device, not a regular file"),
        (&["check", "/dev/zero"], "it is a character device, not a regular file"),
        (&["check", "discard", "--source", "/dev/zero"], "it is a character device, not a regular"),
        (&["check", "discard", "--source", "fifo"], "it is a FIFO, not a regular file"),
        (&["check", "discard", "--drive", "/dev/zero"], "it is a character device, not a regular"),
        (&["drive", "check", "/dev/zero"], "it is a character device, not a regular file"),
    ];
    for (arguments, told) in cases {
        let output = place.ssdlab(arguments);
        let said = String::from_utf8_lossy(&output.stderr).replace('│', " ");
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(told) && said.contains("help: "), "{arguments:?}: {said}");
    }
}

//! The live lab on filesystems that are in use: what it sets, what it refuses, and that everything
//! is as before, however a run ends.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::lab_kernel::kernel;
use super::support::{Loop, Mounted, Place, Process, said, sh, shown, treatment, wait_for};
use super::{Case, Needs, case};

pub fn cases() -> Vec<Case> {
    vec![
        case("live_stretches_are_measured_and_options_put_back", stretches),
        case("the_bytes_of_a_live_stretch_are_those_of_its_programs", programs),
        case("a_live_run_that_may_not_see_who_writes_says_so_and_goes_on", without_programs),
        case("a_live_workload_runs_in_a_folder_of_its_own", workload),
        Case::new(
            "the_virtual_lab_predicts_what_a_live_workload_writes",
            Needs::LabKernel,
            predicted,
        ),
        case("a_live_run_that_is_asked_to_stop_puts_everything_back", stopped),
        case("after_each_of_20_kills_a_live_run_s_machine_is_as_before", killed),
        case("a_live_run_first_puts_back_what_a_killed_one_left", left_behind),
        case("the_live_lab_refuses_what_a_remount_does_not_change", refused),
        case("a_queue_s_attributes_are_set_and_put_back", queue),
        case("what_taking_back_a_tweak_writes_counts_as_the_tweak_s", tweaked),
        case("a_tweak_is_taken_back_after_a_kill_and_if_it_fails", tweak_taken_back),
        case("what_starts_as_a_tweak_is_taken_back_goes_on", tweak_restarts),
        case("a_tweak_comes_from_the_command_line_alone", tweak_asked_for),
        Case::new(
            "the_live_lab_refuses_to_change_another_subvolume",
            Needs::RootAnd("mkfs.btrfs"),
            other_subvolume,
        ),
    ]
}

const PLAN: &str = r#"
    name = "live"
    question = "?"
    lab = "live"
    [live]
    stretch = "2 s"
    [factors]
    mount = ["max_batch_time=15000", "max_batch_time=0,relatime"]
    sysctl = ["default", "vm.dirty_writeback_centisecs=777"]
    [baseline]
    mount = "max_batch_time=15000"
"#;

/// A filesystem in use, mounted with options of its own.
struct Used {
    place: Place,
    mounted: PathBuf,
    disk: Loop,
}

impl Used {
    fn new() -> Self {
        let place = Place::new();
        let disk = Loop::new(&place, "disk", 64);
        let mounted = place.path("mounted");
        fs::create_dir(&mounted).unwrap();
        let options = "nosuid,nodev,noatime,commit=7,max_batch_time=9000";
        let (device, target) = (&disk.device, mounted.display());
        sh(&format!(
            "mkfs.ext4 -q -b 4096 -E lazy_itable_init=0,lazy_journal_init=0 {device} && \
             mount -o {options} {device} {target}"
        ));
        Self { place, mounted, disk }
    }

    /// All that a run may change.
    fn state(&self) -> String {
        let name = self.disk.name();
        sh(&format!(
            "grep ' {} ' /proc/self/mountinfo; cat /proc/fs/ext4/{name}/options; \
             cat /sys/block/{name}/queue/scheduler /sys/block/{name}/queue/iostats; \
             cd /sys/block/{name}/queue; \
             cat nr_requests read_ahead_kb nomerges rq_affinity add_random; cd /; \
             cat /proc/sys/vm/dirty_*; ls {0}",
            self.mounted.display()
        ))
    }

    fn command(&self, plan: &str, arguments: &[&str]) -> Command {
        let plan = self.place.plan(plan);
        let mounted = self.mounted.display().to_string();
        let mut all = vec!["run", &plan, "--json", "--mount", &mounted];
        all.extend(arguments);
        self.place.ssdlab(&all)
    }

    fn run(&self, plan: &str, arguments: &[&str]) -> Value {
        let output = self.command(plan, arguments).output().unwrap();
        assert!(output.status.success(), "{}", shown(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// The records of a run.
    fn records(&self, json: &Value) -> Vec<Value> {
        let run = json["run"].as_str().unwrap();
        let path = self.place.path(&format!("data/ssdlab/{run}/records.jsonl"));
        let text = fs::read_to_string(path).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// A program that appends and syncs.
    fn writer(&self) -> Process {
        let target = self.mounted.display();
        self.repeating(&format!("echo line >> {target}/log; sync {target}/log"))
    }

    /// Does something over and over, until the filesystem is to be unmounted.
    fn repeating(&self, script: &str) -> Process {
        let flag = self.place.path("writing");
        fs::write(&flag, "").unwrap();
        let flag = flag.display();
        Process::holding(&format!("(while [ -e {flag} ]; do {script}; sleep 0.05; done) &"))
    }

    fn mount_line(&self) -> String {
        sh(&format!("grep ' {} ' /proc/self/mounts", self.mounted.display()))
    }

    fn loop_line(&self) -> String {
        sh(&format!("losetup --list | grep '{}'", self.disk.backing))
    }

    /// The same without the files.
    fn settings(&self) -> String {
        let state = self.state();
        let is_kept = |line: &&str| !line.starts_with("log") && !line.contains("lost+found");
        state.lines().filter(is_kept).collect::<Vec<_>>().join("\n")
    }
}

impl Drop for Used {
    fn drop(&mut self) {
        let _ = fs::remove_file(self.place.path("writing"));
        let target = self.mounted.display();
        let script = format!("for i in $(seq 50); do umount {target} && break; sleep 0.1; done");
        let _ = Command::new("sh").args(["-c", &script]).stderr(Stdio::null()).status();
    }
}

fn stretches() {
    let used = Used::new();
    let before = used.state();
    let json = used.run(PLAN, &["--runs", "2"]);
    assert_eq!(used.state(), before);
    assert_eq!(json["lab"], "live");
    let records = used.records(&json);
    assert_eq!(records.len(), 8);
    for record in &records {
        let options = record["applied"]["mount_options"].as_str().unwrap();
        let has = |word: &str| options.split(',').any(|own| own == word);
        assert!(has("nosuid") && has("nodev") && has("commit=7"), "{options}");
        let is_other = record["levels"]["mount"] == "max_batch_time=0,relatime";
        assert_eq!((has("max_batch_time=0"), has("relatime")), (is_other, is_other));
        assert_eq!(has("noatime"), !is_other, "{options}");
        let writeback = &record["applied"]["vm.dirty_writeback_centisecs"];
        assert_eq!(writeback == "777", record["levels"]["sysctl"] != "default");
        let phase = &record["phases"][0];
        assert_eq!(phase["name"], "stretch");
        assert!(phase["written_bytes"].is_u64() && phase["flushes"].is_u64(), "{phase}");
        assert!(phase["reported"]["dirtied_bytes"].is_number(), "{phase}");
    }
    assert_eq!(used.place.left(), [used.mount_line(), used.loop_line()]);
}

/// Two programs take turns, of which one writes 64 times as much as the other.
fn programs() {
    let used = Used::new();
    let target = used.mounted.display();
    let write = |name: &str, size: &str| {
        let program = used.place.path(name).display().to_string();
        sh(&format!("cp $(command -v dd) {program}"));
        format!(
            "{program} if=/dev/zero of={target}/{name} bs={size} count=1 conv=notrunc oflag=dsync \
             2>/dev/null"
        )
    };
    let _writer = used.repeating(&[write("little", "4k"), write("much", "256k")].join("; "));
    wait_for(|| fs::metadata(used.mounted.join("much")).is_ok_and(|file| file.len() == 256 << 10));
    let json = used.run(PLAN, &["--runs", "2"]);
    let (mut little, mut much) = (0, 0);
    for treatment in json["treatments"].as_array().unwrap() {
        let mut all = 0;
        for trial in treatment["trials"].as_array().unwrap() {
            let phase = &trial["phases"][0];
            let rows = &phase["ledger"]["by_program"];
            assert_eq!(bytes(rows, |_| true), phase["written_bytes"], "{phase:#}");
            assert_eq!(bytes(rows, |name| name == "(unseen)"), 0, "{phase:#}");
            all += bytes(rows, |_| true);
            little += bytes(rows, |name| name == "little");
            much += bytes(rows, |name| name == "much");
        }
        assert_eq!(treatment["by_program"]["stretches"], 2);
        assert_eq!(bytes(&treatment["by_program"]["total"], |_| true), all);
    }
    // Inodes and the journal come on top.
    assert!((16 * little..70 * little).contains(&much), "little {little}, much {much}");
    let run = used.place.path(&format!("data/ssdlab/{}", json["run"].as_str().unwrap()));
    let report = ["report", &run.display().to_string(), "--tables"];
    let shown = used.place.ssdlab(&report).output().unwrap();
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    let row = |name: &str| shown.lines().position(|line| line.contains(name));
    assert!(row("much").is_some() && row("much") < row("little"), "{shown}");

    let untraced = used.run(PLAN, &["--runs", "1", "--no-trace"]);
    assert!(untraced["treatments"][0]["trials"][0]["phases"][0]["ledger"].is_null());
}

/// The bytes of the programs that are meant; the rest is everybody's.
fn bytes(by_program: &Value, is_meant: fn(&str) -> bool) -> u64 {
    let rows = by_program["largest"].as_array().unwrap_or_else(|| panic!("{by_program}"));
    let meant = rows.iter().filter(|row| is_meant(row["program"].as_str().unwrap()));
    let rest = if is_meant("") { by_program["rest_bytes"].as_u64().unwrap() } else { 0 };
    meant.map(|row| row["bytes"].as_u64().unwrap()).sum::<u64>() + rest
}

/// As in a PID namespace, where the kernel's events have other numbers of threads.
fn without_programs() {
    let used = Used::new();
    let inside = used.command(PLAN, &["--runs", "1"]);
    let mut command = used.place.program("unshare");
    command.args(["--pid", "--fork", "--mount-proc"]).args(inside.get_args().skip(1));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", shown(&output));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let phase = &json["treatments"][0]["trials"][0]["phases"][0];
    assert!(phase["written_bytes"].is_u64() && phase["ledger"]["by_program"].is_null());
    let reason = phase["ledger"]["cause_reason"].as_str().unwrap();
    assert!(reason.contains("PID namespace"), "{reason}");
    assert!(json["warnings"].to_string().contains("which programs wrote"), "{json:#}");
}

fn workload() {
    const PLAN: &str = r#"
        name = "live"
        question = "?"
        [factors]
        atime = ["noatime", "relatime"]
        [workload]
        tree = { files = 20, size = "200 kB" }
        phases = [{ do = "unpack", sync = true }, { do = "delete", sync = true }]
    "#;
    let used = Used::new();
    let before = used.state();
    let json = used.run(PLAN, &["--runs", "1"]);
    assert_eq!(used.state(), before);
    let phases = treatment(&json, "atime", "relatime")["trials"][0]["phases"].clone();
    let names: Vec<&Value> =
        phases.as_array().unwrap().iter().map(|phase| &phase["name"]).collect();
    assert_eq!(names, ["unpack", "delete"]);
    assert!(phases[0]["written_bytes"].as_u64().unwrap() >= 200_000);

    // The machine's own work after it has programs; it has none of them.
    let plan = format!("metric = \"written_bytes\"\nlive = {{ stretch = \"1 s\" }}\n{PLAN}");
    let records = used.records(&used.run(&plan, &["--runs", "1"]));
    for record in &records {
        let [unpacked, deleted, stretch] = [0, 1, 2].map(|index| &record["phases"][index]);
        assert!(unpacked["ledger"]["by_program"].is_null(), "{record:#}");
        assert!(deleted["ledger"]["by_program"].is_null(), "{record:#}");
        let all = stretch["written_bytes"].as_u64().unwrap();
        assert_eq!(bytes(&stretch["ledger"]["by_program"], |_| true), all);
    }
}

fn predicted() {
    const PLAN: &str = r#"
        name = "live"
        question = "?"
        metric = "written_bytes"
        [factors]
        atime = ["noatime", "relatime"]
        [workload]
        phases = [{ do = "append", name = "log", append = { records = 50, sync_every = 1 } }]
    "#;
    let used = Used::new();
    let kernel = kernel().as_ref().unwrap().display().to_string();
    let json = used.run(PLAN, &["--runs", "1", "--predict", "--kernel", &kernel]);
    let found = json["predictions"].as_array().unwrap();
    let levels: Vec<&Value> = found.iter().map(|of| &of["levels"]["atime"]).collect();
    assert_eq!(levels, ["noatime", "noatime", "relatime", "relatime"]);
    for of in found {
        let (predicted, measured) =
            (of["predicted"].as_f64().unwrap(), of["measured"].as_f64().unwrap());
        assert!((predicted / measured - 1.0).abs() < 0.25, "{of}");
    }
    // It was made before, under the options in force.
    let run = used.place.path(&format!("data/ssdlab/{}", json["run"].as_str().unwrap()));
    let inside = sh(&format!("ls -d {}/live-*", run.display()));
    let kept: Value =
        serde_json::from_str(&fs::read_to_string(format!("{inside}/schedule.json")).unwrap())
            .unwrap();
    let options = kept["treatments"][1]["levels"]["mount"].as_str().unwrap();
    assert!(options.starts_with("commit=7,") && options.ends_with(",relatime"), "{options}");
    let shown = used.place.ssdlab(&["report", &run.display().to_string()]).output().unwrap();
    assert!(
        String::from_utf8_lossy(&shown.stdout).contains("Predicted"),
        "{}",
        self::shown(&shown)
    );

    let output = used.command(self::PLAN, &["--predict"]).output().unwrap();
    assert!(said(&output).contains("is not known"), "{}", self::shown(&output));
}

/// Starts a run and waits until it has changed something.
fn started(used: &Used, before: &str) -> std::process::Child {
    let mut command = used.command(PLAN, &["--runs", "40"]);
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for(|| used.state() != *before);
    child
}

fn stopped() {
    let used = Used::new();
    let before = used.state();
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let mut child = started(&used, &before);
        kill_process(Pid::from_child(&child), signal).unwrap();
        assert!(!child.wait().unwrap().success());
        assert_eq!(used.state(), before);
    }
}

/// Kills it at moments that are spread over all that it does, a switch every two seconds.
fn killed() {
    let used = Used::new();
    let _writer = used.writer();
    let before = used.settings();
    for kill in 0..20_u64 {
        let mut command = used.command(PLAN, &["--runs", "40"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        sleep(Duration::from_millis(100 + kill * 5_003 % 4_700));
        child.kill().unwrap();
        child.wait().unwrap();
        wait_for(|| used.settings() == before);
        wait_for(|| is_empty(&used.place.path("run/ssdlab/undo")));
    }
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).into_iter().flatten().next().is_none()
}

/// As where the guard was killed, too.
fn left_behind() {
    let used = Used::new();
    let before = used.state();
    let mut child = started(&used, &before);
    let run = child.id();
    let guards = sh(&format!("pgrep -P {run} -f 'restore --guard'"));
    for guard in guards.lines() {
        sh(&format!("kill -9 {guard}"));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_ne!(used.state(), before);
    let output = used.command(PLAN, &["--runs", "1"]).output().unwrap();
    assert!(output.status.success(), "{}", shown(&output));
    assert!(said(&output).contains("which are undone first"), "{}", shown(&output));
    assert_eq!(used.state(), before);
}

/// A plan whose second level is given.
const ANY: &str = r#"
    name = "any"
    question = "?"
    lab = "live"
    [live]
    stretch = "2 s"
    [factors]
    mount = "defaults"
"#;

fn refused() {
    let used = Used::new();
    let refusal = |levels: &str| {
        let output = used
            .command(ANY, &["--runs", "1", "--set", "mount=defaults", "--set", levels])
            .output()
            .unwrap();
        assert!(!output.status.success(), "{levels}: {}", shown(&output));
        said(&output)
    };
    let before = used.state();
    for word in ["data=journal", "barrier=0", "nodelalloc", "ro"] {
        let says = refusal(&format!("mount={word}"));
        assert!(says.contains("puts back exactly"), "{word}: {says}");
    }
    let says = refusal("mount=commit=60");
    assert!(says.contains("stretches of 2s are too short"), "{says}");
    assert_eq!(used.state(), before);

    let (overlay, _) = Mounted::overlay(&used.place);
    let target = overlay.path("").display().to_string();
    let plan = used.place.plan(ANY);
    let output = used.place.ssdlab(&["run", &plan, "--mount", &target]).output().unwrap();
    assert!(said(&output).contains("is on no block device"), "{}", shown(&output));
}

/// A queue that an administrator has tuned.
fn queue() {
    const PLAN: &str = r#"
        name = "queue"
        question = "?"
        lab = "live"
        [live]
        stretch = "1 s"
        [factors]
        scheduler = ["none", "mq-deadline"]
        queue = ["default", "nr_requests=64 read_ahead_kb=0 nomerges=2 rq_affinity=2 add_random=0"]
        [baseline]
        scheduler = "none"
        queue = "default"
    "#;
    let used = Used::new();
    let queue = format!("/sys/block/{}/queue", used.disk.name());
    sh(&format!(
        "cd {queue}; echo none > scheduler; echo 77 > nr_requests; echo 52 > read_ahead_kb; \
         echo 1 > nomerges; echo 1 > rq_affinity; echo 1 > add_random"
    ));
    let before = used.state();
    let json = used.run(PLAN, &["--runs", "1"]);
    assert_eq!(used.state(), before);
    for record in used.records(&json) {
        assert_eq!(record["status"], "ok", "{record:#}");
        let applied = &record["applied"];
        let is_set = record["levels"]["queue"] != "default";
        for (name, value) in [("read_ahead_kb", "0"), ("nomerges", "2"), ("add_random", "0")] {
            assert_eq!(applied[name] == value, is_set, "{name}: {record:#}");
        }
        assert_eq!(applied["nr_requests"] == "64", is_set, "{record:#}");
    }
    // The kernel rounds it.
    let rounded = ["--runs", "1", "--set", "queue=default,read_ahead_kb=6"];
    let output = used.command(PLAN, &rounded).output().unwrap();
    assert!(said(&output).contains("was set to `6`, but reads back as `4`"), "{}", shown(&output));
    assert_eq!(used.state(), before);
}

const TWEAKED: &str = r#"
    name = "tweaked"
    question = "?"
    lab = "live"
    [live]
    stretch = "2 s"
    [factors]
    tweak = ["off", "on"]
    [baseline]
    tweak = "off"
"#;

impl Used {
    /// What a tweak has set.
    fn setting(&self) -> String {
        fs::read_to_string(self.place.path("setting")).unwrap_or_default()
    }

    /// The folder of the only run; empty before there is one.
    fn only_run(&self) -> String {
        let runs = fs::read_dir(self.place.path("data/ssdlab")).into_iter().flatten().flatten();
        let mut names = runs.map(|run| run.file_name().into_string().unwrap());
        names.find(|name| name.starts_with("tweaked-")).unwrap_or_default()
    }

    /// A command that sets it, and one that does so and writes 3 MB to the filesystem under test,
    /// as a service that has kept its files in memory does when it stops.
    fn tweak(&self) -> [String; 2] {
        let (setting, written) = (self.place.path("setting"), self.mounted.join("written"));
        let (setting, written) = (setting.display(), written.display());
        let write = format!("dd if=/dev/urandom of={written} bs=1M count=3 status=none");
        [format!("printf on > {setting}"), format!("printf off > {setting}; {write}")]
    }
}

fn tweaked() {
    let used = Used::new();
    let [command, undo] = used.tweak();
    let json = used.run(TWEAKED, &["--runs", "2", "--tweak", &command, "--undo", &undo]);
    assert_eq!(used.setting(), "off");
    let records = used.records(&json);
    assert_eq!(records.len(), 4);
    for record in records {
        let is_on = record["levels"]["tweak"] == "on";
        let bytes = record["phases"][0]["written_bytes"].as_u64().unwrap();
        assert_eq!(bytes >= 3 << 20, is_on, "{record:#}");
        // It is recorded until then who writes.
        let rows = &record["phases"][0]["ledger"]["by_program"];
        assert_eq!(self::bytes(rows, |_| true), bytes, "{record:#}");
        let lines = [&record["applied"]["tweak"], &record["applied"]["tweak_undo"]];
        assert_eq!(lines, [command.as_str(), undo.as_str()]);
    }
}

/// A daemon that the user's command starts again is not one of the run's.
fn tweak_restarts() {
    let used = Used::new();
    let daemon = used.place.path("daemon");
    let daemon = daemon.display();
    let undo = format!("kill $(cat {daemon}); sleep 1000 & echo $! > {daemon}");
    sh(&format!("sleep 1000 > /dev/null 2>&1 & echo $! > {daemon}"));
    used.run(
        TWEAKED,
        &["--runs", "1", "--tweak", &format!("kill $(cat {daemon})"), "--undo", &undo],
    );
    sh(&format!("kill $(cat {daemon})"));
}

fn tweak_taken_back() {
    let used = Used::new();
    let [command, undo] = used.tweak();
    let arguments = ["--runs", "40", "--tweak", &command, "--undo", &undo];
    let mut run = used.command(TWEAKED, &arguments);
    let mut child = run.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for(|| used.setting() == "on");
    child.kill().unwrap();
    child.wait().unwrap();
    wait_for(|| used.setting() == "off");
    wait_for(|| is_empty(&used.place.path("run/ssdlab/undo")));

    let failing = format!("{command}; echo no such service >&2; exit 5");
    let output = used.command(TWEAKED, &["--tweak", &failing, "--undo", &undo]).output().unwrap();
    assert!(!output.status.success() && said(&output).contains("no such service"));
    assert_eq!(used.setting(), "off");
}

fn tweak_asked_for() {
    let used = Used::new();
    let output = used.command(TWEAKED, &[]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", shown(&output));
    assert!(said(&output).contains("--tweak 'systemctl stop"), "{}", shown(&output));
    let commands = ["--tweak", "true", "--undo", "true"];
    let virtually = [&["run", "sqlite"], &commands[..]].concat();
    let output = used.place.ssdlab(&virtually).output().unwrap();
    assert!(said(&output).contains("which sqlite has not"), "{}", shown(&output));
    let output = used.command(ANY, &commands).output().unwrap();
    assert!(said(&output).contains("which any has not"), "{}", shown(&output));

    let mut run = used.command(TWEAKED, &[&["--runs", "2"], &commands[..]].concat());
    let mut child = run.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let records = || used.place.path("data/ssdlab").join(used.only_run()).join("records.jsonl");
    wait_for(|| fs::read_to_string(records()).is_ok_and(|text| text.lines().count() > 0));
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    child.wait().unwrap();
    let run = used.place.path("data/ssdlab").join(used.only_run()).display().to_string();
    let resume = ["run", "--resume", &run, "--tweak", "true", "--undo", ":"];
    let output = used.place.ssdlab(&resume).output().unwrap();
    assert!(said(&output).contains("begun with another command"), "{}", shown(&output));
}

fn other_subvolume() {
    let place = Place::new();
    let disk = Loop::new(&place, "disk", 256);
    let [one, other] = ["one", "other"].map(|name| place.path(name).display().to_string());
    let device = &disk.device;
    sh(&format!(
        "mkfs.btrfs -q {device}; mkdir {one} {other}; mount {device} {one}; \
         btrfs -q subvolume create {one}/sub; mount -o subvol=sub {device} {other}"
    ));
    let plan = place.plan(ANY);
    let run = |level: &str| {
        let arguments = ["run", &plan, "--mount", &one, "--set", "mount=defaults", "--set", level];
        place.ssdlab(&[&arguments[..], &["--runs", "1"]].concat()).output().unwrap()
    };
    let output = run("mount=commit=1");
    assert!(said(&output).contains("would also change"), "{}", shown(&output));
    let output = run("mount=noatime");
    sh(&format!("umount {other} {one}"));
    assert!(output.status.success(), "{}", shown(&output));
}

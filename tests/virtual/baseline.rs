//! `ssdlab baseline` finds what a load costs more, refuses what it cannot compare, and reaches no
//! more of this machine than a plan.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use super::common::shown;
use super::support::{Place, kernel};

pub const CASES: [(&str, fn()); 5] = [
    ("a_load_that_costs_more_is_told_by_phase_kind_and_file", costs_more),
    ("a_load_that_has_not_changed_is_the_same_to_the_bit_elsewhere", unchanged),
    ("a_baseline_of_other_tools_or_damaged_is_refused", refused),
    ("a_baseline_holds_the_drive_file_of_its_plan", own_drive),
    ("a_strangers_baseline_runs_its_commands_in_guests_only", stranger),
];

/// A load that appends records to a log and replaces a small file: both are synced.
const LOAD: &str = r#"
import os
log = os.open("log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
for number in range(20):
    os.write(log, b"x" * 100000)
    os.fsync(log)
    state = os.open("state.new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.write(state, b"%d" % number)
    os.fsync(state)
    os.close(state)
    os.rename("state.new", "state")
"#;

const PLAN: &str = r#"
name = "load"
question = "What does the load cost?"
target = { lab = "virtual" }
[factors]
filesystem = "ext4"
drive = "x25m-g2"
[virtual]
capacity = "3 GB"
[workload.system]
add = [{ path = "load.py", at = "/load.py" }]
[[workload.phases]]
do = "command"
name = "run"
run = ["python3", "/load.py"]
"#;

/// A checkout with a plan and its load.
struct Checkout {
    place: Place,
    folder: PathBuf,
}

impl Checkout {
    fn new(name: &str) -> Self {
        let place = Place::new();
        let folder = place.path(name);
        fs::create_dir_all(&folder).unwrap();
        let checkout = Self { place, folder };
        checkout.write("load.toml", PLAN);
        checkout.write("load.py", LOAD);
        checkout
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.folder.join(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder.join(name)).unwrap()
    }

    fn baseline(&self, arguments: &[&str]) -> Output {
        let mut command = self.place.command(&[&["baseline"], arguments].concat());
        command.current_dir(&self.folder).arg("--kernel").arg(kernel().as_ref().unwrap());
        let output = command.output().unwrap();
        assert!(self.place.journals().is_empty(), "something is left");
        output
    }

    fn record(&self) {
        let output = self.baseline(&["record", "load.toml", "--out", "baseline.toml"]);
        assert_eq!(output.status.code(), Some(0), "{}", shown(&output));
    }

    /// What a check ends with and says.
    fn check(&self, more: &[&str]) -> (Option<i32>, String) {
        let output = self.baseline(&[&["check", "baseline.toml"], more].concat());
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8(said).unwrap();
        let words: Vec<&str> = said.split_whitespace().collect();
        (output.status.code(), words.join(" "))
    }
}

fn costs_more() {
    let checkout = Checkout::new("repo");
    checkout.record();
    let one_more_sync = LOAD.replace("x\" * 100000)", "x\" * 100000); number or os.fsync(log)");
    checkout.write("load.py", &format!("{one_more_sync}\nos.fsync(log)\n"));
    let (code, said) = checkout.check(&[]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("drive = x25m-g2: run Flushes 80 to 82, +2"), "{said}");
    assert!(said.contains("by file log +2 (syncs)"), "{said}");
    assert!(said.contains("ssdlab baseline record baseline.toml --out baseline.toml"), "{said}");
    let (code, said) = checkout.check(&["--allow", "flushes=4,syncs=2", "--allow", "time=20%"]);
    assert_eq!(code, Some(0), "{said}");
    checkout.write("load.py", &LOAD.replace("100000", "110000"));
    let (code, said) = checkout.check(&[]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("it costs more: bytes written"), "{said}");
    assert!(said.contains("by kind data +") && said.contains("by file log +200 kB"), "{said}");
    assert!(!said.contains("state.new"), "{said}");
    checkout.write("load.py", &LOAD.replace("    os.fsync(state)\n", ""));
    let (code, said) = checkout.check(&[]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("It costs less") && said.contains("To keep it"), "{said}");
    let json = checkout.baseline(&["check", "baseline.toml", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json["outcome"], "better", "{json}");
}

fn unchanged() {
    let checkout = Checkout::new("repo");
    checkout.record();
    let other = Checkout::new("another/place/for/it");
    other.write("baseline.toml", &checkout.read("baseline.toml"));
    fs::remove_file(other.folder.join("load.toml")).unwrap();
    let (code, said) = other.check(&["--allow", "bytes=0%,time=0%"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("Yes, to the bit"), "{said}");
    let again = other.baseline(&["record", "baseline.toml", "--out", "again.toml"]);
    assert_eq!(again.status.code(), Some(0), "{}", shown(&again));
    assert_eq!(other.read("again.toml"), checkout.read("baseline.toml"));
}

fn refused() {
    let checkout = Checkout::new("repo");
    checkout.record();
    let intact = checkout.read("baseline.toml");
    let line = intact.lines().find(|line| line.starts_with("\"mkfs.ext4\"")).unwrap();
    checkout.write("baseline.toml", &intact.replace(line, "\"mkfs.ext4\" = \"mke2fs 1.2.3\""));
    let (code, said) = checkout.check(&[]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("mkfs.ext4: recorded mke2fs 1.2.3, found mkfs.ext4"), "{said}");
    let line = intact.lines().find(|line| line.contains("libc.so.6")).unwrap();
    checkout.write("baseline.toml", &intact.replace(line, ""));
    let (code, said) = checkout.check(&[]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("libc.so.6: recorded none, found"), "{said}");
    for (from, to) in [
        ("flushes = ", "flashes = "),
        ("schema = 1", "schema = 9"),
        ("(unmounting)", "other"),
        ("\ndo = \"command\"\n", "\ndo = \"comand\"\n"),
        ("folder = \".\"", "folder = \"nowhere\""),
    ] {
        assert!(intact.contains(from), "{from}: {intact}");
        checkout.write("baseline.toml", &intact.replace(from, to));
        let (code, said) = checkout.check(&[]);
        assert_eq!(code, Some(2), "{from}: {said}");
    }
    checkout.write("baseline.toml", &intact);
    checkout.write("load.py", "raise SystemExit('the load is broken')");
    let (code, said) = checkout.check(&[]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("the load is broken"), "{said}");
}

fn own_drive() {
    let checkout = Checkout::new("repo");
    let shown = checkout.place.command(&["drive", "show", "x25m-g2"]).output().unwrap();
    checkout.write("my.toml", &String::from_utf8(shown.stdout).unwrap());
    let plan = PLAN.replace("\"x25m-g2\"", "\"my.toml\"");
    checkout.write("load.toml", &plan);
    checkout.record();
    fs::remove_file(checkout.folder.join("my.toml")).unwrap();
    let (code, said) = checkout.check(&[]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("Yes, to the bit"), "{said}");
}

fn stranger() {
    let checkout = Checkout::new("repo");
    checkout.record();
    let intact = checkout.read("baseline.toml");
    let target = checkout.place.path("reached");
    let reach = |path: &Path| {
        let touch = format!("open('{}', 'w')", path.display());
        format!("run = [\"python3\", \"-c\", \"{touch}\"]")
    };
    let run = "run = [\"python3\", \"/load.py\"]";
    let elsewhere = format!("target = {{ lab = \"directory\", path = \"{}\" }}", target.display());
    for text in [
        intact.replace(run, &reach(&target)),
        intact.replace(run, &reach(&target)).replace("target = { lab = \"virtual\" }", &elsewhere),
    ] {
        assert_ne!(text, intact);
        checkout.write("baseline.toml", &text);
        let (code, said) = checkout.check(&[]);
        assert_eq!(code, Some(2), "{said}");
        assert!(!target.exists(), "{said}");
    }
}

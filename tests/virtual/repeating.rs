//! One power cut of a run, repeated: the same finding and the same image, or why not.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Command, Output};

use serde_json::{Value, json};

use super::common::{sh, shown};
use super::support::{Load, Place, contents_sha256, kernel};

pub const CASES: [(&str, fn()); 3] = [
    ("a_power_cut_is_repeated_to_the_bit_and_differs_from_a_record_of_another_trial", repeated),
    ("a_power_cut_that_is_not_in_a_run_is_refused", refused),
    ("a_finding_is_shrunk_to_the_operations_and_the_requests_that_it_takes", shrunk),
];

/// Two treatments, the second of which loses synced data.
const PLAN: &str = r#"
    name = "cuts"
    question = "What is gone?"
    target = { lab = "virtual" }
    cuts = { number = 8, survivors = 2 }
    [factors]
    drive = "x25m-g2"
    filesystem = "ext4"
    flush = ["honest", "ignored"]
    [workload]
    phases = [{ do = "append", append = { records = 60, sync_every = 5, think = "20 ms" } }]
"#;

/// The first sync after mounting f2fs may be lost; see `cutting`.
const FORGETFUL: &str = r#"
    name = "forgetful"
    question = "What is gone?"
    target = { lab = "virtual" }
    cuts = { number = 20 }
    [factors]
    drive = "x25m-g2"
    filesystem = "f2fs"
    [workload]
    phases = [
        { do = "append", append = { records = 2, sync_every = 1 } },
        { do = "replace", replace = { files = 2, rounds = 1 } },
    ]
"#;

/// A run and its place.
struct Made {
    place: Place,
    json: Value,
}

impl Made {
    fn of(plan: &str) -> Self {
        let place = Place::new();
        let json = place.run_on(plan, "256MiB");
        Self { place, json }
    }

    fn name(&self) -> &str {
        self.json["run"].as_str().unwrap()
    }

    /// The command that a report gives, with more arguments.
    fn cut(&self, [trial, cut, survivor]: [&str; 3], more: &[&str]) -> Output {
        let mut command = self.place.command(&["cut", self.name()]);
        command.args(["--trial", trial, "--cut", cut, "--survivor", survivor, "--kernel"]);
        command.arg(kernel().as_ref().unwrap()).args(more).current_dir(self.place.path(""));
        command.output().unwrap()
    }

    /// What the command prints as JSON, and its exit code.
    fn repeat(&self, at: [&str; 3], more: &[&str]) -> (Value, i32) {
        let output = self.cut(at, &[&["--json"], more].concat());
        let json = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", shown(&output)));
        (json, output.status.code().unwrap())
    }
}

fn repeated() {
    let made = Made::of(PLAN);
    let treatments = made.json["treatments"].as_array().unwrap();
    let example = |of: &Value| of["cuts"]["example"].clone();
    let found: Vec<Value> = treatments.iter().map(example).filter(|of| !of.is_null()).collect();
    let [example] = &found[..] else { panic!("{found:?}") };
    let at = ["trial", "cut", "survivor"].map(|key| example[key].to_string());
    let at = [&*at[0], &*at[1], &*at[2]];
    let command = format!("--trial {} --cut {} --survivor {}", at[0], at[1], at[2]);
    let report = made.place.command(&["report", made.name(), "--why"]).output().unwrap();
    let report = String::from_utf8(report.stdout).unwrap();
    assert!(report.contains(&format!("ssdlab cut {} {command}\n", made.name())), "{report}");

    let (once, code) = made.repeat(at, &["--image", "cut.img", "--log", "cut.log"]);
    assert_eq!((code, &once["agrees"]), (0, &Value::Bool(true)), "{once}");
    let busy = Load::heavy();
    let (twice, _) = made.repeat(at, &[]);
    drop(busy);
    assert_eq!(once, twice);
    let image = made.place.path("cut.img");
    assert_eq!(once["contents_sha256"], contents_sha256(&image));
    assert_eq!(image.metadata().unwrap().len(), 256 << 20);
    let log = fs::read_to_string(made.place.path("cut.log")).unwrap();
    let requests = log.lines().take_while(|line| !line.is_empty());
    let requests = requests.filter(|line| !line.starts_with('#')).count();
    assert_eq!(once["drive"]["requests"].as_u64(), Some(requests as u64));

    let verdict = &once["repeated"]["verdict"];
    assert!(verdict["broken_promises"].as_u64() > Some(0), "{once}");
    assert_eq!(*verdict, once["recorded"]["verdict"]);
    let file = &once["files"][0];
    assert_eq!((&file["name"], &file["verdict"]), (&Value::from("log"), verdict), "{once}");
    assert!(file["found"]["version"].as_u64() < file["expected"]["promised"].as_u64(), "{once}");

    // Of the other treatment, which lost nothing of it, the log is as long as its records.
    let other = if at[0] == "0" { "1" } else { "0" };
    let (kept, code) = made.repeat([other, "7", "0"], &["--files", "cut.tar"]);
    assert_eq!(code, 0, "{kept}");
    let archive = made.place.path("cut.tar");
    let bytes = sh(&format!("tar -xOf '{}' ssdlab/log | wc -c", archive.display()));
    let records = kept["files"][0]["found"]["version"].as_u64().unwrap();
    assert!(records > 0, "{kept}");
    assert_eq!(bytes.parse::<u64>().unwrap() / 500, records);

    // The other survivor of the same cut is another image.
    let other = if at[2] == "0" { "1" } else { "0" };
    let (other, _) = made.repeat([at[0], at[1], other], &[]);
    assert_ne!(once["contents_sha256"], other["contents_sha256"]);
    assert_eq!(once["repeated"]["at_ns"], other["repeated"]["at_ns"]);

    // A trial that differs, as with another kernel.
    let records = made.place.path(&format!("data/ssdlab/{}/records.jsonl", made.name()));
    let text = fs::read_to_string(&records).unwrap();
    fs::write(&records, text.replace("\"lab_kernel\":\"", "\"lab_kernel\":\"another-")).unwrap();
    let (same, code) = made.repeat(at, &[]);
    assert_eq!(
        (code, &same["agrees"], &same["changes"][0]["of"]),
        (0, &true.into(), &"lab_kernel".into())
    );
    fs::write(&records, text.replace("\"fingerprint\":\"", "\"fingerprint\":\"another-")).unwrap();
    let (differs, code) = made.repeat(at, &[]);
    assert_eq!((code, &differs["agrees"]), (1, &false.into()), "{differs}");
    assert_eq!(differs["same_trial"], false);
}

fn refused() {
    let made = Made::of(PLAN);
    let is_refused = |at, more: &[&str], says: &[&str], code: i32| {
        let output = made.cut(at, more);
        let text = shown(&output);
        assert_eq!(output.status.code(), Some(code), "{text}");
        assert!(says.iter().all(|says| text.contains(says)), "{text}");
    };
    is_refused(["2", "0", "0"], &[], &["no record of trial 2", "0 to 1"], 2);
    is_refused(["0", "8", "0"], &[], &["no cut 8", "its cuts are 0 to 7"], 2);
    is_refused(["0", "0", "2"], &[], &["survivor 2", "survivors 0 to 1"], 2);
    let [file, link] = ["file", "link"].map(|name| made.place.path(name));
    fs::write(&file, "mine").unwrap();
    symlink(&file, &link).unwrap();
    is_refused(["0", "0", "0"], &["--image", "link"], &["symbolic link"], 1);
    is_refused(["0", "0", "0"], &["--log", "/dev/null"], &["not a regular file"], 1);
    is_refused(["0", "0", "0"], &["--image", "x", "--log", "./x"], &["name the same file"], 2);
    let same = ["--log", "x", "--files", "./x"];
    is_refused(["0", "0", "0"], &same, &["--log and --files name the same file"], 2);
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    assert!(made.place.journals().is_empty());

    let without = Made::of(&PLAN.replace("cuts = {", "# cuts = {"));
    let output = without.cut(["0", "0", "0"], &[]);
    assert_eq!(output.status.code(), Some(2), "{}", shown(&output));
    assert!(shown(&output).contains("has no power cuts"), "{}", shown(&output));
}

fn shrunk() {
    let made = Made::of(FORGETFUL);
    let example = &made.json["treatments"][0]["cuts"]["example"];
    assert!(example.is_object(), "no cut broke a promise: {}", made.json["treatments"][0]);
    let at = ["trial", "cut", "survivor"].map(|key| example[key].to_string());
    let at = [&*at[0], &*at[1], &*at[2]];
    let (shrunk, code) = made.repeat(at, &["--shrink"]);
    assert_eq!((code, &shrunk["finding"]), (0, &"broken_promise".into()), "{shrunk}");
    let least = r#"do = "append", append = { records = 1, sync_every = 1, think = "100ms" }"#;
    assert_eq!(shrunk["to"], json!([least]), "{shrunk}");
    assert_eq!(shrunk["from"].as_array().unwrap().len(), 2);
    assert_eq!(shrunk["is_least"], true);

    // The run that it names repeats it, to the bit, and is a run like any other.
    let command: Vec<String> =
        shrunk["command"].as_str().unwrap().split(' ').map(str::to_owned).collect();
    let mut again = made.place.command(&[]);
    again.args(&command[1..]).arg("--json").arg("--kernel").arg(kernel().as_ref().unwrap());
    let again: Value = serde_json::from_slice(&again.output().unwrap().stdout).unwrap();
    assert_eq!(again, shrunk["repeat"]);
    let lost = again["course"].as_array().unwrap().iter();
    let lost = lost.filter(|event| event["request"]["lost"] == true).count();
    assert_eq!(lost, 1, "{again}");
    let report = made.place.command(&["report", &command[2], "--why"]).output().unwrap();
    assert!(report.status.success(), "{}", shown(&report));

    let cut = made.place.command(&["cut", &command[2]]);
    let kept = with_nothing_lost(cut, &command);
    assert_eq!(kept["repeated"]["verdict"]["broken_promises"], 0, "{kept}");
}

/// The same cut, with nothing lost.
fn with_nothing_lost(mut command: Command, arguments: &[String]) -> Value {
    let place = arguments.iter().position(|argument| argument == "--lose").unwrap();
    command.args(&arguments[3..place]).args(["--lose", "none", "--json", "--kernel"]);
    let output = command.arg(kernel().as_ref().unwrap()).output().unwrap();
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", shown(&output)))
}

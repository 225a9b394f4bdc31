//! `ssdlab crashtest` finds what planted programs lose, names the sync that is missing, and finds
//! nothing of a correct one.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use super::common::shown;
use super::support::{Place, kernel};

pub const CASES: [(&str, fn()); 9] = [
    ("a_rename_without_a_sync_of_its_directory_is_named", forgets_directory),
    ("a_line_printed_before_its_sync_is_named", acknowledges_early),
    ("data_that_rely_on_the_order_of_writes_are_named", relies_on_order),
    ("an_error_of_fsync_that_is_ignored_is_named", ignores_errors),
    ("a_correct_program_is_clean_and_repeatable", correct),
    ("a_shell_and_what_is_added_are_there_and_nothing_else", shell),
    ("programs_that_poll_come_to_an_end", polls),
    ("a_program_that_promises_nothing_is_not_said_to_keep_it", silent),
    ("a_budget_that_is_spent_early_is_reported", spent),
];

/// Cases that take long, or need other languages: `make crash-test`.
pub const LONG: [(&str, fn()); 4] = [
    ("crash_long_a_correct_program_is_clean_after_ten_thousand_cuts", ten_thousand),
    ("crash_long_a_system_is_the_same_in_place_and_copied", same),
    ("crash_long_java_runs_and_is_judged", java),
    ("crash_long_go_runs_and_is_judged", go),
];

/// Python programs whose check is the same: of each number that was printed, its file holds it.
const CHECK: &str = r#"python3 -c '
import sys
for line in sys.stdin:
    n = line.strip()
    try:
        found = open("f" + n).read()
    except OSError as error:
        sys.exit("lost: " + str(error))
    if found != n * 1000:
        sys.exit("lost: f%s has %d bytes" % (n, len(found)))
'"#;

/// A program that makes a file a number, with a body that writes the file.
fn program(body: &str) -> String {
    format!(
        r#"python3 -c '
import os
top = os.open(".", os.O_RDONLY)
def put(name, text, sync=True):
    fd = os.open(name, os.O_WRONLY | os.O_CREAT)
    os.write(fd, text.encode())
    if sync:
        os.fsync(fd)
    return fd
for i in range(12):
    n = str(i)
{body}
    print(n, flush=True)
'"#
    )
}

fn crashtest(place: &Place, run: &str, check: &str, more: &[&str]) -> Output {
    let mut command = place.command(&["crashtest", "--run", run, "--check", check]);
    command.args(more).arg("--kernel").arg(kernel().as_ref().unwrap());
    command.output().unwrap()
}

/// The screen of a test that found something.
fn lost(run: &str, check: &str) -> String {
    let place = Place::new();
    let output = crashtest(&place, run, check, &["--filesystem", "ext4", "--cuts", "60"]);
    assert_eq!(output.status.code(), Some(1), "{}", shown(&output));
    let screen = String::from_utf8(output.stdout).unwrap();
    assert!(screen.lines().count() <= 16, "{screen}");
    assert!(screen.lines().filter(|line| line.len() > 80).all(|line| line.contains("ssdlab")));
    assert!(place.journals().is_empty(), "something is left");
    screen.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn forgets_directory() {
    let run = program("    os.close(put(\"new\", n * 1000)); os.rename(\"new\", \"f\" + n)");
    let screen = lost(&run, CHECK);
    assert!(
        screen.contains("fsync of the directory (the top folder) after the rename"),
        "{screen}"
    );
}

fn acknowledges_early() {
    let run = program(
        "    fd = put(\"f\" + n, n * 1000, False); print(n, flush=True)\n    os.fsync(fd); \
         os.fsync(top); continue",
    );
    let screen = lost(&run, CHECK);
    assert!(screen.contains("before the line is printed"), "{screen}");
}

/// The drive fails one write in ten, and the program acknowledges all the same; one that stops
/// there has nothing to be blamed for.
fn ignores_errors() {
    let ignoring = program(
        "    fd = put(\"f\" + n, n * 1000, False)\n    try: os.fsync(fd)\n    \
         except OSError: pass\n    os.fsync(top)",
    );
    let errors = ["--write-errors", "10 % of writes", "--filesystem", "ext4", "--cuts", "60"];
    let output = crashtest(&Place::new(), &ignoring, CHECK, &errors);
    assert_eq!(output.status.code(), Some(1), "{}", shown(&output));
    let screen = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(screen.contains("a stop after fsync(f"), "{screen}");
    let stopping = program("    put(\"f\" + n, n * 1000); os.fsync(top)");
    let output = crashtest(&Place::new(), &stopping, CHECK, &errors);
    assert_eq!(output.status.code(), Some(0), "{}", shown(&output));
}

fn relies_on_order() {
    // The file is written first, and what points to it is synced: the journal may be committed
    // without the data.
    let run =
        program("    put(\"f\" + n, n * 1000, False)\n    put(\"pointer\", n); os.fsync(top)");
    let check = r#"python3 -c '
import os, sys
if os.path.exists("pointer"):
    n = open("pointer").read()
    if n and (not os.path.exists("f" + n) or open("f" + n).read() != n * 1000):
        sys.exit("the pointer leads to nothing")
'"#;
    let screen = lost(&run, check);
    assert!(screen.contains("Missing fsync(f"), "{screen}");
}

/// Also: the same seed gives the same findings from another folder.
fn correct() {
    let run = program("    put(\"f\" + n, n * 1000); os.fsync(top)");
    let clean = |place: &Place| {
        let junit = place.path("junit.xml");
        let more = ["--filesystem", "ext4", "--cuts", "100", "--junit", junit.to_str().unwrap()];
        let output = crashtest(place, &run, CHECK, &more);
        assert_eq!(output.status.code(), Some(0), "{}", shown(&output));
        let screen = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(screen.contains("Yes, as far as 100 power cuts on ext4"), "{screen}");
        assert!(screen.contains("less than 3 %"), "{screen}");
        let xml = fs::read_to_string(junit).unwrap();
        assert!(xml.contains("tests=\"1\" failures=\"0\" errors=\"0\""), "{xml}");
        fingerprints(&place.path("data/ssdlab"))
    };
    assert_eq!(clean(&Place::new()), clean(&Place::new()));
}

/// The fingerprints of the trials of the only run in a folder.
fn fingerprints(results: &Path) -> Vec<String> {
    let run = fs::read_dir(results).unwrap().next().unwrap().unwrap();
    let records = fs::read_to_string(run.path().join("records.jsonl")).unwrap();
    let of = |line: &str| {
        let record: serde_json::Value = serde_json::from_str(line).unwrap();
        record["fingerprint"].as_str().unwrap().to_owned()
    };
    let mut fingerprints: Vec<String> = records.lines().map(of).collect();
    fingerprints.sort();
    fingerprints
}

fn shell() {
    let place = Place::new();
    fs::create_dir(place.path("added")).unwrap();
    fs::write(place.path("added/words"), "here\n").unwrap();
    fs::write(place.path("secret"), "not here\n").unwrap();
    let (added, secret) = (place.path("added"), place.path("secret"));
    let run = format!(
        "test ! -e {} && ls /system 2>/dev/null; cat {}/words >words && sync && cat words",
        secret.display(),
        added.display()
    );
    let check = "while read -r said; do [ \"$(cat words)\" = \"$said\" ] || exit 1; done";
    let more = ["--filesystem", "ext4", "--cuts", "10", "--add", added.to_str().unwrap()];
    let output = crashtest(&place, &run, check, &more);
    assert_eq!(output.status.code(), Some(0), "{}", shown(&output));
    let plan = place.command(&["crashtest", "--run", "true", "--check", "true", "--plan"]);
    let printed = { plan }.output().unwrap();
    assert!(printed.status.success(), "{}", shown(&printed));
    fs::write(place.path("plan.toml"), &printed.stdout).unwrap();
    let checked = place.command(&["check"]).arg(place.path("plan.toml")).output().unwrap();
    assert!(checked.status.success(), "{}", shown(&checked));
}

fn polls() {
    let run = "python3 -c 'import time\nend = time.time() + 0.05\nwhile time.time() < end: pass\n\
               print(1, flush=True)'";
    let place = Place::new();
    let output = crashtest(&place, run, "true", &["--filesystem", "ext4", "--cuts", "2"]);
    assert_eq!(output.status.code(), Some(0), "{}", shown(&output));
}

fn silent() {
    let output =
        crashtest(&Place::new(), "touch file", "true", &["--filesystem", "ext4", "--cuts", "4"]);
    assert_eq!(output.status.code(), Some(0), "{}", shown(&output));
    let screen = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(screen.contains("Nothing was promised") && !screen.contains("Yes"), "{screen}");
}

fn spent() {
    let place = Place::new();
    let junit = place.path("junit.xml");
    let more = ["--budget", "1 ms", "--junit", junit.to_str().unwrap()];
    let output = crashtest(&place, "echo 1", "true", &more);
    assert_eq!(output.status.code(), Some(2), "{}", shown(&output));
    let xml = fs::read_to_string(junit).unwrap();
    assert!(xml.contains("tests=\"3\" failures=\"0\" errors=\"3\""), "{xml}");
    assert!(place.journals().is_empty(), "something is left");
}

/// What is added below `/usr` has all of it copied.
fn same() {
    let run = program("    put(\"f\" + n, n * 1000); os.fsync(top)");
    let traces = |more: &[&str]| {
        let place = Place::new();
        let all = [&["--filesystem", "ext4", "--cuts", "10"], more].concat();
        let output = crashtest(&place, &run, CHECK, &all);
        assert_eq!(output.status.code(), Some(0), "{}", shown(&output));
        fingerprints(&place.path("data/ssdlab"))
    };
    assert_eq!(traces(&[]), traces(&["--add", "/usr/bin/env"]));
}

fn ten_thousand() {
    let run = program("    put(\"f\" + n, n * 1000); os.fsync(top)");
    let output = crashtest(&Place::new(), &run, CHECK, &["--cuts", "10000"]);
    assert_eq!(output.status.code(), Some(0), "{}", shown(&output));
}

/// A program in another language keeps a number, as it says; its check is the shell's.
fn keeps(run: &str, added: &Path) {
    let check = "while read -r said; do [ \"$(cat kept 2>&1)\" = \"$said\" ] || exit 1; done";
    let more = ["--filesystem", "ext4", "--cuts", "20", "--add", added.to_str().unwrap()];
    let output = crashtest(&Place::new(), run, check, &more);
    assert_eq!(output.status.code(), Some(0), "{}", shown(&output));
}

fn java() {
    let place = Place::new();
    let source = r#"
import java.nio.*; import java.nio.channels.*; import java.nio.file.*;
public class Keep {
    public static void main(String[] all) throws Exception {
        var options = java.util.Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        try (var file = FileChannel.open(Path.of("kept"), options)) {
            file.write(ByteBuffer.wrap("1".getBytes()));
            file.force(true);
        }
        System.out.println(1);
    }
}
"#;
    fs::write(place.path("Keep.java"), source).unwrap();
    let compiled = Command::new("javac").arg(place.path("Keep.java")).status().unwrap();
    assert!(compiled.success());
    let folder = place.path("");
    keeps(&format!("java -Xint -cp {} Keep && sync .", folder.display()), &folder);
}

fn go() {
    let place = Place::new();
    let source = r#"
package main
import ("fmt"; "os")
func main() {
    file, _ := os.Create("kept")
    file.WriteString("1")
    file.Sync()
    top, _ := os.Open(".")
    top.Sync()
    fmt.Println(1)
}
"#;
    fs::write(place.path("keep.go"), source).unwrap();
    let program = place.path("keep");
    let mut build = Command::new("go");
    build.args(["build", "-o"]).arg(&program).arg(place.path("keep.go"));
    assert!(build.env("GOCACHE", place.path("go-cache")).status().unwrap().success());
    keeps(&program.display().to_string(), &program);
}

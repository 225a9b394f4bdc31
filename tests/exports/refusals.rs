//! Refused destinations of exports: a run's own files, a terminal, unwritable places.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use super::fixture::{Fixture, records, schedule};
use super::{Case, Needs, tools};

pub fn cases() -> Vec<Case> {
    use Needs::{Nothing, Program};
    let case = |name, needs, run| Case { name, needs, run };
    vec![
        case("a_run_s_own_files_are_never_replaced", Nothing, own_files),
        case("a_file_that_cannot_be_written_is_named_and_kept", Nothing, unwritable),
        case("a_terminal_is_spared_what_is_no_text", Program("script"), terminal),
        case("parquet_is_refused_with_what_to_do_instead", Nothing, parquet),
        case("an_empty_run_is_exported_too", Nothing, empty),
    ]
}

const SSDLAB: &str = env!("CARGO_BIN_EXE_ssdlab");
const FORMATS: [&str; 5] = ["text", "markdown", "json", "csv", "ods"];

fn own_files() {
    let fixture = Fixture::new();
    let run = &fixture.run;
    fs::create_dir(run.join("requests")).unwrap();
    fs::write(run.join("requests/0000.requests"), "log").unwrap();
    let files = ["plan.toml", "schedule.json", "records.jsonl", "ending.json"];
    let contents = || files.map(|name| fs::read(run.join(name)).unwrap());
    let before = contents();
    let link = fixture.place().join("link");
    symlink(run.join("records.jsonl"), &link).unwrap();
    let mut targets: Vec<_> = files.iter().map(|name| run.join(name)).collect();
    targets.extend([run.join("records.cut"), run.join("requests/0000.requests"), link]);
    // Another run's files are protected, too.
    let other = Fixture::new();
    targets.push(other.run.join("records.jsonl"));
    for target in &targets {
        for format in FORMATS {
            let [run, file] = [run.as_path(), target].map(|path| path.to_str().unwrap());
            let output = tools::ssdlab(&["report", run, "--format", format, "--out", file]);
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{said}");
            assert!(said.contains("is part of a run"), "{said}");
        }
    }
    assert!(before == contents());
    assert_eq!(fs::read(run.join("requests/0000.requests")).unwrap(), b"log");
    assert!(!run.join("records.cut").exists());
    // A new file beside them is allowed.
    tools::done(&tools::ssdlab(&[
        "report",
        run.to_str().unwrap(),
        "--format",
        "csv",
        "--out",
        run.join("run.csv").to_str().unwrap(),
    ]));
}

fn unwritable() {
    let fixture = Fixture::new();
    let run = fixture.run.to_str().unwrap();
    let taken = fixture.place().join("taken.ods");
    fs::create_dir(&taken).unwrap();
    for target in ["/nonexistent/run.ods", "/proc/run.ods", taken.to_str().unwrap()] {
        let output = tools::ssdlab(&["report", run, "--format", "ods", "--out", target]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(&format!("cannot write {target}")), "{said}");
    }
    assert!(taken.is_dir() && fs::read_dir(&taken).unwrap().next().is_none());
}

fn terminal() {
    let fixture = Fixture::new();
    let run = fixture.run.display();
    let shown = |format: &str| {
        let command = format!("'{SSDLAB}' report {run} --format {format}");
        let mut script = Command::new("script");
        script.args(["-qec", &command, "/dev/null"]).env("SHELL", "/bin/sh");
        script.env("XDG_STATE_HOME", tools::STATE).env("TMPDIR", tools::STATE);
        let output = script.output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (code, text) = shown("ods");
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("--out FILE") && text.len() < 1000, "{text}");
    assert!(shown("csv").1.starts_with("run,plan,lab,seed"));
}

fn parquet() {
    let output = tools::ssdlab(&["report", "run", "--format", "parquet"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("DuckDB makes Parquet of it"), "{said}");
}

/// A run that was stopped before its first trial ended.
fn empty() {
    let schedule = schedule();
    let fixture = Fixture::of(&schedule, &records(&schedule)[..0]);
    for format in FORMATS {
        let file = tools::export(&fixture.run, format, fixture.place());
        assert_ne!(fs::metadata(file).unwrap().len(), 0);
    }
    let rows = tools::read_csv(Path::new(&fixture.place().join("run.csv")));
    assert_eq!(rows.len(), 1);
}

//! Reports of a run, written to files of each format and of none.

use std::fs;
use std::os::unix::fs::symlink;

use super::{HEAD, Place};

/// A place, and the folder of a run in it.
fn place_with_run() -> (Place, String) {
    let place = Place::new();
    let plan = format!(
        "{HEAD}[workload]\ntree = {{ files = 9, size = \"9 kB\" }}\n\
         phases = [{{ do = \"unpack\" }}]\n"
    );
    fs::write(place.0.path().join("plan.toml"), plan).unwrap();
    let arguments = ["--lab", "directory", "--dir", ".", "--runs", "1", "--results", "runs"];
    assert!(place.ssdlab(&[&["run", "plan.toml"], &arguments[..]].concat()).status.success());
    let run = fs::read_dir(place.0.path().join("runs")).unwrap().next().unwrap().unwrap().path();
    (place, run.to_str().unwrap().to_owned())
}

#[test]
fn a_report_goes_to_a_file_whole_or_not_at_all() {
    let (place, run) = &place_with_run();
    let printed = place.ssdlab(&["report", run, "--format", "json"]);
    assert!(printed.status.success());
    fs::write(place.0.path().join("a.json"), "before").unwrap();
    assert!(place.ssdlab(&["report", run, "--json", "--out", "a.json"]).status.success());
    assert_eq!(fs::read(place.0.path().join("a.json")).unwrap(), printed.stdout);
    symlink("a.json", place.0.path().join("link")).unwrap();
    for out in ["/dev/full", ".", "none/a.json", "link"] {
        let output = place.ssdlab(&["report", run, "--out", out]);
        assert_eq!(output.status.code(), Some(1), "{out}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("cannot write"), "{out}");
        assert!(output.stdout.is_empty(), "{out}");
    }
    assert_eq!(place.ssdlab(&["report", run, "--format", "poem"]).status.code(), Some(2));
    // A file has the format that its name promises, unless another is asked for.
    let written = |arguments: &[&str], file: &str| {
        let output = place.ssdlab(&[&["report", run, "--out", file], arguments].concat());
        assert!(output.status.success(), "{file}");
        String::from_utf8(fs::read(place.0.path().join(file)).unwrap()).unwrap()
    };
    assert!(written(&[], "a.HTML").starts_with("<!"));
    assert!(written(&[], "a.csv").starts_with("run,"));
    assert!(written(&[], "b.md").contains("| "));
    assert!(!written(&["--format", "text"], "b.html").contains('<'));
}

/// NEWCOMER.md, "Small": `--out x.pdf` wrote text.
#[test]
fn a_file_of_a_format_that_reports_lack_is_refused_and_not_written() {
    let (place, run) = &place_with_run();
    for name in ["a.pdf", "a.PDF", "a.parquet", "a.html.bak"] {
        let output = place.ssdlab(&["report", run, "--out", name]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{name}: {said}");
        for format in [".txt", ".md", ".html", ".json", ".csv", ".ods"] {
            assert!(said.contains(format), "{format}: {said}");
        }
        assert!(output.stdout.is_empty() && !place.0.path().join(name).exists(), "{name}");
    }
}

#[test]
fn several_metrics_of_a_run_are_in_one_report() {
    let (place, run) = &place_with_run();
    let shown = |metrics: &str| {
        let output = place.ssdlab(&["report", run, "--tables", "--metric", metrics]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let both = shown("application_bytes,time_ns");
    assert!(both.contains("application_bytes, below it time_ns"), "{both}");
    assert!(!shown("application_bytes").contains("below it"));
}

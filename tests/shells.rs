//! What shells and man(1) make of the program: completions, man pages, and where they are put.
//!
//! A test needs its program: bash, zsh, fish or groff. Without it, it is ignored with that reason.

#[path = "common/mod.rs"]
mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use libtest_mimic::{Arguments, Trial};
use tempfile::TempDir;

use self::common::{sh, trial};

const SSDLAB: &str = env!("CARGO_BIN_EXE_ssdlab");

fn main() {
    let arguments = Arguments::from_args();
    let tests = vec![
        test(
            "bash_completes_commands_options_and_the_names_of_plans_runs_drives_and_metrics",
            "bash",
            bash,
        ),
        test("zsh_reads_its_completions", "zsh", zsh),
        test("fish_completes_commands", "fish", fish),
        test("man_pages_have_no_faults", "groff", man_pages),
        test("everything_is_installed_below_destdir", "install", installed),
    ];
    libtest_mimic::run(&arguments, tests).exit();
}

/// A test that is ignored without its program.
fn test(name: &str, program: &str, run: fn()) -> Trial {
    let found = Command::new(program).arg("--version").stdout(Stdio::null()).status();
    let is_there = found.is_ok_and(|status| status.success());
    let test = trial(name, run);
    if is_there { test } else { test.with_kind(format!("needs {program}")).with_ignored_flag(true) }
}

/// A folder with the completions of a shell, and their path.
fn completions(shell: &str) -> (TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("completions").display().to_string();
    sh(&format!("'{SSDLAB}' completions {shell} >{file}"));
    (folder, file)
}

/// The name of a run in the default folder of results below this one.
fn run_in(data: &Path) -> &'static str {
    let name = "discard-20261128-101112";
    let run = data.join("ssdlab").join(name);
    fs::create_dir_all(&run).unwrap();
    for file in ["schedule.json", "records.jsonl"] {
        fs::write(run.join(file), "").unwrap();
    }
    name
}

fn bash() {
    let (folder, file) = completions("bash");
    let data = folder.path().display();
    sh(&format!("bash -n {file}"));
    let offered = |words: &str, at: usize| {
        let script = format!(
            "source {file}; COMP_WORDS=(ssdlab {words}); COMP_CWORD={at}; \
             _ssdlab ssdlab \"${{COMP_WORDS[{at}]}}\" \"${{COMP_WORDS[{at}-1]}}\"; \
             echo \"${{COMPREPLY[@]}}\""
        );
        let bin = Path::new(SSDLAB).parent().unwrap().display();
        sh(&format!("env -u BASH_ENV PATH={bin}:$PATH XDG_DATA_HOME={data} bash -c '{script}'"))
    };
    assert_eq!(offered("rep", 1), "report");
    assert_eq!(offered("drive sh", 2), "show");
    assert_eq!(offered("report --met", 2), "--metric");
    // Names are asked of the program in the path.
    assert_eq!(offered("run trim", 2), "trim-today");
    assert_eq!(offered("report trim", 2), "trim-today");
    assert_eq!(offered("run discard --drive 970", 4), "970-pro");
    assert_eq!(offered("report --metric years_by", 3), "years_by_bytes");
    let two = offered("report --metric time_ns,years_by", 3);
    assert_eq!(two, "time_ns,years_by_bytes");
    for command in ["report", "compare", "run --resume"] {
        let line = format!("{command} discard-");
        let at = line.split(' ').count();
        assert_eq!(offered(&line, at), "", "{line}");
    }
    let run = run_in(folder.path());
    for command in ["report", "compare", "run --resume"] {
        let line = format!("{command} discard-");
        let at = line.split(' ').count();
        assert_eq!(offered(&line, at), run, "{line}");
    }
    // What ssdlab runs itself is offered to nobody.
    for start in ["gu", "nod", "ref"] {
        assert_eq!(offered(start, 1), "");
    }
}

fn zsh() {
    let (_folder, file) = completions("zsh");
    sh(&format!("zsh -n {file}"));
}

fn fish() {
    let (folder, file) = completions("fish");
    let offered = sh(&format!("fish --no-config -c 'source {file}; complete -C \"ssdlab rep\"'"));
    assert!(offered.starts_with("report"), "{offered}");
    let bin = Path::new(SSDLAB).parent().unwrap().display();
    let path = format!("env PATH={bin}:$PATH XDG_DATA_HOME={}", folder.path().display());
    let run = run_in(folder.path());
    for (line, name) in [
        ("run trim", "trim-today"),
        ("report --metric years_by", "years_by_bytes"),
        ("report discard-", run),
        ("compare discard-", run),
        ("run --resume discard-", run),
    ] {
        let line = format!("source {file}; complete -C \"ssdlab {line}\"");
        let offered = sh(&format!("{path} fish --no-config -c '{line}'"));
        assert!(offered.lines().any(|own| own == name), "{offered}");
    }
}

fn man_pages() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().display();
    sh(&format!("'{SSDLAB}' man {folder}"));
    let faults = sh(&format!("groff -man -Tutf8 -ww -z {folder}/*.1 2>&1"));
    assert_eq!(faults, "");
    let page = sh(&format!("groff -man -Tascii -P-cbou {folder}/ssdlab-drive-show.1"));
    assert!(page.contains("ssdlab drive show 970-pro\n"), "{page}");
}

fn installed() {
    let folder = tempfile::tempdir().unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/install");
    sh(&format!("DESTDIR={} '{script}' '{SSDLAB}' /usr", folder.path().display()));
    let usr = folder.path().join("usr");
    let mode = |path: &str| {
        let metadata =
            fs::metadata(usr.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
        assert!(metadata.len() > 0, "{path}");
        metadata.permissions().mode() & 0o777
    };
    assert_eq!(mode("bin/ssdlab"), 0o755);
    for file in [
        "share/bash-completion/completions/ssdlab",
        "share/zsh/site-functions/_ssdlab",
        "share/fish/vendor_completions.d/ssdlab.fish",
        "share/man/man1/ssdlab.1",
        "share/man/man1/ssdlab-drive-check.1",
        "share/doc/ssdlab/LICENSE-MIT",
        "share/doc/ssdlab/docs/virtual-lab.md",
        "share/doc/ssdlab/docs/reference/metrics.md",
    ] {
        assert_eq!(mode(file), 0o644, "{file}");
    }
    // Every page that a message names is there.
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/crates");
    let named = sh(&format!("grep -rhoE 'docs/[a-z/-]+[.]md' '{source}' --include=*.rs | sort -u"));
    assert!(named.lines().count() > 3, "{named}");
    for page in named.lines() {
        assert_eq!(mode(&format!("share/doc/ssdlab/{page}")), 0o644, "{page}");
    }
    let version = |program: &Path| sh(&format!("'{}' --version", program.display()));
    assert_eq!(version(&usr.join("bin/ssdlab")), version(Path::new(SSDLAB)));
}

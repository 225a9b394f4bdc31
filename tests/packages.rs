//! The packages of `make deb`: lintian finds nothing in them, and in a clean Debian with nothing
//! else installed, an ordinary user walks through the tutorial. How long each step took is printed.
//!
//! The first test needs lintian, the second root and mmdebstrap with a mirror, both the packages in
//! `target/deb`. Without them, a test is ignored with that reason. The second takes a minute or
//! two.

#[path = "common/mod.rs"]
mod common;
#[allow(dead_code, reason = "tests of the manual use all of it")]
#[path = "manual/page.rs"]
mod page;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use libtest_mimic::{Arguments, Trial};

use self::common::{sh, trial};
use self::page::{Block, Needs, Page};

/// The tutorial's pages, in order, but the last: in a chroot, the folder that it measures in is
/// below no mount point.
const TUTORIAL: [&str; 3] = ["first-answer", "own-plan", "own-drive"];

fn main() {
    let arguments = Arguments::from_args();
    let lintian = needs("lintian").or_else(needs_packages);
    let root = (!rustix::process::geteuid().is_root()).then_some("needs root");
    let debian = root.map(str::to_owned).or_else(|| needs("mmdebstrap")).or_else(needs_packages);
    let tests = vec![
        test("lintian_finds_nothing", lintian, lintian_finds_nothing),
        test("the_tutorial_is_walked_in_a_clean_debian", debian, tutorial_is_walked),
    ];
    libtest_mimic::run(&arguments, tests).exit();
}

/// A test that is ignored if something is missing.
fn test(name: &str, lacking: Option<String>, run: fn()) -> Trial {
    let test = trial(name, run);
    match lacking {
        Some(reason) => test.with_kind(reason).with_ignored_flag(true),
        None => test,
    }
}

fn needs(program: &str) -> Option<String> {
    let found = Command::new(program).arg("--version").stdout(Stdio::null()).status();
    (!found.is_ok_and(|status| status.success())).then(|| format!("needs {program}"))
}

fn needs_packages() -> Option<String> {
    (packages().len() < 2).then(|| "needs packages: make deb".to_owned())
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The program and the lab kernel, without the kernel's source.
fn packages() -> Vec<PathBuf> {
    let folder = root().join("target/deb");
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    let is_installed = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("ssdlab_") || name.starts_with("ssdlab-kernel_")
    };
    paths.filter(is_installed).collect()
}

/// Not the kernel's source: it is large, and only copied.
fn lintian_finds_nothing() {
    let paths: Vec<String> = packages().iter().map(|path| path.display().to_string()).collect();
    let found = sh(&format!("lintian --allow-root -EIL +pedantic {}", paths.join(" ")));
    assert_eq!(found, "");
}

fn tutorial_is_walked() {
    let place = tempfile::tempdir().unwrap();
    let (script, walk) = (place.path().join("walk"), walk());
    fs::write(&script, &walk).unwrap();
    let includes: Vec<String> =
        packages().iter().map(|path| format!("--include={}", path.display())).collect();
    // Hooks have /proc and /dev. Nothing is kept. The user has neither a name nor a home.
    let printed = sh(&format!(
        "mmdebstrap --quiet --variant=apt --format=null \
         --hook-dir=/usr/share/mmdebstrap/hooks/file-mirror-automount {} \
         '--customize-hook=test -s \"$1\"/usr/share/man/man1/ssdlab.1.gz' \
         '--customize-hook=cp {} \"$1\"/tmp/walk' \
         '--customize-hook=chroot --userspec=1000:1000 \"$1\" env HOME=/tmp bash -e /tmp/walk' \
         \"$(. /etc/os-release; echo $VERSION_CODENAME)\" 2>&1",
        includes.join(" "),
        script.display(),
    ));
    let steps: Vec<&str> = printed.lines().filter_map(|line| line.strip_prefix("step: ")).collect();
    let commands = walk.lines().filter(|line| line.starts_with("time_of '")).count();
    assert_eq!(steps.len(), commands, "{printed}");
    // `check` asks, the run answers.
    let answer = "With discard it takes ";
    assert!(printed.contains(answer), "{printed}");
    for step in steps {
        println!("    {step}");
    }
}

/// The tutorial as a script: each page in a folder of its own, and how long each command took.
fn walk() -> String {
    let pages = Page::all();
    let mut lines =
        vec!["time_of() { TIMEFORMAT=\"step: %R s  ${1//%/%%}\"; time eval \"$1\"; }".to_owned()];
    for name in TUTORIAL {
        let path = format!("tutorial/{name}.md");
        let page = pages.iter().find(|page| page.path == path).unwrap();
        lines.push(format!("mkdir /tmp/{name}; cd /tmp/{name}"));
        for block in &page.blocks {
            match block {
                Block::File { name, text } => {
                    lines.push(format!("cat >{name} <<'END'\n{text}END"));
                }
                Block::Commands { needs: Needs::Nothing | Needs::Kernel, commands } => {
                    let commands = commands.iter().map(|(command, _)| quoted(command));
                    lines.extend(commands.map(|command| format!("time_of {command}")));
                }
                Block::Commands { needs: Needs::More, .. } => {}
            }
        }
    }
    lines.join("\n")
}

/// As one word of a shell.
fn quoted(command: &str) -> String {
    format!("'{}'", command.replace('\'', "'\\''"))
}

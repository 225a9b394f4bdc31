//! The packages of `make deb`: lintian finds nothing in them, and in a clean Debian with nothing
//! else installed, the program answers an ordinary user's question.
//!
//! The first test needs lintian, the second root and mmdebstrap with a mirror, both the packages in
//! `target/deb`. Without them, a test is ignored with that reason. The second takes a minute or
//! two, most of it for the clean Debian.

#[path = "common/mod.rs"]
mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use libtest_mimic::{Arguments, Trial};

use self::common::{caught, sh};

fn main() {
    let arguments = Arguments::from_args();
    let lintian = needs("lintian").or_else(needs_packages);
    let root = (!rustix::process::geteuid().is_root()).then_some("needs root");
    let debian = root.map(str::to_owned).or_else(|| needs("mmdebstrap")).or_else(needs_packages);
    let tests = vec![
        test("lintian_finds_nothing", lintian, lintian_finds_nothing),
        test("installed_in_a_clean_debian_it_answers", debian, answers),
    ];
    libtest_mimic::run(&arguments, tests).exit();
}

/// A test that is ignored if something is missing.
fn test(name: &str, lacking: Option<String>, run: fn()) -> Trial {
    let test = Trial::test(name, move || caught(run));
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

/// The program and the lab kernel, without the kernel's source.
fn packages() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/deb");
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

fn answers() {
    let includes: Vec<String> =
        packages().iter().map(|path| format!("--include={}", path.display())).collect();
    // Hooks have /proc and /dev. Nothing is kept. The user has neither a name nor a home.
    let report = sh(&format!(
        "mmdebstrap --quiet --variant=apt --format=null \
         --hook-dir=/usr/share/mmdebstrap/hooks/file-mirror-automount {} \
         '--customize-hook=test -s \"$1\"/usr/share/man/man1/ssdlab.1.gz' \
         '--customize-hook=chroot --userspec=1000:1000 \"$1\" \
          env HOME=/tmp ssdlab run discard --scale 0.01 --capacity 2GB --runs 1 \
          --set prefill=0% --set stale=0% --results /tmp/results' \
         \"$(. /etc/os-release; echo $VERSION_CODENAME)\" 2>&1",
        includes.join(" "),
    ));
    assert!(report.contains("times as long with discard on as with discard off"), "{report}");
}

//! The packages of `make deb` in a clean Debian: installed there, the program answers a question
//! from nothing else.
//!
//! It needs root, mmdebstrap with a mirror, and the packages in `target/deb`; where they are not,
//! it is ignored and says why. It takes a minute, most of it for the clean Debian.

#[path = "common/mod.rs"]
mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use libtest_mimic::{Arguments, Trial};

use self::common::{caught, sh};

fn main() {
    let arguments = Arguments::from_args();
    let lacking = lacking();
    let test = Trial::test("installed_in_a_clean_debian_it_answers", || caught(answers));
    let test = match &lacking {
        Some(reason) => test.with_kind(reason).with_ignored_flag(true),
        None => test,
    };
    libtest_mimic::run(&arguments, vec![test]).exit();
}

fn lacking() -> Option<String> {
    let has_mmdebstrap = Command::new("mmdebstrap").arg("--version").stdout(Stdio::null()).status();
    if !rustix::process::geteuid().is_root() {
        Some("needs root".to_owned())
    } else if !has_mmdebstrap.is_ok_and(|status| status.success()) {
        Some("needs mmdebstrap".to_owned())
    } else if packages().len() < 2 {
        Some("needs packages: make deb".to_owned())
    } else {
        None
    }
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

fn answers() {
    let includes: Vec<String> =
        packages().iter().map(|path| format!("--include={}", path.display())).collect();
    // In a hook /proc and /dev are there. Nothing is kept.
    let report = sh(&format!(
        "mmdebstrap --quiet --variant=apt --format=null \
         --hook-dir=/usr/share/mmdebstrap/hooks/file-mirror-automount {} \
         '--customize-hook=test -s \"$1\"/usr/share/man/man1/ssdlab.1.gz' \
         '--customize-hook=chroot \"$1\" ssdlab run discard --scale 0.01 --capacity 2GB --runs 1 \
          --set prefill=0% --set stale=0% --results /tmp/results' \
         \"$(. /etc/os-release; echo $VERSION_CODENAME)\" 2>&1",
        includes.join(" "),
    ));
    assert!(report.contains("Does ext4's discard option"), "{report}");
}

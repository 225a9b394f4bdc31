//! Names the commit the program is built from, which every record carries.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=.git/HEAD");
    println!("cargo::rerun-if-changed=.git/refs/heads");
    let output = Command::new("git").args(["describe", "--always", "--dirty"]).output();
    let commit = output.ok().filter(|output| output.status.success());
    let commit = commit.and_then(|output| String::from_utf8(output.stdout).ok());
    let commit = commit.unwrap_or_else(|| "(no commit)".to_owned());
    println!("cargo::rustc-env=SSDLAB_COMMIT={}", commit.trim());
}

//! `ssdlab serve` on the command line, as far as it needs no root: it listens, ends on a signal,
//! and says what is wrong. `tests/machine/serving.rs` has the rest.

use std::fs;
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

fn ssdlab(arguments: &[&str]) -> Command {
    // Whatever this test was started with.
    let mut command = Command::new("/usr/bin/env");
    command.args(["--default-signal=INT,TERM", env!("CARGO_BIN_EXE_ssdlab"), "serve"]);
    command.args(arguments).stdin(Stdio::null());
    command
}

#[test]
fn a_drive_is_served_until_a_signal() {
    for signal in [Signal::INT, Signal::TERM] {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("drive's socket");
        let mut server = ssdlab(&["--drive", "ideal", "--capacity", "64 MiB", "--vhost-user"])
            .arg(&socket)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let started = Instant::now();
        while UnixStream::connect(&socket).is_err() {
            assert!(started.elapsed() < Duration::from_secs(20), "it never listens");
            sleep(Duration::from_millis(5));
        }
        kill_process(Pid::from_child(&server), signal).unwrap();
        assert_eq!(server.wait().unwrap().code(), Some(0));
        let said = std::io::read_to_string(server.stdout.take().unwrap()).unwrap();
        assert!(said.starts_with("ideal (67108864 bytes) is served at "), "{said}");
        assert!(said.contains("vhost-user-blk-pci") && said.contains("flushes"), "{said}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}

#[test]
fn what_cannot_be_served_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let theirs = folder.path().join("theirs");
    fs::write(&theirs, "data").unwrap();
    let theirs = theirs.to_str().unwrap();
    let cases: [(&[&str], &str); 6] = [
        (&["--drive", "ideal"], "--vhost-user"),
        (&["--drive", "ideal", "--fuse", "x", "--vhost-user", "y"], "cannot be used with"),
        (&["--vhost-user", "y"], "--drive"),
        (&["--drive", "perfect", "--vhost-user", "y"], "there is no drive `perfect`"),
        (&["--drive", "ideal", "--condition", "old", "--vhost-user", "y"], "one of purged"),
        (&["--drive", "ideal", "--vhost-user", theirs], "is there already, and no socket"),
    ];
    for (arguments, expected) in cases {
        let output = ssdlab(arguments).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(expected), "{arguments:?}: {said}");
    }
    assert_eq!(fs::read(theirs).unwrap(), b"data");
}

//! `ssdlab serve` on the command line, without root: it listens, ends on a signal, and reports
//! errors. `tests/machine/serving.rs` has the rest.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

fn ssdlab(arguments: &[&str]) -> Command {
    // Default signals, whatever this test has inherited.
    let mut command = Command::new("/usr/bin/env");
    command.args(["--default-signal=INT,TERM", env!("CARGO_BIN_EXE_ssdlab"), "serve"]);
    command.args(arguments).stdin(Stdio::null());
    command
}

/// A server, and what it prints.
struct Server {
    process: Child,
    output: BufReader<ChildStdout>,
    errors: BufReader<ChildStderr>,
}

impl Server {
    /// Starts a server that listens at a socket. Also returns what it has printed so far.
    fn start(socket: &Path) -> (Self, String) {
        let mut command = ssdlab(&["--drive", "ideal", "--capacity", "64 MiB", "--vhost-user"]);
        command.arg(socket).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        let errors = BufReader::new(process.stderr.take().unwrap());
        let mut server = Self { process, output, errors };
        let said = (0..3).map(|_| line(&mut server.output)).collect();
        (server, said)
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.process), signal).unwrap();
    }

    /// Waits for its end. Returns its exit code and what it printed.
    fn ended(mut self) -> (Option<i32>, String) {
        let mut said = String::new();
        self.output.read_to_string(&mut said).unwrap();
        (self.process.wait().unwrap().code(), said)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn line(from: &mut impl BufRead) -> String {
    let mut line = String::new();
    from.read_line(&mut line).unwrap();
    line
}

#[test]
fn a_drive_is_served_until_a_signal() {
    for signal in [Signal::INT, Signal::TERM] {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("drive's socket, with a comma");
        let (server, said) = Server::start(&socket);
        assert!(said.starts_with("serving ideal (67108864 bytes) at "), "{said}");
        assert!(said.contains("vhost-user-blk-pci"), "{said}");
        // To QEMU, a single comma ends a value.
        assert!(said.contains("socket,, with a comma"), "{said}");
        assert!(said.contains("-m 2G ") && said.contains("size=2G"), "{said}");
        assert!(said.contains("one queue"), "{said}");
        UnixStream::connect(&socket).unwrap();
        server.signal(signal);
        let (code, said) = server.ended();
        assert_eq!(code, Some(0));
        assert!(said.contains("flushes"), "{said}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}

#[test]
fn a_drive_that_a_virtual_machine_has_is_served_until_it_goes_or_a_second_signal() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("socket");
    for goes in [true, false] {
        let (mut server, _) = Server::start(&socket);
        // A request without a body that has an answer: features (vhost-user, 1).
        let mut machine = UnixStream::connect(&socket).unwrap();
        let ask = |machine: &mut UnixStream| {
            std::io::Write::write_all(machine, &[1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0])?;
            machine.read_exact(&mut [0; 20])
        };
        ask(&mut machine).unwrap();
        server.signal(Signal::INT);
        let said = line(&mut server.errors);
        assert!(said.contains("is in use and stays served"), "{said}");
        ask(&mut machine).unwrap();
        if goes {
            drop(machine);
            assert_eq!(server.ended().0, Some(0));
        } else {
            server.signal(Signal::INT);
            let (code, said) = server.ended();
            assert_eq!(code, Some(130));
            assert!(said.contains("flushes"), "{said}");
            assert!(ask(&mut machine).is_err());
        }
        assert!(!socket.exists());
    }
}

#[test]
fn a_drive_that_memory_cannot_hold_is_refused_before_anything_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("socket");
    let mut command = ssdlab(&["--drive", "ideal", "--capacity", "12 TiB", "--vhost-user"]);
    let output = command.arg(&socket).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(said.contains("of memory") && said.contains("--capacity"), "{said}");
    assert!(!socket.exists());
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
        (
            &["--drive", "perfect", "--vhost-user", "y"],
            "there is neither a drive nor a file named `perfect`",
        ),
        (&["--drive", "ideal", "--condition", "old", "--vhost-user", "y"], "one of purged"),
        (
            &["--drive", "ideal", "--capacity", "64 MiB", "--vhost-user", theirs],
            "exists and is not a socket",
        ),
    ];
    for (arguments, expected) in cases {
        let output = ssdlab(arguments).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(expected), "{arguments:?}: {said}");
    }
    assert_eq!(fs::read(theirs).unwrap(), b"data");
}

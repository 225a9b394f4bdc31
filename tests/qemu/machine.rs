//! A served drive, and a QEMU virtual machine with that drive as its disk.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use tempfile::TempDir;

use crate::common::sh;

/// How long to wait for an event; it only determines when a test fails.
const BOUND: Duration = Duration::from_mins(10);

/// The folder that `scripts/fetch-guest` makes in the build folder.
pub fn guest() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().join("guest")
}

/// The lines that a program prints, as they arrive.
struct Lines(Receiver<String>);

impl Lines {
    fn of(output: impl Read + Send + 'static) -> Self {
        let (say, hear) = mpsc::channel();
        thread::spawn(move || {
            let mut output = BufReader::new(output);
            let mut line = Vec::new();
            while output.read_until(b'\n', &mut line).is_ok_and(|bytes| bytes > 0) {
                let text = String::from_utf8_lossy(&line).trim_end().to_owned();
                line.clear();
                if say.send(text).is_err() {
                    return;
                }
            }
        });
        Self(hear)
    }

    /// The lines up to and including the first that satisfies `is_last`.
    fn until(&self, is_last: impl Fn(&str) -> bool) -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            match self.0.recv_timeout(BOUND) {
                Ok(line) => lines.push(line),
                Err(error) => panic!("{error}: {lines:#?}"),
            }
            if is_last(lines.last().unwrap()) {
                return lines;
            }
        }
    }

    /// All remaining lines; waits for the program's end.
    fn rest(&self) -> String {
        self.0.iter().map(|line| line + "\n").collect()
    }
}

/// A served drive.
pub struct Server {
    process: Child,
    errors: Lines,
    output: Lines,
    /// QEMU's options, as the server prints them.
    options: String,
    folder: TempDir,
}

impl Server {
    /// Serves a drive at a socket whose path contains every problematic character.
    pub fn start() -> Self {
        let folder = tempfile::Builder::new().prefix("q, e'mu").tempdir().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_ssdlab"));
        command.args(["serve", "--drive", "x25m-g2", "--capacity", "3 GB", "--vhost-user"]);
        command.arg(folder.path().join("drive")).stdin(Stdio::null());
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let output = Lines::of(process.stdout.take().unwrap());
        let errors = Lines::of(process.stderr.take().unwrap());
        let said = output.until(|line| line.starts_with("for QEMU: "));
        let options = said.last().unwrap().strip_prefix("for QEMU: ").unwrap().to_owned();
        Self { process, errors, output, options, folder }
    }

    /// How many files it has open.
    pub fn open_files(&self) -> usize {
        fs::read_dir(format!("/proc/{}/fd", self.process.id())).unwrap().count()
    }

    /// Whether it has mapped a virtual machine's memory.
    pub fn has_guest_memory(&self) -> bool {
        let maps = fs::read_to_string(format!("/proc/{}/maps", self.process.id())).unwrap();
        maps.contains("/memfd:")
    }

    /// The next warning.
    pub fn warning(&self) -> String {
        self.errors.until(|line| line.starts_with("warning")).pop().unwrap()
    }

    pub fn signal(&self, signal: &str) {
        sh(&format!("kill -{signal} {}", self.process.id()));
    }

    /// Waits for its end. Returns its exit code, and what it printed since it started serving.
    pub fn ended(mut self) -> (Option<i32>, String) {
        (self.process.wait().unwrap().code(), self.output.rest())
    }

    /// QEMU with the drive, by the server's options, with some words replaced.
    fn qemu(&self, words: &[(&str, &str)], initrd: &Path) -> Command {
        let mut options = self.options.clone();
        for (from, to) in words {
            assert!(options.contains(from), "{options}");
            options = options.replace(from, to);
        }
        let kernel = guest().join("vmlinuz");
        let mut command = Command::new("sh");
        let script = format!(
            "exec qemu-system-x86_64 -accel tcg -nodefaults -display none -serial stdio \
             -kernel \"$1\" -initrd \"$2\" -append 'console=ttyS0 quiet panic=-1' {options}"
        );
        command.args(["-c", &script, "sh"]).arg(kernel).arg(initrd);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command
    }

    /// The errors of QEMU with some words replaced, which must end without booting.
    pub fn refused(&self, words: &[(&str, &str)]) -> String {
        let mut command = self.qemu(words, &initrd(self.folder.path()));
        let output = command.stdin(Stdio::null()).stderr(Stdio::piped()).output().unwrap();
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A virtual machine whose shell takes commands.
pub struct Machine {
    process: Child,
    output: Lines,
}

impl Machine {
    /// Boots one.
    pub fn boot(server: &Server, words: &[(&str, &str)]) -> Self {
        let initrd = initrd(server.folder.path());
        let mut process = server.qemu(words, &initrd).spawn().unwrap();
        let output = Lines::of(process.stdout.take().unwrap());
        let machine = Self { process, output };
        machine.has_booted();
        machine
    }

    fn has_booted(&self) {
        self.output.until(|line| line.ends_with("=ready="));
    }

    fn say(&mut self, line: &str) {
        let input = self.process.stdin.as_mut().unwrap();
        writeln!(input, "{line}").unwrap();
    }

    /// Runs a command that must succeed. Returns what it printed.
    pub fn sh(&mut self, line: &str) -> String {
        self.say(&format!("( set -e; {line}; )"));
        let mut lines = self.output.until(|line| line.starts_with("=ended "));
        assert_eq!(lines.pop().unwrap(), "=ended 0=", "{line}: {lines:#?}");
        lines.join("\n").trim().to_owned()
    }

    /// Reboots it, without a clean shutdown.
    pub fn reset(&mut self) {
        self.say("reboot -f");
        self.has_booted();
    }

    /// Kills QEMU.
    pub fn kill(mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Makes the initial RAM disk. Returns its path.
fn initrd(folder: &Path) -> PathBuf {
    let root = folder.join("root");
    let initrd = folder.join("initrd");
    if !initrd.exists() {
        fs::create_dir(&root).unwrap();
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/qemu/init");
        let made = Command::new("sh")
            .args(["-ec", INITRD, "sh", script])
            .args([&guest(), &initrd])
            .current_dir(&root)
            .output()
            .unwrap();
        assert!(made.status.success(), "{made:?}");
    }
    initrd
}

const INITRD: &str = r#"
    cp "$1" init; chmod +x init
    cp -r "$2/modules" .; cp "$2/busybox" .
    find . | ./busybox cpio -o -H newc >"$3"
"#;

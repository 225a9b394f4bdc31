//! Two nodes of a real Slurm on this machine, and a place to run the program in.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::common::{shown, wait_for};

const SSDLAB: &str = env!("CARGO_BIN_EXE_ssdlab");
const FLEET: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/fleet");

/// Why these tests cannot run here; `None` if they can.
pub fn lacks() -> Option<&'static str> {
    let has = |program: &str| {
        let of = |folder: PathBuf| folder.join(program).exists();
        let path = env::var_os("PATH").unwrap_or_default();
        env::split_paths(&path).chain(["/usr/sbin".into()]).any(of)
    };
    let kernel = || Command::new(SSDLAB).args(["kernel", "info"]).output();
    if !rustix::process::geteuid().is_root() {
        Some("needs root, as Slurm's daemons do")
    } else if !["slurmctld", "slurmd", "munged", "rsync"].iter().all(|program| has(program)) {
        Some("needs slurm-wlm, munge and rsync")
    } else if !kernel().is_ok_and(|info| info.status.success()) {
        Some("needs a lab kernel: `ssdlab kernel build`")
    } else {
        None
    }
}

/// A fleet that ends with the test.
pub struct Cluster {
    folder: TempDir,
}

impl Cluster {
    pub fn start() -> Self {
        // Sockets have short names.
        let folder = tempfile::Builder::new().prefix("fleet-").tempdir_in("/var/tmp").unwrap();
        let cluster = Self { folder };
        cluster.fleet("start", &[]);
        cluster
    }

    /// Runs scripts/fleet.
    pub fn fleet(&self, what: &str, more: &[&str]) {
        let slurm = self.path("slurm");
        let output =
            Command::new(FLEET).arg(what).arg(slurm).args(more).stdin(Stdio::null()).output();
        let output = output.unwrap();
        assert!(output.status.success(), "{what}: {}", shown(&output));
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The program, with results and journals here, and the lab kernel of the test's user.
    pub fn ssdlab(&self, arguments: &[&str]) -> Command {
        // Default signals, whatever this test has inherited.
        let mut command = Command::new("/usr/bin/env");
        command
            .args(["--default-signal=HUP,INT,TERM", SSDLAB])
            .args(arguments)
            .env("XDG_STATE_HOME", self.path("state"))
            .env("XDG_DATA_HOME", self.path("data"))
            .env("SLURM_CONF", self.path("slurm/slurm.conf"))
            .stdin(Stdio::null());
        command
    }

    /// Runs the program to its end.
    pub fn output(&self, arguments: &[&str]) -> Output {
        self.ssdlab(arguments).output().unwrap()
    }

    /// Runs the program, which must end with this exit code; returns the object that it prints.
    pub fn json(&self, arguments: &[&str], code: i32) -> Value {
        let output = self.ssdlab(arguments).arg("--json").output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{}", shown(&output));
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Starts the program; its standard error goes to a file here.
    pub fn spawn(&self, arguments: &[&str]) -> Child {
        let errors = fs::File::create(self.path("errors")).unwrap();
        let mut command = self.ssdlab(arguments);
        command.stdout(Stdio::null()).stderr(errors).spawn().unwrap()
    }

    /// The standard error of a started program.
    pub fn errors(&self) -> String {
        fs::read_to_string(self.path("errors")).unwrap()
    }

    pub fn plan(&self, text: &str) -> String {
        let path = self.path("plan.toml");
        fs::write(&path, text).unwrap();
        path.display().to_string()
    }

    /// The folders of runs.
    pub fn runs(&self) -> Vec<PathBuf> {
        entries(&self.path("data/ssdlab"))
    }

    /// The only run's folder.
    pub fn run(&self) -> PathBuf {
        let runs = self.runs();
        assert_eq!(runs.len(), 1, "{runs:?}");
        runs[0].clone()
    }

    /// The queue, one line per element.
    pub fn queue(&self) -> String {
        let mut squeue = Command::new("squeue");
        squeue.args(["--noheader", "--array"]).env("SLURM_CONF", self.path("slurm/slurm.conf"));
        String::from_utf8(squeue.output().unwrap().stdout).unwrap()
    }

    /// The processes of a node's elements.
    pub fn elements(&self, node: &str) -> Vec<String> {
        let sign = format!("SLURMD_NODENAME={node}\0");
        let here = self.folder.path().display().to_string();
        let mut found = Vec::new();
        for process in entries(Path::new("/proc")) {
            let text = |name: &str| fs::read(process.join(name)).unwrap_or_default();
            let line = String::from_utf8_lossy(&text("cmdline")).into_owned();
            let is_element = line.contains("\0node\0") && line.contains(&here);
            if is_element && String::from_utf8_lossy(&text("environ")).contains(&sign) {
                found.push(process.file_name().unwrap().to_string_lossy().into_owned());
            }
        }
        found
    }

    /// Sends a signal to the elements of a node; after SIGKILL they cannot undo anything.
    pub fn signal_elements(&self, node: &str, signal: &str) {
        wait_for(|| !self.elements(node).is_empty());
        for process in self.elements(node) {
            let _ = Command::new("kill").args([&format!("-{signal}"), &process]).status();
        }
    }

    /// Files of a run's attempts with this extension.
    pub fn attempts(&self, ending: &str) -> Vec<PathBuf> {
        let mut all = entries(&self.run().join("attempts"));
        all.retain(|path| path.extension().is_some_and(|of| of == ending));
        all
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let slurm = self.path("slurm");
        let _ = Command::new(FLEET).arg("stop").arg(slurm).stdin(Stdio::null()).output();
    }
}

/// The cache folder of the test's user.
pub fn caches() -> PathBuf {
    let home = || PathBuf::from(env::var_os("HOME").unwrap()).join(".cache");
    env::var_os("XDG_CACHE_HOME").map_or_else(home, PathBuf::from)
}

/// The entries of a folder, sorted.
pub fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// The lines of a file; empty if there is no file.
pub fn lines(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

//! Runs the program in isolated folders, as this user or as nobody, and puts load on the machine.

use std::env;
use std::fs::{self, File};
use std::io::{BufReader, Read};
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

use serde_json::Value;
use sha2::{Digest, Sha256};
use ssdlab_flash::presets;
use tempfile::TempDir;

use super::common::shown;
pub use super::lab_kernel::kernel;
use super::program::ssdlab;

/// The user and the group of nobody.
const NOBODY: u32 = 65534;

/// Gives this machine another name and another processor, and runs a program there.
const ANOTHER_MACHINE: &str = r#"
    hostname a-machine-with-another-name && mount --bind "$0" /proc/cpuinfo && exec "$@"
"#;

/// A folder to run the program in.
pub struct Place {
    folder: TempDir,
    /// Whether the program runs as another user, in another environment and another folder.
    is_foreign: bool,
}

impl Place {
    pub fn new() -> Self {
        let folder =
            tempfile::Builder::new().prefix("virtual-test-").tempdir_in("/var/tmp").unwrap();
        Self { folder, is_foreign: false }
    }

    /// A place that differs in everything possible; it is owned by the user nobody, if the test may
    /// do that. The program is copied there, as others may have no access to its own folder.
    pub fn of_nobody() -> Self {
        let place = Self { is_foreign: true, ..Self::new() };
        fs::copy(ssdlab(), place.path("ssdlab")).unwrap();
        fs::copy(kernel().as_ref().unwrap(), place.path("another-name")).unwrap();
        if rustix::process::geteuid().is_root() {
            chown(place.folder.path(), Some(NOBODY), Some(NOBODY)).unwrap();
        }
        place
    }

    /// The program with its folders here.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(ssdlab());
        command
            .args(arguments)
            .env("XDG_STATE_HOME", self.path("state"))
            .env("XDG_DATA_HOME", self.path("data"))
            .env("XDG_CACHE_HOME", self.path("cache"))
            .stdin(Stdio::null());
        command
    }

    /// The folder of caches.
    pub fn cache(&self) -> PathBuf {
        self.path("cache")
    }

    /// The folder of undo journals.
    pub fn state(&self) -> PathBuf {
        self.path("state/ssdlab/undo")
    }

    /// The undo journals.
    pub fn journals(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.state()).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect()
    }

    /// A file or folder here.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs a plan, one trial of each treatment, and returns what `--json` prints.
    pub fn run(&self, plan: &str) -> Value {
        self.run_on(plan, "1GiB")
    }

    /// Runs a plan like [`Self::run`], on its drive with a capacity, which is so small that it has
    /// to be the drive's own. A plan that names no drive gets one of small superblocks.
    pub fn run_on(&self, plan: &str, capacity: &str) -> Value {
        let lines = plan.lines().filter(|line| !line.starts_with("capacity = "));
        fs::write(self.path("plan.toml"), lines.collect::<Vec<_>>().join("\n")).unwrap();
        let named = plan.split_once("drive = \"").and_then(|(_, drive)| drive.split('"').next());
        let mut command = if self.is_foreign { self.foreign() } else { self.plain() };
        match presets::find(named.unwrap_or("vertex-le")) {
            Some(preset) => {
                let is_capacity = |line: &&str| line.starts_with("capacity = ");
                let own = preset.text.lines().find(is_capacity).unwrap();
                let small = preset.text.replacen(own, &format!("capacity = \"{capacity}\""), 1);
                let file = self.path("small.toml");
                fs::write(&file, small).unwrap();
                let relative = PathBuf::from("small.toml");
                command.arg("--drive").arg(if self.is_foreign { relative } else { file });
            }
            None => drop(command.args(["--capacity", capacity])),
        }
        command.args(["--runs", "1", "--verify", "--json"]);
        let output = command.stdin(Stdio::null()).output().unwrap();
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", shown(&output)))
    }

    fn plain(&self) -> Command {
        let mut command = self.command(&["run"]);
        command.arg(self.path("plan.toml")).arg("--kernel").arg(kernel().as_ref().unwrap());
        command
    }

    fn foreign(&self) -> Command {
        let ssdlab = self.path("ssdlab");
        // To every program the kernel then has another release.
        let older = ["setarch", "x86_64", "--uname-2.6"];
        let mut command = if rustix::process::geteuid().is_root() {
            let half = self.path("cpuinfo");
            let flags: String = fs::read_to_string("/proc/cpuinfo").unwrap();
            let flags = flags.lines().find(|line| line.starts_with("flags")).unwrap();
            fs::write(&half, &flags[..flags.len() / 2]).unwrap();
            let mut command = Command::new("unshare");
            command.args(["--uts", "--mount", "sh", "-c", ANOTHER_MACHINE]).arg(half).args(older);
            let nobody = [format!("--reuid={NOBODY}"), format!("--regid={NOBODY}")];
            command.arg("setpriv").args(nobody).arg("--clear-groups").arg(ssdlab);
            command
        } else {
            let mut command = Command::new(older[0]);
            command.args(&older[1..]).arg(ssdlab);
            command
        };
        command
            .args(["run", "plan.toml", "--kernel", "another-name", "--jobs", "1"])
            .current_dir(self.folder.path())
            .env_clear()
            .env("PATH", env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.folder.path())
            .env("TZ", "Asia/Kathmandu")
            .env("LC_ALL", "tr_TR.UTF-8")
            .env("SOMETHING_LONG", "x".repeat(5000));
        command
    }
}

/// What `ssdlab cut` prints of an image: the SHA-256 of its pages that are not all zeros, each
/// after its offset, and of its size.
pub fn contents_sha256(image: &Path) -> String {
    let mut file = BufReader::with_capacity(1 << 20, File::open(image).unwrap());
    let size_bytes = image.metadata().unwrap().len();
    let mut hash = Sha256::new();
    for offset_bytes in (0..size_bytes).step_by(4096) {
        let mut page = Vec::new();
        file.by_ref().take(4096).read_to_end(&mut page).unwrap();
        if page.iter().any(|byte| *byte != 0) {
            hash.update(offset_bytes.to_le_bytes());
            hash.update(page);
        }
    }
    hash.update(size_bytes.to_le_bytes());
    hex::encode(hash.finalize())
}

/// Two busy processes per processor, ended when dropped or when the tests are killed.
pub struct Load(Vec<Child>);

impl Load {
    pub fn heavy() -> Self {
        let processors = thread::available_parallelism().map_or(1, usize::from);
        let spin =
            |_| Command::new("sh").args(["-c", "while kill -0 $PPID; do :; done"]).spawn().unwrap();
        Self((0..2 * processors).map(spin).collect())
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

//! Defines a lab kernel, and inspects one: whether it may be run, its version and its features.

use std::fs::{DirBuilder, File, FileTimes};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use memchr::memmem;
use sha2::{Digest, Sha256};
use ssdlab_host::bounded;
use ssdlab_host::interrupt::Interrupt;
use ssdlab_host::program::{self, Rules};
use ssdlab_host::trust::exposed_to_others;

use super::error::KernelError;

/// How long a kernel may take to print its configuration.
const LIMIT: Duration = Duration::from_secs(5);

/// The maximum size of a lab kernel; typical ones have some 8 MB.
const LARGEST_BYTES: u64 = 256 << 20;

/// Parameters that every lab kernel understands, and no other program.
const PARAMETERS: [&str; 2] = ["ssdlab.seed=", "ssdlab.cpu="];

/// Options of `config`, and their names in plans.
const FILESYSTEMS: [(&str, &str); 12] = [
    ("EXT2_FS", "ext2"),
    ("EXT4_FS", "ext3"),
    ("EXT4_FS", "ext4"),
    ("XFS_FS", "xfs"),
    ("BTRFS_FS", "btrfs"),
    ("F2FS_FS", "f2fs"),
    ("JFS_FS", "jfs"),
    ("NILFS2_FS", "nilfs2"),
    ("REISERFS_FS", "reiserfs"),
    ("BCACHEFS_FS", "bcachefs"),
    ("REISER4_FS", "reiser4"),
    ("FUSE_FS", "fuse"),
];
const SCHEDULERS: [(&str, &str); 4] = [
    ("BLOCK", "none"),
    ("MQ_IOSCHED_DEADLINE", "mq-deadline"),
    ("MQ_IOSCHED_KYBER", "kyber"),
    ("IOSCHED_BFQ", "bfq"),
];

/// A lab kernel that is ready to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabKernel {
    pub path: PathBuf,
    /// The first 16 hexadecimal digits of its SHA-256.
    pub identity: String,
    /// Its version string, e.g. `6.1.192-ssdlab`.
    pub version: String,
}

impl LabKernel {
    /// Marks it as used now: reading it does so once a day at most, and with `noatime` never.
    pub(super) fn used(self) -> Self {
        let now = FileTimes::new().set_accessed(SystemTime::now());
        // Only what the cache shows depends on it, and a kernel may belong to another user.
        let _ = File::open(&self.path).and_then(|file| file.set_times(now));
        self
    }
}

/// Checks a program before it is run: it must be a lab kernel that other users cannot change.
pub fn inspect(path: &Path) -> Result<LabKernel, KernelError> {
    let no_kernel = |reason: String| KernelError::NoLabKernel { path: path.to_owned(), reason };
    let real = path.canonicalize().map_err(|cause| no_kernel(cause.to_string()))?;
    // Reading or opening anything but a regular file could block for ever.
    if !real.is_file() {
        return Err(no_kernel("it is not a regular file".to_owned()));
    }
    is_out_of_reach(&real)?;
    let bytes = File::open(&real)
        .and_then(|file| bounded::read(file, LARGEST_BYTES))
        .map_err(|cause| no_kernel(cause.to_string()))?;
    let understands = |parameter: &str| memmem::find(&bytes, parameter.as_bytes()).is_some();
    if let Some(parameter) = PARAMETERS.iter().find(|parameter| !understands(parameter)) {
        return Err(no_kernel(format!("it does not know the parameter {parameter}")));
    }
    let version = match program::version(&real, "--version") {
        Some(version) if version.ends_with("-ssdlab") => version,
        Some(other) => {
            return Err(no_kernel(format!(
                "its version is `{other}`, expected one like 6.1.192-ssdlab"
            )));
        }
        None => return Err(no_kernel("it does not run: `--version` prints nothing".to_owned())),
    };
    let identity = hex::encode(Sha256::digest(&bytes))[..16].to_owned();
    Ok(LabKernel { path: real, identity, version })
}

/// Makes a folder that nobody else can write to, whatever the umask is.
pub fn make_own(folder: &Path) -> Result<(), KernelError> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(KernelError::at("make the folder", folder))
}

/// Makes the folder of a cache, or refuses the one that is there if others could change it.
pub fn open_cache(folder: &Path) -> Result<(), KernelError> {
    make_own(folder)?;
    is_out_of_reach(folder)
}

/// Refuses a kernel or a cache that users other than this one and root can change.
pub fn is_out_of_reach(path: &Path) -> Result<(), KernelError> {
    let found = exposed_to_others(path);
    match found.map_err(KernelError::at("look at", path))? {
        None => Ok(()),
        Some(exposed) => Err(KernelError::Exposed { path: path.to_owned(), exposed }),
    }
}

/// A kernel's configuration, as it prints it itself.
pub struct KernelConfig(String);

/// Asks a kernel for its configuration.
pub fn config(kernel: &LabKernel) -> Result<KernelConfig, KernelError> {
    let mut command = Command::new(&kernel.path);
    command.arg("--showconfig");
    let interrupt = Interrupt::default();
    let rules = Rules { marker: "kernel-config", limit: LIMIT, interrupt: &interrupt };
    Ok(KernelConfig(program::run(command, rules)?.stdout))
}

impl KernelConfig {
    pub fn filesystems(&self) -> Vec<&'static str> {
        self.those_on(&FILESYSTEMS)
    }

    /// The I/O schedulers that are on.
    pub fn schedulers(&self) -> Vec<&'static str> {
        self.those_on(&SCHEDULERS)
    }

    fn those_on(&self, known: &[(&str, &'static str)]) -> Vec<&'static str> {
        let is_on = |option: &str| {
            self.0.lines().any(|line| {
                line.strip_prefix("CONFIG_").and_then(|rest| rest.strip_suffix("=y"))
                    == Some(option)
            })
        };
        known.iter().filter(|(option, _)| is_on(option)).map(|(_, name)| *name).collect()
    }
}

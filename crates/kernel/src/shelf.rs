//! Lists the cached lab kernels and any unfinished build.

use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use ssdlab_host::disk_usage::disk_usage;
use ssdlab_host::lock;

use super::KernelError;
use super::cache::{Cache, has_ending};

/// Something in the cache.
#[derive(Debug)]
pub struct Kept {
    /// The program, or the folder of a build.
    pub path: PathBuf,
    /// Whether it is a build that has not ended.
    pub is_unfinished: bool,
    /// Its size on disk.
    pub size_bytes: u64,
    /// When it was last used, in seconds since 1970.
    pub used_s: u64,
    /// Whether a build is running there. Whether a kernel is running is not known.
    pub is_in_use: bool,
}

impl Cache {
    /// The kernels and the build that are there.
    pub fn kept(&self) -> Result<Vec<Kept>, KernelError> {
        let of = |path: PathBuf| {
            // There may be no build, or a build may just have removed a kernel.
            let metadata = path.symlink_metadata().ok()?;
            let is_unfinished = path == self.work();
            Some(Kept {
                is_unfinished,
                size_bytes: disk_usage(&path, &metadata),
                used_s: u64::try_from(metadata.atime().max(metadata.mtime())).unwrap_or(0),
                is_in_use: is_unfinished && lock::holder(&self.folder().join("lock")).is_some(),
                path,
            })
        };
        let is_kernel = |path: &PathBuf| !has_ending(path, "json");
        let kernels = self.entries()?.into_iter().filter(is_kernel);
        Ok(kernels.chain([self.work()]).filter_map(of).collect())
    }

    /// Removes an unfinished build that is not running.
    pub fn clear(&self) -> Result<(), KernelError> {
        if !self.work().exists() {
            return Ok(());
        }
        let _claimed = self.claim()?;
        self.clean()
    }
}

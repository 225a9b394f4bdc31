//! Lists the cached lab kernels and the folders of builds.

use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use ssdlab_host::disk_usage::disk_usage;
use ssdlab_host::lock;

use super::KernelError;
use super::cache::{Cache, has_ending, remove};

/// Something in the cache.
#[derive(Debug)]
pub struct Kept {
    /// The program, or the folder of a build.
    pub path: PathBuf,
    /// Whether it is the folder of a build.
    pub is_build: bool,
    /// Its size on disk.
    pub size_bytes: u64,
    /// When it was last used, in seconds since 1970.
    pub used_s: u64,
    /// Whether a build is running there. Whether a kernel is running is not known.
    pub is_in_use: bool,
}

impl Cache {
    /// The kernels and the folders of builds that are there.
    pub fn kept(&self) -> Result<Vec<Kept>, KernelError> {
        let builds = [self.work(), self.tree()];
        let of = |path: PathBuf| {
            // There may be no build, or a build may just have removed a kernel.
            let metadata = path.symlink_metadata().ok()?;
            let is_build = builds.contains(&path);
            Some(Kept {
                is_build,
                size_bytes: disk_usage(&path, &metadata),
                used_s: u64::try_from(metadata.atime().max(metadata.mtime())).unwrap_or(0),
                is_in_use: is_build && lock::holder(&self.folder().join("lock")).is_some(),
                path,
            })
        };
        let is_kernel = |path: &PathBuf| !has_ending(path, "json");
        let kernels = self.entries()?.into_iter().filter(is_kernel);
        Ok(kernels.chain(builds.clone()).filter_map(of).collect())
    }

    /// Removes the folders of builds, unless one is running.
    pub fn clear(&self) -> Result<(), KernelError> {
        let builds = [self.work(), self.tree()];
        if builds.iter().any(|build| build.exists()) {
            let _claimed = self.claim()?;
            builds.iter().try_for_each(|build| remove(build))?;
        }
        Ok(())
    }
}

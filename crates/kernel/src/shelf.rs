//! Lists the cached lab kernels and any unfinished build.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use ssdlab_host::disk_usage::disk_usage;
use ssdlab_host::lock;
use ssdlab_host::missing::if_there;

use super::KernelError;
use super::cache::Cache;

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
        let mut kept = Vec::new();
        let folder = self.folder();
        let entries = if_there(fs::read_dir(folder)).map_err(KernelError::at("read", folder))?;
        for entry in entries.into_iter().flatten().flatten() {
            let path = entry.path();
            let is_unfinished = path == self.work();
            let is_record = path.extension().is_some_and(|extension| extension == "json");
            let is_kernel = !is_record && entry.file_name().to_string_lossy().starts_with("linux-");
            if !is_unfinished && !is_kernel {
                continue;
            }
            // A build may just have removed it.
            let Ok(metadata) = path.symlink_metadata() else { continue };
            kept.push(Kept {
                is_unfinished,
                size_bytes: disk_usage(&path, &metadata),
                used_s: u64::try_from(metadata.atime().max(metadata.mtime())).unwrap_or(0),
                is_in_use: is_unfinished && lock::holder(&folder.join("lock")).is_some(),
                path,
            });
        }
        Ok(kept)
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

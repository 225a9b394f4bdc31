//! The user's cache of the lab kernel: its contents, its locking, and how it is replaced. The
//! folder contains `linux-IDENTITY`, the kernel; `kernel.json`, its origin, which is written last
//! and names the current kernel; `work`, an unfinished build; and `lock`.

use std::fs::{self, DirBuilder, File, TryLockError};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use ssdlab_host::base_folder::cache_folder;
use ssdlab_host::whole_file;

use super::binary::{inspect, is_out_of_reach};
use super::recipe::Recipe;
use super::{KernelError, LabKernel, Origin};

/// The cache.
pub struct Cache {
    folder: PathBuf,
}

/// The claim of one build on the cache.
pub struct Claim(File);

impl Drop for Claim {
    /// Closing the file is not enough: a program that is just being started has a copy of it.
    fn drop(&mut self) {
        // A lock that cannot be released ends with the program.
        let _ = self.0.unlock();
    }
}

impl Cache {
    /// The user's: `$XDG_CACHE_HOME/ssdlab/kernel`, or below `~/.cache`.
    pub fn of_user() -> Result<Self, KernelError> {
        cache_folder().map(|cache| Self::at(cache.join("kernel"))).ok_or(KernelError::NoCache)
    }

    /// A cache in a folder.
    pub fn at(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where builds work.
    pub fn work(&self) -> PathBuf {
        self.folder.join("work")
    }

    /// The kernel, if it exists, is intact, and was built from this recipe.
    pub fn kernel(&self, recipe: &Recipe) -> Result<(LabKernel, Origin), KernelError> {
        let folder = &self.folder;
        let damaged = |reason| KernelError::Damaged { folder: folder.clone(), reason };
        let text = match fs::read(self.record()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(KernelError::NotBuilt { folder: folder.clone() });
            }
            text => text.map_err(KernelError::at("read", &self.record()))?,
        };
        is_out_of_reach(&self.folder)?;
        let origin: Origin = serde_json::from_slice(&text)
            .map_err(|error| damaged(format!("kernel.json: {error}")))?;
        let expected = recipe.identity();
        if origin.recipe != expected {
            let found = origin.recipe;
            return Err(KernelError::OtherRecipe { folder: folder.clone(), found, expected });
        }
        let kernel = inspect(&self.place(&origin.identity)).map_err(|error| match error {
            KernelError::NoLabKernel { path, reason } => {
                damaged(format!("{}: {reason}", path.display()))
            }
            error => error,
        })?;
        if kernel.identity != origin.identity {
            return Err(damaged(format!(
                "its identity is {}, but {} was built",
                kernel.identity, origin.identity
            )));
        }
        Ok((kernel, origin))
    }

    /// Makes the folder and claims it, for as long as the claim is held.
    pub fn claim(&self) -> Result<Claim, KernelError> {
        let folder = &self.folder;
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)
            .map_err(KernelError::at("make the folder", folder))?;
        is_out_of_reach(&self.folder)?;
        let path = folder.join("lock");
        let lock = File::create(&path).map_err(KernelError::at("write", &path))?;
        match lock.try_lock() {
            Ok(()) => Ok(Claim(lock)),
            Err(TryLockError::WouldBlock) => Err(KernelError::Busy { folder: folder.clone() }),
            Err(TryLockError::Error(error)) => Err(KernelError::at("lock", &path)(error)),
        }
    }

    /// Takes a kernel that has been built in place of the one before.
    pub fn keep(&self, built: &LabKernel, origin: &Origin) -> Result<LabKernel, KernelError> {
        let place = self.place(&built.identity);
        fs::rename(&built.path, &place).map_err(KernelError::at("make", &place))?;
        let record = self.record();
        let text = serde_json::to_vec_pretty(origin).expect("an origin is plain data");
        whole_file::write(&record, |out| out.write_all(&text))
            .map_err(KernelError::at("write", &record))?;
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let is_kernel = entry.file_name().to_string_lossy().starts_with("linux-");
            if is_kernel && entry.path() != place {
                fs::remove_file(entry.path()).map_err(KernelError::at("remove", &entry.path()))?;
            }
        }
        Ok(LabKernel { path: place, ..built.clone() })
    }

    /// Removes the remains of builds.
    pub fn clean(&self) -> Result<(), KernelError> {
        let work = self.work();
        match fs::remove_dir_all(&work) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(KernelError::at("remove", &work)(error))
            }
            _ => Ok(()),
        }
    }

    fn record(&self) -> PathBuf {
        self.folder.join("kernel.json")
    }

    fn place(&self, identity: &str) -> PathBuf {
        self.folder.join(format!("linux-{identity}"))
    }
}

//! The user's cache of lab kernels, one of each version: its contents, its locking, and how a
//! kernel is replaced. The folder contains `linux-IDENTITY`, a kernel; `kernel.json`, the origin of
//! the default one; `linux-IDENTITY.json`, the origin of any other; `work`, an unfinished build;
//! `tree`, the last build of a tree; and `lock`. An origin is written after its kernel, and names
//! it.

use std::fs::{self, File};
use std::iter;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use ssdlab_host::base_folder::cache_folder;
use ssdlab_host::files::{disk_usage, sync_folder};
use ssdlab_host::lock::{self, FileLock};
use ssdlab_host::missing::if_there;
use ssdlab_host::whole_file;

use super::binary::{inspect, is_out_of_reach, open_cache};
use super::entry::{CacheEntry, EntryKind, RemovalSummary};
use super::recipe::Recipe;
use super::{KernelError, KernelOrigin, LabKernel};

pub struct KernelCache {
    folder: PathBuf,
}

impl KernelCache {
    /// The user's: `$XDG_CACHE_HOME/ssdlab/kernel`, or below `~/.cache`.
    pub fn of_user() -> Result<Self, KernelError> {
        cache_folder().map(|cache| Self::at(cache.join("kernel"))).ok_or(KernelError::NoCache)
    }

    pub fn at(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Where builds work.
    pub fn work(&self) -> PathBuf {
        self.folder.join("work")
    }

    /// Where kernels of trees are built, one after the other.
    pub fn tree(&self) -> PathBuf {
        self.folder.join("tree")
    }

    /// The default kernel, if it exists, is intact, and was built from this recipe.
    pub fn kernel(&self, recipe: &Recipe) -> Result<(LabKernel, KernelOrigin), KernelError> {
        let folder = || self.folder.clone();
        let Some(origin) = self.origin(&self.default_record())? else {
            return Err(KernelError::NotBuilt { folder: folder() });
        };
        let expected = recipe.identity();
        if origin.recipe != expected {
            let found = origin.recipe;
            return Err(KernelError::OtherRecipe { folder: folder(), found, expected });
        }
        Ok((self.intact(&origin)?, origin))
    }

    /// Every kernel that is intact and was built from this recipe, the default one first.
    pub fn kernels(&self, recipe: &Recipe) -> Result<Vec<(LabKernel, KernelOrigin)>, KernelError> {
        let expected = recipe.identity();
        let mut kernels = Vec::new();
        for origin in self.origins()?.into_iter().filter(|origin| origin.recipe == expected) {
            match self.intact(&origin) {
                Ok(kernel) => kernels.push((kernel, origin)),
                Err(KernelError::Damaged { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(kernels)
    }

    /// The origin of every kernel, that of the default one first. What is damaged counts as absent.
    fn origins(&self) -> Result<Vec<KernelOrigin>, KernelError> {
        let mut origins: Vec<KernelOrigin> = Vec::new();
        let others = self.entries()?.into_iter().filter(|path| has_ending(path, "json"));
        for record in iter::once(self.default_record()).chain(others) {
            let origin = match self.origin(&record) {
                Err(KernelError::Damaged { .. }) => None,
                origin => origin?,
            };
            let is_known =
                |origin: &KernelOrigin| origins.iter().any(|o| o.identity == origin.identity);
            origins.extend(origin.filter(|origin| !is_known(origin)));
        }
        Ok(origins)
    }

    /// An origin, if there is one.
    fn origin(&self, record: &Path) -> Result<Option<KernelOrigin>, KernelError> {
        let text = if_there(fs::read(record)).map_err(KernelError::at("read", record))?;
        let Some(text) = text else { return Ok(None) };
        is_out_of_reach(&self.folder)?;
        let origin = serde_json::from_slice(&text)
            .map_err(|error| self.damaged(format!("{}: {error}", file_name(record))))?;
        Ok(Some(origin))
    }

    /// The kernel of an origin, if it is what was built.
    fn intact(&self, origin: &KernelOrigin) -> Result<LabKernel, KernelError> {
        let kernel = inspect(&self.place(&origin.identity)).map_err(|error| match error {
            KernelError::NoLabKernel { path, reason } => {
                self.damaged(format!("{}: {reason}", path.display()))
            }
            error => error,
        })?;
        if kernel.identity != origin.identity {
            return Err(self.damaged(format!(
                "its identity is {}, but {} was built",
                kernel.identity, origin.identity
            )));
        }
        Ok(kernel)
    }

    fn damaged(&self, reason: String) -> KernelError {
        KernelError::Damaged { folder: self.folder.clone(), reason }
    }

    /// Makes the folder and claims it, for as long as the claim is held.
    pub fn claim(&self) -> Result<FileLock, KernelError> {
        let folder = &self.folder;
        open_cache(folder)?;
        let path = folder.join("lock");
        let file = File::create(&path).map_err(KernelError::at("write", &path))?;
        let lock = FileLock::exclusive(file).map_err(KernelError::at("lock", &path))?;
        lock.ok_or_else(|| KernelError::Busy { folder: folder.clone() })
    }

    /// Takes a kernel that has been built, in place of one of the same version. Kernels of other
    /// recipes, which are of no use any more, are removed.
    pub fn keep(
        &self,
        built: &LabKernel,
        origin: &KernelOrigin,
        is_default: bool,
    ) -> Result<LabKernel, KernelError> {
        let stays = |other: &KernelOrigin| {
            let is_other_version =
                self.intact(other).is_ok_and(|kernel| kernel.version != built.version);
            other.recipe == origin.recipe && is_other_version
        };
        let before = self.origins()?;
        let is_default = is_default || !before.first().is_some_and(stays);
        let others: Vec<KernelOrigin> = before.into_iter().filter(stays).collect();
        let place = self.place(&built.identity);
        // It is on the disk before a record names it, and before what it supersedes is removed.
        let synced = File::open(&built.path).and_then(|kernel| kernel.sync_all());
        synced.map_err(KernelError::at("sync", &built.path))?;
        fs::rename(&built.path, &place).map_err(KernelError::at("make", &place))?;
        sync_folder(&self.folder).map_err(KernelError::at("sync", &self.folder))?;
        match &others[..] {
            [default, others @ ..] if !is_default => {
                self.record(default, others.iter().chain([origin]).collect())?;
            }
            others => self.record(origin, others.iter().collect())?,
        }
        Ok(LabKernel { path: place, ..built.clone() })
    }

    pub fn make_default(&self, identity: &str) -> Result<(), KernelError> {
        let (default, others): (Vec<_>, Vec<_>) =
            self.origins()?.into_iter().partition(|origin| origin.identity == identity);
        match &default[..] {
            [default] => self.record(default, others.iter().collect()),
            _ => Err(self.damaged(format!("it has no record of {identity}"))),
        }
    }

    /// Records the origins, and removes every other kernel. The default one's comes after the
    /// others', and what is superseded goes last, so that no kernel is ever without a record.
    fn record(
        &self,
        default: &KernelOrigin,
        others: Vec<&KernelOrigin>,
    ) -> Result<(), KernelError> {
        let write = |path: &Path, origin: &KernelOrigin| {
            let text = serde_json::to_vec_pretty(origin).expect("an origin is plain data");
            whole_file::write(path, |out| out.write_all(&text))
                .map_err(KernelError::at("write", path))
        };
        let mut stay = vec![self.place(&default.identity)];
        for origin in others {
            let place = self.place(&origin.identity);
            let record = place.with_extension("json");
            write(&record, origin)?;
            stay.extend([place, record]);
        }
        write(&self.default_record(), default)?;
        for path in self.entries()?.iter().filter(|path| !stay.contains(path)) {
            fs::remove_file(path).map_err(KernelError::at("remove", path))?;
        }
        Ok(())
    }

    /// The kernels and the records of those that are not the default, sorted by path.
    fn entries(&self) -> Result<Vec<PathBuf>, KernelError> {
        let entries =
            if_there(fs::read_dir(&self.folder)).map_err(KernelError::at("read", &self.folder))?;
        let is_one = |path: &PathBuf| file_name(path).starts_with("linux-");
        let mut paths: Vec<PathBuf> =
            entries.into_iter().flatten().flatten().map(|e| e.path()).filter(is_one).collect();
        paths.sort();
        Ok(paths)
    }

    /// Its kernels, and the folders of builds.
    pub fn listed(&self) -> Result<Vec<CacheEntry>, KernelError> {
        let builds = [self.work(), self.tree()];
        let entry = |path: PathBuf| {
            // There may be no build, or a build may just have removed a kernel.
            let metadata = path.symlink_metadata().ok()?;
            let is_build = builds.contains(&path);
            Some(CacheEntry {
                kind: if is_build { EntryKind::KernelBuild } else { EntryKind::Kernel },
                made_from: None,
                size_bytes: disk_usage(&path, &metadata),
                used_s: u64::try_from(metadata.atime().max(metadata.mtime())).unwrap_or(0),
                is_in_use: is_build && lock::holder(&self.folder.join("lock")).is_some(),
                path,
            })
        };
        let kernels = self.entries()?.into_iter().filter(|path| !has_ending(path, "json"));
        Ok(kernels.chain(builds.clone()).filter_map(entry).collect())
    }

    /// Removes the folders of builds, unless one is running. Kernels stay, as nothing would rebuild
    /// them automatically.
    pub fn clear(&self, cleared: &mut RemovalSummary) -> Result<(), KernelError> {
        let is_build = |entry: &CacheEntry| entry.kind == EntryKind::KernelBuild;
        let builds: Vec<CacheEntry> = self.listed()?.into_iter().filter(is_build).collect();
        if builds.is_empty() {
            return Ok(());
        }
        let claimed = match self.claim() {
            Err(KernelError::Busy { .. }) => None,
            claim => Some(claim?),
        };
        for build in builds {
            if claimed.is_some() {
                remove(&build.path)?;
            }
            cleared.count(&build, claimed.is_some());
        }
        Ok(())
    }

    /// Removes the remains of builds.
    pub fn clean(&self) -> Result<(), KernelError> {
        remove(&self.work())
    }

    fn default_record(&self) -> PathBuf {
        self.folder.join("kernel.json")
    }

    fn place(&self, identity: &str) -> PathBuf {
        self.folder.join(format!("linux-{identity}"))
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Removes a folder, if it exists.
pub fn remove(folder: &Path) -> Result<(), KernelError> {
    if_there(fs::remove_dir_all(folder)).map(drop).map_err(KernelError::at("remove", folder))
}

/// Whether a path has this extension.
fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|own| own == ending)
}

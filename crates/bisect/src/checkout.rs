//! The folder that a search works in, and its own work tree there: a clone that borrows the objects
//! of the user's repository, so that neither its work tree nor its list of worktrees is ever
//! touched. The folder contains `tree`, the work tree; `lock`; and what else its user keeps there.

use std::fs::{self, DirBuilder, File};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use ssdlab_host::disk_usage::disk_usage;
use ssdlab_host::lock::{self, FileLock};
use ssdlab_host::missing::if_there;
use ssdlab_host::trust::exposed_to_others;

use super::error::BisectError;
use super::history::History;

/// The name of the work tree, and that of one that is incomplete.
const TREE: &str = "tree";
const PART: &str = "tree.part";

/// The file whose lock claims the folder.
const LOCK: &str = "lock";

/// The work tree, which nobody else may use meanwhile.
pub struct Checkout<'a> {
    history: &'a History<'a>,
    folder: PathBuf,
    tree: PathBuf,
    _lock: FileLock,
}

impl<'a> Checkout<'a> {
    /// The work tree in a folder, both of which are made if they do not exist.
    pub fn open(history: &'a History<'a>, folder: &Path) -> Result<Self, BisectError> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)
            .map_err(BisectError::at("make the folder", folder))?;
        let claimed = claim(folder)?;
        let (tree, part) = (folder.join(TREE), folder.join(PART));
        if !tree.exists() {
            // What an interrupted clone or removal has left is not continued.
            empty(folder)?;
            let (from, to) = (text(history.repository())?, text(&part)?);
            let clone = ["clone", "--quiet", "--shared", "--no-checkout", "--no-tags", from, to];
            history.git_in(history.tree(), &clone)?;
            fs::rename(&part, &tree).map_err(BisectError::at("make", &tree))?;
        }
        Ok(Self { history, folder: folder.to_owned(), tree, _lock: claimed })
    }

    /// The folder that it is in.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The work tree.
    #[must_use]
    pub fn tree(&self) -> &Path {
        &self.tree
    }

    /// Makes it that of a commit. Files that are the same stay as they are.
    pub fn go_to(&self, commit: &str) -> Result<(), BisectError> {
        // Left by a git that was killed.
        let lock = self.tree.join(".git/index.lock");
        if_there(fs::remove_file(&lock)).map_err(BisectError::at("remove", &lock))?;
        let git = |arguments: &[&str]| self.history.git_in(&self.tree, arguments);
        git(&["checkout", "--quiet", "--force", "--detach", commit])?;
        git(&["clean", "--quiet", "-ffdx"])?;
        Ok(())
    }
}

/// A folder of a search that can be removed, because nothing but time depends on it.
#[derive(Debug)]
pub struct Kept {
    /// The folder.
    pub path: PathBuf,
    /// Its size on disk.
    pub size_bytes: u64,
    /// When it was last used, in seconds since 1970.
    pub used_s: u64,
    /// Whether a search uses it.
    pub is_in_use: bool,
}

/// The folders of searches in a folder.
pub fn kept(folder: &Path) -> Result<Vec<Kept>, BisectError> {
    let entries = if_there(fs::read_dir(folder)).map_err(BisectError::at("read", folder))?;
    let of = |path: PathBuf| {
        // It may just have been removed.
        let metadata = path.symlink_metadata().ok()?;
        let lock = path.join(LOCK);
        let used = lock.symlink_metadata().ok().map(|lock| lock.mtime());
        Some(Kept {
            size_bytes: disk_usage(&path, &metadata),
            used_s: u64::try_from(used.unwrap_or(metadata.mtime())).unwrap_or(0),
            is_in_use: lock::holder(&lock).is_some(),
            path,
        })
    };
    let paths = entries.into_iter().flatten().flatten().map(|entry| entry.path());
    Ok(paths.filter_map(of).collect())
}

/// Removes the folder of a search.
pub fn remove(folder: &Path) -> Result<(), BisectError> {
    let _claimed = claim(folder)?;
    // If this is interrupted, nothing that is left counts.
    let (tree, part) = (folder.join(TREE), folder.join(PART));
    if_there(fs::rename(&tree, &part)).map_err(BisectError::at("rename", &tree))?;
    fs::remove_dir_all(folder).map_err(BisectError::at("remove", folder))
}

/// Removes all that a folder contains but its lock.
fn empty(folder: &Path) -> Result<(), BisectError> {
    let entries = fs::read_dir(folder).map_err(BisectError::at("read", folder))?;
    for entry in entries.flatten().filter(|entry| entry.file_name() != LOCK) {
        let path = entry.path();
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let removed = if is_folder { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        if_there(removed).map_err(BisectError::at("remove", &path))?;
    }
    Ok(())
}

/// Claims the folder of a search. Nobody else may be able to change it: programs are built and run
/// in it.
fn claim(folder: &Path) -> Result<FileLock, BisectError> {
    let found = exposed_to_others(folder).map_err(BisectError::at("look at", folder))?;
    if let Some(exposed) = found {
        return Err(BisectError::Exposed { folder: folder.to_owned(), exposed });
    }
    let path = folder.join(LOCK);
    let file = File::create(&path).map_err(BisectError::at("write", &path))?;
    let lock = FileLock::exclusive(file).map_err(BisectError::at("lock", &path))?;
    lock.ok_or_else(|| BisectError::Busy { folder: folder.to_owned() })
}

/// A path as an argument.
fn text(path: &Path) -> Result<&str, BisectError> {
    let odd = || BisectError::at("use", path)(ErrorKind::InvalidFilename.into());
    path.to_str().ok_or_else(odd)
}

//! Keeps the copy of a tree, which the script compiles, like the tree: the script adds and replaces
//! files, but does not remove those that another revision had.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use ssdlab_host::missing::if_there;
use ssdlab_host::whole_file;

use super::cache::remove;
use super::error::KernelError;

/// A copy that is being made.
pub struct TreeCopy {
    /// The file that lists what was copied. It does not exist while a copy is being made.
    list: PathBuf,
    files: BTreeSet<PathBuf>,
}

impl TreeCopy {
    /// Removes from the copy, in the folder of a build, what the tree has no more; or all of a copy
    /// that was interrupted, in which a file may be cut off.
    pub fn begin(folder: &Path, tree: &Path) -> Result<Self, KernelError> {
        let (list, output) = (folder.join("copied"), folder.join("output"));
        let mut files = BTreeSet::new();
        find(tree, Path::new(""), &mut files).map_err(KernelError::at("read", tree))?;
        let before = if_there(fs::read(&list)).map_err(KernelError::at("read", &list))?;
        if let Some(before) = before {
            let before =
                before.split(|byte| *byte == 0).map(|name| Path::new(OsStr::from_bytes(name)));
            for lost in before.filter(|file| !files.contains(*file)) {
                let path = output.join("tree").join(lost);
                if_there(fs::remove_file(&path)).map_err(KernelError::at("remove", &path))?;
            }
            fs::remove_file(&list).map_err(KernelError::at("remove", &list))?;
        } else {
            remove(&output)?;
        }
        Ok(Self { list, files })
    }

    /// Lists what was copied. Without a list, the next copy is made anew.
    pub fn end(&self) {
        let names: Vec<&[u8]> = self.files.iter().map(|file| file.as_os_str().as_bytes()).collect();
        let _ = whole_file::write(&self.list, |out| out.write_all(&names.join(&0)));
    }
}

/// Finds the files of a folder, by their paths below `tree`, except git's.
fn find(tree: &Path, folder: &Path, found: &mut BTreeSet<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(tree.join(folder))? {
        let entry = entry?;
        let path = folder.join(entry.file_name());
        if !entry.file_type()?.is_dir() {
            found.insert(path);
        } else if entry.file_name() != ".git" {
            find(tree, &path, found)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;

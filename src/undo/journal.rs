//! The undo journal: every change is written down before it is made.
//!
//! One file a run, one line of JSON a change. It is locked for as long as the run lives, so
//! `ssdlab restore` can tell a run that was killed from one that is working. A change is taken
//! back last to first, and its line is cut off when that is done. Lines reach the kernel before
//! the change is made; they are not synced to a disk, because a crash of the machine takes
//! mounts and loop devices away together with the folder for run-time files.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use super::{Change, UndoError};
use crate::host::processes;

const ENDING: &str = "undo";

/// The changes of one run, newest last.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
    marker: String,
    changes: Vec<(u64, Change)>,
}

impl Journal {
    /// Starts the journal of a new run in the folder for run-time files.
    pub fn create(folder: &Path) -> io::Result<Self> {
        private_folder(folder)?;
        for attempt in 0_u32.. {
            let marker = format!("{}-{attempt}", std::process::id());
            let path = folder.join(&marker).with_extension(ENDING);
            let mut options = OpenOptions::new();
            match options.read(true).write(true).create_new(true).mode(0o600).open(&path) {
                Ok(file) => {
                    flock(&file, FlockOperation::NonBlockingLockExclusive)?;
                    return Ok(Self { file, path, marker, changes: Vec::new() });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        unreachable!("the names are endless")
    }

    /// Opens the journal of a run that is dead; `None` if the run is alive.
    fn adopt(path: &Path) -> io::Result<Option<Self>> {
        let mut file = OpenOptions::new().read(true).write(true).open(path)?;
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            return Ok(None);
        }
        let mut text = Vec::new();
        file.read_to_end(&mut text)?;
        let marker = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let mut changes = Vec::new();
        let mut offset = 0;
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            // A last line that was cut was written for a change that was never made.
            let Ok(change) = serde_json::from_slice(line) else {
                break;
            };
            changes.push((offset, change));
            offset += line.len() as u64;
        }
        Ok(Some(Self { file, path: path.to_owned(), marker, changes }))
    }

    /// The name of this run, which every process it starts carries in its environment.
    #[must_use]
    pub fn marker(&self) -> &str {
        &self.marker
    }

    /// Writes a change down. Make it only after this has succeeded.
    pub fn will(&mut self, change: Change) -> io::Result<()> {
        let offset = self.file.seek(SeekFrom::End(0))?;
        let mut line = serde_json::to_vec(&change)?;
        line.push(b'\n');
        self.file.write_all(&line)?;
        self.changes.push((offset, change));
        Ok(())
    }

    /// A point to come back to with [`Self::undo_to`].
    #[must_use]
    pub fn mark(&self) -> usize {
        self.changes.len()
    }

    /// Takes back every change made since `mark`, newest first. What cannot be taken back
    /// stays in the journal, and so does all that came before it.
    pub fn undo_to(&mut self, mark: usize) -> Result<(), UndoError> {
        if self.changes.len() > mark {
            processes::kill_marked(&self.marker);
        }
        while self.changes.len() > mark {
            let (offset, change) = self.changes[self.changes.len() - 1].clone();
            change.undo(&self.marker)?;
            self.file
                .set_len(offset)
                .map_err(|cause| UndoError::new("shorten", &self.path, cause))?;
            self.changes.pop();
        }
        Ok(())
    }

    /// Takes everything back and removes the journal.
    pub fn finish(mut self) -> Result<(), UndoError> {
        self.undo_to(0)
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        // On an error path there is nobody left to tell; what remains stays in the journal for
        // `ssdlab restore`.
        if self.undo_to(0).is_ok() {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// What `restore` found.
#[derive(Debug, Default)]
pub struct Restored {
    /// Changes taken back.
    pub undone: usize,
    /// Runs that are alive, by their journals; they are left alone.
    pub alive: Vec<PathBuf>,
    /// What could not be taken back.
    pub failed: Vec<UndoError>,
}

/// Takes back what runs that died have left, in every journal of the folder.
pub fn restore(folder: &Path) -> io::Result<Restored> {
    let mut restored = Restored::default();
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(restored),
        Err(error) => return Err(error),
    };
    private_folder(folder)?;
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|ending| ending == ENDING))
        .collect();
    paths.sort();
    for path in paths {
        let Some(mut journal) = Journal::adopt(&path)? else {
            restored.alive.push(path);
            continue;
        };
        processes::kill_marked(&journal.marker);
        let before = journal.mark();
        if let Err(error) = journal.undo_to(0) {
            restored.failed.push(error);
        }
        restored.undone += before - journal.mark();
    }
    Ok(restored)
}

/// A journal is read and acted upon as root: nobody else may have written it.
fn private_folder(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let metadata = fs::symlink_metadata(folder)?;
    let own = rustix::process::geteuid().as_raw();
    if !metadata.is_dir() || metadata.uid() != own || metadata.mode() & 0o022 != 0 {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            format!(
                "{} is not a folder that only user {own} can write to; remove it, or set \
                 XDG_RUNTIME_DIR to one that is",
                folder.display()
            ),
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_taken_back_newest_first_and_the_journal_goes() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("undo");
        let mut journal = Journal::create(&folder).unwrap();
        let (outer, inner) = (place.path().join("a"), place.path().join("a/b"));
        for path in [&outer, &inner] {
            journal.will(Change::Folder { path: path.clone() }).unwrap();
            fs::create_dir(path).unwrap();
        }
        journal.undo_to(1).unwrap();
        assert!(outer.exists() && !inner.exists());
        journal.finish().unwrap();
        assert!(!outer.exists());
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
    }

    #[test]
    fn a_value_that_somebody_else_set_since_is_left_alone() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("scheduler");
        let change = |after: &str| Change::Sysfs {
            path: path.clone(),
            before: "none".to_owned(),
            after: after.to_owned(),
        };
        fs::write(&path, "none mq-deadline [kyber]\n").unwrap();
        change("bfq").undo("x").unwrap();
        assert!(fs::read_to_string(&path).unwrap().contains("kyber"));
        change("kyber").undo("x").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "none");
    }

    #[test]
    fn restore_leaves_a_living_run_alone_and_cleans_after_a_dead_one() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("undo");
        let left = place.path().join("left");
        let mut journal = Journal::create(&folder).unwrap();
        journal.will(Change::Folder { path: left.clone() }).unwrap();
        fs::create_dir(&left).unwrap();
        assert_eq!(restore(&folder).unwrap().alive.len(), 1);
        assert!(left.exists());

        // As if killed: the file stays, the lock goes. The last line was cut by the kill.
        let copy = folder.join("dead.undo");
        let mut text = fs::read(&journal.path).unwrap();
        text.extend(b"{\"mount\":{\"tar");
        fs::write(&copy, text).unwrap();
        let restored = restore(&folder).unwrap();
        assert_eq!(restored.undone, 1);
        assert!(restored.failed.is_empty());
        assert!(!left.exists() && !copy.exists());
    }

    #[test]
    fn a_folder_that_others_can_write_to_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let place = tempfile::tempdir().unwrap();
        fs::set_permissions(place.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let error = Journal::create(place.path()).unwrap_err();
        assert!(error.to_string().contains("XDG_RUNTIME_DIR"));
    }
}

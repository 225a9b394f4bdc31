//! The undo journal: every change is recorded before it is made. One file per run, one line of JSON
//! per change, after a first line that names the machine and the boot: a state folder may be
//! shared, and changes to another machine are not undone here. The file is locked while the run is
//! alive, so `ssdlab restore` can distinguish a killed run from an active one. Changes are undone
//! newest first, and each line is truncated afterwards. The entry of a change that outlives a crash
//! of the machine (a folder) is synced before the change is made; mounts and loop devices end with
//! the boot, so their entries need not be.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::files::sync_folder;
use crate::lock;
use crate::machine::Machine;
use crate::processes;
use crate::regular_file;
use crate::trust::exposed_to_others;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::lines::{JournalContents, JournalHeader, LinePlace, UnsoundLine, header, lines, parse};
use super::{Change, UndoError};

const ENDING: &str = "undo";

/// The ending of a journal that is not locked yet or does not name its machine.
const UNNAMED: &str = "new";

/// The changes of one run, newest last.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
    marker: String,
    /// The sound ones, with their places.
    changes: Vec<(LinePlace, Change)>,
    /// Lines that cannot be undone.
    unsound: Vec<UnsoundLine>,
    /// Where the last line ends that stays when earlier ones are undone.
    kept_bytes: u64,
    /// Whether undoing everything has failed.
    has_failed: bool,
}

impl Journal {
    /// Starts the journal of a new run.
    pub fn create(folder: &Path) -> io::Result<Self> {
        let journal = Self::start(&private_folder(folder)?)?;
        // The journal must survive a crash.
        sync_folder(journal.private_folder())?;
        Ok(journal)
    }

    /// Starts the journal of a run that has its machine to itself. A guest has no other users, but
    /// its root folder belongs to the user who runs the lab, so file owners are meaningless there.
    pub fn create_alone(folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        Self::start(folder)
    }

    fn start(folder: &Path) -> io::Result<Self> {
        // Names are never used twice, by whatever machine or container shares the folder: the
        // run's own folders are called after its marker, and undoing removes them.
        let mut random = [0; 8];
        rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())?;
        let marker = format!("{}-{:016x}", std::process::id(), u64::from_ne_bytes(random));
        let path = folder.join(&marker).with_extension(ENDING);
        let ThisMachine { boot, machine } = ThisMachine::now()?;
        let mut header = serde_json::to_vec(&JournalHeader { boot, machine: Some(machine) })?;
        header.push(b'\n');
        let unnamed = path.with_extension(UNNAMED);
        let mut options = OpenOptions::new();
        let mut file =
            options.read(true).write(true).create_new(true).mode(0o600).open(&unnamed)?;
        flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        file.write_all(&header)?;
        fs::rename(&unnamed, &path)?;
        Ok(Self {
            file,
            path,
            marker,
            changes: Vec::new(),
            unsound: Vec::new(),
            kept_bytes: 0,
            has_failed: false,
        })
    }

    /// Opens the journal of a run of this machine that is dead.
    fn adopt(path: &Path) -> io::Result<FoundJournal> {
        if !fs::symlink_metadata(path)?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "it is not a regular file"));
        }
        let mut file = OpenOptions::new().read(true).write(true).open(path)?;
        // Its folder may have been others' when it was made, and a line may be a command.
        let found = file.metadata()?;
        if found.uid() != rustix::process::geteuid().as_raw() || found.mode() & 0o022 != 0 {
            let says = "others could have written it";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, says));
        }
        let here = ThisMachine::now()?;
        let mut text = Vec::new();
        file.read_to_end(&mut text)?;
        // A lock may not show whether a run on another machine is alive, so it is not tried.
        if let Some(other) = here.another_of(&text)? {
            return Ok(FoundJournal::Elsewhere(other.host));
        }
        if !lock_of_the_dead(&file, path)? {
            return Ok(FoundJournal::Alive);
        }
        text.clear();
        file.rewind()?;
        file.read_to_end(&mut text)?;
        let marker = marker_of(path);
        let JournalContents { changes, unsound } = parse(&text, &here.boot, &marker)?;
        let kept_bytes = unsound.last().map_or(0, |line| line.place.end());
        let path = path.to_owned();
        Ok(FoundJournal::Dead(Self {
            file,
            path,
            marker,
            changes,
            unsound,
            kept_bytes,
            has_failed: false,
        }))
    }

    /// A folder that only this user can write to, for a run's temporary files.
    pub fn private_folder(&self) -> &Path {
        self.path.parent().expect("a journal lies in a folder")
    }

    /// The path of the journal, which is removed when everything is undone.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The name of this run, which every process it starts carries in its environment.
    pub fn marker(&self) -> &str {
        &self.marker
    }

    /// Records a change. Make the change only after this has succeeded. Refuses one that it would
    /// refuse to undo.
    pub fn will(&mut self, change: Change) -> io::Result<()> {
        change.check(&self.marker).map_err(io::Error::other)?;
        let offset = self.file.seek(SeekFrom::End(0))?;
        let mut line = serde_json::to_vec(&change)?;
        line.push(b'\n');
        let written = self
            .file
            .write_all(&line)
            .and_then(|()| if change.outlives_a_crash() { self.file.sync_all() } else { Ok(()) });
        if let Err(error) = written {
            // A truncated line must not run into the next.
            self.file.set_len(offset)?;
            return Err(error);
        }
        self.changes.push((LinePlace { offset, bytes: line.len() }, change));
        Ok(())
    }

    /// Makes a folder that undoing will remove with its contents.
    pub fn make_folder(&mut self, path: &Path) -> io::Result<()> {
        self.will(Change::Folder { path: path.to_owned() })?;
        let made = fs::DirBuilder::new().mode(0o700).create(path);
        if made.is_err() {
            // A folder that existed before must not be removed.
            let (place, _) = self.changes.pop().expect("it was just written");
            self.file.set_len(place.offset)?;
        }
        made
    }

    /// A point to come back to with [`Self::undo_to`].
    pub fn mark(&self) -> usize {
        self.changes.len()
    }

    /// Undoes every change made since `mark`, newest first. A change that cannot be undone stays in
    /// the journal, as do all earlier ones unless it stands alone.
    pub fn undo_to(&mut self, mark: usize) -> Result<(), UndoError> {
        self.undo_what_can_be(mark).into_iter().next().map_or(Ok(()), Err)
    }

    /// The same with all that fails.
    fn undo_what_can_be(&mut self, mark: usize) -> Vec<UndoError> {
        if self.changes.len() > mark {
            processes::kill_marked(&self.marker);
        }
        let mut failed = Vec::new();
        for index in (mark..self.changes.len()).rev() {
            let (place, change) = self.changes[index].clone();
            match change.undo(&self.marker) {
                Ok(()) => {
                    if let Err(cause) = self.forget(place) {
                        failed.push(UndoError::new("shorten", &self.path, cause));
                        break;
                    }
                    self.changes.remove(index);
                }
                Err(error) => {
                    failed.push(error);
                    if !change.stands_alone() {
                        break;
                    }
                    self.kept_bytes = self.kept_bytes.max(place.end());
                }
            }
        }
        failed
    }

    /// Truncates an undone change. Before a line that is kept it is blanked instead.
    fn forget(&self, place: LinePlace) -> io::Result<()> {
        if place.offset >= self.kept_bytes {
            return self.file.set_len(place.offset);
        }
        self.file.write_all_at(&vec![b' '; place.bytes - 1], place.offset)
    }

    /// The lines that only a person can undo.
    fn left_to_people(&self) -> impl Iterator<Item = UndoError> {
        self.unsound.iter().map(|UnsoundLine { number, text, why, .. }| {
            let cause = io::Error::other(format!("line {number}, `{text}`: {why}"));
            UndoError::by_hand("undo a line of", &self.path, cause)
        })
    }

    /// Undoes everything and removes the journal.
    pub fn finish(mut self) -> Result<(), UndoError> {
        let undone = self.undo_to(0);
        self.has_failed = undone.is_err();
        undone
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        // On an error path the error cannot be reported; remaining changes stay in the journal for
        // `ssdlab restore`. What [`Self::finish`] could not undo is not tried again, which may take
        // minutes.
        if !self.has_failed && self.undo_to(0).is_ok() && self.unsound.is_empty() {
            let _ = fs::remove_file(&self.path);
            let _ = sync_folder(self.private_folder());
        }
    }
}

/// Takes the lock of a dead run. A child that was being started when the run was killed may hold
/// the lock slightly longer.
fn lock_of_the_dead(file: &File, path: &Path) -> io::Result<bool> {
    let started = Instant::now();
    loop {
        match flock(file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(true),
            Err(Errno::WOULDBLOCK) => {}
            Err(errno) => return Err(errno.into()),
        }
        if process_exists(path) || started.elapsed() > Duration::from_secs(5) {
            return Ok(false);
        }
        sleep(Duration::from_millis(5));
    }
}

/// Whether there is a process with the number in the name of a journal.
fn process_exists(path: &Path) -> bool {
    let marker = marker_of(path);
    let pid = marker.split('-').next().unwrap_or_default();
    Path::new("/proc").join(pid).exists()
}

enum FoundJournal {
    /// Its run is alive.
    Alive,
    /// Its run is dead.
    Dead(Journal),
    /// It belongs to the machine of this name.
    Elsewhere(String),
}

/// This machine and its boot.
struct ThisMachine {
    boot: String,
    machine: Machine,
}

impl ThisMachine {
    fn now() -> io::Result<Self> {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id")?.trim().to_owned();
        Ok(Self { boot, machine: Machine::this() })
    }

    /// Whether a journal is of an earlier boot.
    fn has_booted_since(&self, journal: &[u8]) -> io::Result<bool> {
        let line = lines(journal).next();
        Ok(line.map(header).transpose()?.is_some_and(|header| header.boot != self.boot))
    }

    /// The machine that a journal names, if it is another one. With the same boot id it is this
    /// machine, even if its name has changed.
    fn another_of(&self, journal: &[u8]) -> io::Result<Option<Machine>> {
        let Some(line) = lines(journal).next() else { return Ok(None) };
        let JournalHeader { boot, machine } = header(line)?;
        let is_boot = boot == self.boot;
        let is_this =
            |of: &Machine| of.id == self.machine.id && (of.host == self.machine.host || is_boot);
        Ok(machine.filter(|of| !is_this(of)))
    }
}

#[derive(Debug, Default)]
pub struct RestoreOutcome {
    /// The number of undone changes.
    pub undone: usize,
    /// Runs that are alive, by their journals; they are left alone.
    pub alive: Vec<PathBuf>,
    /// Journals of other machines, with their host names; they are left alone.
    pub elsewhere: Vec<(PathBuf, String)>,
    /// The changes that could not be undone.
    pub failed: Vec<UndoError>,
}

/// Undoes the changes of dead runs, in every journal of the folder.
pub fn restore(folder: &Path) -> io::Result<RestoreOutcome> {
    let mut restored = RestoreOutcome::default();
    // A folder that cannot be looked at may hold journals.
    let is_there = folder.try_exists().map_err(|cause| {
        io::Error::new(cause.kind(), format!("cannot look at {}: {cause}", folder.display()))
    })?;
    if !is_there {
        return Ok(restored);
    }
    let folder = private_folder(folder)?;
    for path in with_ending(&folder, UNNAMED)? {
        remove_unnamed(&path);
    }
    for path in with_ending(&folder, ENDING)? {
        let mut journal = match Journal::adopt(&path) {
            Ok(FoundJournal::Dead(journal)) => journal,
            Ok(FoundJournal::Alive) => {
                restored.alive.push(path);
                continue;
            }
            Ok(FoundJournal::Elsewhere(host)) => {
                restored.elsewhere.push((path, host));
                continue;
            }
            // Its own run may just have removed it.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(cause) => {
                restored.failed.push(UndoError::by_hand("read the journal", &path, cause));
                continue;
            }
        };
        processes::kill_marked(&journal.marker);
        let before = journal.mark();
        restored.failed.extend(journal.undo_what_can_be(0));
        restored.undone += before - journal.mark();
        restored.failed.extend(journal.left_to_people());
    }
    Ok(restored)
}

/// What dead runs of a machine have left; what weighs more comes last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Leftovers {
    /// Temporary folders, which only take space.
    Folders,
    /// Changes to the machine, or a journal that cannot be read.
    Changes,
}

/// What dead runs of this machine seem to have left, which `restore` would undo or name. It takes
/// no lock, so it disturbs nobody, and may miss one.
pub fn leftovers(folder: &Path) -> Option<Leftovers> {
    let left = |path: &PathBuf| match left_by(path) {
        Ok(left) => left,
        // Its own run may just have removed it.
        Err(error) => (error.kind() != io::ErrorKind::NotFound).then_some(Leftovers::Changes),
    };
    with_ending(folder, ENDING).ok()?.iter().filter_map(left).max()
}

/// What the run of a journal has left, if it is a dead one of this machine.
fn left_by(path: &Path) -> io::Result<Option<Leftovers>> {
    let text = regular_file::read_own(path)?;
    let here = ThisMachine::now()?;
    // After a reboot the number in its name may be another process's.
    let may_be_alive = !here.has_booted_since(&text)? && process_exists(path);
    if may_be_alive || lock::holder(path).is_some() || here.another_of(&text)?.is_some() {
        return Ok(None);
    }
    let JournalContents { changes, unsound } = parse(&text, &here.boot, &marker_of(path))?;
    let is_folder = |(_, change): &(LinePlace, Change)| matches!(change, Change::Folder { .. });
    Ok(if !unsound.is_empty() || !changes.iter().all(is_folder) {
        Some(Leftovers::Changes)
    } else {
        (!changes.is_empty()).then_some(Leftovers::Folders)
    })
}

/// The marker of the run of a journal.
fn marker_of(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Removes what a run left that was killed as it started its journal: it had changed nothing yet.
/// If the run is alive, perhaps in another container, it is left alone.
fn remove_unnamed(path: &Path) {
    let is_free = |file: &File| flock(file, FlockOperation::NonBlockingLockExclusive).is_ok();
    if !process_exists(path) && File::open(path).is_ok_and(|file| is_free(&file)) {
        // Whoever cannot remove it finds it again the next time; it does no harm.
        let _ = fs::remove_file(path);
    }
}

/// The files in a folder whose names end so, in the order of their names.
fn with_ending(folder: &Path, ending: &str) -> io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder)?;
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|of| of == ending))
        .collect();
    paths.sort();
    Ok(paths)
}

/// Makes a folder and its parents, and syncs their names.
fn make_synced(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let above = folder.parent().ok_or(io::ErrorKind::NotFound)?;
    make_synced(above)?;
    match fs::DirBuilder::new().mode(0o700).create(folder) {
        // Another run has made it meanwhile.
        Err(_) if folder.is_dir() => {}
        made => made?,
    }
    sync_folder(above)
}

/// Makes a folder that nobody else can write to, and returns its real path. Root reads and acts
/// upon a journal, so nobody else may be able to write it or to replace its folder later; every
/// folder above is checked too.
fn private_folder(folder: &Path) -> io::Result<PathBuf> {
    make_synced(folder)?;
    let folder = folder.canonicalize()?;
    match exposed_to_others(&folder)? {
        None => Ok(folder),
        Some(exposed) => Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            format!(
                "{exposed}; revoke that permission, or set XDG_STATE_HOME to a folder that only \
                 this user can write to"
            ),
        )),
    }
}

#[cfg(test)]
mod tests;

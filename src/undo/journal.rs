//! The undo journal: every change is recorded before it is made. One file per run, one line of JSON
//! per change, after a first line that names the machine and the boot: a state folder may be
//! shared, and changes to another machine are not undone here. The file is locked while the run is
//! alive, so `ssdlab restore` can distinguish a killed run from an active one. Changes are undone
//! newest first, and each line is truncated afterwards. The entry of a change that outlives a crash
//! of the machine (a folder) is synced before the change is made; mounts and loop devices end with
//! the boot, so their entries need not be.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::{Change, UndoError};
use crate::host::machine::Machine;
use crate::host::processes;
use crate::host::sync::sync_folder;
use crate::host::trust::exposed;

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
        // Nobody else may find it before it is locked and says whose it is.
        let unnamed = path.with_extension("new");
        let mut options = OpenOptions::new();
        let mut file =
            options.read(true).write(true).create_new(true).mode(0o600).open(&unnamed)?;
        flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        let Here { boot, machine } = Here::now()?;
        let mut header = serde_json::to_vec(&Header { boot, machine: Some(machine) })?;
        header.push(b'\n');
        file.write_all(&header)?;
        fs::rename(&unnamed, &path)?;
        Ok(Self { file, path, marker, changes: Vec::new() })
    }

    /// Opens the journal of a run of this machine that is dead.
    fn adopt(path: &Path) -> io::Result<Found> {
        if !fs::symlink_metadata(path)?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "it is not a regular file"));
        }
        let mut file = OpenOptions::new().read(true).write(true).open(path)?;
        let here = Here::now()?;
        let mut text = Vec::new();
        file.read_to_end(&mut text)?;
        // A lock may not show whether a run on another machine is alive, so it is not tried.
        let of = lines(&text).next().map(header).transpose()?;
        if let Some(other) = of.and_then(|of| here.another(of)) {
            return Ok(Found::Elsewhere(other.host));
        }
        if !lock_of_the_dead(&file, path)? {
            return Ok(Found::Alive);
        }
        text.clear();
        file.rewind()?;
        file.read_to_end(&mut text)?;
        let marker = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let changes = parse(&text, &here.boot)?;
        Ok(Found::Dead(Self { file, path: path.to_owned(), marker, changes }))
    }

    /// A folder that only this user can write to, for a run's temporary files.
    #[must_use]
    pub fn private_folder(&self) -> &Path {
        self.path.parent().expect("a journal lies in a folder")
    }

    /// The path of the journal, which is removed when everything is undone.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The name of this run, which every process it starts carries in its environment.
    #[must_use]
    pub fn marker(&self) -> &str {
        &self.marker
    }

    /// Records a change. Make the change only after this has succeeded.
    pub fn will(&mut self, change: Change) -> io::Result<()> {
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
        self.changes.push((offset, change));
        Ok(())
    }

    /// Makes a folder that undoing will remove with its contents.
    pub fn make_folder(&mut self, path: &Path) -> io::Result<()> {
        self.will(Change::Folder { path: path.to_owned() })?;
        let made = fs::DirBuilder::new().mode(0o700).create(path);
        if made.is_err() {
            // A folder that existed before must not be removed.
            let (offset, _) = self.changes.pop().expect("it was just written");
            self.file.set_len(offset)?;
        }
        made
    }

    /// A point to come back to with [`Self::undo_to`].
    #[must_use]
    pub fn mark(&self) -> usize {
        self.changes.len()
    }

    /// Undoes every change made since `mark`, newest first. A change that cannot be undone stays in
    /// the journal, as do all earlier ones.
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

    /// Undoes everything and removes the journal.
    pub fn finish(mut self) -> Result<(), UndoError> {
        self.undo_to(0)
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        // On an error path the error cannot be reported; remaining changes stay in the journal for
        // `ssdlab restore`.
        if self.undo_to(0).is_ok() {
            let _ = fs::remove_file(&self.path);
            let _ = sync_folder(self.private_folder());
        }
    }
}

/// Takes the lock of a dead run. A child that was being started when the run was killed may hold
/// the lock slightly longer.
fn lock_of_the_dead(file: &File, path: &Path) -> io::Result<bool> {
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let pid = name.split('-').next().unwrap_or_default().to_owned();
    let started = Instant::now();
    loop {
        match flock(file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(true),
            Err(Errno::WOULDBLOCK) => {}
            Err(errno) => return Err(errno.into()),
        }
        let is_alive = Path::new("/proc").join(&pid).exists();
        if is_alive || started.elapsed() > Duration::from_secs(5) {
            return Ok(false);
        }
        sleep(Duration::from_millis(5));
    }
}

/// A journal that was found.
enum Found {
    /// Its run is alive.
    Alive,
    /// Its run is dead.
    Dead(Journal),
    /// It is of the machine of this name.
    Elsewhere(String),
}

/// The first line of a journal.
#[derive(Debug, Serialize, Deserialize)]
struct Header {
    /// The kernel's id of the boot it was written in.
    boot: String,
    /// The machine; `None` in journals of earlier versions means the one that reads them.
    machine: Option<Machine>,
}

/// This machine and its boot.
struct Here {
    boot: String,
    machine: Machine,
}

impl Here {
    fn now() -> io::Result<Self> {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id")?.trim().to_owned();
        Ok(Self { boot, machine: Machine::this() })
    }

    /// The machine of a journal, if it is another one. With the same boot id it is this machine,
    /// even if its name has changed.
    fn another(&self, journal: Header) -> Option<Machine> {
        let is_boot = journal.boot == self.boot;
        let is_this =
            |of: &Machine| of.id == self.machine.id && (of.host == self.machine.host || is_boot);
        journal.machine.filter(|of| !is_this(of))
    }
}

fn header(line: &[u8]) -> io::Result<Header> {
    Ok(serde_json::from_slice(line)?)
}

/// The complete lines of a journal.
fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"))
}

/// The changes in a journal's text that remain to be undone, each with its offset. Those that ended
/// with an earlier boot are left out: their names may mean something else by now.
pub(super) fn parse(text: &[u8], boot: &str) -> io::Result<Vec<(u64, Change)>> {
    let mut lines = lines(text);
    let Some(first) = lines.next() else { return Ok(Vec::new()) };
    let header = header(first)?;
    let mut changes = Vec::new();
    let mut offset = first.len() as u64;
    for line in lines {
        let change: Change = serde_json::from_slice(line)?;
        if header.boot == boot || change.outlives_a_crash() {
            changes.push((offset, change));
        }
        offset += line.len() as u64;
    }
    Ok(changes)
}

/// The outcome of `restore`.
#[derive(Debug, Default)]
pub struct Restored {
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
pub fn restore(folder: &Path) -> io::Result<Restored> {
    let mut restored = Restored::default();
    if !folder.exists() {
        return Ok(restored);
    }
    let folder = private_folder(folder)?;
    let entries = fs::read_dir(&folder)?;
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|ending| ending == ENDING))
        .collect();
    paths.sort();
    for path in paths {
        let mut journal = match Journal::adopt(&path) {
            Ok(Found::Dead(journal)) => journal,
            Ok(Found::Alive) => {
                restored.alive.push(path);
                continue;
            }
            Ok(Found::Elsewhere(host)) => {
                restored.elsewhere.push((path, host));
                continue;
            }
            // Its own run may just have removed it.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(cause) => {
                restored.failed.push(UndoError::new("read the journal", &path, cause));
                continue;
            }
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
    match exposed(&folder, rustix::process::geteuid().as_raw())? {
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
mod tests {
    use super::*;
    use crate::host::mounts::Mounted;

    #[test]
    fn changes_are_taken_back_newest_first_and_the_journal_goes() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("undo");
        let mut journal = Journal::create(&folder).unwrap();
        let name = format!("ssdlab-{}", journal.marker());
        let outer = place.path().join(&name);
        let inner = outer.join(&name);
        for path in [&outer, &inner] {
            journal.make_folder(path).unwrap();
        }
        journal.undo_to(1).unwrap();
        assert!(outer.exists() && !inner.exists());
        journal.finish().unwrap();
        assert!(!outer.exists());
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
    }

    #[test]
    fn a_value_that_somebody_else_set_since_is_left_alone() {
        use crate::undo::change::restore_value;
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("scheduler");
        fs::write(&path, "none mq-deadline [kyber]\n").unwrap();
        restore_value(&path, "none", "bfq").unwrap();
        assert!(fs::read_to_string(&path).unwrap().contains("kyber"));
        restore_value(&path, "none", "kyber").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "none");
    }

    #[test]
    fn restore_leaves_a_living_run_alone_and_cleans_after_a_dead_one() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("undo");
        let left = place.path().join("ssdlab-dead");
        let mut journal = Journal::create(&folder).unwrap();
        journal.make_folder(&left).unwrap();
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
    fn a_journal_cannot_name_anything_but_what_runs_change() {
        let sysfs = |path: &str| Change::Sysfs {
            path: path.into(),
            disk: None,
            before: "x".to_owned(),
            after: "y".to_owned(),
        };
        let refused = [
            sysfs("/etc/passwd"),
            sysfs("/sys/../etc/passwd"),
            Change::Folder { path: "/home".into() },
            Change::Folder { path: "/var/tmp/ssdlab-theirs".into() },
            Change::Mount { target: "/srv/mnt".into(), mounted: Mounted::Any },
            Change::Folder { path: "/var/ssdlab-x/..".into() },
            Change::Loop { device: "/dev/sda".into(), backing: "x".into(), file: None },
            Change::Daemon { folders: vec!["/run/zfs".into(), "/home".into()] },
            Change::Daemon { folders: vec!["/run/lock/..".into()] },
            Change::Pool { name: "tank".into() },
            Change::Trace { instance: "/sys/kernel/tracing/instances/theirs".into() },
            Change::Trace { instance: "/home/ssdlab-x".into() },
        ];
        for change in refused {
            assert!(change.undo("m").is_err(), "{change:?}");
        }
    }

    #[test]
    fn a_folder_that_others_can_write_to_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let place = tempfile::tempdir().unwrap();
        fs::set_permissions(place.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let error = Journal::create(place.path()).unwrap_err();
        assert!(error.to_string().contains("XDG_STATE_HOME"));
    }

    #[test]
    fn after_a_reboot_only_what_outlives_it_is_taken_back() {
        let folder = Change::Folder { path: "/var/tmp/ssdlab-1-x".into() };
        let target = "/var/tmp/ssdlab-1-x/mnt".into();
        let mount = Change::Mount { target, mounted: Mounted::Device("7:0".to_owned()) };
        let line = |value: &Change| format!("{}\n", serde_json::to_string(value).unwrap());
        let text = format!("{{\"boot\":\"one\"}}\n{}{}", line(&folder), line(&mount));
        assert_eq!(parse(text.as_bytes(), "one").unwrap().len(), 2);
        let left = parse(text.as_bytes(), "two").unwrap();
        assert_eq!(left.into_iter().map(|(_, change)| change).collect::<Vec<_>>(), [folder]);
        // A last line that was cut was written for a change that was never made; a line in the
        // middle that cannot be read is an error, not an end.
        assert_eq!(parse(&text.as_bytes()[..text.len() - 3], "one").unwrap().len(), 1);
        let broken = text.replace("folder", "moon");
        assert!(parse(broken.as_bytes(), "one").is_err());
    }

    #[test]
    fn a_journal_of_another_machine_is_left_alone_and_its_machine_named() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("undo");
        let here = Here::now().unwrap();
        let this = Machine::this();
        let renamed = Machine { host: "renamed".to_owned(), ..this.clone() };
        let cloned = Machine { host: "clone".to_owned(), ..this.clone() };
        let other = Machine { id: Some("0".to_owned()), host: "other".to_owned() };
        let journals = [
            ("this", &here.boot, Some(this)),
            ("renamed", &here.boot, Some(renamed)),
            ("earlier", &here.boot, None),
            ("cloned", &"another".to_owned(), Some(cloned)),
            ("foreign", &here.boot, Some(other)),
        ];
        fs::DirBuilder::new().mode(0o700).create(&folder).unwrap();
        for (name, boot, machine) in journals {
            let left = place.path().join(format!("ssdlab-{name}"));
            fs::create_dir(&left).unwrap();
            let mut header = serde_json::to_value(Header { boot: boot.clone(), machine }).unwrap();
            // Earlier versions say nothing of a machine.
            header.as_object_mut().unwrap().retain(|_, value| !value.is_null());
            let change = serde_json::to_string(&Change::Folder { path: left }).unwrap();
            fs::write(folder.join(name).with_extension(ENDING), format!("{header}\n{change}\n"))
                .unwrap();
        }
        let restored = restore(&folder).unwrap();
        let mut left: Vec<_> = fs::read_dir(place.path()).unwrap().flatten().collect();
        left.retain(|entry| entry.file_name().to_string_lossy().starts_with("ssdlab-"));
        assert_eq!((restored.undone, left.len()), (3, 2), "{restored:?}");
        let hosts: Vec<_> = restored.elsewhere.iter().map(|(_, host)| host.as_str()).collect();
        assert_eq!(hosts, ["clone", "other"]);
        assert!(restored.elsewhere.iter().all(|(path, _)| path.exists()));
    }

    #[test]
    fn names_that_are_not_utf_8_are_undone_and_those_of_earlier_journals_read() {
        use std::os::unix::ffi::OsStrExt;
        let place = tempfile::tempdir().unwrap();
        let theirs = place.path().join(std::ffi::OsStr::from_bytes(b"\xff"));
        fs::create_dir(&theirs).unwrap();
        let mut journal = Journal::create(&place.path().join("undo")).unwrap();
        let ours = theirs.join(format!("ssdlab-{}", journal.marker()));
        journal.make_folder(&ours).unwrap();
        let text = fs::read(journal.path()).unwrap();
        let changes = parse(&text, &Here::now().unwrap().boot).unwrap();
        assert_eq!(changes[0].1, Change::Folder { path: ours.clone() });
        journal.finish().unwrap();
        assert!(theirs.exists() && !ours.exists());
        let earlier: Change = serde_json::from_str(r#"{"mount":{"target":"/mnt"}}"#).unwrap();
        let target = "/mnt".into();
        assert_eq!(earlier, Change::Mount { target, mounted: Mounted::Any });
        let loops = r#"{"loop":{"device":"/dev/loop7","backing":"/a"}}"#;
        assert!(serde_json::from_str::<Change>(loops).is_ok());
    }

    #[test]
    fn a_folder_that_was_there_before_is_not_removed() {
        let place = tempfile::tempdir().unwrap();
        let theirs = place.path().join("ssdlab-theirs");
        fs::create_dir(&theirs).unwrap();
        let mut journal = Journal::create(&place.path().join("undo")).unwrap();
        assert!(journal.make_folder(&theirs).is_err());
        journal.finish().unwrap();
        assert!(theirs.exists());
    }
}

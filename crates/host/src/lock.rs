//! File locks (flock(2)), and their holders, from proc(5): for messages, and where a lock can be
//! inspected but not taken.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use procfs::process::Process;
use procfs::{Current, Locks};

use super::file_id::FileId;

/// The maximum length of a command line in messages, in characters.
const MOST_SHOWN: usize = 80;

/// A lock on a file, released when dropped. Closing the file would not be enough: a program that is
/// just being started has a copy of it.
#[derive(Debug)]
pub struct FileLock(File);

impl Drop for FileLock {
    fn drop(&mut self) {
        // A lock that cannot be given back ends with the program.
        let _ = self.0.unlock();
    }
}

impl FileLock {
    /// Takes an exclusive lock; `None` if another holder exists.
    pub fn exclusive(file: File) -> io::Result<Option<Self>> {
        match file.try_lock() {
            Ok(()) => Ok(Some(Self(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(cause)) => Err(cause),
        }
    }

    /// Takes a shared lock, and waits for the holder of an exclusive one.
    pub fn shared(file: File) -> io::Result<Self> {
        file.lock_shared()?;
        Ok(Self(file))
    }

    pub fn file(&self) -> &File {
        &self.0
    }

    /// Whether a path still leads to the file, which its creator may have removed or replaced.
    pub fn is_at(&self, path: &Path) -> bool {
        let found = path.metadata().map(|found| FileId::from(&found));
        found.is_ok_and(|found| FileId::of(&self.0).is_ok_and(|own| own == found))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LockHolder {
    /// The process that took it; `None` if this process may not see it.
    pub pid: Option<i32>,
}

/// The holder of a file lock (flock(2)). `None` if there is none; also for holders in another PID
/// namespace, and on filesystems whose files report another device number than the lock table
/// (btrfs).
pub fn holder(path: &Path) -> Option<LockHolder> {
    let of = path.symlink_metadata().ok()?;
    let device = (rustix::fs::major(of.dev()), rustix::fs::minor(of.dev()));
    let locks = Locks::current().ok()?.0;
    let is_of =
        |lock: &procfs::Lock| (lock.devmaj, lock.devmin) == device && lock.inode == of.ino();
    let lock = locks.into_iter().find(is_of)?;
    // 0 is a process of another PID namespace.
    Some(LockHolder { pid: lock.pid.filter(|pid| *pid > 0) })
}

impl LockHolder {
    /// Whether it is this process itself.
    pub fn is_this_process(&self) -> bool {
        self.pid == i32::try_from(std::process::id()).ok()
    }
}

impl std::fmt::Display for LockHolder {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Some(pid) = self.pid else { return write!(out, "an unknown process") };
        write!(out, "process {pid}")?;
        let Ok(process) = Process::new(pid) else { return write!(out, ", which has ended") };
        if let Ok(uid) = process.uid() {
            match user(uid) {
                Some(name) => write!(out, " of {name}")?,
                None => write!(out, " of user {uid}")?,
            }
        }
        match process.cmdline() {
            Ok(words) if !words.is_empty() => {
                // A process can choose its command line freely.
                let line: String = words.join(" ").chars().filter(|c| !c.is_control()).collect();
                let cut = line.char_indices().nth(MOST_SHOWN).map(|(at, _)| at);
                write!(out, ": {}", &line[..cut.unwrap_or(line.len())])?;
                write!(out, "{}", if cut.is_some() { "..." } else { "" })
            }
            _ => Ok(()),
        }
    }
}

/// A user's name in passwd(5); none for users known only to other databases.
fn user(uid: u32) -> Option<String> {
    let text = fs::read_to_string("/etc/passwd").ok()?;
    text.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)?.parse() == Ok(uid)).then(|| name.to_owned())
    })
}

#[cfg(test)]
pub(crate) mod tests;

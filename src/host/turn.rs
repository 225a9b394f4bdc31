//! This machine's turn to measure: one trial on a wall clock at a time, whoever starts it.

use std::fs::{File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;

use super::interrupt::Interrupt;

/// How often a turn that somebody else has is asked for.
const PAUSE: Duration = Duration::from_millis(100);

/// The turn; dropping it gives it on.
#[derive(Debug)]
pub struct Turn {
    _lock: File,
}

impl Turn {
    /// Waits for the turn of this machine. `busy` hears once that somebody else has it. `None` if
    /// the run was to stop meanwhile.
    pub fn take(interrupt: &Interrupt, busy: &mut dyn FnMut()) -> io::Result<Option<Self>> {
        Self::take_in(&path(), interrupt, busy)
    }

    fn take_in(
        path: &Path,
        interrupt: &Interrupt,
        busy: &mut dyn FnMut(),
    ) -> io::Result<Option<Self>> {
        let mut file = open(path)?;
        let mut is_told = false;
        loop {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) if is_at(&file, path) => return Ok(Some(Self { _lock: file })),
                // Whoever made it has removed it: others lock another by now.
                Ok(()) => {
                    file = open(path)?;
                    continue;
                }
                Err(Errno::WOULDBLOCK) => {}
                Err(errno) => return Err(errno.into()),
            }
            if interrupt.is_set() {
                return Ok(None);
            }
            if !is_told {
                busy();
                is_told = true;
            }
            sleep(PAUSE);
        }
    }
}

/// A folder for locks is one a machine, and not one a user.
fn path() -> PathBuf {
    let locks = Path::new("/run/lock");
    // Not the folder that TMPDIR names: that may be a user's or a job's own.
    let folder = if locks.is_dir() { locks } else { Path::new("/tmp") };
    folder.join("ssdlab.lock")
}

fn is_at(file: &File, path: &Path) -> bool {
    let id = |found: Metadata| (found.dev(), found.ino());
    file.metadata().map(id).is_ok_and(|own| path.metadata().map(id).is_ok_and(|of| of == own))
}

/// Reading is enough to lock, so that it does not matter which user made the file. It is made only
/// where it is not there: in a folder that all can write to the kernel refuses to open another
/// user's file to make it.
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed());
    match options.open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        other => return other,
    }
    match options.clone().write(true).create_new(true).mode(0o644).open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => options.open(path),
        Err(error) => Err(error),
        Ok(file) => {
            // Whatever this user masks: others must be able to open it.
            file.set_permissions(Permissions::from_mode(0o644))?;
            Ok(file)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    #[test]
    fn a_turn_is_waited_for_and_the_wait_can_be_ended() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("lock");
        let interrupt = Interrupt::default();
        let first = Turn::take_in(&path, &interrupt, &mut || ()).unwrap().unwrap();
        let (tell, told) = mpsc::channel();
        thread::scope(|scope| {
            let second = scope.spawn(|| {
                let mut busy = || tell.send(()).unwrap();
                Turn::take_in(&path, &interrupt, &mut busy).unwrap().is_some()
            });
            told.recv().unwrap();
            sleep(PAUSE * 3);
            assert!(!second.is_finished());
            drop(first);
            assert!(second.join().unwrap());
        });
        assert!(told.try_recv().is_err(), "it was told twice");
        let _held = Turn::take_in(&path, &interrupt, &mut || ()).unwrap();
        interrupt.set();
        assert!(Turn::take_in(&path, &interrupt, &mut || ()).unwrap().is_none());
    }

    #[test]
    fn a_link_in_the_place_of_the_lock_is_not_followed() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("lock");
        std::os::unix::fs::symlink(place.path().join("elsewhere"), &path).unwrap();
        assert!(open(&path).is_err());
        assert!(!place.path().join("elsewhere").exists());
    }
}

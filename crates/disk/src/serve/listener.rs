//! Defines the socket to which virtual machines connect, and which existing files it replaces.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};
use ssdlab_host::lock::{self, FileLock};

use crate::serve::error::ServeError;

/// How long another server may hold the lock of a socket's folder, and how often to try it.
const LOCK_TIMEOUT: Duration = Duration::from_secs(2);
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// A socket that is removed when dropped.
#[derive(Debug)]
pub struct TemporarySocket {
    stream: UnixListener,
    path: PathBuf,
    /// Device and inode: only this file is removed.
    identity: (u64, u64),
}

impl TemporarySocket {
    /// Creates a socket. Only a socket without a listener is replaced.
    pub fn bind(path: &Path) -> Result<Self, ServeError> {
        // Without a lock, one of two servers that find the same dead socket could remove the
        // other's new one.
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        let _lock = locked(folder)?;
        match fs::symlink_metadata(path) {
            Ok(found) if !found.file_type().is_socket() => {
                return Err(ServeError::NotASocket(path.to_owned()));
            }
            Ok(_) => remove_dead(path)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(ServeError::step("look at", path)(error)),
        }
        let listen = || -> io::Result<Self> {
            let stream = UnixListener::bind(path)?;
            let identity = identity(&fs::symlink_metadata(path)?);
            Ok(Self { stream, path: path.to_owned(), identity })
        };
        listen().map_err(|cause| ServeError::Listen { path: path.to_owned(), cause })
    }

    /// Accepts a connection, which exists if this is readable.
    pub fn accept(&self) -> io::Result<UnixStream> {
        Ok(self.stream.accept()?.0)
    }
}

impl AsFd for TemporarySocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

impl Drop for TemporarySocket {
    /// Another server may have taken the name meanwhile; its socket stays.
    fn drop(&mut self) {
        let found = fs::symlink_metadata(&self.path);
        if found.is_ok_and(|found| identity(&found) == self.identity) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Locks a folder. Other servers hold its lock for a moment, but whoever may read the folder can
/// hold it for ever.
fn locked(folder: &Path) -> Result<FileLock, ServeError> {
    let started = Instant::now();
    loop {
        let opened = File::open(folder).map_err(ServeError::step("open", folder))?;
        let lock = FileLock::exclusive(opened).map_err(ServeError::step("lock", folder))?;
        match lock {
            Some(lock) => return Ok(lock),
            None if started.elapsed() < LOCK_TIMEOUT => sleep(POLL_INTERVAL),
            None => {
                let holder = folder.canonicalize().ok().and_then(|folder| lock::holder(&folder));
                return Err(ServeError::Locked { folder: folder.to_owned(), holder });
            }
        }
    }
}

fn identity(file: &Metadata) -> (u64, u64) {
    (file.dev(), file.ino())
}

/// Removes a socket that refuses connections: its server is gone. Any other answer leaves it.
fn remove_dead(path: &Path) -> Result<(), ServeError> {
    match dial(path) {
        Err(Errno::CONNREFUSED) => fs::remove_file(path).map_err(ServeError::step("replace", path)),
        // A server with a full queue of connections says "again".
        Ok(()) | Err(Errno::AGAIN) => Err(ServeError::InUse(path.to_owned())),
        Err(errno) => Err(ServeError::Unanswered { path: path.to_owned(), cause: errno.into() }),
    }
}

/// Connects and hangs up. Does not wait for a server that accepts nothing.
fn dial(path: &Path) -> Result<(), Errno> {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    connect(&socket, &SocketAddrUnix::new(path)?)
}

#[cfg(test)]
mod tests;

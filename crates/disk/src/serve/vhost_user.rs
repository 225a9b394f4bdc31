//! Defines a disk served over vhost-user, which is a virtio disk in a virtual machine.
//!
//! The protocol is rust-vmm's, the requests are handled by `ssdlab_disk`'s [`Device`]; here they
//! meet in real time. Between guests the disk keeps its state, like one moved to another machine.

use std::fmt;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::{AnyBackend, Device, Shape};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use vhost::vhost_user::Listener;

use crate::serve::Summary;
use crate::serve::answers::{Answers, lock};
use crate::serve::clock::Clock;
use crate::serve::counts::Counts;
use crate::serve::error::{Departure, ServeError};
use crate::serve::guest::{Guest, Served};
use crate::serve::socket::Socket;

/// The interval at which a stop is noticed between two guests.
const STEP: Duration = Duration::from_millis(50);

/// A disk served over vhost-user.
pub struct VhostUserDisk {
    path: PathBuf,
    served: Arc<Served>,
    door: Arc<Door>,
    thread: Option<JoinHandle<Result<(), String>>>,
}

/// The entry for guests, one at a time.
#[derive(Default)]
struct Door {
    entry: Mutex<Entry>,
    departures: Mutex<Vec<Departure>>,
}

#[derive(Default)]
struct Entry {
    is_closed: bool,
    guest: Option<Arc<Guest>>,
}

impl fmt::Debug for VhostUserDisk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VhostUserDisk").field("path", &self.path).finish_non_exhaustive()
    }
}

impl VhostUserDisk {
    /// Serves a backend to guests that connect to a socket, one after another.
    pub fn listen(
        backend: AnyBackend<'static>,
        shape: Shape,
        socket: &Path,
    ) -> Result<Self, ServeError> {
        let device = Device::new(backend, shape)?;
        let path = socket.to_owned();
        let clock = Clock::start();
        let answers = Answers::start(clock).map_err(ServeError::step("serve at", socket))?;
        let device = Mutex::new((device, Counts::default()));
        let served = Arc::new(Served { device, answers, clock });
        let door = Arc::<Door>::default();
        let socket = Socket::bind(socket)?;
        let listener = socket.listener().map_err(ServeError::step("serve at", &path))?;
        let thread = {
            let (served, door) = (Arc::clone(&served), Arc::clone(&door));
            thread::Builder::new()
                .name("guests".to_owned())
                .spawn(move || receive(&socket, listener, &served, &door))
                .map_err(ServeError::step("serve at", &path))?
        };
        Ok(Self { path, served, door, thread: Some(thread) })
    }

    /// Whether serving has ended: it was released and is unused, or something failed.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Admits no further guest; serving ends when the current one, if any, has left. Returns
    /// whether there is none.
    #[must_use]
    pub fn release(&self) -> bool {
        let mut entry = lock(&self.door.entry);
        entry.is_closed = true;
        entry.guest.is_none()
    }

    /// The guests that did not simply disconnect since the last call.
    #[must_use]
    pub fn departures(&self) -> Vec<Departure> {
        std::mem::take(&mut *lock(&self.door.departures))
    }

    /// Disconnects the guest and removes the socket. Returns the summary, and the error that ended
    /// serving before, if any.
    pub fn close(mut self) -> (Summary, Option<String>) {
        self.door.close();
        let error = match self.thread.take().map(JoinHandle::join) {
            Some(Ok(Err(error))) => Some(error),
            Some(Err(_)) => Some("the thread that waits for guests panicked".to_owned()),
            _ => None,
        };
        let counts = lock(&self.served.device).1;
        (Summary { counts, punctuality: self.served.answers.punctuality() }, error)
    }
}

impl Drop for VhostUserDisk {
    fn drop(&mut self) {
        self.door.close();
        // The thread removes the socket.
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Door {
    /// Admits a guest, unless it is closed. Returns whether it was admitted.
    fn enter(&self, guest: &Arc<Guest>) -> bool {
        let mut entry = lock(&self.entry);
        if !entry.is_closed {
            entry.guest = Some(Arc::clone(guest));
        }
        !entry.is_closed
    }

    fn is_closed(&self) -> bool {
        lock(&self.entry).is_closed
    }

    fn close(&self) {
        let mut entry = lock(&self.entry);
        entry.is_closed = true;
        if let Some(guest) = &entry.guest {
            guest.let_go();
        }
    }
}

/// Serves one guest after another until the door is closed.
fn receive(
    socket: &Socket,
    mut listener: Listener,
    served: &Arc<Served>,
    door: &Door,
) -> Result<(), String> {
    while !door.is_closed() {
        if !has_come(socket) {
            continue;
        }
        let guest = Arc::new(Guest::new(served).map_err(|error| error.to_string())?);
        if !door.enter(&guest) {
            break;
        }
        let ended = guest.attend(&mut listener);
        lock(&door.entry).guest = None;
        // A guest that aborts, or violates the protocol, is no reason to refuse the next. Repeated
        // failures are reported once.
        let mut departures = lock(&door.departures);
        departures.extend(ended?);
        departures.dedup();
    }
    Ok(())
}

/// Waits a step for a guest; the library's own wait could not be interrupted.
fn has_come(socket: &Socket) -> bool {
    let mut polled = [PollFd::from_borrowed_fd(socket.as_fd(), PollFlags::IN)];
    let step = Timespec::try_from(STEP).expect("it is short");
    poll(&mut polled, Some(&step)).is_ok_and(|ready| ready > 0)
}

//! Defines a disk served over vhost-user, which is a virtio disk in a virtual machine.
//!
//! Between guests the disk keeps its state, like one moved to another machine.

use std::fmt;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::backend::lock;
use crate::serve::ServeSummary;
use crate::serve::answers::AnswerQueue;
use crate::serve::clock::MonotonicClock;
use crate::serve::counts::RequestCounts;
use crate::serve::error::{Departure, ServeError};
use crate::serve::guest::{Guest, ServedDisk};
use crate::serve::listener::TemporarySocket;
use crate::socket::wait;
use crate::{AnyBackend, DiskShape, VirtioDevice};

/// The interval at which a stop is noticed between two guests.
const STEP: Duration = Duration::from_millis(50);

/// A disk served over vhost-user.
pub struct VhostUserDisk {
    path: PathBuf,
    disk: Arc<ServedDisk>,
    guests: Arc<Mutex<Guests>>,
    thread: Option<JoinHandle<Result<(), String>>>,
}

/// The guests, of which one at a time is served.
#[derive(Default)]
struct Guests {
    is_closed: bool,
    current: Option<Arc<Guest>>,
    departures: Vec<Departure>,
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
        shape: DiskShape,
        socket: &Path,
    ) -> Result<Self, ServeError> {
        let name = shape.id.clone();
        let device = VirtioDevice::new(backend, shape)?;
        let path = socket.to_owned();
        let clock = MonotonicClock::start();
        let answers = AnswerQueue::start(clock).map_err(ServeError::step("serve at", socket))?;
        let device = Mutex::new((device, RequestCounts::default()));
        let disk = Arc::new(ServedDisk { name, device, answers, clock });
        let guests = Arc::<Mutex<Guests>>::default();
        let listener = TemporarySocket::bind(socket)?;
        let thread = {
            let (disk, guests) = (Arc::clone(&disk), Arc::clone(&guests));
            thread::Builder::new()
                .name("guests".to_owned())
                .spawn(move || receive(&listener, &disk, &guests))
                .map_err(ServeError::step("serve at", &path))?
        };
        Ok(Self { path, disk, guests, thread: Some(thread) })
    }

    /// Whether serving has ended: it was released and is unused, or something failed.
    pub fn has_ended(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Admits no further guest; serving ends when the current one, if any, has left. Returns
    /// whether there is none.
    pub fn release(&self) -> bool {
        let mut guests = lock(&self.guests);
        guests.is_closed = true;
        guests.current.is_none()
    }

    /// The guests that did not simply disconnect since the last call.
    pub fn departures(&self) -> Vec<Departure> {
        std::mem::take(&mut lock(&self.guests).departures)
    }

    /// Disconnects the guest and removes the socket. Returns the summary, and the error that ended
    /// serving before, if any.
    pub fn close(mut self) -> (ServeSummary, Option<String>) {
        lock(&self.guests).close();
        let error = match self.thread.take().map(JoinHandle::join) {
            Some(Ok(Err(error))) => Some(error),
            Some(Err(_)) => Some("the thread that waits for guests panicked".to_owned()),
            _ => None,
        };
        let counts = lock(&self.disk.device).1;
        (ServeSummary { counts, punctuality: self.disk.answers.punctuality() }, error)
    }
}

impl Drop for VhostUserDisk {
    fn drop(&mut self) {
        lock(&self.guests).close();
        // The thread removes the socket.
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Guests {
    /// Admits a guest, unless they are closed. Returns whether it was admitted.
    fn admit(&mut self, guest: &Arc<Guest>) -> bool {
        if !self.is_closed {
            self.current = Some(Arc::clone(guest));
        }
        !self.is_closed
    }

    fn close(&mut self) {
        self.is_closed = true;
        if let Some(guest) = &self.current {
            guest.let_go();
        }
    }
}

/// Serves one guest after another until they are closed.
fn receive(
    listener: &TemporarySocket,
    disk: &Arc<ServedDisk>,
    guests: &Mutex<Guests>,
) -> Result<(), String> {
    let failed = |error: io::Error| error.to_string();
    while !lock(guests).is_closed {
        if wait(&[Some(listener.as_fd())], Some(STEP)).map_err(failed)?.is_none() {
            continue;
        }
        let stream = listener.accept().map_err(failed)?;
        let guest = Arc::new(Guest::new(disk, stream).map_err(failed)?);
        if !lock(guests).admit(&guest) {
            break;
        }
        let ended = guest.attend();
        let mut guests = lock(guests);
        guests.current = None;
        // A guest that aborts, or violates the protocol, is no reason to refuse the next. Repeated
        // failures are reported once.
        guests.departures.extend(ended?);
        guests.departures.dedup();
    }
    Ok(())
}

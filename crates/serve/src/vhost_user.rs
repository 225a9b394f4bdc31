//! Defines a disk that is served over vhost-user, which a virtual machine has as a virtio disk.
//!
//! The protocol is rust-vmm's, the requests are `ssdlab_disk`'s [`Device`]'s; here they meet in
//! real time. A guest may go and another come: the disk stays as it was, like one that is moved
//! to another machine.

use std::fmt;
use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use ssdlab_disk::{AnyBackend, Counts, Device, Features, Shape, Witness, answer};
use vhost::vhost_user::Listener;
use vhost::vhost_user::message::VhostUserProtocolFeatures;
use vhost_user_backend::{ShutdownHandle, VhostUserBackend, VhostUserDaemon, VringRwLock, VringT};
use virtio_queue::{QueueOwnedT, QueueT};
use vm_memory::{GuestAddressSpace, GuestMemoryAtomic, GuestMemoryMmap};
use vmm_sys_util::epoll::EventSet;
use vmm_sys_util::event::{
    EventConsumer, EventFlag, EventNotifier, new_event_consumer_and_notifier,
};

use crate::Summary;
use crate::answers::{Answers, lock};
use crate::clock::Clock;
use crate::error::ServeError;

/// What the ring and the transport can do, beside the device: indirect descriptors, event
/// indices, protocol features, and version 1 of virtio.
const RING_FEATURES: u64 = 1 << 28 | 1 << 29 | 1 << 30 | 1 << 32;

/// The most requests in the ring.
const SLOTS: u16 = 256;

/// How long a stop may take to be noticed between two guests.
const STEP: Duration = Duration::from_millis(50);

type Memory = GuestMemoryAtomic<GuestMemoryMmap>;

/// A disk that is served over vhost-user.
pub struct VhostUserDisk {
    socket: PathBuf,
    served: Arc<Served>,
    thread: Option<JoinHandle<Result<(), vhost_user_backend::Error>>>,
}

/// What ends the thread that waits for guests.
#[derive(Default)]
struct Door {
    is_closed: AtomicBool,
    guest: Mutex<Option<ShutdownHandle>>,
    /// The error that has closed it, if one has.
    fault: Mutex<Option<String>>,
}

impl Door {
    fn close(&self) {
        self.is_closed.store(true, Ordering::SeqCst);
        if let Some(guest) = &*lock(&self.guest) {
            guest.shutdown();
        }
    }
}

/// The disk as the protocol's library has it.
struct Served {
    device: Mutex<(Device<'static>, Counts)>,
    memory: Mutex<Option<Memory>>,
    door: Door,
    answers: Answers,
    clock: Clock,
    /// Requests of this guest that were taken and may still be in its ring.
    in_ring: Mutex<Arc<AtomicU16>>,
}

impl fmt::Debug for VhostUserDisk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VhostUserDisk").field("socket", &self.socket).finish_non_exhaustive()
    }
}

impl VhostUserDisk {
    /// Serves a backend to whoever connects to a socket, one guest after another.
    pub fn listen(
        backend: AnyBackend<'static>,
        shape: Shape,
        socket: &Path,
    ) -> Result<Self, ServeError> {
        let device = Device::new(backend, shape).map_err(|fault| ServeError::Shape {
            what: fault.what,
            expected: fault.expected,
            found: fault.found,
        })?;
        let clock = Clock::start();
        let answers = Answers::start(clock).map_err(ServeError::step("serve at", socket))?;
        let served = Arc::new(Served {
            device: Mutex::new((device, Counts::default())),
            memory: Mutex::default(),
            door: Door::default(),
            answers,
            clock,
            in_ring: Mutex::default(),
        });
        let listener = bind(socket)?;
        let thread = {
            let served = Arc::clone(&served);
            thread::Builder::new()
                .name("guests".to_owned())
                .spawn(move || receive(&listener, &served))
                .map_err(ServeError::step("serve at", socket))?
        };
        Ok(Self { socket: socket.to_owned(), served, thread: Some(thread) })
    }

    /// Whether it is served no more, because something failed.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Lets the guest go, takes the socket away, and tells what was asked. Returns the error that
    /// ended it before, if one did.
    pub fn close(mut self) -> (Summary, Option<String>) {
        self.served.door.close();
        let error = match self.thread.take().map(JoinHandle::join) {
            Some(Ok(Err(error))) => Some(error.to_string()),
            Some(Err(_)) => Some("the thread that waits for guests has panicked".to_owned()),
            _ => None,
        };
        let error = lock(&self.served.door.fault).take().or(error);
        let counts = lock(&self.served.device).1;
        (Summary { counts, punctuality: self.served.answers.punctuality() }, error)
    }
}

impl Drop for VhostUserDisk {
    fn drop(&mut self) {
        self.served.door.close();
        let _ = fs::remove_file(&self.socket);
    }
}

/// Makes the socket. One that a killed server has left is replaced.
fn bind(socket: &Path) -> Result<UnixListener, ServeError> {
    match fs::symlink_metadata(socket) {
        Ok(found) if !found.file_type().is_socket() => {
            return Err(ServeError::NotASocket(socket.to_owned()));
        }
        Ok(_) if UnixStream::connect(socket).is_ok() => {
            return Err(ServeError::InUse(socket.to_owned()));
        }
        Ok(_) => fs::remove_file(socket).map_err(ServeError::step("replace", socket))?,
        Err(_) => {}
    }
    UnixListener::bind(socket).map_err(ServeError::step("listen at", socket))
}

/// Serves one guest after another until the door is closed.
fn receive(listener: &UnixListener, served: &Arc<Served>) -> Result<(), vhost_user_backend::Error> {
    let door = &served.door;
    let failed = vhost_user_backend::Error::StartDaemon;
    let mut accepting = Listener::from(listener.try_clone().map_err(failed)?);
    loop {
        // The library's own waiting could not be ended.
        let mut polled = [PollFd::from_borrowed_fd(listener.as_fd(), PollFlags::IN)];
        let step = Timespec::try_from(STEP).expect("it is short");
        let has_come = poll(&mut polled, Some(&step)).is_ok_and(|ready| ready > 0);
        if door.is_closed.load(Ordering::SeqCst) {
            return Ok(());
        }
        if !has_come {
            continue;
        }
        // What the guest before has left unanswered fills no place in this one's ring.
        *lock(&served.in_ring) = Arc::default();
        let memory = Memory::new(GuestMemoryMmap::new());
        let mut daemon = VhostUserDaemon::new("guest".to_owned(), Arc::clone(served), memory)?;
        daemon.start(&mut accepting)?;
        *lock(&door.guest) = daemon.shutdown_handle();
        if door.is_closed.load(Ordering::SeqCst) {
            daemon.request_shutdown();
        }
        // A guest that breaks off, or breaks the protocol, is no reason to refuse the next.
        let _ = daemon.wait();
        *lock(&door.guest) = None;
        for handler in daemon.get_epoll_handlers() {
            handler.send_exit_event();
        }
    }
}

impl Served {
    /// Serves requests until none waits and the guest is to tell of the next, or the door is
    /// closed.
    fn serve_all(&self, ring: &VringRwLock) -> io::Result<()> {
        let is_open = || {
            let is_ready = ring.get_ref().get_queue().ready();
            is_ready && !self.door.is_closed.load(Ordering::SeqCst)
        };
        while is_open() {
            ring.disable_notification().map_err(io::Error::other)?;
            self.serve(ring)?;
            if !ring.enable_notification().map_err(io::Error::other)? {
                break;
            }
        }
        Ok(())
    }

    /// Serves every request that waits in the ring.
    fn serve(&self, ring: &VringRwLock) -> io::Result<()> {
        let Some(memory) = lock(&self.memory).as_ref().map(Memory::memory) else { return Ok(()) };
        let in_ring = Arc::clone(&lock(&self.in_ring));
        loop {
            // A guest may stop its ring at any time.
            let next = match ring.get_mut().get_queue_mut().iter(memory.clone()) {
                Ok(mut waiting) => waiting.next(),
                Err(virtio_queue::Error::QueueNotReady) => None,
                Err(error) => return Err(io::Error::other(error)),
            };
            let Some(chain) = next else { return Ok(()) };
            if in_ring.load(Ordering::SeqCst) >= SLOTS {
                return Err(io::Error::other("more requests wait than the ring has room for"));
            }
            self.answers.take();
            let request = {
                let mut device = lock(&self.device);
                let now = self.clock.now();
                // Nobody asks for the fingerprint of a run in real time.
                let request = device.0.serve(chain, now, &mut Witness::default());
                let request = request.inspect_err(|_| self.answers.give(now, || {}));
                let request = request.map_err(io::Error::other)?;
                device.1.request(&request);
                request
            };
            in_ring.fetch_add(1, Ordering::SeqCst);
            let (ring, memory, in_ring) = (ring.clone(), memory.clone(), Arc::clone(&in_ring));
            self.answers.give(request.done, move || {
                let answered =
                    request.answer.is_some_and(|(place, status)| answer(&*memory, place, status));
                let used_bytes = if answered { request.used_bytes } else { 0 };
                // Before the guest can know: it may fill the place at once.
                in_ring.fetch_sub(1, Ordering::SeqCst);
                // A ring that is broken by now has nobody who could be told.
                let is_there = ring.add_used(request.head, used_bytes).is_ok();
                if is_there && ring.needs_notification().unwrap_or(true) {
                    let _ = ring.signal_used_queue();
                }
            });
        }
    }
}

impl VhostUserBackend for Served {
    type Bitmap = ();
    type Vring = VringRwLock;

    fn num_queues(&self) -> usize {
        1
    }

    fn max_queue_size(&self) -> usize {
        SLOTS.into()
    }

    fn features(&self) -> u64 {
        lock(&self.device).0.features().bits() | RING_FEATURES
    }

    fn acked_features(&self, features: u64) {
        lock(&self.device).0.accept(Features::from_bits_truncate(features));
    }

    fn protocol_features(&self) -> VhostUserProtocolFeatures {
        VhostUserProtocolFeatures::CONFIG | VhostUserProtocolFeatures::REPLY_ACK
    }

    /// The ring does this.
    fn set_event_idx(&self, _: bool) {}

    fn get_config(&self, offset: u32, size: u32) -> Vec<u8> {
        // What the device does not define is 0.
        let mut config = lock(&self.device).0.config().to_vec();
        let (offset, size) = (offset as usize, size as usize);
        config.resize(config.len().max(offset.saturating_add(size).min(1 << 12)), 0);
        config.get(offset..offset + size).unwrap_or_default().to_vec()
    }

    fn set_config(&self, offset: u32, bytes: &[u8]) -> io::Result<()> {
        if lock(&self.device).0.configure(offset as usize, bytes) {
            Ok(())
        } else {
            Err(io::Error::from(io::ErrorKind::InvalidInput))
        }
    }

    fn update_memory(&self, memory: Memory) -> io::Result<()> {
        *lock(&self.memory) = Some(memory);
        Ok(())
    }

    fn exit_event(&self, _: usize) -> Option<(EventConsumer, EventNotifier)> {
        new_event_consumer_and_notifier(EventFlag::NONBLOCK | EventFlag::CLOEXEC).ok()
    }

    /// A ring that is stopped must not change any more.
    fn stop_vring(&self, _: u32) -> io::Result<()> {
        while self.answers.pending() > 0 {
            thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    /// The library would end its thread at an error and tell nobody, and the guest would wait for
    /// ever; so the error is kept, and the guest let go.
    fn handle_event(&self, _: u16, _: EventSet, rings: &[VringRwLock], _: usize) -> io::Result<()> {
        let Some(ring) = rings.first() else { return Ok(()) };
        if let Err(error) = self.serve_all(ring) {
            lock(&self.door.fault).get_or_insert(error.to_string());
            self.door.close();
        }
        Ok(())
    }
}

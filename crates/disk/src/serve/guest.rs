//! Defines a connected virtual machine: its memory, its ring, and its end.
//!
//! Its resources, above all its memory, are released when it leaves. The disk stays.

use std::io;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crate::{Device, Features, Served as Request, Witness, answer};
use vhost::vhost_user::message::VhostUserProtocolFeatures;
use vhost::vhost_user::{Error as MessageError, Listener};
use vhost_user_backend::{
    Error as DaemonError, ShutdownHandle, VhostUserBackend, VhostUserDaemon, VringRwLock, VringT,
};
use virtio_queue::{DescriptorChain, QueueOwnedT, QueueT};
use vm_memory::{
    GuestAddressSpace, GuestMemoryAtomic, GuestMemoryBackend, GuestMemoryMmap, GuestMemoryRegion,
    GuestRegionMmap,
};
use vmm_sys_util::epoll::EventSet;
use vmm_sys_util::eventfd::{EFD_CLOEXEC, EFD_NONBLOCK, EventFd};

use crate::serve::answers::{Answers, lock};
use crate::serve::clock::Clock;
use crate::serve::counts::Counts;
use crate::serve::error::Departure;
use crate::serve::shrunk::Watched;

/// The features of the ring and the transport: indirect descriptors, event indices, protocol
/// features, and version 1 of virtio.
const RING_FEATURES: u64 = 1 << 28 | 1 << 29 | 1 << 30 | 1 << 32;

/// The number of rings.
const RINGS: u16 = 1;

/// The maximum length of a ring (VIRTIO 1.2, 2.7); QEMU's have at most 1024 entries.
const LONGEST_RING: usize = 1 << 15;

/// The event that ends the thread serving the ring. The library reserves those up to the number of
/// rings.
const END: u16 = RINGS + 1;

type Memory = GuestMemoryAtomic<GuestMemoryMmap>;

/// A snapshot of the memory map.
type Mapped = <Memory as GuestAddressSpace>::T;

/// The disk, which outlives guests.
pub struct Served {
    pub device: Mutex<(Device<'static>, Counts)>,
    pub answers: Answers,
    pub clock: Clock,
}

/// A connected virtual machine.
pub struct Guest {
    served: Arc<Served>,
    memory: Mutex<Option<Memory>>,
    /// Its regions, and those of its memory before: requests may still be in that.
    watched: Mutex<[Vec<Watched>; 2]>,
    /// Accepted requests that may still be in its ring.
    in_ring: Arc<AtomicU16>,
    /// Ends the thread that serves its ring. The library's own event for that would leak.
    end: EventFd,
    connection: Mutex<Option<ShutdownHandle>>,
    is_let_go: AtomicBool,
    has_negotiated: AtomicBool,
    has_read_config: AtomicBool,
    fault: Mutex<Option<Fault>>,
}

/// Why a ring is no longer served.
enum Fault {
    /// Its contents are invalid.
    Ring(String),
    /// The backend failed, so no guest can be served.
    Backend(String),
}

impl Guest {
    /// A guest that is about to connect.
    pub fn new(served: &Arc<Served>) -> io::Result<Self> {
        Ok(Self {
            served: Arc::clone(served),
            memory: Mutex::default(),
            watched: Mutex::default(),
            in_ring: Arc::default(),
            end: EventFd::new(EFD_NONBLOCK | EFD_CLOEXEC)?,
            connection: Mutex::default(),
            is_let_go: AtomicBool::new(false),
            has_negotiated: AtomicBool::new(false),
            has_read_config: AtomicBool::new(false),
            fault: Mutex::default(),
        })
    }

    /// Serves the next guest that connects until it leaves or is disconnected. Returns what the
    /// user should know about that, or why no guest can be served any more.
    pub fn attend(self: &Arc<Self>, listener: &mut Listener) -> Result<Option<Departure>, String> {
        let ended = self.run(listener);
        match (lock(&self.fault).take(), ended) {
            (Some(Fault::Backend(fault)), _) => Err(fault),
            (Some(Fault::Ring(fault)), _) => Ok(Some(Departure::Disconnected(fault))),
            (None, Ok(())) => Ok(self.gone()),
            (None, Err(DaemonError::HandleRequest(error))) if has_just_gone(&error) => {
                Ok(self.gone())
            }
            (None, Err(DaemonError::HandleRequest(error))) => {
                Ok(Some(Departure::Disconnected(error.to_string())))
            }
            (None, Err(DaemonError::WaitDaemon(_))) => {
                let reason = "the thread that reads its messages panicked".to_owned();
                Ok(Some(Departure::Disconnected(reason)))
            }
            (None, Err(error)) => Err(error.to_string()),
        }
    }

    fn run(self: &Arc<Self>, listener: &mut Listener) -> Result<(), DaemonError> {
        let memory = Memory::new(GuestMemoryMmap::new());
        let mut daemon = VhostUserDaemon::new("guest".to_owned(), Arc::clone(self), memory)?;
        // Dropping the daemon waits for the thread that this ends first.
        let _before = LetGo(self);
        for handler in daemon.get_epoll_handlers() {
            handler
                .register_listener(self.end.as_raw_fd(), EventSet::IN, END.into())
                .map_err(DaemonError::StartDaemon)?;
        }
        daemon.start(listener)?;
        *lock(&self.connection) = daemon.shutdown_handle();
        if self.is_let_go.load(Ordering::SeqCst) {
            daemon.request_shutdown();
        }
        daemon.wait()
    }

    /// Disconnects it, now or as soon as it connects.
    pub fn let_go(&self) {
        self.is_let_go.store(true, Ordering::SeqCst);
        if let Some(connection) = &*lock(&self.connection) {
            connection.shutdown();
        }
        let _ = self.end.write(1);
    }

    /// QEMU configured with several queues leaves after learning that there is one.
    fn gone(&self) -> Option<Departure> {
        let has_negotiated = self.has_negotiated.load(Ordering::SeqCst);
        let has_read_config = self.has_read_config.load(Ordering::SeqCst);
        (has_negotiated && !has_read_config).then_some(Departure::Unused)
    }

    /// The library would silently end its thread on an error, and the guest would wait for ever; so
    /// the error is stored, and the guest disconnected.
    fn fail(&self, fault: Fault) {
        lock(&self.fault).get_or_insert(fault);
        self.let_go();
    }

    /// Serves requests until none waits and notifications are enabled, or it is disconnected.
    fn serve_all(&self, ring: &VringRwLock) -> Result<(), Fault> {
        let is_open = || {
            let is_ready = ring.get_ref().get_queue().ready();
            is_ready && !self.is_let_go.load(Ordering::SeqCst)
        };
        while is_open() {
            ring.disable_notification()?;
            let served = self.serve(ring);
            if lock(&self.watched).iter().flatten().any(Watched::has_shrunk) {
                return Err(Fault::Ring("its memory's file has become shorter".to_owned()));
            }
            served?;
            if !ring.enable_notification()? {
                break;
            }
        }
        Ok(())
    }

    /// Serves every waiting request.
    fn serve(&self, ring: &VringRwLock) -> Result<(), Fault> {
        let Some(memory) = lock(&self.memory).as_ref().map(Memory::memory) else { return Ok(()) };
        while !self.is_let_go.load(Ordering::SeqCst) {
            // A guest may stop its ring at any time.
            let chain = {
                let mut state = ring.get_mut();
                let slots = state.get_queue().size();
                let next = match state.get_queue_mut().iter(memory.clone()) {
                    Ok(mut waiting) => waiting.next(),
                    Err(virtio_queue::Error::QueueNotReady) => None,
                    Err(error) => return Err(error.into()),
                };
                let Some(chain) = next else { return Ok(()) };
                if self.in_ring.load(Ordering::SeqCst) >= slots {
                    let reason = "more requests are in flight than its ring has slots";
                    return Err(Fault::Ring(reason.to_owned()));
                }
                // While the ring cannot be stopped: stopping waits for accepted requests.
                self.served.answers.take();
                chain
            };
            let request = self.perform(chain)?;
            self.answer(ring, &memory, &request);
        }
        Ok(())
    }

    /// Performs an accepted request; [`Self::answer`] must follow.
    fn perform(&self, chain: DescriptorChain<Mapped>) -> Result<Request, Fault> {
        let Served { device, answers, clock } = &*self.served;
        let mut device = lock(device);
        let now = clock.now();
        // A run in real time has no use for a fingerprint.
        let request = device.0.serve(chain, now, &mut Witness::default());
        let request = request.inspect_err(|_| answers.give(now, || {}));
        let request = request.map_err(|error| Fault::Backend(error.to_string()))?;
        device.1.request(&request);
        Ok(request)
    }

    /// Returns a request to the guest when it is done.
    fn answer(&self, ring: &VringRwLock, memory: &Mapped, request: &Request) {
        self.in_ring.fetch_add(1, Ordering::SeqCst);
        let (ring, memory, in_ring) = (ring.clone(), memory.clone(), Arc::clone(&self.in_ring));
        let Request { head, done, used_bytes, answer: told, .. } = *request;
        self.served.answers.give(done, move || {
            let is_answered = told.is_some_and(|(place, status)| answer(&*memory, place, status));
            let used_bytes = if is_answered { used_bytes } else { 0 };
            // Before the guest is notified, as it may refill the slot immediately.
            in_ring.fetch_sub(1, Ordering::SeqCst);
            // If the ring is broken by now, there is nobody to notify.
            let is_there = ring.add_used(head, used_bytes).is_ok();
            if is_there && ring.needs_notification().unwrap_or(true) {
                let _ = ring.signal_used_queue();
            }
        });
    }
}

impl From<virtio_queue::Error> for Fault {
    fn from(error: virtio_queue::Error) -> Self {
        Self::Ring(error.to_string())
    }
}

/// Disconnects a guest when dropped.
struct LetGo<'a>(&'a Guest);

impl Drop for LetGo<'_> {
    fn drop(&mut self) {
        self.0.let_go();
    }
}

/// Whether an error only means that the other side is gone.
const fn has_just_gone(error: &MessageError) -> bool {
    matches!(
        error,
        MessageError::Disconnected
            | MessageError::PartialMessage
            | MessageError::SocketBroken(_)
            | MessageError::SocketError(_)
    )
}

/// Whether a file contains all of a region mapped from it. Access beyond its end would kill this
/// process (SIGBUS).
fn is_whole(region: &impl GuestMemoryRegion) -> bool {
    region.file_offset().is_some_and(|place| {
        let held_bytes = place.file().metadata().map_or(0, |file| file.len());
        place.start().checked_add(region.len()).is_some_and(|end| end <= held_bytes)
    })
}

impl VhostUserBackend for Guest {
    type Bitmap = ();
    type Vring = VringRwLock;

    fn num_queues(&self) -> usize {
        RINGS.into()
    }

    fn max_queue_size(&self) -> usize {
        LONGEST_RING
    }

    fn features(&self) -> u64 {
        self.has_negotiated.store(true, Ordering::SeqCst);
        lock(&self.served.device).0.features().bits() | RING_FEATURES
    }

    fn acked_features(&self, features: u64) {
        lock(&self.served.device).0.accept(Features::from_bits_truncate(features));
    }

    fn protocol_features(&self) -> VhostUserProtocolFeatures {
        VhostUserProtocolFeatures::CONFIG | VhostUserProtocolFeatures::REPLY_ACK
    }

    /// The ring handles this.
    fn set_event_idx(&self, _: bool) {}

    fn get_config(&self, offset: u32, size: u32) -> Vec<u8> {
        self.has_read_config.store(true, Ordering::SeqCst);
        // What the device does not define is 0.
        let mut config = lock(&self.served.device).0.config().to_vec();
        let (offset, size) = (offset as usize, size as usize);
        config.resize(config.len().max(offset.saturating_add(size).min(1 << 12)), 0);
        config.get(offset..offset.saturating_add(size)).unwrap_or_default().to_vec()
    }

    fn set_config(&self, offset: u32, bytes: &[u8]) -> io::Result<()> {
        if lock(&self.served.device).0.configure(offset as usize, bytes) {
            Ok(())
        } else {
            Err(io::Error::from(io::ErrorKind::InvalidInput))
        }
    }

    fn update_memory(&self, memory: Memory) -> io::Result<()> {
        if !memory.memory().iter().all(is_whole) {
            let nothing = GuestMemoryMmap::new();
            memory.lock().unwrap_or_else(PoisonError::into_inner).replace(nothing);
            return Err(io::Error::other("its memory extends beyond the end of its file"));
        }
        let watch = |region: &GuestRegionMmap| {
            Watched::new(region.as_ptr(), usize::try_from(region.len()).unwrap_or(usize::MAX))
        };
        let regions = memory.memory().iter().map(watch).collect::<io::Result<Vec<_>>>()?;
        let mut watched = lock(&self.watched);
        *watched = [regions, std::mem::take(&mut watched[0])];
        *lock(&self.memory) = Some(memory);
        Ok(())
    }

    /// A stopped ring must not change any more.
    fn stop_vring(&self, _: u32) -> io::Result<()> {
        while self.served.answers.pending() > 0 {
            thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    fn handle_event(
        &self,
        event: u16,
        _: EventSet,
        rings: &[VringRwLock],
        _: usize,
    ) -> io::Result<()> {
        if event == END {
            return Err(io::Error::other("the guest has gone"));
        }
        if let Some(Err(fault)) = rings.first().map(|ring| self.serve_all(ring)) {
            self.fail(fault);
        }
        Ok(())
    }
}

//! Defines one virtual machine while it is connected: its memory, its ring, and its end.
//!
//! All that it has brought, its memory above all, goes with it. What stays is the disk.

use std::io;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use ssdlab_disk::{Counts, Device, Features, Served as Request, Witness, answer};
use vhost::vhost_user::message::VhostUserProtocolFeatures;
use vhost::vhost_user::{Error as MessageError, Listener};
use vhost_user_backend::{
    Error as DaemonError, ShutdownHandle, VhostUserBackend, VhostUserDaemon, VringRwLock, VringT,
};
use virtio_queue::{DescriptorChain, QueueOwnedT, QueueT};
use vm_memory::{
    GuestAddressSpace, GuestMemoryAtomic, GuestMemoryBackend, GuestMemoryMmap, GuestMemoryRegion,
};
use vmm_sys_util::epoll::EventSet;
use vmm_sys_util::eventfd::{EFD_CLOEXEC, EFD_NONBLOCK, EventFd};

use crate::answers::{Answers, lock};
use crate::clock::Clock;
use crate::error::Departure;

/// What the ring and the transport can do, beside the device: indirect descriptors, event
/// indices, protocol features, and version 1 of virtio.
const RING_FEATURES: u64 = 1 << 28 | 1 << 29 | 1 << 30 | 1 << 32;

/// The rings that there are.
const RINGS: u16 = 1;

/// The longest ring there may be (VIRTIO 1.2, 2.7); QEMU's have at most 1024 entries.
const LONGEST_RING: usize = 1 << 15;

/// The event by which the thread that serves the ring ends. The library has those up to the
/// number of rings for itself.
const END: u16 = RINGS + 1;

type Memory = GuestMemoryAtomic<GuestMemoryMmap>;

/// Memory as it is at a time.
type Mapped = <Memory as GuestAddressSpace>::T;

/// The disk, which guests come and go on.
pub struct Served {
    pub device: Mutex<(Device<'static>, Counts)>,
    pub answers: Answers,
    pub clock: Clock,
}

/// A virtual machine that is connected.
pub struct Guest {
    served: Arc<Served>,
    memory: Mutex<Option<Memory>>,
    /// Requests that were taken and may still be in its ring.
    in_ring: Arc<AtomicU16>,
    /// Ends the thread that serves its ring. The library's own event for that is never closed.
    end: EventFd,
    connection: Mutex<Option<ShutdownHandle>>,
    is_let_go: AtomicBool,
    has_negotiated: AtomicBool,
    has_read_config: AtomicBool,
    fault: Mutex<Option<Fault>>,
}

/// Why a ring is not served any more.
enum Fault {
    /// What the guest has put into it makes no sense.
    Ring(String),
    /// The backend failed: nobody could be served.
    Backend(String),
}

impl Guest {
    /// A guest that is about to connect.
    pub fn new(served: &Arc<Served>) -> io::Result<Self> {
        Ok(Self {
            served: Arc::clone(served),
            memory: Mutex::default(),
            in_ring: Arc::default(),
            end: EventFd::new(EFD_NONBLOCK | EFD_CLOEXEC)?,
            connection: Mutex::default(),
            is_let_go: AtomicBool::new(false),
            has_negotiated: AtomicBool::new(false),
            has_read_config: AtomicBool::new(false),
            fault: Mutex::default(),
        })
    }

    /// Serves whoever connects next until they go or are let go. Returns what the user should
    /// know of that, or why nobody can be served any more.
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
                let reason = "the thread that reads its messages has panicked".to_owned();
                Ok(Some(Departure::Disconnected(reason)))
            }
            (None, Err(error)) => Err(error.to_string()),
        }
    }

    fn run(self: &Arc<Self>, listener: &mut Listener) -> Result<(), DaemonError> {
        let memory = Memory::new(GuestMemoryMmap::new());
        let mut daemon = VhostUserDaemon::new("guest".to_owned(), Arc::clone(self), memory)?;
        // To drop the daemon is to wait for the thread that this ends before.
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

    /// Disconnects it, now or as soon as it has connected.
    pub fn let_go(&self) {
        self.is_let_go.store(true, Ordering::SeqCst);
        if let Some(connection) = &*lock(&self.connection) {
            connection.shutdown();
        }
        let _ = self.end.write(1);
    }

    /// QEMU with more queues than one goes when it has heard that there is one.
    fn gone(&self) -> Option<Departure> {
        let has_negotiated = self.has_negotiated.load(Ordering::SeqCst);
        let has_read_config = self.has_read_config.load(Ordering::SeqCst);
        (has_negotiated && !has_read_config).then_some(Departure::Unused)
    }

    /// The library would end its thread at an error and tell nobody, and the guest would wait for
    /// ever; so the error is kept, and the guest let go.
    fn fail(&self, fault: Fault) {
        lock(&self.fault).get_or_insert(fault);
        self.let_go();
    }

    /// Serves requests until none waits and the guest is to tell of the next, or it is let go.
    fn serve_all(&self, ring: &VringRwLock) -> Result<(), Fault> {
        let is_open = || {
            let is_ready = ring.get_ref().get_queue().ready();
            is_ready && !self.is_let_go.load(Ordering::SeqCst)
        };
        while is_open() {
            ring.disable_notification()?;
            self.serve(ring)?;
            if !ring.enable_notification()? {
                break;
            }
        }
        Ok(())
    }

    /// Serves every request that waits in the ring.
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
                    let reason = "more requests wait than its ring has room for";
                    return Err(Fault::Ring(reason.to_owned()));
                }
                // While the ring cannot be stopped: whoever stops it waits for what was taken.
                self.served.answers.take();
                chain
            };
            let request = self.perform(chain)?;
            self.answer(ring, &memory, &request);
        }
        Ok(())
    }

    /// Does what a request that was taken asks for; [`Self::answer`] has to follow.
    fn perform(&self, chain: DescriptorChain<Mapped>) -> Result<Request, Fault> {
        let Served { device, answers, clock } = &*self.served;
        let mut device = lock(device);
        let now = clock.now();
        // Nobody asks for the fingerprint of a run in real time.
        let request = device.0.serve(chain, now, &mut Witness::default());
        let request = request.inspect_err(|_| answers.give(now, || {}));
        let request = request.map_err(|error| Fault::Backend(error.to_string()))?;
        device.1.request(&request);
        Ok(request)
    }

    /// Gives a request back to the guest when it is done.
    fn answer(&self, ring: &VringRwLock, memory: &Mapped, request: &Request) {
        self.in_ring.fetch_add(1, Ordering::SeqCst);
        let (ring, memory, in_ring) = (ring.clone(), memory.clone(), Arc::clone(&self.in_ring));
        let Request { head, done, used_bytes, answer: told, .. } = *request;
        self.served.answers.give(done, move || {
            let is_answered = told.is_some_and(|(place, status)| answer(&*memory, place, status));
            let used_bytes = if is_answered { used_bytes } else { 0 };
            // Before the guest can know: it may fill the place at once.
            in_ring.fetch_sub(1, Ordering::SeqCst);
            // A ring that is broken by now has nobody who could be told.
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

/// Lets a guest go when dropped.
struct LetGo<'a>(&'a Guest);

impl Drop for LetGo<'_> {
    fn drop(&mut self) {
        self.0.let_go();
    }
}

/// Whether an error says no more than that the other side is not there.
const fn has_just_gone(error: &MessageError) -> bool {
    matches!(
        error,
        MessageError::Disconnected
            | MessageError::PartialMessage
            | MessageError::SocketBroken(_)
            | MessageError::SocketError(_)
    )
}

/// Whether a file has all the bytes of a region that is mapped from it. To touch others would end
/// this process (SIGBUS).
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

    /// The ring does this.
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
            return Err(io::Error::other("its memory reaches beyond the end of the file it is in"));
        }
        *lock(&self.memory) = Some(memory);
        Ok(())
    }

    /// A ring that is stopped must not change any more.
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

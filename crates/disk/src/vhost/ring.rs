//! Defines the ring between a guest and a disk: requests taken from it, and returned to it.

use std::ops::Range;
use std::sync::atomic::Ordering;

use thiserror::Error;
use virtio_queue::{DescriptorChain, Error, Queue, QueueOwnedT, QueueT};
use vm_memory::{GuestAddress, GuestMemoryMmap};

use crate::device::{CompletedRequest, VirtioStatus, answer};

use super::memory::SharedMemory;

/// The maximum number of requests in a ring (VIRTIO 1.2, 2.7). User-Mode Linux has 256 or fewer,
/// QEMU 1024.
const SLOTS: u16 = 1 << 15;

/// A request that has not been returned to the guest.
#[derive(Debug)]
pub struct PendingRequest {
    head: u16,
    used_bytes: u32,
    answer: Option<(GuestAddress, VirtioStatus)>,
    /// The life of the ring that it belongs to.
    life: u64,
    /// Its numbers in the log.
    pub logged: Range<u64>,
}

/// The ring of a disk.
#[derive(Debug)]
pub struct Ring {
    queue: Queue,
    in_flight: u16,
    /// Whether requests were returned since the last notification.
    has_news: bool,
    /// How often it was disabled. Earlier requests can no longer be returned.
    life: u64,
}

/// Why a ring is unusable.
#[derive(Debug, Error)]
pub enum RingError {
    /// The guest has not waited for a free slot.
    #[error("more than its {0} requests are in flight")]
    Full(u16),
    /// Its contents are invalid.
    #[error(transparent)]
    Broken(#[from] Error),
}

/// The addresses of the parts of a ring.
#[derive(Debug, Clone, Copy)]
pub struct Addresses {
    pub descriptors: GuestAddress,
    pub used: GuestAddress,
    pub available: GuestAddress,
}

impl Default for Ring {
    fn default() -> Self {
        let queue = Queue::new(SLOTS).expect("the number of slots is a power of two");
        Self { queue, in_flight: 0, has_news: false, life: 0 }
    }
}

impl Ring {
    /// Sets the number of slots.
    pub fn resize(&mut self, slots: u32) -> Result<(), Error> {
        let slots = u16::try_from(slots).map_err(|_| Error::InvalidSize)?;
        self.queue.try_set_size(slots)
    }

    /// The index of the next request.
    pub fn next_index(&self) -> u16 {
        self.queue.next_avail()
    }

    /// Sets the index of the next request.
    pub fn start_at(&mut self, index: u16) {
        self.queue.set_next_avail(index);
    }

    /// Sets its addresses.
    pub fn place(&mut self, at: Addresses) -> Result<(), Error> {
        self.queue.try_set_desc_table_address(at.descriptors)?;
        self.queue.try_set_used_ring_address(at.used)?;
        self.queue.try_set_avail_ring_address(at.available)
    }

    /// Sets whether event indices suppress notifications.
    pub fn use_events(&mut self, does: bool) {
        self.queue.set_event_idx(does);
    }

    /// Starts it, after the requests that it says were returned. Returns whether all of it is in
    /// the guest's memory.
    pub fn enable(&mut self, memory: &GuestMemoryMmap) -> bool {
        self.queue.set_ready(true);
        let used = self.queue.used_idx(memory, Ordering::Acquire);
        let is_valid = self.queue.is_valid(memory);
        self.queue.set_ready(is_valid);
        self.queue.set_next_used(used.map_or(0, |index| index.0));
        is_valid
    }

    /// Stops it.
    pub fn disable(&mut self) {
        self.queue.set_ready(false);
        self.life += 1;
        self.in_flight = 0;
    }

    /// Whether it was started.
    pub fn is_enabled(&self) -> bool {
        self.queue.ready()
    }

    /// Takes the next waiting request; if none waits, enables notifications of the next.
    pub fn take(
        &mut self,
        memory: &SharedMemory,
    ) -> Result<Option<DescriptorChain<SharedMemory>>, RingError> {
        loop {
            let next = self.queue.iter(memory.clone())?.next();
            if next.is_some() && self.in_flight == self.queue.size() {
                return Err(RingError::Full(self.in_flight));
            }
            if next.is_some() || !self.queue.enable_notification(&**memory)? {
                return Ok(next);
            }
        }
    }

    /// Notes a request as in flight, unless its head is beyond the table: then it cannot be
    /// returned.
    pub fn accept(&mut self, served: &CompletedRequest) -> Option<PendingRequest> {
        let CompletedRequest { head, used_bytes, answer, .. } = *served;
        (head < self.queue.size()).then(|| {
            self.in_flight += 1;
            PendingRequest { head, used_bytes, answer, life: self.life, logged: 0..0 }
        })
    }

    /// Returns a request with its status.
    pub fn complete(
        &mut self,
        memory: &GuestMemoryMmap,
        pending: &PendingRequest,
    ) -> Result<(), Error> {
        if pending.life != self.life {
            return Ok(());
        }
        let answered = pending.answer.is_some_and(|(place, status)| answer(memory, place, status));
        let used_bytes = if answered { pending.used_bytes } else { 0 };
        self.in_flight -= 1;
        self.has_news = true;
        self.queue.add_used(memory, pending.head, used_bytes)
    }

    /// Whether the guest wants to be notified of requests returned since the last call.
    pub fn wants_call(&mut self, memory: &GuestMemoryMmap) -> Result<bool, Error> {
        let has_news = std::mem::take(&mut self.has_news);
        Ok(has_news && self.queue.ready() && self.queue.needs_notification(memory)?)
    }
}

//! Defines the ring between a guest and a device: requests taken from it, and returned to it.

use std::ops::Range;

use virtio_queue::{Error, Queue, QueueOwnedT, QueueT};
use vm_memory::{GuestAddress, GuestMemoryMmap};

use crate::backend::BackendError;
use crate::device::{Device, Served, Status, answer};
use crate::fingerprint::Witness;

use ssdlab_flash::Nanos;

/// The maximum number of requests in a ring. User-Mode Linux asks for 256 or fewer.
pub const SLOTS: u16 = 256;

/// A request that has not been returned to the guest.
#[derive(Debug)]
pub struct Pending {
    head: u16,
    used_bytes: u32,
    answer: Option<(GuestAddress, Status)>,
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
#[derive(Debug)]
pub enum RingFault {
    /// Its contents are invalid.
    Broken(String),
    /// The machine failed.
    Backend(BackendError),
}

impl From<Error> for RingFault {
    fn from(error: Error) -> Self {
        Self::Broken(error.to_string())
    }
}

/// The addresses of the parts of a ring.
#[derive(Debug, Clone, Copy)]
pub struct Addresses {
    pub descriptors: u64,
    pub used: u64,
    pub available: u64,
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

    /// Sets the index of the next request.
    pub fn start_at(&mut self, index: u16) {
        self.queue.set_next_avail(index);
        self.queue.set_next_used(index);
    }

    /// Sets its addresses.
    pub fn place(&mut self, at: Addresses) -> Result<(), Error> {
        self.queue.try_set_desc_table_address(GuestAddress(at.descriptors))?;
        self.queue.try_set_used_ring_address(GuestAddress(at.used))?;
        self.queue.try_set_avail_ring_address(GuestAddress(at.available))
    }

    /// Sets whether event indices suppress notifications.
    pub fn use_events(&mut self, does: bool) {
        self.queue.set_event_idx(does);
    }

    /// Starts it. Returns whether all of it is in the guest's memory.
    pub fn enable(&mut self, memory: &GuestMemoryMmap) -> bool {
        self.queue.set_ready(true);
        let is_valid = self.queue.is_valid(memory);
        self.queue.set_ready(is_valid);
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

    /// Serves every waiting request, and enables notifications of the next.
    pub fn serve(
        &mut self,
        memory: &GuestMemoryMmap,
        device: &mut Device<'_>,
        now: Nanos,
        witness: &mut Witness,
        mut each: impl FnMut(Served, Pending),
    ) -> Result<(), RingFault> {
        let (slots, life) = (self.queue.size(), self.life);
        loop {
            for chain in self.queue.iter(memory)? {
                if self.in_flight == slots {
                    let what = format!("more than its {slots} requests are in flight");
                    return Err(RingFault::Broken(what));
                }
                let served = device.serve(chain, now, witness).map_err(RingFault::Backend)?;
                // A head beyond the table cannot be returned.
                if served.head < slots {
                    self.in_flight += 1;
                    let pending = Pending {
                        head: served.head,
                        used_bytes: served.used_bytes,
                        answer: served.answer,
                        life,
                        logged: 0..0,
                    };
                    each(served, pending);
                }
            }
            if !self.queue.enable_notification(memory)? {
                return Ok(());
            }
        }
    }

    /// Returns a request with its status.
    pub fn complete(
        &mut self,
        memory: &GuestMemoryMmap,
        pending: &Pending,
    ) -> Result<(), RingFault> {
        if pending.life != self.life {
            return Ok(());
        }
        let answered = pending.answer.is_some_and(|(place, status)| answer(memory, place, status));
        let used_bytes = if answered { pending.used_bytes } else { 0 };
        self.in_flight -= 1;
        self.has_news = true;
        Ok(self.queue.add_used(memory, pending.head, used_bytes)?)
    }

    /// Whether the guest wants to be notified of requests returned since the last call.
    pub fn wants_call(&mut self, memory: &GuestMemoryMmap) -> Result<bool, RingFault> {
        let has_news = std::mem::take(&mut self.has_news);
        Ok(has_news && self.queue.ready() && self.queue.needs_notification(memory)?)
    }
}

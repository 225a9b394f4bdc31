//! The request path of a disk: the guest's memory is the input, with descriptors, ring and all.

#![no_main]

use libfuzzer_sys::fuzz_target;
use ssdlab_disk::{DiskShape, Memory, TraceHasher, VirtioDevice};
use ssdlab_flash::Nanos;
use virtio_queue::{Queue, QueueOwnedT, QueueT};
use vm_memory::{Bytes, GuestAddress, GuestMemoryMmap};

const MEMORY_BYTES: usize = 1 << 16;
const TABLE: u32 = 0;
const AVAILABLE: u32 = 0x100;
const USED: u32 = 0x200;

fuzz_target!(|bytes: &[u8]| {
    let memory = GuestMemoryMmap::<()>::from_ranges(&[(GuestAddress(0), MEMORY_BYTES)])
        .expect("the memory of a small guest");
    let _ = memory.write(bytes, GuestAddress(0));
    let mut queue = Queue::new(16).expect("16 is a power of two");
    // An input of zeros is a ring at rest, and address 0 is as good as any for the table.
    queue.set_desc_table_address(Some(TABLE), Some(0));
    queue.set_avail_ring_address(Some(AVAILABLE), Some(0));
    queue.set_used_ring_address(Some(USED), Some(0));
    queue.set_ready(true);
    let disk = Memory::new(1 << 20);
    let mut device =
        VirtioDevice::new(Box::new(disk), DiskShape::default()).expect("the default shape");
    let mut hasher = TraceHasher::default();
    let Ok(chains) = queue.iter(&memory) else { return };
    for chain in chains {
        device.serve(chain, Nanos::ZERO, &mut hasher).expect("memory does not fail");
    }
});

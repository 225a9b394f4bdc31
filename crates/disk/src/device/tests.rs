//! The device alone, with chains of every form.

use std::io;

use virtio_queue::{Queue, QueueT};
use vm_memory::GuestMemoryMmap;

use super::*;
use crate::backend::Memory;

const TABLE: u64 = 0x1000;
const AVAILABLE: u64 = 0x2000;
const USED: u64 = 0x3000;
const INDIRECT_TABLE: u64 = 0x4000;
const HEADER: u64 = 0x5000;
const STATUS: u64 = 0x6000;
const DATA: u64 = 0x1_0000;
const END: u64 = 0x4_0000;

const NEXT: u16 = 1;
const WRITE: u16 = 2;
const INDIRECT: u16 = 4;

/// A device with a disk of 1 MiB, and the memory of its guest.
struct Bench {
    memory: GuestMemoryMmap,
    device: VirtioDevice<'static>,
}

impl Bench {
    fn new() -> Self {
        Self::on(Memory::new(1 << 20))
    }

    fn on(backend: impl Backend + Send + 'static) -> Self {
        let end = usize::try_from(END).unwrap();
        let memory = GuestMemoryMmap::from_ranges(&[(GuestAddress(0), end)]).unwrap();
        let device = VirtioDevice::new(Box::new(backend), DiskShape::default()).unwrap();
        Self { memory, device }
    }

    fn put(&self, at: u64, bytes: &[u8]) {
        self.memory.write_slice(bytes, GuestAddress(at)).unwrap();
    }

    fn get(&self, at: u64, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        self.memory.read_slice(&mut bytes, GuestAddress(at)).unwrap();
        bytes
    }

    fn header(&self, number: u32, sector: u64) {
        self.put(HEADER, &number.to_le_bytes());
        self.put(HEADER + 8, &sector.to_le_bytes());
    }

    /// Writes a table of descriptors: address, length, flags. Each names the one after.
    fn table(&self, at: u64, descriptors: &[(u64, u32, u16)]) {
        for (index, (address, length, flags)) in (0_u16..).zip(descriptors) {
            let place = at + 16 * u64::from(index);
            self.put(place, &address.to_le_bytes());
            self.put(place + 8, &length.to_le_bytes());
            self.put(place + 12, &flags.to_le_bytes());
            self.put(place + 14, &(index + 1).to_le_bytes());
        }
    }

    /// Serves the chain that begins with the first of these descriptors.
    fn serve(&mut self, descriptors: &[(u64, u32, u16)]) -> CompletedRequest {
        self.try_serve(descriptors).unwrap()
    }

    fn try_serve(
        &mut self,
        descriptors: &[(u64, u32, u16)],
    ) -> Result<CompletedRequest, BackendError> {
        self.table(TABLE, descriptors);
        let mut queue = Queue::new(256).unwrap();
        queue.set_desc_table_address(Some(u32::try_from(TABLE).unwrap()), None);
        queue.set_avail_ring_address(Some(u32::try_from(AVAILABLE).unwrap()), None);
        queue.set_used_ring_address(Some(u32::try_from(USED).unwrap()), None);
        queue.set_ready(true);
        self.put(AVAILABLE, &[0, 0, 1, 0, 0, 0]);
        let chain = queue.pop_descriptor_chain(&self.memory).unwrap();
        self.device.serve(chain, Nanos(5), &mut TraceHasher::default())
    }
}

fn status(served: &CompletedRequest) -> Option<VirtioStatus> {
    served.answer.map(|(_, status)| status)
}

#[test]
fn a_request_may_be_cut_anywhere() {
    let mut bench = Bench::new();
    bench.header(1, 8);
    let data: Vec<u8> = (0..1024_u32).map(|at| (at % 251) as u8).collect();
    bench.put(DATA, &data);
    let served = bench.serve(&[
        (HEADER, 5, NEXT),
        (HEADER + 5, 11, NEXT),
        (DATA, 1, NEXT),
        (DATA + 1, 1000, NEXT),
        (DATA + 1001, 23, NEXT),
        (STATUS, 1, WRITE),
    ]);
    assert_eq!(served.answer, Some((GuestAddress(STATUS), VirtioStatus::Ok)));
    let extent = Extent { offset_bytes: 4096, length_bytes: 1024 };
    assert_eq!((served.commands, served.used_bytes), (vec![(RequestKind::Write, extent)], 1));

    // Header and data in one piece; the status is the last byte of the other.
    bench.header(0, 8);
    let served = bench.serve(&[(HEADER, 16, NEXT), (DATA + 0x1000, 1025, WRITE)]);
    assert_eq!(served.answer, Some((GuestAddress(DATA + 0x1400), VirtioStatus::Ok)));
    assert_eq!((bench.get(DATA + 0x1000, 1024), served.used_bytes), (data, 1025));
}

#[test]
fn a_table_of_its_own_serves_as_well() {
    let mut bench = Bench::new();
    bench.header(0, 0);
    bench.put(DATA, &[7; 512]);
    bench.table(
        INDIRECT_TABLE,
        &[(HEADER, 16, NEXT), (DATA, 512, NEXT | WRITE), (STATUS, 1, WRITE)],
    );
    let served = bench.serve(&[(INDIRECT_TABLE, 48, INDIRECT)]);
    assert_eq!((status(&served), bench.get(DATA, 512)), (Some(VirtioStatus::Ok), vec![0; 512]));
    // One that is no table, is empty, or lies beyond memory.
    for table in [(INDIRECT_TABLE, 47), (INDIRECT_TABLE, 0), (END, 48), (u64::MAX, 48)] {
        let served = bench.serve(&[(table.0, table.1, INDIRECT)]);
        assert_eq!((status(&served), served.used_bytes), (None, 0), "{table:?}");
    }
}

#[test]
fn chains_without_a_place_for_the_answer_are_not_answered() {
    let mut bench = Bench::new();
    bench.header(4, 0);
    let chains: [&[(u64, u32, u16)]; 6] = [
        &[(HEADER, 16, 0)],
        &[(HEADER, 16, NEXT), (STATUS, 0, WRITE)],
        &[(HEADER, 16, NEXT), (END, 1, WRITE)],
        &[(HEADER, 16, NEXT), (u64::MAX, 1, WRITE)],
        &[(HEADER, 16, NEXT), (u64::MAX, 2, WRITE)],
        // It continues to an empty descriptor.
        &[(HEADER, 16, NEXT), (STATUS, 1, WRITE | NEXT)],
    ];
    for chain in chains {
        assert_eq!(status(&bench.serve(chain)), None, "{chain:?}");
    }
    let long = vec![(HEADER, 1, NEXT); 200];
    assert_eq!(status(&bench.serve(&long)), None);
}

#[test]
fn chains_that_make_no_sense_are_answered_with_an_error_and_change_nothing() {
    let mut bench = Bench::new();
    bench.put(DATA, &[1; 512]);
    bench.header(1, 0);
    let ends = (STATUS, 1, WRITE);
    let chains: [&[(u64, u32, u16)]; 6] = [
        &[ends],
        &[(HEADER, 15, NEXT), ends],
        &[(HEADER, 16, NEXT), (DATA, 0, NEXT), (DATA, 512, NEXT), ends],
        &[(HEADER, 16, NEXT), (DATA, 8, NEXT | WRITE), (DATA, 512, NEXT), ends],
        &[(HEADER, 16, NEXT), (END - 256, 512, NEXT), ends],
        &[(END - 8, 16, NEXT), (DATA, 512, NEXT), ends],
    ];
    for chain in chains {
        let served = bench.serve(chain);
        assert_eq!(status(&served), Some(VirtioStatus::IoError), "{chain:?}");
        assert!(served.commands.is_empty() && served.done == Nanos(5));
    }
    // A read to where there is no memory is not done either.
    bench.header(0, 0);
    let served = bench.serve(&[(HEADER, 16, NEXT), (END - 256, 512, WRITE | NEXT), ends]);
    assert_eq!(status(&served), Some(VirtioStatus::IoError));
    let served = bench.serve(&[(HEADER, 16, NEXT), (DATA, 512, WRITE | NEXT), ends]);
    assert_eq!((status(&served), bench.get(DATA, 512)), (Some(VirtioStatus::Ok), vec![0; 512]));
}

#[test]
fn several_ranges_are_one_command_of_which_all_or_none_is_done() {
    let mut bench = Bench::new();
    bench.put(DATA, &[3; 4096]);
    bench.header(1, 0);
    bench.serve(&[(HEADER, 16, NEXT), (DATA, 4096, NEXT), (STATUS, 1, WRITE)]);
    let range = |sector: u64, sectors: u32| {
        [sector.to_le_bytes(), u64::from(sectors).to_le_bytes()].concat()
    };
    bench.header(11, 0);
    let discard = [(HEADER, 16, NEXT), (DATA, 48, NEXT), (STATUS, 1, WRITE)];
    bench.put(DATA, &[range(0, 1), range(2, 1), range(2047, 2)].concat());
    assert_eq!(status(&bench.serve(&discard)), Some(VirtioStatus::IoError));
    bench.put(DATA, &[range(0, 1), range(4, 0), range(2, 1)].concat());
    let served = bench.serve(&discard);
    assert_eq!((status(&served), served.commands.len()), (Some(VirtioStatus::Ok), 2));
    bench.header(0, 0);
    bench.serve(&[(HEADER, 16, NEXT), (DATA, 2048, WRITE | NEXT), (STATUS, 1, WRITE)]);
    let expected = [[0; 512], [3; 512], [0; 512], [3; 512]].concat();
    assert_eq!(bench.get(DATA, 2048), expected);
}

/// A backend that is worn out on a machine that fails, and slower at the start than at the end.
struct Failing;

impl Backend for Failing {
    fn capacity_bytes(&self) -> u64 {
        1 << 20
    }

    fn read(&mut self, _: Nanos, offset_bytes: u64, _: &mut [u8]) -> Result<Nanos, BackendError> {
        let cause = io::Error::from(io::ErrorKind::StorageFull);
        Err(BackendError::File { doing: "read", offset_bytes, length_bytes: 0, cause })
    }

    fn write(&mut self, _: Nanos, _: u64, _: &[u8]) -> Result<Nanos, BackendError> {
        Err(ssdlab_flash::Refusal::WornOut.into())
    }

    fn discard(&mut self, now: Nanos, extent: Extent) -> Result<Nanos, BackendError> {
        Ok(now + Nanos(100 - extent.offset_bytes / 512))
    }

    fn write_zeroes(&mut self, now: Nanos, _: Extent) -> Result<Nanos, BackendError> {
        Ok(now)
    }

    fn flush(&mut self, _: Nanos) -> Result<Nanos, BackendError> {
        // Earlier than it was asked.
        Ok(Nanos::ZERO)
    }
}

#[test]
fn a_guest_sees_a_drive_that_fails_but_not_a_machine_that_does() {
    let mut bench = Bench::on(Failing);
    bench.header(1, 0);
    let store = [(HEADER, 16, NEXT), (DATA, 512, NEXT), (STATUS, 1, WRITE)];
    assert_eq!(status(&bench.serve(&store)), Some(VirtioStatus::IoError));
    bench.header(4, 0);
    let flush = bench.serve(&[(HEADER, 16, NEXT), (STATUS, 1, WRITE)]);
    assert_eq!((status(&flush), flush.done), (Some(VirtioStatus::Ok), Nanos(5)));
    bench.header(0, 0);
    let read = [(HEADER, 16, NEXT), (DATA, 512, WRITE | NEXT), (STATUS, 1, WRITE)];
    assert!(bench.try_serve(&read).is_err());
}

#[test]
fn a_command_is_done_when_the_last_of_its_ranges_is() {
    let mut bench = Bench::on(Failing);
    bench.header(11, 0);
    let ranges = [[8_u64, 1], [2, 1], [9, 1]].map(|range| range.map(u64::to_le_bytes).concat());
    bench.put(DATA, &ranges.concat());
    let served = bench.serve(&[(HEADER, 16, NEXT), (DATA, 48, NEXT), (STATUS, 1, WRITE)]);
    assert_eq!((status(&served), served.done), (Some(VirtioStatus::Ok), Nanos(5 + 98)));
}

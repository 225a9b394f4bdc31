//! One body of tests that every backend passes, and every disk that a guest has.

use std::sync::{Arc, Mutex};

use ssdlab_disk::{Backend, BackendError, Flash, Memory, Shape, SparseFile};
use ssdlab_flash::{Extent, Nanos};

use crate::drive;
use crate::guest::{Setup, serve};

const SECTOR: u64 = 512;

/// What is written over and over; the disk has to be at least as long.
const PLAYGROUND_BYTES: usize = 1 << 20;

fn pattern(seed: u64, length: u64) -> Vec<u8> {
    (0..length)
        .map(|at| (at.wrapping_mul(31) ^ seed.wrapping_mul(97)).to_le_bytes()[0] | 1)
        .collect()
}

fn place(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap()
}

/// A disk under test, a clock that never goes backwards, and what the disk should hold.
struct Checked<'a> {
    disk: &'a mut dyn Backend,
    now: Nanos,
    shadow: Vec<u8>,
    times: Vec<Nanos>,
}

impl Checked<'_> {
    fn done(&mut self, done: Result<Nanos, BackendError>) {
        let done = done.unwrap();
        assert!(done >= self.now, "done before it was asked");
        self.times.push(done);
    }

    fn write(&mut self, offset: u64, data: &[u8]) {
        let done = self.disk.write(self.now, offset, data);
        self.done(done);
        self.shadow[place(offset)..][..data.len()].copy_from_slice(data);
    }

    fn clear(&mut self, offset: u64, length: u64, discards: bool) {
        let extent = Extent { offset_bytes: offset, length_bytes: length };
        let done = if discards {
            self.disk.discard(self.now, extent)
        } else {
            self.disk.write_zeroes(self.now, extent)
        };
        self.done(done);
        self.shadow[place(offset)..][..place(length)].fill(0);
    }

    fn check(&mut self, offset: u64, length: u64) {
        let mut data = vec![0xAA; place(length)];
        let done = self.disk.read(self.now, offset, &mut data);
        self.done(done);
        let expected = &self.shadow[place(offset)..][..place(length)];
        assert!(data == expected, "{length} bytes at {offset} are not what they should be");
    }

    fn flush(&mut self) {
        let done = self.disk.flush(self.now);
        self.done(done);
    }
}

/// The body. Returns when each command was done.
fn conforms(disk: &mut dyn Backend) -> Vec<Nanos> {
    let capacity = disk.capacity_bytes();
    assert!(capacity >= PLAYGROUND_BYTES as u64 && capacity.is_multiple_of(SECTOR));
    let mut disk =
        Checked { disk, now: Nanos::ZERO, shadow: vec![0; place(capacity)], times: Vec::new() };
    let whole = disk.shadow.len() as u64;

    // New disks are zeros, from the first byte to the last.
    disk.check(0, 8192);
    disk.check(whole - 4096, 4096);

    // What was written is there, also across pages and within one, and nothing beside it changes.
    disk.write(7 * SECTOR, &pattern(1, 33 * SECTOR));
    disk.write(whole - SECTOR, &pattern(2, SECTOR));
    disk.check(0, 64 * SECTOR);
    disk.check(whole - 4096, 4096);
    disk.write(9 * SECTOR, &pattern(3, SECTOR));
    disk.check(0, 64 * SECTOR);

    // Zeros after a discard and a write-zeroes, to the sector.
    disk.clear(10 * SECTOR, 17 * SECTOR, true);
    disk.check(0, 64 * SECTOR);
    disk.clear(30 * SECTOR, 3 * SECTOR, false);
    disk.check(0, 64 * SECTOR);
    disk.write(12 * SECTOR, &pattern(4, 2 * SECTOR));
    disk.check(0, 64 * SECTOR);
    disk.flush();
    disk.check(0, 64 * SECTOR);

    refuses_what_makes_no_sense(&mut disk);
    overlaps(&mut disk);
    disk.times
}

fn refuses_what_makes_no_sense(disk: &mut Checked<'_>) {
    let capacity = disk.disk.capacity_bytes();
    let wrong = [
        (1, SECTOR),
        (0, 100),
        (256, 256),
        (capacity, SECTOR),
        (capacity - SECTOR, 2 * SECTOR),
        (u64::MAX - 511, SECTOR),
        (1 << 63, SECTOR),
    ];
    let (now, inner) = (disk.now, &mut disk.disk);
    for (offset_bytes, length_bytes) in wrong {
        let extent = Extent { offset_bytes, length_bytes };
        let mut data = pattern(5, length_bytes);
        assert!(inner.write(now, offset_bytes, &data).is_err(), "write {extent:?}");
        assert!(inner.read(now, offset_bytes, &mut data).is_err(), "read {extent:?}");
        assert!(inner.discard(now, extent).is_err(), "discard {extent:?}");
        assert!(inner.write_zeroes(now, extent).is_err(), "write zeroes {extent:?}");
    }
    disk.check(0, 64 * SECTOR);
    disk.check(capacity - 4096, 4096);
}

/// Commands that overlap in place, and some in time, do what they would one by one.
fn overlaps(disk: &mut Checked<'_>) {
    let mut state: u64 = 42;
    let mut draw = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % below
    };
    let sectors = PLAYGROUND_BYTES as u64 / SECTOR;
    for round in 0..400 {
        let first = draw(sectors - 64);
        let (offset, length) = (first * SECTOR, (draw(63) + 1) * SECTOR);
        match draw(10) {
            0..5 => disk.write(offset, &pattern(round, length)),
            5 => disk.clear(offset, length, true),
            6 => disk.clear(offset, length, false),
            7 => disk.flush(),
            _ => disk.check(offset, length),
        }
        // Half of them come while the one before is still under way.
        if draw(2) == 0 {
            disk.now = disk.now.max(disk.times.last().copied().unwrap_or_default());
        }
    }
    disk.check(0, PLAYGROUND_BYTES as u64);
}

#[test]
fn memory_conforms() {
    let times = conforms(&mut Memory::new(2 << 20));
    assert!(times.iter().all(|time| *time == Nanos::ZERO));
}

#[test]
fn a_sparse_file_conforms() {
    let file = tempfile::tempfile().unwrap();
    file.set_len((2 << 20) + 100).unwrap();
    conforms(&mut SparseFile::new(file).unwrap());
}

#[test]
fn a_discarded_sparse_file_takes_no_room() {
    use std::os::unix::fs::MetadataExt;
    let file = tempfile::tempfile().unwrap();
    file.set_len(4 << 20).unwrap();
    let mut disk = SparseFile::new(file.try_clone().unwrap()).unwrap();
    disk.write(Nanos::ZERO, 0, &pattern(1, 4 << 20)).unwrap();
    disk.flush(Nanos::ZERO).unwrap();
    let before = file.metadata().unwrap().blocks();
    disk.discard(Nanos::ZERO, Extent { offset_bytes: 0, length_bytes: 4 << 20 }).unwrap();
    disk.flush(Nanos::ZERO).unwrap();
    let after = file.metadata().unwrap().blocks();
    assert!(after < before / 8, "{before} blocks before, {after} after");
}

#[test]
fn a_simulated_drive_conforms_and_takes_the_same_time_every_time() {
    let [first, second] = [0, 1].map(|_| conforms(&mut Flash::new(drive())));
    assert!(first == second);
    assert!(first.last() > Some(&Nanos(1_000_000)));
}

#[test]
fn borrowed_and_shared_backends_conform() {
    let mut memory = Memory::new(1 << 20);
    conforms(&mut &mut memory);
    assert!(memory.held_bytes() > 0);
    conforms(&mut Arc::new(Mutex::new(Memory::new(1 << 20))));
}

#[test]
fn a_disk_of_a_guest_conforms_in_virtual_time() {
    let (outcome, times) =
        serve(vec![Setup::new(Flash::new(drive()), Shape::default())], conforms_for_guest);
    let (again, _) =
        serve(vec![Setup::new(Flash::new(drive()), Shape::default())], conforms_for_guest);
    assert_eq!(outcome, again);
    assert!(times.last() > Some(&Nanos(1_000_000)));
}

fn conforms_for_guest(guest: &mut crate::guest::Guest) -> Vec<Nanos> {
    conforms(&mut guest.disk(0))
}

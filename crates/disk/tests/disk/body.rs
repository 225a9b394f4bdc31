//! The body of tests that every backend passes, and every disk that a guest or the kernel has.

use ssdlab_disk::{Backend, BackendError};
use ssdlab_flash::{Extent, Nanos};

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
pub fn conforms(disk: &mut dyn Backend) -> Vec<Nanos> {
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

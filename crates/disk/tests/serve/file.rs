//! The disk as a file: what is written is there, answers take their time, and an end is one.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;
use ssdlab_disk::serve::{FuseDisk, FuseState};
use ssdlab_disk::{Backend, BackendError, DiskShape, Flash, Memory};
use ssdlab_flash::{Extent, Nanos};

use crate::body::conforms;
use crate::{BOUND, Case, drive, wait_for};

pub const CASES: &[Case] = &[
    ("a_file_conforms_in_real_time", true, conformance),
    ("no_answer_comes_before_the_drive_says", true, latency),
    ("answers_overlap_as_the_drive_lets_them", true, overlap),
    ("a_file_in_use_is_not_unmounted", true, in_use),
    ("a_disk_that_answers_no_more_is_ended", true, stuck),
    ("a_hole_is_refused_where_the_drive_takes_no_discards", true, no_discards),
    ("only_an_empty_folder_is_mounted_on", true, not_empty),
];

/// Far beyond what a busy machine needs.
const ANSWER_TIMEOUT: Duration = Duration::from_mins(10);

const HOUR: Nanos = Nanos(3_600_000_000_000);

/// A disk in a folder of its own.
struct Mounted {
    disk: FuseDisk,
    file: File,
    folder: tempfile::TempDir,
}

impl Mounted {
    fn new(backend: impl Backend + Send + 'static, timeout: Duration) -> Self {
        Self::shaped(backend, &DiskShape::default(), timeout)
    }

    fn shaped(
        backend: impl Backend + Send + 'static,
        shape: &DiskShape,
        timeout: Duration,
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let disk =
            FuseDisk::mount(Box::new(backend), shape, folder.path(), "ssdlab-x", timeout).unwrap();
        let file = OpenOptions::new().read(true).write(true).open(disk.file()).unwrap();
        Self { disk, file, folder }
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = self.disk.abandon();
    }
}

/// The kernel cuts what names more than 256 pages of memory, within a sector where they begin
/// within one; so the body's transfers are cut here.
const LONGEST_BYTES: usize = 1 << 19;

/// The file as a backend.
struct Through<'a> {
    file: &'a File,
    begun: Instant,
}

impl Through<'_> {
    fn done(&self, done: io::Result<()>) -> Result<Nanos, BackendError> {
        let now = Nanos(self.begun.elapsed().as_nanos().try_into().unwrap());
        let fault =
            |cause| BackendError::File { doing: "use", offset_bytes: 0, length_bytes: 0, cause };
        done.map(|()| now).map_err(fault)
    }

    fn allocate(&self, flags: FallocateFlags, extent: Extent) -> Result<Nanos, BackendError> {
        let Extent { offset_bytes, length_bytes } = extent;
        let flags = flags | FallocateFlags::KEEP_SIZE;
        self.done(Ok(fallocate(self.file, flags, offset_bytes, length_bytes).map_err(|errno| {
            BackendError::File { doing: "clear", offset_bytes, length_bytes, cause: errno.into() }
        })?))
    }
}

impl Backend for Through<'_> {
    fn capacity_bytes(&self) -> u64 {
        self.file.metadata().unwrap().len()
    }

    fn read(&mut self, _: Nanos, at: u64, into: &mut [u8]) -> Result<Nanos, BackendError> {
        let mut pieces = into.chunks_mut(LONGEST_BYTES).zip((at..).step_by(LONGEST_BYTES));
        self.done(pieces.try_for_each(|(piece, at)| self.file.read_exact_at(piece, at)))
    }

    fn write(&mut self, _: Nanos, at: u64, from: &[u8]) -> Result<Nanos, BackendError> {
        self.done(self.file.write_all_at(from, at))
    }

    fn discard(&mut self, _: Nanos, extent: Extent) -> Result<Nanos, BackendError> {
        self.allocate(FallocateFlags::PUNCH_HOLE, extent)
    }

    fn write_zeroes(&mut self, _: Nanos, extent: Extent) -> Result<Nanos, BackendError> {
        self.allocate(FallocateFlags::ZERO_RANGE, extent)
    }

    fn flush(&mut self, _: Nanos) -> Result<Nanos, BackendError> {
        self.done(self.file.sync_all())
    }
}

fn conformance() {
    let mounted = Mounted::new(Flash::new(drive()), ANSWER_TIMEOUT);
    conforms(&mut Through { file: &mounted.file, begun: Instant::now() });
    let counts = mounted.disk.summary().counts;
    assert!(counts.discards > 10 && counts.write_zeroes > 10 && counts.flushes > 10, "{counts:?}");
}

fn latency() {
    let mounted = Mounted::new(Flash::new(drive()), ANSWER_TIMEOUT);
    mounted.file.write_all_at(&[1; 4096], 0).unwrap();
    let mut page = [0; 4096];
    for _ in 0..50 {
        let begun = Instant::now();
        mounted.file.read_exact_at(&mut page, 0).unwrap();
        let took = begun.elapsed();
        assert!(took >= Duration::from_micros(350), "{took:?}");
    }
    assert_eq!(page, [1; 4096]);
    assert_eq!(mounted.disk.summary().punctuality.answers, 51);
}

/// A disk of any width: a read at an offset takes so long, however many there are. A write that
/// waits for something takes for ever.
pub struct Odd<F> {
    memory: Memory,
    read_takes: F,
    write_waits_for: Option<mpsc::Receiver<()>>,
}

impl<F> Odd<F> {
    pub fn new(read_takes: F, write_waits_for: Option<mpsc::Receiver<()>>) -> Self {
        Self { memory: Memory::new(1 << 20), read_takes, write_waits_for }
    }
}

impl<F: FnMut(u64) -> Nanos> Backend for Odd<F> {
    fn capacity_bytes(&self) -> u64 {
        self.memory.capacity_bytes()
    }

    fn read(&mut self, now: Nanos, at: u64, into: &mut [u8]) -> Result<Nanos, BackendError> {
        Ok(self.memory.read(now, at, into)? + (self.read_takes)(at))
    }

    fn write(&mut self, now: Nanos, at: u64, from: &[u8]) -> Result<Nanos, BackendError> {
        let _ = self.write_waits_for.as_ref().map(mpsc::Receiver::recv);
        self.memory.write(now, at, from)
    }

    fn discard(&mut self, now: Nanos, extent: Extent) -> Result<Nanos, BackendError> {
        self.memory.discard(now, extent)
    }

    fn write_zeroes(&mut self, now: Nanos, extent: Extent) -> Result<Nanos, BackendError> {
        self.memory.write_zeroes(now, extent)
    }

    fn flush(&mut self, now: Nanos) -> Result<Nanos, BackendError> {
        self.memory.flush(now)
    }
}

/// More reads than there are threads to take them wait for an hour; another is answered at once.
fn overlap() {
    const WAITING: u64 = 20;
    const FIRST: u64 = 0;
    let (say, hear) = mpsc::channel();
    let read_takes = move |at| {
        if at == FIRST {
            return Nanos::ZERO;
        }
        say.send(at).unwrap();
        HOUR
    };
    let mounted = Mounted::new(Odd::new(read_takes, None), ANSWER_TIMEOUT);
    thread::scope(|scope| {
        for page in 1..=WAITING {
            let file = &mounted.file;
            scope.spawn(move || {
                let ended = file.read_exact_at(&mut [0; 4096], page * 4096);
                assert!(ended.is_err(), "nobody waits for an hour");
            });
        }
        let mut asked: Vec<u64> = (0..WAITING).map(|_| hear.recv_timeout(BOUND).unwrap()).collect();
        asked.sort_unstable();
        assert!(asked.into_iter().eq((1..=WAITING).map(|page| page * 4096)));
        mounted.file.read_exact_at(&mut [0; 4096], FIRST).unwrap();
        mounted.disk.abandon().unwrap();
    });
}

fn in_use() {
    let mounted = Mounted::new(Memory::new(1 << 20), ANSWER_TIMEOUT);
    assert!(!mounted.disk.unmount().unwrap());
    assert_eq!(mounted.disk.state(), FuseState::Serving);
    mounted.file.write_all_at(&[1; 512], 512).unwrap();
    mounted.disk.abandon().unwrap();
    assert!(mounted.file.write_all_at(&[1; 512], 512).is_err());
    wait_for("it ends", || mounted.disk.state() != FuseState::Serving);
    assert!(!mounted.disk.file().exists());
}

fn stuck() {
    let (_never, wait) = mpsc::channel();
    let timeout = Duration::from_secs(2);
    let mounted = Mounted::new(Odd::new(|_| Nanos::ZERO, Some(wait)), timeout);
    mounted.file.read_exact_at(&mut [0; 512], 0).unwrap();
    assert_eq!(mounted.disk.state(), FuseState::Serving);
    let (say, hear) = mpsc::channel();
    let file = mounted.file.try_clone().unwrap();
    thread::spawn(move || say.send(file.write_all_at(&[1; 512], 0).is_err()));
    assert_eq!(hear.recv_timeout(BOUND), Ok(true), "who waits gets an error");
    wait_for("it is said", || mounted.disk.state() == FuseState::Stuck);
    assert!(!mounted.disk.file().exists());
}

fn no_discards() {
    let shape = DiskShape { discards: false, ..DiskShape::default() };
    let mounted = Mounted::shaped(Memory::new(1 << 20), &shape, ANSWER_TIMEOUT);
    mounted.file.write_all_at(&[1; 8192], 0).unwrap();
    let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    assert_eq!(fallocate(&mounted.file, hole, 0, 4096), Err(Errno::OPNOTSUPP));
    fallocate(&mounted.file, FallocateFlags::ZERO_RANGE, 4096, 4096).unwrap();
    let mut found = [9; 8192];
    mounted.file.read_exact_at(&mut found, 0).unwrap();
    assert_eq!((&found[..4096], &found[4096..]), (&[1; 4096][..], &[0; 4096][..]));
    assert_eq!(mounted.disk.summary().counts.discards, 0);
}

fn not_empty() {
    let folder = tempfile::tempdir().unwrap();
    let theirs = folder.path().join("theirs");
    std::fs::write(&theirs, "data").unwrap();
    let refusal = |folder| {
        let (backend, shape) = (Box::new(Memory::new(1 << 20)), DiskShape::default());
        let disk = FuseDisk::mount(backend, &shape, folder, "ssdlab-x", ANSWER_TIMEOUT);
        disk.unwrap_err().to_string()
    };
    assert!(refusal(folder.path()).contains("not an empty directory"));
    assert!(theirs.exists());
    let mounted = Mounted::new(Memory::new(1 << 20), ANSWER_TIMEOUT);
    assert!(refusal(mounted.folder.path()).contains("something is mounted on"));
    assert_eq!(mounted.disk.state(), FuseState::Serving);
}

//! The disk of a virtual machine in real time: a guest that is none.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, eventfd};
use rustix::fs::ftruncate;
use ssdlab_disk::serve::{Departure, ServeError, VhostUserDisk};
use ssdlab_disk::{Backend, BackendError, DiskShape, Flash, Memory};
use ssdlab_flash::{Extent, Nanos};

use crate::body::conforms;
use crate::driver::{BUFFERS, Driven, Driver, Request, Ring, SLOTS};
use crate::file::Odd;
use crate::frontend::{Frontend, config, words};
use crate::{BOUND, Case, drive, wait_for};

pub const CASES: &[Case] = &[
    ("a_virtual_machines_disk_conforms_in_real_time", false, conformance),
    ("a_virtual_machine_waits_as_long_as_the_drive_says", false, latency),
    ("a_virtual_machine_may_switch_the_write_cache", false, switched),
    ("a_full_ring_may_be_filled_again_at_once", false, full),
    ("what_fails_under_a_virtual_machine_is_told_and_lets_it_go", false, failing),
    ("a_ring_that_makes_no_sense_is_told_and_lets_its_guest_go", false, senseless),
    ("memory_beyond_the_end_of_its_file_is_refused", false, short_memory),
    ("a_virtual_machine_that_shortens_its_memory_only_loses_the_disk", false, shortened_memory),
    ("a_virtual_machine_that_refuses_the_disk_is_told_of", false, unused),
    ("a_ring_may_be_as_long_as_any_of_qemus", false, long_ring),
    ("one_virtual_machine_comes_after_another", false, again),
    ("nothing_of_a_virtual_machine_stays_when_it_has_gone", false, gone),
    ("a_released_disk_is_served_until_its_virtual_machine_goes", false, released),
    ("a_socket_that_a_killed_server_left_is_replaced_and_nothing_else", false, sockets),
];

/// A disk at a socket in a folder of its own.
struct Listening {
    disk: VhostUserDisk,
    socket: PathBuf,
    _folder: tempfile::TempDir,
}

impl Listening {
    fn new(backend: impl Backend + Send + 'static) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("socket");
        let shape = DiskShape::of(drive().specification());
        let disk = VhostUserDisk::listen(Box::new(backend), shape, &socket).unwrap();
        Self { disk, socket, _folder: folder }
    }
}

/// A machine with one disk.
struct Machine {
    frontend: Frontend,
    ring: Ring,
    kick: OwnedFd,
    call: OwnedFd,
    capacity_bytes: u64,
    begun: Instant,
}

impl Machine {
    /// Takes the disk into use, in the order in which QEMU does.
    fn new(listening: &Listening) -> Self {
        Self::with(listening, Ring::new())
    }

    fn with(listening: &Listening, ring: Ring) -> Self {
        let frontend = connect(listening);
        let [kick, call] = [0, 1].map(|_| eventfd(0, EventfdFlags::NONBLOCK).unwrap());
        let events = [&kick, &call].map(|event| event.try_clone().unwrap());
        let capacity_bytes = frontend.take_up(&ring, Some(events));
        Self { frontend, ring, kick, call, capacity_bytes, begun: Instant::now() }
    }

    fn kick(&self) {
        rustix::io::write(&self.kick, &1_u64.to_ne_bytes()).unwrap();
    }

    /// Whether the disk has let it go, so that it need not wait.
    fn is_let_go(&self) -> bool {
        self.frontend.answer(1).is_err()
    }
}

fn connect(listening: &Listening) -> Frontend {
    Frontend(UnixStream::connect(&listening.socket).unwrap())
}

impl Driver for Machine {
    fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    fn perform(&mut self, _: Nanos, request: &Request<'_>, room: &mut [u8]) -> (u8, Nanos) {
        let slot = self.ring.submit(request, room.len());
        self.kick();
        let submitted = Instant::now();
        while self.ring.next_used().is_none() {
            // It is to be told; looking without that would hide a call that is missing.
            while rustix::io::read(&self.call, &mut [0; 8]).is_err() {
                assert!(submitted.elapsed() < BOUND, "the disk never answers");
                std::thread::sleep(Duration::from_micros(20));
            }
        }
        let now = Nanos(self.begun.elapsed().as_nanos().try_into().unwrap());
        (self.ring.result(slot, request, room), now)
    }
}

fn conformance() {
    let listening = Listening::new(Flash::new(drive()));
    conforms(&mut Driven(Machine::new(&listening)));
    let (summary, error) = listening.disk.close();
    assert_eq!(error, None);
    assert!(!listening.socket.exists());
    let counts = summary.counts;
    assert!(counts.discards > 10 && counts.write_zeroes > 10 && counts.flushes > 10, "{counts:?}");
    assert_eq!(counts.unanswered, 0);
}

fn latency() {
    let listening = Listening::new(Flash::new(drive()));
    let mut machine = Machine::new(&listening);
    let mut page = vec![0; 4096];
    let write = Request { number: 1, sector: 0, data: &[1; 4096] };
    assert_eq!(machine.perform(Nanos::ZERO, &write, &mut []).0, 0);
    for _ in 0..50 {
        let begun = Instant::now();
        let read = Request { number: 0, sector: 0, data: &[] };
        assert_eq!(machine.perform(Nanos::ZERO, &read, &mut page).0, 0);
        assert!(begun.elapsed() >= Duration::from_micros(350), "{:?}", begun.elapsed());
    }
    assert_eq!(page, [1; 4096]);
}

fn switched() {
    let listening = Listening::new(Flash::new(drive()));
    let mut machine = Machine::new(&listening);
    let write = Request { number: 1, sector: 0, data: &[1; 4096] };
    for byte in [0, 1] {
        machine.frontend.tell(25, &config(32, &[byte]), &[]);
        assert_eq!(machine.frontend.ask(24, false, &config(32, &[9])), config(32, &[byte]));
        assert_eq!(machine.perform(Nanos::ZERO, &write, &mut []).0, 0);
    }
}

/// As many requests as the ring has places, each by an indirect table, and each place filled again
/// as soon as it is free.
fn full() {
    const PLACES: u16 = 256;
    const READS: u32 = 20_000;
    let listening = Listening::new(Odd::new(|_| Nanos(200_000), None));
    let mut machine = Machine::with(&listening, Ring::with(PLACES));
    for place in 0..PLACES {
        let table = BUFFERS + u64::from(place) * 1024;
        let (header, status, data) = (table + 64, table + 80, table + 512);
        for (entry, (address, length, flags)) in
            [(header, 16_u32, 1_u16), (data, 512, 3), (status, 1, 2)].into_iter().enumerate()
        {
            let mut descriptor = address.to_le_bytes().to_vec();
            descriptor.extend(length.to_le_bytes());
            descriptor.extend(flags.to_le_bytes());
            descriptor.extend(u16::try_from(entry + 1).unwrap().to_le_bytes());
            machine.ring.write(&descriptor, table + 16 * u64::try_from(entry).unwrap());
        }
        machine.ring.write(&[0; 16], header);
        machine.ring.describe(place, table, 48, 4, 0);
        machine.ring.offer(place);
    }
    machine.kick();
    let (begun, mut answered) = (Instant::now(), 0);
    while answered < READS {
        let Some((head, used_bytes)) = machine.ring.next_used() else {
            assert!(begun.elapsed() < BOUND, "{answered} were answered");
            std::thread::yield_now();
            continue;
        };
        assert_eq!(used_bytes, 513);
        answered += 1;
        machine.ring.offer(head.try_into().unwrap());
        machine.kick();
    }
    assert!(!listening.disk.has_ended());
    drop(machine);
    let (summary, error) = listening.disk.close();
    assert_eq!(error, None);
    assert!(summary.counts.reads >= READS.into(), "{summary:?}");
}

/// A disk on a machine that fails at every write.
struct Unwritable(Memory);

impl Backend for Unwritable {
    fn capacity_bytes(&self) -> u64 {
        self.0.capacity_bytes()
    }

    fn read(&mut self, now: Nanos, at: u64, into: &mut [u8]) -> Result<Nanos, BackendError> {
        self.0.read(now, at, into)
    }

    fn write(&mut self, _: Nanos, at: u64, from: &[u8]) -> Result<Nanos, BackendError> {
        let cause = io::ErrorKind::StorageFull.into();
        let length_bytes = from.len() as u64;
        Err(BackendError::File { doing: "write", offset_bytes: at, length_bytes, cause })
    }

    fn discard(&mut self, now: Nanos, extent: Extent) -> Result<Nanos, BackendError> {
        self.0.discard(now, extent)
    }

    fn flush(&mut self, now: Nanos) -> Result<Nanos, BackendError> {
        self.0.flush(now)
    }
}

fn failing() {
    let listening = Listening::new(Unwritable(Memory::new(1 << 20)));
    let mut machine = Machine::new(&listening);
    machine.ring.submit(&Request { number: 1, sector: 0, data: &[1; 512] }, 0);
    machine.kick();
    wait_for("it says that it has failed", || listening.disk.has_ended());
    assert!(machine.is_let_go());
    let error = listening.disk.close().1.unwrap();
    assert!(error.contains("cannot write"), "{error}");
}

/// The one departure that is told of, sooner or later.
fn departure(listening: &Listening) -> Departure {
    let begun = Instant::now();
    loop {
        if let [departure] = &listening.disk.departures()[..] {
            return departure.clone();
        }
        assert!(begun.elapsed() < BOUND, "it is not told of");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Asserts that a disk is served to whoever comes next, with the contents of its first sector.
fn is_served(listening: &Listening, contents: &[u8; 512]) {
    let (mut found, read) = ([9; 512], Request { number: 0, sector: 0, data: &[] });
    assert_eq!(Machine::new(listening).perform(Nanos::ZERO, &read, &mut found).0, 0);
    assert_eq!(&found, contents);
}

fn senseless() {
    let listening = Listening::new(Memory::new(1 << 20));
    let mut machine = Machine::new(&listening);
    // More requests than it has places.
    for _ in 0..=SLOTS {
        machine.ring.offer(0);
    }
    machine.kick();
    let told = departure(&listening);
    assert!(told.to_string().contains("ring index"), "{told}");
    assert!(machine.is_let_go());
    is_served(&listening, &[0; 512]);
}

fn short_memory() {
    let listening = Listening::new(Memory::new(1 << 20));
    let file = tempfile::tempfile().unwrap();
    file.set_len(1 << 20).unwrap();
    for (offset, length) in [(0, (1 << 20) + 1), (4096, 1 << 20), (1 << 20, 4096), (0, 1 << 45)] {
        let frontend = connect(&listening);
        let file = file.try_clone().unwrap().into();
        frontend.send(5, false, &words(&[1, 0, length, 0, offset]), &[file]);
        let told = departure(&listening);
        assert!(told.to_string().contains("not within the 1048576 of its file"), "{told}");
    }
    is_served(&listening, &[0; 512]);
}

fn shortened_memory() {
    let listening = Listening::new(Memory::new(1 << 20));
    let mut written = [0; 512];
    // More often than ranges can be watched at once.
    for round in 0..1100 {
        let mut machine = Machine::new(&listening);
        let (mut found, read) = ([9; 512], Request { number: 0, sector: 0, data: &[] });
        assert_eq!(machine.perform(Nanos::ZERO, &read, &mut found).0, 0);
        assert_eq!(found, written, "what the one before has written");
        written = [u8::try_from(round % 200).unwrap() + 20; 512];
        let write = Request { number: 1, sector: 0, data: &written };
        assert_eq!(machine.perform(Nanos::ZERO, &write, &mut []).0, 0);
        ftruncate(machine.ring.file(), 0).unwrap();
        machine.kick();
        let told = departure(&listening);
        assert!(told.to_string().contains("the file of its memory is shorter"), "{told}");
    }
    is_served(&listening, &written);
}

/// QEMU with more queues than the disk has asks what it can do, and goes.
fn unused() {
    let listening = Listening::new(Memory::new(1 << 20));
    // Somebody who only looks whether the disk is served is of no interest.
    drop(UnixStream::connect(&listening.socket).unwrap());
    let frontend = connect(&listening);
    frontend.ask(1, false, &[]);
    frontend.ask(15, false, &[]);
    drop(frontend);
    assert_eq!(departure(&listening), Departure::Unused);
    is_served(&listening, &[0; 512]);
    let (_, error) = listening.disk.close();
    assert_eq!(error, None);
}

fn long_ring() {
    let listening = Listening::new(Memory::new(1 << 20));
    for slots in [256, 512, 1024] {
        let mut machine = Machine::with(&listening, Ring::with(slots));
        // Once around.
        for _ in 0..=slots {
            let write = Request { number: 1, sector: 7, data: &[1; 512] };
            assert_eq!(machine.perform(Nanos::ZERO, &write, &mut []).0, 0);
        }
    }
    assert_eq!(listening.disk.departures(), []);
}

/// What this process has open.
fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Whether this process has memory of a guest's, or of one that it plays.
fn has_guest_memory() -> bool {
    std::fs::read_to_string("/proc/self/maps").unwrap().contains("/memfd:guest")
}

fn gone() {
    let listening = Listening::new(Memory::new(1 << 20));
    let before = open_files();
    for _ in 0..10 {
        let mut machine = Machine::new(&listening);
        let read = Request { number: 0, sector: 0, data: &[] };
        assert_eq!(machine.perform(Nanos::ZERO, &read, &mut [0; 512]).0, 0);
        assert!(has_guest_memory());
        drop(machine);
        wait_for("its memory is let go", || !has_guest_memory());
    }
    // Something of the test before may still have been open then.
    wait_for("all that it brought is closed", || open_files() <= before);
}

fn released() {
    let listening = Listening::new(Memory::new(1 << 20));
    let mut machine = Machine::new(&listening);
    assert!(!listening.disk.release());
    let read = Request { number: 0, sector: 0, data: &[] };
    assert_eq!(machine.perform(Nanos::ZERO, &read, &mut [0; 512]).0, 0);
    assert!(!listening.disk.has_ended());
    drop(machine);
    wait_for("it ends", || listening.disk.has_ended());
    assert!(listening.disk.release());
    assert!(!listening.socket.exists());
    // With no machine it ends by itself.
    let listening = Listening::new(Memory::new(1 << 20));
    assert!(listening.disk.release());
    wait_for("it ends", || listening.disk.has_ended());
    assert_eq!(listening.disk.close().1, None);
}

fn again() {
    let listening = Listening::new(Memory::new(1 << 20));
    for round in 0..3 {
        let mut machine = Machine::new(&listening);
        let mut found = vec![9; 512];
        let read = Request { number: 0, sector: 0, data: &[] };
        assert_eq!(machine.perform(Nanos::ZERO, &read, &mut found).0, 0);
        assert_eq!(found, [round; 512], "what the one before has written");
        let write = Request { number: 1, sector: 0, data: &[round + 1; 512] };
        assert_eq!(machine.perform(Nanos::ZERO, &write, &mut []).0, 0);
        // One says that it stops; the others just go.
        if round == 1 {
            assert_eq!(machine.frontend.ask(11, false, &words(&[0])), words(&[2 << 32]));
        }
    }
}

fn sockets() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("socket");
    let listen = || {
        let backend = Box::new(Memory::new(1 << 20));
        VhostUserDisk::listen(backend, DiskShape::default(), &socket)
    };
    drop(std::os::unix::net::UnixListener::bind(&socket).unwrap());
    assert!(UnixStream::connect(&socket).is_err());
    let first = listen().unwrap();
    assert!(matches!(listen(), Err(ServeError::InUse(_))));
    drop(first);
    std::fs::write(&socket, "data").unwrap();
    assert!(matches!(listen(), Err(ServeError::NotASocket(_))));
    assert_eq!(std::fs::read(&socket).unwrap(), b"data");
}

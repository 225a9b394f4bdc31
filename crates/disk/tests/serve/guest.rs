//! The disk of a virtual machine in real time: a guest that is none, with rust-vmm's half of the
//! protocol that a machine has.

use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use ssdlab_disk::serve::{Departure, ServeError, VhostUserDisk};
use ssdlab_disk::{Backend, BackendError, Flash, Memory, Shape};
use ssdlab_flash::{Extent, Nanos};
use vhost::vhost_user::message::{VhostUserConfigFlags, VhostUserProtocolFeatures};
use vhost::vhost_user::{Frontend, VhostUserFrontend};
use vhost::{VhostBackend, VhostUserMemoryRegionInfo, VringConfigData};
use vm_memory::{GuestAddress, GuestMemoryBackend, GuestMemoryRegion};
use vmm_sys_util::eventfd::{EFD_NONBLOCK, EventFd};

use crate::body::conforms;
use crate::driver::{AVAILABLE, BUFFERS, DESCRIPTORS, Driven, Driver, Request, Ring, SLOTS, USED};
use crate::file::Odd;
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
        let shape = Shape::of(drive().specification());
        let disk = VhostUserDisk::listen(Box::new(backend), shape, &socket).unwrap();
        Self { disk, socket, _folder: folder }
    }
}

/// A machine with one disk.
struct Machine {
    frontend: Frontend,
    ring: Ring,
    kick: EventFd,
    call: EventFd,
    capacity_bytes: u64,
    begun: Instant,
}

impl Machine {
    /// Takes the disk into use, in the order in which QEMU does.
    fn new(listening: &Listening) -> Self {
        Self::with(listening, Ring::new())
    }

    fn with(listening: &Listening, ring: Ring) -> Self {
        let mut frontend = Frontend::connect(&listening.socket, 1).unwrap();
        frontend.set_owner().unwrap();
        let features = frontend.get_features().unwrap();
        let protocol = frontend.get_protocol_features().unwrap();
        assert!(protocol.contains(VhostUserProtocolFeatures::CONFIG));
        frontend.set_protocol_features(protocol).unwrap();
        let unset = VhostUserConfigFlags::empty();
        let (_, config) = frontend.get_config(0, 60, unset, &[0; 60]).unwrap();
        let sectors = u64::from_le_bytes(config[..8].try_into().unwrap());
        frontend.set_features(features).unwrap();
        let region = ring.memory.iter().next().unwrap();
        let region = VhostUserMemoryRegionInfo::from_guest_region(region).unwrap();
        frontend.set_mem_table(&[region]).unwrap();
        let [kick, call] = [0, 1].map(|_| EventFd::new(EFD_NONBLOCK).unwrap());
        frontend.set_vring_num(0, ring.slots).unwrap();
        frontend.set_vring_base(0, 0).unwrap();
        let place = |at: u64| ring.memory.get_host_address(GuestAddress(at)).unwrap() as u64;
        let addresses = VringConfigData {
            queue_max_size: ring.slots,
            queue_size: ring.slots,
            flags: 0,
            desc_table_addr: place(DESCRIPTORS),
            used_ring_addr: place(USED),
            avail_ring_addr: place(AVAILABLE),
            log_addr: None,
        };
        frontend.set_vring_addr(0, &addresses).unwrap();
        frontend.set_vring_call(0, &call).unwrap();
        frontend.set_vring_kick(0, &kick).unwrap();
        frontend.set_vring_enable(0, true).unwrap();
        Self { frontend, ring, kick, call, capacity_bytes: sectors * 512, begun: Instant::now() }
    }
}

impl Driver for Machine {
    fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    fn perform(&mut self, _: Nanos, request: &Request<'_>, room: &mut [u8]) -> (u8, Nanos) {
        let slot = self.ring.submit(request, room.len());
        self.kick.write(1).unwrap();
        let submitted = Instant::now();
        while self.ring.next_used().is_none() {
            // It is to be told; looking without that would hide a call that is missing.
            while self.call.read().is_err() {
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
        machine.frontend.set_config(32, VhostUserConfigFlags::WRITABLE, &[byte]).unwrap();
        let unset = VhostUserConfigFlags::empty();
        let (_, config) = machine.frontend.get_config(32, 1, unset, &[0]).unwrap();
        assert_eq!(config, [byte]);
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
    machine.kick.write(1).unwrap();
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
        machine.kick.write(1).unwrap();
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
    machine.kick.write(1).unwrap();
    wait_for("it says that it has failed", || listening.disk.has_ended());
    assert!(machine.frontend.get_features().is_err(), "the machine need not wait");
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

/// Asserts that a disk is served to whoever comes next.
fn is_served(listening: &Listening) {
    let read = Request { number: 0, sector: 0, data: &[] };
    assert_eq!(Machine::new(listening).perform(Nanos::ZERO, &read, &mut [0; 512]).0, 0);
}

fn senseless() {
    let listening = Listening::new(Memory::new(1 << 20));
    let mut machine = Machine::new(&listening);
    // More requests than it has places.
    for _ in 0..=SLOTS {
        machine.ring.offer(0);
    }
    machine.kick.write(1).unwrap();
    let told = departure(&listening);
    assert!(told.to_string().contains("ring index"), "{told}");
    assert!(machine.frontend.get_features().is_err(), "the machine need not wait");
    is_served(&listening);
}

fn short_memory() {
    let listening = Listening::new(Memory::new(1 << 20));
    let file = tempfile::tempfile().unwrap();
    file.set_len(1 << 20).unwrap();
    for (offset, length) in [(0, (1 << 20) + 1), (4096, 1 << 20), (1 << 20, 4096), (0, 1 << 45)] {
        let frontend = Frontend::connect(&listening.socket, 1).unwrap();
        frontend.set_owner().unwrap();
        frontend.set_features(frontend.get_features().unwrap()).unwrap();
        let region = VhostUserMemoryRegionInfo {
            guest_phys_addr: 0,
            memory_size: length,
            userspace_addr: 0,
            mmap_offset: offset,
            mmap_handle: file.as_raw_fd(),
        };
        frontend.set_mem_table(&[region]).unwrap();
        let told = departure(&listening);
        assert!(told.to_string().contains("beyond the end of its file"), "{told}");
    }
    is_served(&listening);
}

/// QEMU with more queues than the disk has asks what it can do, and goes.
fn shortened_memory() {
    let listening = Listening::new(Memory::new(1 << 20));
    // More often than ranges can be watched at once.
    for _ in 0..100 {
        let mut machine = Machine::new(&listening);
        let read = Request { number: 0, sector: 0, data: &[] };
        assert_eq!(machine.perform(Nanos::ZERO, &read, &mut [0; 512]).0, 0);
        let region = machine.ring.memory.iter().next().unwrap();
        region.file_offset().unwrap().file().set_len(0).unwrap();
        machine.kick.write(1).unwrap();
        let told = departure(&listening);
        assert!(told.to_string().contains("become shorter"), "{told}");
    }
    is_served(&listening);
}

fn unused() {
    let listening = Listening::new(Memory::new(1 << 20));
    // Somebody who only looks whether the disk is served is of no interest.
    drop(UnixStream::connect(&listening.socket).unwrap());
    let mut frontend = Frontend::connect(&listening.socket, 1).unwrap();
    frontend.set_owner().unwrap();
    frontend.get_features().unwrap();
    frontend.get_protocol_features().unwrap();
    drop(frontend);
    assert_eq!(departure(&listening), Departure::Unused);
    is_served(&listening);
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
            assert_eq!(machine.frontend.get_vring_base(0).unwrap(), 2);
        }
    }
}

fn sockets() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("socket");
    let listen = || {
        let backend = Box::new(Memory::new(1 << 20));
        VhostUserDisk::listen(backend, Shape::default(), &socket)
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

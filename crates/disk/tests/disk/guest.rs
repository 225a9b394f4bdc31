//! A guest that is none: it speaks to a disk and the time controller as User-Mode Linux does,
//! message by message, and computes nothing.
//!
//! What it sends and waits for follows `arch/um/drivers/virtio_uml.c` and `arch/um/kernel/time.c`
//! of Linux 6.1, as `kernel/apply` changes them; what these panic at is an assertion here.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

use ssdlab_disk::{Backend, Disk, DiskError, DiskShape, GuestOptions, GuestOutcome, run};
use ssdlab_flash::Nanos;

use crate::driver::{Driven, Driver, Request, Ring};
use crate::frontend::Frontend;

/// A disk to be served.
pub struct Setup<'a> {
    pub backend: Box<dyn Backend + Send + 'a>,
    pub shape: DiskShape,
    pub log: Option<Box<dyn Write + Send + 'a>>,
}

impl<'a> Setup<'a> {
    pub fn new(backend: impl Backend + Send + 'a, shape: DiskShape) -> Self {
        Self { backend: Box::new(backend), shape, log: None }
    }
}

/// Runs a guest on these disks. It has taken them into use when it is handed over.
pub fn serve<R>(setups: Vec<Setup<'_>>, guest: impl FnOnce(&mut Guest) -> R) -> (GuestOutcome, R) {
    let (outcome, result) = try_serve(setups, GuestOptions::default(), |mut talking| {
        talking.take_up();
        guest(&mut talking)
    });
    (outcome.unwrap(), result)
}

/// Runs a guest that has said nothing yet, and may end badly.
pub fn try_serve<R>(
    setups: Vec<Setup<'_>>,
    options: GuestOptions,
    guest: impl FnOnce(Guest) -> R,
) -> (Result<GuestOutcome, DiskError>, R) {
    let (calendar, calendar_end) = UnixStream::pair().unwrap();
    let mut ends = Vec::new();
    let mut disks: Vec<Disk<'_>> = setups
        .into_iter()
        .map(|setup| {
            let (here, there) = UnixStream::pair().unwrap();
            ends.push((there, setup.backend.capacity_bytes()));
            let disk = Disk::new("test", here, setup.backend, setup.shape).unwrap();
            match setup.log {
                Some(log) => disk.with_log(log).unwrap(),
                None => disk,
            }
        })
        .collect();
    std::thread::scope(|scope| {
        let server = scope.spawn(move || run(calendar, &mut disks, options));
        let result = guest(Guest::new(calendar_end, ends));
        (server.join().unwrap(), result)
    })
}

/// A disk as the guest has it.
pub struct Port {
    pub frontend: Frontend,
    pub ring: Ring,
    capacity_bytes: u64,
}

pub struct Guest {
    pub calendar: UnixStream,
    pub ports: Vec<Port>,
    pub now: u64,
    /// It need not ask before then.
    pub free_until: Option<u64>,
    /// The disks that called when it last waited, a bit each.
    pub called: u32,
    sequence: u32,
}

impl Guest {
    fn new(calendar: UnixStream, ends: Vec<(UnixStream, u64)>) -> Self {
        let ports = ends.into_iter().map(|(socket, capacity_bytes)| Port {
            frontend: Frontend(socket),
            ring: Ring::new(),
            capacity_bytes,
        });
        Self { calendar, ports: ports.collect(), now: 0, free_until: None, called: 0, sequence: 0 }
    }

    /// Sends a message to the time controller and waits for its acknowledgement.
    pub fn tell(&mut self, operation: u32, time: u64) -> u64 {
        self.sequence += 1;
        self.send_time(operation, self.sequence, time);
        let (found, number, time) = self.hear();
        assert_eq!((found, number), (0, self.sequence), "acknowledged out of order");
        time
    }

    pub fn send_time(&mut self, operation: u32, number: u32, time: u64) {
        let mut message = operation.to_le_bytes().to_vec();
        message.extend(number.to_le_bytes());
        message.extend(time.to_le_bytes());
        self.calendar.write_all(&message).unwrap();
    }

    /// Takes in one message of the time controller.
    fn hear(&mut self) -> (u32, u32, u64) {
        let mut message = [0; 16];
        self.calendar.read_exact(&mut message).unwrap();
        let word = |at: usize| u32::from_le_bytes(message[at..at + 4].try_into().unwrap());
        let time = u64::from_le_bytes(message[8..].try_into().unwrap());
        match word(0) {
            0 => {}
            6 => {
                assert!(time >= self.now, "time goes backwards: {} -> {time}", self.now);
                self.now = time;
                self.called = word(4);
            }
            7 => self.free_until = Some(time),
            other => panic!("the calendar says {other}"),
        }
        (word(0), word(4), time)
    }

    /// Lets time pass until then, or until a disk calls.
    pub fn sleep(&mut self, until: u64) {
        assert!(until >= self.now);
        if self.free_until.is_some_and(|free| until < free) {
            self.now = until;
            return;
        }
        self.free_until = None;
        self.send_time(3, 0, until);
        assert_eq!([self.hear().0, self.hear().0], [7, 6]);
    }

    /// Begins the conversation and takes all disks into use, in the order of the kernel.
    pub fn take_up(&mut self) {
        self.tell(1, 0x7e57);
        for port in &self.ports {
            assert_eq!(port.frontend.take_up(&port.ring, None), port.capacity_bytes);
        }
        assert_eq!(self.tell(8, 0), self.now);
    }

    /// Says that a disk has new requests.
    pub fn kick(&mut self, disk: usize) {
        self.send_time(0x100, u32::try_from(disk).unwrap(), self.now);
        assert_eq!(self.hear().0, 7);
    }

    /// Does one request and waits for it. Returns its status.
    pub fn perform(&mut self, disk: usize, request: &Request<'_>, room: &mut [u8]) -> u8 {
        let slot = self.ports[disk].ring.submit(request, room.len());
        self.kick(disk);
        let timer = self.now + 10_000_000_000;
        loop {
            self.sleep(timer);
            let port = &mut self.ports[disk];
            if let Some((head, _)) = port.ring.next_used() {
                assert_eq!(head, u32::from(slot) * 3);
                return port.ring.result(slot, request, room);
            }
            assert!(self.now < timer, "the disk never answers");
        }
    }

    pub fn disk(&mut self, disk: usize) -> Driven<GuestDisk<'_>> {
        Driven(GuestDisk { guest: self, disk })
    }
}

/// A guest's disk, for what drives disks.
pub struct GuestDisk<'a> {
    guest: &'a mut Guest,
    disk: usize,
}

impl Driver for GuestDisk<'_> {
    fn capacity_bytes(&self) -> u64 {
        self.guest.ports[self.disk].capacity_bytes
    }

    fn perform(&mut self, now: Nanos, request: &Request<'_>, room: &mut [u8]) -> (u8, Nanos) {
        if now.0 > self.guest.now {
            self.guest.sleep(now.0);
        }
        let status = self.guest.perform(self.disk, request, room);
        (status, Nanos(self.guest.now))
    }
}

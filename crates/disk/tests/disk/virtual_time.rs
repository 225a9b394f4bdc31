//! A guest reads and writes in virtual time: what it sees, when, and that it is the same again.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use ssdlab_disk::{
    CacheMode, DiskError, DiskShape, Flash, GuestOptions, GuestOutcome, GuestProcess, Memory,
};
use ssdlab_flash::{Command, Extent, Nanos, Stream};
use ssdlab_trace::{Flags, RequestKind, TraceReader};

use crate::drive;
use crate::driver::{Request, SLOTS};
use crate::guest::{Guest, Setup, serve, try_serve};

const READ: u32 = 0;
const WRITE: u32 = 1;
const FLUSH: u32 = 4;
const IDENTIFY: u32 = 8;

fn write(sector: u64, data: &[u8]) -> Request<'_> {
    Request { number: WRITE, sector, data }
}

fn plain(number: u32, sector: u64) -> Request<'static> {
    Request { number, sector, data: &[] }
}

fn flash() -> Vec<Setup<'static>> {
    vec![Setup::new(Flash::new(drive()), DiskShape::default())]
}

#[test]
fn every_request_takes_what_the_drive_says() {
    let mut model = drive();
    let mut expect = |now: u64, command| model.submit(Nanos(now), command).unwrap().at.0;
    let extent = |sector: u64, length_bytes| Extent { offset_bytes: sector * 512, length_bytes };
    serve(flash(), |guest| {
        for round in 0..40_u8 {
            let (sector, data) = (u64::from(round) * 56 % 1000, [round + 1; 8192]);
            let begun = guest.now;
            assert_eq!(guest.perform(0, &write(sector, &data), &mut []), 0);
            let command = Command::Write(extent(sector, 8192), Stream::default());
            assert_eq!(guest.now, expect(begun, command), "write {round}");

            let (begun, mut read) = (guest.now, [0; 8192]);
            assert_eq!(guest.perform(0, &plain(READ, sector), &mut read), 0);
            assert_eq!(guest.now, expect(begun, Command::Read(extent(sector, 8192))));
            assert_eq!(read, data);
            guest.sleep(guest.now + 777);
        }
        let begun = guest.now;
        assert_eq!(guest.perform(0, &plain(FLUSH, 0), &mut []), 0);
        assert_eq!(guest.now, expect(begun, Command::Flush));
    });
}

#[test]
fn requests_in_flight_end_in_the_order_of_their_times() {
    let mut model = drive();
    let data = [5; 4096];
    let mut expected = Vec::new();
    for slot in 0..4_u64 {
        let extent = Extent { offset_bytes: slot * 8192, length_bytes: 4096 };
        let write = Command::Write(extent, Stream::default());
        expected.push(model.submit(Nanos::ZERO, write).unwrap().at.0);
    }
    expected.push(model.submit(Nanos::ZERO, Command::Flush).unwrap().at.0);
    expected.sort_unstable();
    let (_, seen) = serve(flash(), |guest| {
        for slot in 0..4 {
            guest.ports[0].ring.submit(&write(slot * 16, &data), 0);
        }
        guest.ports[0].ring.submit(&plain(FLUSH, 0), 0);
        guest.kick(0);
        let mut seen = Vec::new();
        while seen.len() < 5 {
            guest.sleep(1 << 40);
            while guest.ports[0].ring.next_used().is_some() {
                seen.push(guest.now);
            }
        }
        seen
    });
    assert_eq!(seen, expected);
}

/// Something of everything, on two disks; what is written depends on the seed.
fn session(guest: &mut Guest, seed: u8) {
    for round in 0..30_u8 {
        let disk = usize::from(round % 2);
        let data = [round ^ seed; 4096];
        assert_eq!(guest.perform(disk, &write(u64::from(round) * 8, &data), &mut []), 0);
        let mut range = (u64::from(round) * 4).to_le_bytes().to_vec();
        range.extend([4, 0, 0, 0, 0, 0, 0, 0]);
        let number = if round % 3 == 0 { 11 } else { 13 };
        let clear = Request { number, sector: 0, data: &range };
        assert_eq!(guest.perform(disk, &clear, &mut []), 0);
        guest.sleep(guest.now + u64::from(round) * 1000);
    }
    assert_eq!(guest.perform(0, &plain(FLUSH, 0), &mut []), 0);
}

fn two_disks(seed: u8) -> GuestOutcome {
    let memory = Setup::new(Memory::new(1 << 20), DiskShape::default());
    let setups = flash().into_iter().chain([memory]).collect();
    serve(setups, |guest| session(guest, seed)).0
}

#[test]
fn equal_runs_have_equal_fingerprints_and_others_do_not() {
    let first = two_disks(1);
    assert_eq!(first, two_disks(1));
    assert_ne!(first.fingerprint, two_disks(2).fingerprint);
    assert!(first.now > Nanos(1_000_000));
    // The same data at another time are another run.
    let at = |start: u64| {
        let setup = Setup::new(Memory::new(1 << 20), DiskShape::default());
        let write = write(0, &[1; 512]);
        serve(vec![setup], |guest| {
            guest.sleep(start);
            guest.perform(0, &write, &mut [])
        })
        .0
        .fingerprint
    };
    assert_eq!(at(5), at(5));
    assert_ne!(at(5), at(6));
}

#[test]
fn completions_at_the_same_time_reach_every_disk_before_the_guest_runs() {
    let setup = || Setup::new(Memory::new(1 << 20), DiskShape::default());
    serve(vec![setup(), setup()], |guest| {
        guest.sleep(1000);
        for disk in 0..2 {
            guest.ports[disk].ring.submit(&plain(FLUSH, 0), 0);
            guest.kick(disk);
        }
        // Its own timer is due at the same time, and comes last.
        guest.sleep(1000);
        assert_eq!((guest.now, guest.called), (1000, 0b11));
        assert!(guest.ports.iter_mut().all(|port| port.ring.next_used().is_some()));
    });
}

#[test]
fn the_log_has_every_request_with_its_times() {
    let (mut file, shared) = (Vec::new(), Arc::new(Mutex::new(Flash::new(drive()))));
    let shape = DiskShape { write_cache: CacheMode::WriteThrough, ..DiskShape::default() };
    let mut setup = Setup::new(Arc::clone(&shared), shape);
    setup.log = Some(Box::new(&mut file));
    let (_, ended) = serve(vec![setup], |guest| {
        guest.sleep(100);
        assert_eq!(guest.perform(0, &write(8, &[1; 4096]), &mut []), 0);
        let written = guest.now;
        // It ends while this is under way.
        guest.ports[0].ring.submit(&plain(READ, 8), 512);
        guest.kick(0);
        written
    });
    let requests: Vec<_> = TraceReader::detect(&file[..], &ssdlab_trace::TraceOptions::default())
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let [stored, read] = requests[..] else { panic!("{requests:?}") };
    assert_eq!(
        (stored.kind, stored.offset_bytes, stored.length_bytes),
        (RequestKind::Write, 4096, 4096)
    );
    assert_eq!((stored.submitted_ns, stored.completed_ns), (0, Some(ended - 100)));
    assert_eq!(
        (read.kind, read.submitted_ns, read.completed_ns),
        (RequestKind::Read, ended - 100, None)
    );
    // The disk makes writes safe by itself, and a page takes 900 us to program.
    assert_eq!(stored.flags, Flags::FUA);
    assert!(ended > 900_000, "{ended}");
    let shared = shared.lock().unwrap();
    assert_eq!((shared.drive().host_counters().flushes, shared.contents().pages().count()), (1, 1));
}

#[test]
fn the_guest_may_switch_the_write_cache() {
    let shape = DiskShape { write_cache: CacheMode::Switchable, ..DiskShape::default() };
    serve(vec![Setup::new(Flash::new(drive()), shape)], |guest| {
        let time = |guest: &mut Guest| {
            let begun = guest.now;
            assert_eq!(guest.perform(0, &write(0, &[1; 512]), &mut []), 0);
            guest.now - begun
        };
        assert!(time(guest) < 900_000);
        let mut set = [32_u32, 1, 0].map(u32::to_le_bytes).concat();
        set.push(0);
        assert_eq!(guest.ports[0].frontend.ask(25, true, &set), [0; 8]);
        assert!(time(guest) > 900_000);
        set[12] = 7;
        assert_eq!(guest.ports[0].frontend.ask(25, true, &set), 1_u64.to_le_bytes());
    });
}

#[test]
fn a_disk_says_its_name() {
    let shape = DiskShape { id: "vertex-le".to_owned(), ..DiskShape::default() };
    serve(vec![Setup::new(Memory::new(1 << 20), shape)], |guest| {
        let mut name = [9; 20];
        assert_eq!(guest.perform(0, &plain(IDENTIFY, 0), &mut name), 0);
        assert_eq!(&name, b"vertex-le\0\0\0\0\0\0\0\0\0\0\0");
    });
}

#[test]
fn a_guest_that_waits_for_ever_is_an_error() {
    let (outcome, ()) = try_serve(flash(), GuestOptions::default(), |mut guest| {
        guest.take_up();
        guest.send_time(3, 0, u64::MAX);
        // It is told nothing more, but it is let go.
        assert!(std::io::Read::read(&mut guest.calendar, &mut [0; 16]).unwrap() == 0);
    });
    assert!(matches!(outcome, Err(DiskError::Deadlock { now: Nanos::ZERO })), "{outcome:?}");
}

#[test]
fn a_guest_that_takes_too_long_is_an_error() {
    let options = GuestOptions { limit: Some(Nanos(1_000_000)), ..GuestOptions::default() };
    let (outcome, ()) = try_serve(flash(), options, |mut guest| {
        guest.take_up();
        guest.sleep(900_000);
        // It may not sleep past its limit unseen, though no disk has anything to do.
        assert_eq!(guest.free_until, Some(1_000_001));
        guest.sleep(1_000_000);
        guest.send_time(3, 0, 1_000_001);
        assert!(std::io::Read::read(&mut guest.calendar, &mut [0; 16]).unwrap() == 0);
    });
    let Err(error) = outcome else { panic!("{outcome:?}") };
    assert!(matches!(error, DiskError::OutOfTime { limit: Nanos(1_000_000) }), "{error}");
}

#[test]
fn a_guest_that_dies_while_it_waits_is_an_error() {
    let (outcome, ()) = try_serve(flash(), GuestOptions::default(), |mut guest| {
        guest.take_up();
        guest.calendar.shutdown(std::net::Shutdown::Read).unwrap();
        guest.send_time(3, 0, 1000);
    });
    assert!(matches!(outcome, Err(DiskError::GuestGone { .. })), "{outcome:?}");
}

#[test]
fn a_guest_whose_process_ends_before_it_connects_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let listen = |name| std::os::unix::net::UnixListener::bind(folder.path().join(name)).unwrap();
    let mut ended = std::process::Command::new("true").spawn().unwrap();
    let process = GuestProcess::new(&ended, Duration::from_mins(1)).unwrap();
    let options = GuestOptions { process: Some(process), ..GuestOptions::default() };
    let memory = Box::new(Memory::new(1 << 20));
    let disk = ssdlab_disk::Disk::new("vda", listen("disk"), memory, DiskShape::default());
    let outcome = ssdlab_disk::run(listen("calendar"), &mut [disk.unwrap()], options);
    ended.wait().unwrap();
    assert!(matches!(outcome, Err(DiskError::GuestGone { .. })), "{outcome:?}");
}

#[test]
fn a_ring_goes_round_many_times() {
    serve(vec![Setup::new(Memory::new(1 << 20), DiskShape::default())], |guest| {
        let rounds = 5 * u8::try_from(SLOTS).unwrap();
        for round in 0..rounds {
            let data = [round; 512];
            assert_eq!(guest.perform(0, &write(u64::from(round), &data), &mut []), 0);
        }
        let mut last = [0; 512];
        assert_eq!(guest.perform(0, &plain(READ, 79), &mut last), 0);
        assert_eq!(last, [79; 512]);
    });
}

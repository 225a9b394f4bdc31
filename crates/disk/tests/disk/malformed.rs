//! Guests that send what they should not: whatever it is, the disk answers or says why it stops.
//! It neither panics nor waits for what cannot come.

use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use proptest::collection::vec;
use proptest::prelude::*;
use rustix::fs::ftruncate;
use ssdlab_disk::{Disk, DiskError, DiskShape, GuestOptions, Memory, run};

use crate::driver::{BUFFERS, Request, Ring, SLOTS};
use crate::frontend::words;
use crate::guest::{Guest, Setup, serve, try_serve};

fn memory() -> Vec<Setup<'static>> {
    vec![Setup::new(Memory::new(1 << 20), DiskShape::default())]
}

/// A guest that sends these bytes, then ends.
fn send(to_calendar: &[u8], to_disk: &[u8]) -> Result<(), DiskError> {
    let (calendar, mut calendar_end) = UnixStream::pair().unwrap();
    let (socket, mut socket_end) = UnixStream::pair().unwrap();
    // Both fit the buffers of the sockets, so that nothing waits here.
    socket_end.write_all(to_disk).unwrap();
    calendar_end.write_all(to_calendar).unwrap();
    socket_end.shutdown(std::net::Shutdown::Write).unwrap();
    calendar_end.shutdown(std::net::Shutdown::Write).unwrap();
    let disk =
        Disk::new("vda", socket, Box::new(Memory::new(1 << 20)), DiskShape::default()).unwrap();
    let outcome = run(calendar, &mut [disk], GuestOptions::default());
    let mut answers = Vec::new();
    let _ = calendar_end.read_to_end(&mut answers);
    outcome.map(drop)
}

fn calendar_message() -> impl Strategy<Value = Vec<u8>> {
    let time = prop_oneof![0..1000_u64, any::<u64>(), Just(1 << 62), Just(u64::MAX)];
    let operation = prop_oneof![4 => 0..11_u32, 1 => Just(0x100_u32)];
    (operation, 0..4_u32, time).prop_map(|(operation, sequence, time)| {
        let mut message = operation.to_le_bytes().to_vec();
        message.extend(sequence.to_le_bytes());
        message.extend(time.to_le_bytes());
        message
    })
}

/// The next message of a proper conversation, or one that is wrong in some way.
fn disk_message() -> impl Strategy<Value = Vec<u8>> {
    let request = prop_oneof![
        Just(1_u32),
        Just(2),
        Just(3),
        Just(5),
        Just(15),
        Just(16),
        Just(21),
        Just(24),
        Just(25),
        Just(18),
        any::<u32>()
    ];
    let flags = prop_oneof![4 => Just(1_u32), 4 => Just(9_u32), 1 => any::<u32>()];
    let body = prop_oneof![Just(0), Just(8), Just(12), Just(40), Just(72), 0..100_usize];
    (request, flags, body, any::<u8>()).prop_map(|(request, flags, size, fill)| {
        let length = u32::try_from(size).unwrap();
        let mut message = [request, flags, length].map(u32::to_le_bytes).concat();
        message.extend(vec![fill; size]);
        message
    })
}

#[derive(Debug, Clone)]
struct Descriptor {
    address: u64,
    length: u32,
    flags: u16,
    next: u16,
}

/// Descriptors of which many nearly make sense.
fn descriptor() -> impl Strategy<Value = Descriptor> {
    let address = prop_oneof![
        4 => (0..16_u64).prop_map(|page| BUFFERS + page * 4096),
        1 => Just(crate::driver::DESCRIPTORS),
        1 => Just((3 << 20) - 8),
        1 => any::<u64>(),
        1 => Just(u64::MAX),
    ];
    let length = prop_oneof![
        3 => Just(16_u32),
        3 => Just(1),
        2 => Just(512),
        1 => Just(0),
        1 => Just(u32::MAX),
        1 => any::<u32>()
    ];
    let flags = prop_oneof![4 => Just(1_u16), 3 => Just(2), 3 => Just(3), 1 => 0..8_u16];
    (address, length, flags, 0..SLOTS + 2).prop_map(|(address, length, flags, next)| Descriptor {
        address,
        length,
        flags,
        next,
    })
}

/// What a header asks for.
fn number() -> impl Strategy<Value = u32> {
    prop_oneof![Just(0_u32), Just(1), Just(4), Just(8), Just(11), Just(13), any::<u32>()]
}

/// Offers chains of these descriptors, each with any header, and lets time pass.
fn offer(guest: &mut Guest, descriptors: &[Descriptor], heads: &[u16], header: &[u8]) -> usize {
    let port = &mut guest.ports[0];
    for page in 0..16 {
        port.ring.write(header, BUFFERS + page * 4096);
    }
    for (index, one) in (0..).zip(descriptors) {
        port.ring.describe(index, one.address, one.length, one.flags, one.next);
    }
    for head in heads {
        port.ring.offer(*head);
    }
    guest.kick(0);
    guest.sleep(guest.now + 1_000_000_000);
    let mut used = 0;
    while guest.ports[0].ring.next_used().is_some() {
        used += 1;
    }
    used
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_to_a_disk(bytes in vec(any::<u8>(), 0..2000)) {
        let _ = send(&[], &bytes);
    }

    #[test]
    fn any_messages_to_a_disk(messages in vec(disk_message(), 0..30)) {
        let _ = send(&[], &messages.concat());
    }

    #[test]
    fn any_bytes_to_the_calendar(bytes in vec(any::<u8>(), 0..2000)) {
        let _ = send(&bytes, &[]);
    }

    #[test]
    fn any_messages_to_the_calendar(messages in vec(calendar_message(), 0..60)) {
        let _ = send(&messages.concat(), &[]);
    }

    #[test]
    fn any_chains(
        descriptors in vec(descriptor(), usize::from(SLOTS)),
        heads in vec(0..SLOTS + 2, 0..usize::from(SLOTS)),
        kind in number(),
        sector in prop_oneof![0..4096_u64, any::<u64>()],
    ) {
        let mut header = kind.to_le_bytes().to_vec();
        header.extend([0; 4]);
        header.extend(sector.to_le_bytes());
        // What one chain has the disk write may be the descriptors of the next, or the ring itself:
        // then the disk stops, and says so.
        let (outcome, used) = try_serve(memory(), GuestOptions::default(), |mut guest| {
            guest.take_up();
            let offered = std::panic::AssertUnwindSafe(|| {
                offer(&mut guest, &descriptors, &heads, &header)
            });
            std::panic::catch_unwind(offered).ok()
        });
        match (outcome, used) {
            (Ok(_), Some(used)) => {
                // All are given back, but those that name no descriptor.
                let given = heads.iter().filter(|head| **head < SLOTS).count();
                prop_assert_eq!(used, given);
            }
            (Err(DiskError::Ring { .. }), _) => {}
            (outcome, used) => prop_assert!(false, "{:?} {:?}", outcome, used),
        }
    }
}

#[test]
fn a_loop_is_given_back_without_an_answer_and_the_disk_goes_on() {
    serve(memory(), |guest| {
        let looping = |next| Descriptor { address: BUFFERS, length: 16, flags: 1, next };
        assert_eq!(offer(guest, &[looping(1), looping(0)], &[0], &[0; 16]), 1);
        let request = Request { number: 1, sector: 0, data: &[1; 512] };
        let slot = guest.ports[0].ring.submit(&request, 0);
        guest.kick(0);
        guest.sleep(guest.now + 1000);
        assert!(guest.ports[0].ring.next_used().is_some());
        assert_eq!(guest.ports[0].ring.result(slot, &request, &mut []), 0);
    });
}

/// What a disk says of what a guest sends it after this.
fn refusal(before: impl FnOnce(&mut Guest), request: u32, body: &[u8], fds: &[OwnedFd]) -> String {
    let (outcome, ()) = try_serve(memory(), GuestOptions::default(), |mut guest| {
        before(&mut guest);
        guest.ports[0].frontend.send(request, true, body, fds);
        // The disk lets go.
        let _ = guest.calendar.read(&mut [0; 16]);
    });
    match outcome {
        Err(error @ (DiskError::Message { .. } | DiskError::Memory { .. })) => error.to_string(),
        other => panic!("{request}: {other:?}"),
    }
}

#[test]
fn messages_at_the_wrong_time_or_of_the_wrong_size_are_refused() {
    let wrong: [(u32, usize, &str); 7] = [
        (5, 72, "SET_MEM_TABLE: the number of its file descriptors is 0, not 1"),
        (8, 8, "SET_VRING_NUM: the ring is enabled"),
        (9, 40, "SET_VRING_ADDR: the ring is enabled"),
        (9, 39, "the size of its body is 39, not 40"),
        (12, 8, "message 12: its number"),
        (24, 400, "the size of what follows is 388, not 0"),
        (99, 0, "message 99: its number"),
    ];
    for (request, size, expected) in wrong {
        let refused = refusal(Guest::take_up, request, &vec![0; size], &[]);
        assert!(refused.contains(expected), "{refused}");
    }
}

/// What the time controller says of a message with this operation, number and time. The guest has
/// slept until 100, and at 100 a completion is due, so that it may not run on.
fn refused_by_calendar(operation: u32, number: u32, time: u64) -> String {
    let (outcome, ()) = try_serve(memory(), GuestOptions::default(), |mut guest| {
        guest.take_up();
        guest.sleep(100);
        guest.ports[0].ring.submit(&Request { number: 4, sector: 0, data: &[] }, 0);
        guest.kick(0);
        guest.send_time(operation, number, time);
        let _ = guest.calendar.read(&mut [0; 16]);
    });
    match outcome {
        Err(error @ DiskError::Message { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn time_that_goes_backwards_or_too_far_is_refused() {
    for (operation, time, expected) in [
        (0x100, 50, "KICK: the time is 50, not at least 100 ns"),
        (0x100, 1 << 40, "KICK: the time is 1099511627776, not before 100 ns"),
        (3, 50, "WAIT: the time is 50, not at least 100 ns"),
    ] {
        let refused = refused_by_calendar(operation, 0, time);
        assert!(refused.contains(expected), "{refused}");
    }
}

#[test]
fn kicks_of_disks_that_are_not_there_are_refused() {
    for number in [1, 32, u32::MAX] {
        let refused = refused_by_calendar(0x100, number, 100);
        let expected = format!("the number of the disk is {number}, not one of 1 disks");
        assert!(refused.contains(&expected), "{refused}");
    }
    let (outcome, ()) = try_serve(memory(), GuestOptions::default(), |mut guest| {
        guest.take_up();
        guest.ports[0].frontend.tell(18, &[0; 8], &[]);
        guest.send_time(0x100, 0, 0);
        let _ = guest.calendar.read(&mut [0; 16]);
    });
    assert!(matches!(outcome, Err(DiskError::Message { .. })), "{outcome:?}");
}

#[test]
fn requests_that_make_no_sense_are_answered_with_an_error() {
    serve(memory(), |guest| {
        let range = |sector: u64, sectors: u32, flags: u32| {
            let mut data = sector.to_le_bytes().to_vec();
            data.extend(sectors.to_le_bytes());
            data.extend(flags.to_le_bytes());
            data
        };
        let cases: [(u32, u64, Vec<u8>, usize, u8); 14] = [
            (0, 0, vec![], 0, 1),
            (0, 2048, vec![], 512, 1),
            (0, u64::MAX, vec![], 512, 1),
            (0, 0, vec![], 100, 1),
            (1, 0, vec![], 0, 1),
            (1, 2047, vec![0; 1024], 0, 1),
            (1, 0, vec![0; 513], 0, 1),
            (4, 0, vec![], 8, 1),
            (8, 0, vec![], 8, 1),
            (11, 0, vec![0; 15], 0, 1),
            (11, 0, range(0, 8, 1), 0, 2),
            (11, 0, range(2048, 1, 0), 0, 1),
            (13, 0, range(0, 1 << 20, 0), 0, 1),
            (77, 0, vec![], 0, 2),
        ];
        for (number, sector, data, room, status) in cases {
            let request = Request { number, sector, data: &data };
            let answer = guest.perform(0, &request, &mut vec![0; room]);
            assert_eq!(answer, status, "{number} at {sector}: {data:?}, {room}");
        }
        let data = range(0, 8, 0);
        let discard = Request { number: 11, sector: 0, data: &data };
        assert_eq!(guest.perform(0, &discard, &mut []), 0);
    });
}

#[test]
fn a_guest_that_cannot_travel_in_time_is_refused_with_the_reason() {
    let begin = |guest: &mut Guest| {
        guest.tell(1, 0);
    };
    let lacking = refusal(begin, 16, &words(&[0x228]), &[]);
    assert!(lacking.contains("the guest's protocol features is 0x228"), "{lacking}");
    let unknown = refusal(begin, 2, &words(&[1 << 33 | 1 << 32]), &[]);
    assert!(unknown.contains("the set of features"), "{unknown}");
}

#[test]
fn memory_that_is_not_there_is_refused() {
    // The number of regions, then for each: its address, its size, its address again, its place in
    // the file, which has 3 MiB.
    let tables: [[u64; 5]; 5] = [
        [2, 0, 4096, 0, 0],
        [1, u64::MAX - 4095, 8192, 0, 0],
        [1, 0, 0, 0, 0],
        [1, 0, 4 << 20, 0, 0],
        [1, 0, 4096, 0, u64::MAX],
    ];
    for table in tables {
        let mut body = words(&table);
        body.resize(72, 0);
        refusal(Guest::take_up, 5, &body, &[Ring::new().file()]);
    }
}

#[test]
fn a_guest_that_shortens_its_memory_is_refused() {
    let (outcome, ()) = try_serve(memory(), GuestOptions::default(), |mut guest| {
        guest.take_up();
        ftruncate(guest.ports[0].ring.file(), 0).unwrap();
        guest.send_time(0x100, 0, 0);
        let _ = guest.calendar.read(&mut [0; 16]);
    });
    let refused = outcome.unwrap_err().to_string();
    assert!(refused.contains("the file of its memory is shorter"), "{refused}");
}

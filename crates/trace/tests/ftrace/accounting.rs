//! Checks that every byte is in one request, whatever becomes of it on its way.

use ssdlab_trace::ftrace::{Assembler, TracedDevice, device_number};
use ssdlab_trace::{Flags, Request, RequestKind, WriteOrigin};

use super::recorder::{COMPLETE, Event, ISSUE, QUEUE, REQUEUE, device, event, layout, record};
use super::{disk, ended, popped};

/// Sectors in bytes.
const fn bytes(sectors: u64) -> u64 {
    sectors * 512
}

fn request(times: (u64, Option<u64>), kind: RequestKind, sector: u64, sectors: u64) -> Request {
    Request {
        submitted_ns: times.0,
        completed_ns: times.1,
        kind,
        offset_bytes: bytes(sector),
        length_bytes: bytes(sectors),
        flags: Flags::empty(),
        origin: Some(WriteOrigin::default()),
    }
}

fn assembler_of(target: TracedDevice, processors: &[Vec<Event>]) -> Assembler {
    let mut assembler = Assembler::new(layout(), target);
    for sub_buffer in processors.iter().flat_map(|events| record(events)) {
        assembler.take(&sub_buffer).unwrap();
    }
    assembler
}

/// All requests that one processor's events make.
fn requests(events: &[Event]) -> Vec<Request> {
    ended(assembler_of(disk(device()), &[events.to_vec()]))
}

#[test]
fn a_merged_request_has_the_flags_and_the_metadata_of_all_its_bios() {
    let found = requests(&[
        event(1, QUEUE, "WM", 0, 8),
        event(2, QUEUE, "W", 8, 8),
        event(3, QUEUE, "FWFS", 16, 8),
        event(4, QUEUE, "RM", 0, 8),
        event(5, ISSUE, "W", 0, 24),
        event(6, COMPLETE, "W", 0, 24),
    ]);
    let expected = Request {
        flags: Flags::METADATA | Flags::PREFLUSH | Flags::FUA,
        origin: Some(WriteOrigin { metadata_bytes: bytes(8), directory_bytes: 0 }),
        ..request((5, Some(6)), RequestKind::Write, 0, 24)
    };
    assert_eq!(found, [expected]);
}

#[test]
fn the_requests_of_a_split_bio_share_its_metadata() {
    let found = requests(&[
        event(1, QUEUE, "WM", 0, 24),
        event(2, ISSUE, "WM", 0, 16),
        event(3, ISSUE, "WM", 16, 8),
        event(4, COMPLETE, "WM", 16, 8),
        event(5, COMPLETE, "WM", 0, 16),
    ]);
    let metadata = found.iter().map(|request| request.origin.unwrap().metadata_bytes);
    assert_eq!(metadata.collect::<Vec<_>>(), [bytes(16), bytes(8)]);
}

#[test]
fn a_request_completed_in_parts_is_one_and_done_with_the_last() {
    let found = requests(&[
        event(1, QUEUE, "WM", 4, 8),
        event(2, ISSUE, "W", 0, 24),
        event(3, COMPLETE, "W", 0, 8),
        event(4, COMPLETE, "W", 8, 15),
        event(5, COMPLETE, "W", 23, 1),
    ]);
    let expected = Request {
        flags: Flags::METADATA,
        origin: Some(WriteOrigin { metadata_bytes: bytes(8), directory_bytes: 0 }),
        ..request((2, Some(5)), RequestKind::Write, 0, 24)
    };
    assert_eq!(found, [expected]);
}

#[test]
fn what_a_driver_gives_back_is_issued_once_more() {
    let given_back =
        |time_ns| [event(time_ns, ISSUE, "W", 0, 8), event(time_ns + 1, REQUEUE, "W", 0, 8)];
    let mut events = [given_back(1), given_back(3)].concat();
    events.push(event(5, ISSUE, "W", 99, 1));
    // Merged with another one meanwhile.
    events.push(event(6, ISSUE, "W", 0, 16));
    events.push(event(7, COMPLETE, "W", 0, 16));
    events.push(event(8, COMPLETE, "W", 99, 1));
    let expected = [
        request((5, Some(8)), RequestKind::Write, 99, 1),
        request((6, Some(7)), RequestKind::Write, 0, 16),
    ];
    assert_eq!(requests(&events), expected);
}

#[test]
fn what_is_given_back_in_part_is_two_requests() {
    let found = requests(&[
        event(1, ISSUE, "W", 0, 8),
        event(2, COMPLETE, "W", 0, 5),
        event(3, REQUEUE, "W", 5, 3),
        event(4, ISSUE, "W", 5, 3),
        event(5, COMPLETE, "W", 5, 3),
    ]);
    let expected = [
        request((1, Some(2)), RequestKind::Write, 0, 5),
        request((4, Some(5)), RequestKind::Write, 5, 3),
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_completion_of_what_was_not_seen_issued_is_a_request() {
    let found = requests(&[
        event(1, ISSUE, "W", 0, 8),
        event(2, COMPLETE, "W", 0, 16),
        event(3, COMPLETE, "R", 0, 8),
        event(4, COMPLETE, "W", 0, 8),
    ]);
    let expected = [
        request((1, Some(4)), RequestKind::Write, 0, 8),
        request((2, Some(2)), RequestKind::Write, 0, 16),
        request((3, Some(3)), RequestKind::Read, 0, 8),
    ];
    assert_eq!(found, expected);
}

#[test]
fn equal_requests_are_done_in_their_order() {
    let found = requests(&[
        event(1, ISSUE, "W", 0, 8),
        event(2, ISSUE, "W", 0, 8),
        event(3, COMPLETE, "W", 0, 8),
        event(4, COMPLETE, "W", 0, 8),
    ]);
    let expected = [
        request((1, Some(3)), RequestKind::Write, 0, 8),
        request((2, Some(4)), RequestKind::Write, 0, 8),
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_flush_has_no_place_and_what_asked_for_it_is_none() {
    // As a write with preflush and FUA comes to a drive that knows no FUA.
    let found = requests(&[
        event(1, QUEUE, "FWFSM", 40, 2),
        event(2, ISSUE, "FF", 0, 0),
        event(3, COMPLETE, "FF", u64::MAX, 0),
        event(4, ISSUE, "WSM", 40, 2),
        event(5, COMPLETE, "WSM", 40, 2),
        event(6, ISSUE, "FF", 0, 0),
        event(7, COMPLETE, "FF", u64::MAX, 0),
        event(8, COMPLETE, "WSM", 40, 0),
        event(9, QUEUE, "FWS", 0, 0),
    ]);
    let data = Request {
        flags: Flags::PREFLUSH | Flags::FUA | Flags::SYNC | Flags::METADATA,
        origin: Some(WriteOrigin { metadata_bytes: bytes(2), directory_bytes: 0 }),
        ..request((4, Some(5)), RequestKind::Write, 40, 2)
    };
    let flush = |issued, completed| request((issued, Some(completed)), RequestKind::Flush, 0, 0);
    assert_eq!(found, [flush(2, 3), data, flush(6, 7)]);
}

#[test]
fn kinds_are_told_as_old_and_new_kernels_tell_them() {
    let found = requests(&[
        event(1, ISSUE, "RA", 0, 8),
        event(2, ISSUE, "N", 8, 8),
        event(3, ISSUE, "WZS", 16, 8),
        event(4, ISSUE, "DE", 24, 8),
        event(5, ISSUE, "N", 0, 0),
        event(6, COMPLETE, "N", u64::MAX, 8),
    ]);
    let kinds = found.iter().map(|request| (request.kind, request.flags)).collect::<Vec<_>>();
    let expected = [
        (RequestKind::Read, Flags::READAHEAD),
        (RequestKind::WriteZeroes, Flags::empty()),
        (RequestKind::WriteZeroes, Flags::SYNC),
        (RequestKind::Discard, Flags::empty()),
    ];
    assert_eq!(kinds, expected);
    assert!(found.iter().all(|request| request.completed_ns.is_none()));
}

#[test]
fn requests_of_zoned_drives_are_refused() {
    let mut assembler = Assembler::new(layout(), disk(device()));
    let zoned = record(&[event(1, ISSUE, "ZA", 0, 8)]);
    let error = assembler.take(&zoned[0]).unwrap_err().to_string();
    assert!(
        error.starts_with("the operation of a trace's sub-buffer is \"ZA\", not R,"),
        "{error}"
    );
}

#[test]
fn a_request_leaves_once_all_before_it_are_known_to_be_done() {
    let mut assembler = assembler_of(
        disk(device()),
        &[
            vec![event(10, ISSUE, "W", 0, 8), event(12, ISSUE, "W", 8, 8)],
            vec![event(11, COMPLETE, "W", 0, 8), event(15, COMPLETE, "W", 8, 8)],
        ],
    );
    assert_eq!(popped(&mut assembler), []);
    assembler.advance(10);
    assert_eq!(popped(&mut assembler), []);
    assembler.advance(14);
    assert_eq!(popped(&mut assembler), [request((10, Some(11)), RequestKind::Write, 0, 8)]);
    // A processor that is read late, but before the time is said to be over.
    for sub_buffer in record(&[event(15, ISSUE, "W", 16, 8), event(16, COMPLETE, "W", 16, 8)]) {
        assembler.take(&sub_buffer).unwrap();
    }
    let rest = [
        request((12, Some(15)), RequestKind::Write, 8, 8),
        request((15, Some(16)), RequestKind::Write, 16, 8),
    ];
    assert_eq!(ended(assembler), rest);
}

#[test]
fn what_never_ends_is_given_at_the_end() {
    let mut assembler = assembler_of(
        disk(device()),
        &[vec![
            event(1, ISSUE, "W", 0, 8),
            event(2, COMPLETE, "W", 0, 4),
            event(3, ISSUE, "W", 8, 8),
            event(4, COMPLETE, "W", 8, 8),
        ]],
    );
    assembler.advance(u64::MAX);
    assert_eq!(popped(&mut assembler), []);
    let expected = [
        request((1, None), RequestKind::Write, 0, 8),
        request((3, Some(4)), RequestKind::Write, 8, 8),
    ];
    assert_eq!(ended(assembler), expected);
}

#[test]
fn a_partition_has_its_own_requests_and_the_disk_s_flushes() {
    let (partition, other) = (device_number(259, 1), device_number(259, 2));
    let target = TracedDevice { disk: device(), partition: Some(partition), sectors: 100..200 };
    assert_eq!(target.filter(), format!("dev == {} || dev == {partition}", device()));
    let events = [
        Event { device: partition, ..event(1, QUEUE, "WM", 100, 8) },
        Event { device: other, ..event(2, QUEUE, "WM", 108, 8) },
        event(3, ISSUE, "W", 100, 16),
        event(4, ISSUE, "W", 92, 8),
        event(5, ISSUE, "W", 192, 16),
        event(6, ISSUE, "W", 200, 8),
        event(7, ISSUE, "FF", 0, 0),
        Event { device: other, ..event(8, ISSUE, "W", 150, 8) },
        event(9, COMPLETE, "W", 100, 16),
    ];
    let first = Request {
        flags: Flags::METADATA,
        origin: Some(WriteOrigin { metadata_bytes: bytes(8), directory_bytes: 0 }),
        ..request((3, Some(9)), RequestKind::Write, 0, 16)
    };
    let expected = [
        first,
        request((5, None), RequestKind::Write, 92, 8),
        request((7, None), RequestKind::Flush, 0, 0),
    ];
    assert_eq!(ended(assembler_of(target, &[events.to_vec()])), expected);
}

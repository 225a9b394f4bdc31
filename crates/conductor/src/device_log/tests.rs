use ssdlab_operations::cuts::CutMoment;

use super::*;

const CAPACITY_BYTES: u64 = 1 << 20;

fn mark(text: &str) -> DeviceLogEntry {
    DeviceLogEntry::Mark(text.to_owned())
}

/// A request for the first page.
fn request(kind: RequestKind, flags: Flags) -> DeviceLogEntry {
    let length_bytes = if kind == RequestKind::Flush { 0 } else { 4096 };
    let request = Request {
        submitted_ns: 0,
        completed_ns: None,
        kind,
        offset_bytes: 0,
        length_bytes,
        flags,
        origin: None,
    };
    let data = if kind == RequestKind::Write { vec![7; 4096] } else { Vec::new() };
    DeviceLogEntry::Request(request, data)
}

fn read(entries: Vec<DeviceLogEntry>) -> Result<LoggedDevice, DeviceLogError> {
    LoggedDevice::of(entries.into_iter().map(Ok), Memory::new(CAPACITY_BYTES))
}

/// A log with a request of each kind, each in an entry of its own.
fn log() -> LoggedDevice {
    read(vec![
        request(RequestKind::Write, Flags::empty()),
        mark("made"),
        request(RequestKind::Flush, Flags::empty()),
        request(RequestKind::Write, Flags::FUA | Flags::PREFLUSH),
        request(RequestKind::Discard, Flags::empty()),
        mark(END),
    ])
    .unwrap()
}

#[test]
fn an_entry_takes_four_ticks_its_flush_before_its_write() {
    let extent = Extent { offset_bytes: 0, length_bytes: 4096 };
    let write = Command::Write(extent, Stream::default());
    let log = log();
    let requests = log.requests.log.iter().map(|of| {
        assert_eq!(of.completed, Some(Nanos(of.submitted.0 + 1)));
        (of.submitted.0, of.command, of.is_fua)
    });
    let expected = [
        (2, write, false),
        (8, Command::Flush, false),
        (12, Command::Flush, false),
        (14, write, true),
        (18, Command::Discard(extent), false),
    ];
    assert_eq!(requests.collect::<Vec<_>>(), expected);
    assert_eq!(log.trial_log.durable, [Nanos(15)]);
    assert_eq!(log.trial_log.over, Nanos(20));
    let phases = [(Nanos(0), String::new()), (Nanos(4), "made".to_owned())];
    assert_eq!(log.trial_log.phases, phases);
    assert_eq!(log.entries(), 6);
}

#[test]
fn a_case_names_its_entry_and_mark() {
    let outcome = |at_ns, phase: &str| CutOutcome {
        cut: 3,
        survivor: 1,
        state: None,
        at_ns,
        moment: CutMoment::Random,
        phase: phase.to_owned(),
        unmountable: None,
        recovery_ns: Some(5),
        amiss: None,
        unchecked: false,
        checked_before: None,
        unpromised: None,
        verdict: None,
        data: None,
    };
    let case = LoggedDevice::case(outcome(15, "made"));
    assert_eq!((case.cut, case.survivor, case.entry), (3, 1, 3));
    assert_eq!(case.mark.as_deref(), Some("made"));
    assert_eq!(LoggedDevice::case(outcome(3, "")).mark, None);
    assert_eq!(LoggedDevice::case(outcome(3, "")).entry, 0);
}

#[test]
fn cuts_begin_after_a_mark_that_something_follows() {
    let mut log = log();
    log.begin_after("made").unwrap();
    assert_eq!(log.trial_log.phases, [(Nanos(4), "made".to_owned())]);
    let error = |mark: &str, entries| {
        read(entries).and_then(|mut log| log.begin_after(mark)).unwrap_err().to_string()
    };
    let write = || request(RequestKind::Write, Flags::empty());
    assert_eq!(
        error("mkfs", vec![write(), mark("made"), write(), mark("used")]),
        "the log has no mark \"mkfs\"; its marks are [\"made\", \"used\"]"
    );
    assert_eq!(
        error("made", vec![write(), mark("made"), mark(END)]),
        "the log has no requests after the mark \"made\""
    );
    // What precedes the first mark has no name.
    assert!(error("", vec![write(), mark("made"), write()]).contains("has no mark \"\""));
}

#[test]
fn a_log_of_another_device_is_refused() {
    let beyond = Request {
        submitted_ns: 0,
        completed_ns: None,
        kind: RequestKind::Discard,
        offset_bytes: CAPACITY_BYTES - 512,
        length_bytes: 1024,
        flags: Flags::empty(),
        origin: None,
    };
    let entries = vec![mark("made"), DeviceLogEntry::Request(beyond, Vec::new())];
    assert_eq!(
        read(entries).unwrap_err().to_string(),
        "entry 1 of the log ends at byte 1049088, but the image has 1048576 bytes"
    );
    assert_eq!(read(vec![mark("made")]).unwrap_err().to_string(), "the log has no requests");
}

//! Checks true descriptions and sub-buffers against what the kernel itself prints of them.

use ssdlab_trace::ftrace::{Assembler, RecordLayout, device_number};
use ssdlab_trace::{Flags, Request, RequestKind, TraceFormat, TraceOptions, TraceReader};

use super::{FORMATS, HEADER_PAGE, PROCESSORS, TEXT, disk, ended};

/// An event that the kernel printed.
struct Printed<'a> {
    name: &'a str,
    rwbs: &'a str,
    /// The sector and the number of sectors.
    place: (u64, u64),
}

/// The events of a line like `task-1 [000] ..... 7.5: block_rq_issue: 7,0 W 512 () 8 + 1 be,0,4
/// [x]`.
fn printed() -> Vec<Printed<'static>> {
    let event = |line: &'static str| {
        let (head, rest) = line.split_once(": 7,0 ")?;
        let name = head.rsplit(' ').next()?;
        let (before, after) = rest.split_once(" + ")?;
        let sector = before.rsplit(' ').next()?.parse().ok()?;
        let sectors = after.split(' ').next()?.parse().ok()?;
        Some(Printed { name, rwbs: rest.split(' ').next()?, place: (sector, sectors) })
    };
    TEXT.lines().filter(|line| !line.starts_with('#')).map(|line| event(line).unwrap()).collect()
}

fn layout() -> RecordLayout {
    RecordLayout::parse(HEADER_PAGE, FORMATS).unwrap()
}

fn requests() -> Vec<Request> {
    let layout = layout();
    let sub_buffer_bytes = layout.sub_buffer_bytes();
    let mut assembler = Assembler::new(layout, disk(device_number(7, 0)));
    for processor in PROCESSORS {
        for sub_buffer in processor.chunks(sub_buffer_bytes) {
            assembler.take(sub_buffer).unwrap();
        }
    }
    assert_eq!(assembler.lost(), ssdlab_trace::ftrace::LostEvents::default());
    ended(assembler)
}

#[test]
fn the_length_of_a_sub_buffer_is_described() {
    assert_eq!(layout().sub_buffer_bytes(), 4096);
}

#[test]
fn the_requests_are_those_that_the_kernel_prints_as_issued() {
    let found = requests();
    let events = printed();
    let issued = events.iter().filter(|event| event.name == "block_rq_issue");
    let expected: Vec<_> = issued.map(|event| (event.place.0 * 512, event.place.1 * 512)).collect();
    let places: Vec<_> =
        found.iter().map(|request| (request.offset_bytes, request.length_bytes)).collect();
    assert_eq!(places, expected);
    assert!(found.iter().all(|request| request.completed_ns > Some(request.submitted_ns)));
    assert!(found.is_sorted_by_key(|request| request.submitted_ns));
}

#[test]
fn every_byte_of_a_marked_bio_is_in_a_request_with_its_mark() {
    let bios: Vec<_> =
        printed().into_iter().filter(|event| event.name == "block_bio_queue").collect();
    let sum = |is_counted: &dyn Fn(&Printed) -> bool| {
        let counted = bios.iter().filter(|bio| is_counted(bio));
        counted.map(|bio| bio.place.1 * 512).sum::<u64>()
    };
    let found = requests();
    let writes = || found.iter().filter(|request| request.kind == RequestKind::Write);
    let is_write = |bio: &Printed| bio.rwbs.trim_start_matches('F').starts_with('W');
    assert_eq!(writes().map(|write| write.length_bytes).sum::<u64>(), sum(&is_write));

    let metadata = sum(&|bio| is_write(bio) && bio.rwbs.contains('M'));
    assert!(metadata > 0 && metadata < sum(&is_write), "some, but not all of it");
    assert_eq!(writes().map(|write| write.origin.unwrap().metadata_bytes).sum::<u64>(), metadata);

    for (flag, letters) in [(Flags::PREFLUSH, "FW"), (Flags::FUA, "WF")] {
        let marked = sum(&|bio| bio.rwbs.contains(letters));
        let flagged = writes().filter(|write| write.flags.contains(flag));
        assert!(marked > 0);
        assert_eq!(flagged.map(|write| write.length_bytes).sum::<u64>(), marked, "{flag:?}");
    }
}

#[test]
fn flushes_and_discards_are_requests_too() {
    let count = |kind| requests().iter().filter(|request| request.kind == kind).count();
    let issued = |rwbs: &str| {
        let is_it = |event: &&Printed| event.name == "block_rq_issue" && event.rwbs == rwbs;
        printed().iter().filter(is_it).count()
    };
    assert_eq!(
        (count(RequestKind::Flush), count(RequestKind::Discard)),
        (issued("FF"), issued("D"))
    );
    assert!(count(RequestKind::Flush) > 0 && count(RequestKind::Discard) > 0);
}

/// The kernel prints microseconds, and its two outputs differ by a few of them. A request of the
/// text is not marked by the bios in it.
#[test]
fn the_text_gives_the_same_requests_and_latencies_as_the_ring_buffers() {
    let reader = TraceReader::detect(TEXT.as_bytes(), &TraceOptions::default()).unwrap();
    assert_eq!(reader.format(), TraceFormat::Ftrace);
    let of_text: Vec<Request> = reader.collect::<Result<_, _>>().unwrap();
    let found = requests();
    assert_eq!(of_text.len(), found.len());
    for (text, binary) in of_text.iter().zip(&found) {
        let what = |request: &Request| (request.kind, request.offset_bytes, request.length_bytes);
        assert_eq!(what(text), what(binary));
        let latency_ns = |request: &Request| request.completed_ns.unwrap() - request.submitted_ns;
        assert!(latency_ns(text).abs_diff(latency_ns(binary)) <= 5_000, "{text:?} {binary:?}");
    }
}

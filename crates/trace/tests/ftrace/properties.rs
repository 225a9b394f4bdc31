//! Checks what must hold for any trace: no byte is lost or counted twice, and nothing panics.

use proptest::prelude::*;
use proptest::sample::Index;
use ssdlab_trace::ftrace::{Assembler, RecordLayout};
use ssdlab_trace::{Request, RequestKind};

use super::recorder::{COMPLETE, Event, ISSUE, QUEUE, REQUEUE, device, event, record};
use super::{FORMATS, HEADER_PAGE, PROCESSORS, disk, ended, popped, recorder};

/// A request as it comes about: of bios with and without metadata, and done in parts.
#[derive(Debug, Clone)]
struct Made {
    /// The sectors of each bio, and whether they are metadata.
    bios: Vec<(u32, bool)>,
    times_given_back: usize,
    /// How far the first completions reach.
    parts: Vec<Index>,
}

fn made() -> impl Strategy<Value = Made> {
    let bios = prop::collection::vec((1..64_u32, any::<bool>()), 1..4);
    (bios, 0..3_usize, prop::collection::vec(any::<Index>(), 0..3))
        .prop_map(|(bios, times_given_back, parts)| Made { bios, times_given_back, parts })
}

impl Made {
    fn sectors(&self) -> u32 {
        self.bios.iter().map(|bio| bio.0).sum()
    }

    /// What happens to it in turn. Times are not decided yet.
    fn events(&self, first: u64) -> Vec<Event> {
        let mut events = Vec::new();
        let mut sector = first;
        for (sectors, is_metadata) in &self.bios {
            events.push(event(0, QUEUE, if *is_metadata { "WM" } else { "W" }, sector, *sectors));
            sector += u64::from(*sectors);
        }
        for _ in 0..self.times_given_back {
            events.push(event(0, ISSUE, "W", first, self.sectors()));
            events.push(event(0, REQUEUE, "W", first, self.sectors()));
        }
        events.push(event(0, ISSUE, "W", first, self.sectors()));
        let mut ends: Vec<u32> =
            self.parts.iter().map(|part| 1 + u32::try_from(part.index(64)).unwrap()).collect();
        ends.retain(|end| *end < self.sectors());
        ends.push(self.sectors());
        ends.sort_unstable();
        ends.dedup();
        let mut done = 0;
        for end in ends {
            events.push(event(0, COMPLETE, "W", first + u64::from(done), end - done));
            done = end;
        }
        events
    }
}

/// The events of all requests, which go on at once: whose turn it is, each choice says.
fn interleaved(all: &[Made], choices: &[Index]) -> Vec<Event> {
    let mut first = 0;
    let mut waiting: Vec<_> = all
        .iter()
        .map(|made| {
            let events = made.events(first).into_iter();
            first += u64::from(made.sectors());
            events
        })
        .collect();
    let mut choices = choices.iter().cycle();
    let mut events = Vec::new();
    while !waiting.is_empty() {
        let chosen = choices.next().map_or(0, |choice| choice.index(waiting.len()));
        match waiting[chosen].next() {
            Some(event) => events.push(Event { time_ns: 2 * events.len() as u64, ..event }),
            None => drop(waiting.swap_remove(chosen)),
        }
    }
    events
}

/// Reads bytes as a sub-buffer in every way, and checks what is promised of requests.
fn read_as_everything(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let layouts = [
        Ok(recorder::layout()),
        RecordLayout::parse(HEADER_PAGE, FORMATS),
        RecordLayout::parse(HEADER_PAGE, [text.as_ref(); 4]),
        RecordLayout::parse(text.as_ref(), FORMATS),
    ];
    for layout in layouts.into_iter().flatten() {
        for device in [device(), 7 << 20] {
            let mut assembler = Assembler::new(layout.clone(), disk(device));
            let _ = assembler.take(bytes);
            check(&ended(assembler));
        }
    }
}

fn check(requests: &[Request]) {
    assert!(requests.is_sorted_by_key(|request| request.submitted_ns));
    for request in requests {
        assert!(request.completed_ns.is_none_or(|time| time >= request.submitted_ns));
        assert!(request.offset_bytes.checked_add(request.length_bytes).is_some());
        assert_eq!(request.kind == RequestKind::Flush, request.length_bytes == 0);
        assert!(request.origin.unwrap().metadata_bytes <= request.length_bytes);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn no_byte_is_lost_or_counted_twice(
        all in prop::collection::vec(made(), 1..20),
        choices in prop::collection::vec(any::<Index>(), 1..40),
        processors in prop::collection::vec(0..3_usize, 1..40),
        step in 1..20_usize,
    ) {
        let events = interleaved(&all, &choices);
        let mut assembler = Assembler::new(recorder::layout(), disk(device()));
        let mut found = Vec::new();
        let mut processors = processors.iter().cycle();
        for events in events.chunks(step) {
            let mut buffers = [const { Vec::new() }; 3];
            for event in events {
                buffers[*processors.next().unwrap()].push(event.clone());
            }
            for sub_buffer in buffers.iter().flat_map(|events| record(events)) {
                assembler.take(&sub_buffer).unwrap();
            }
            assembler.advance(events.last().unwrap().time_ns);
            found.extend(popped(&mut assembler));
        }
        prop_assert_eq!(assembler.pop(), None, "all is known before the end");
        check(&found);

        let mut places: Vec<_> =
            found.iter().map(|request| (request.offset_bytes, request.length_bytes)).collect();
        places.sort_unstable();
        let mut first = 0;
        let mut expected = Vec::new();
        for made in &all {
            expected.push((first * 512, u64::from(made.sectors()) * 512));
            first += u64::from(made.sectors());
        }
        prop_assert_eq!(places, expected);
        let bios = all.iter().flat_map(|made| &made.bios).filter(|bio| bio.1);
        let metadata_bytes: u64 = bios.map(|bio| u64::from(bio.0) * 512).sum();
        let found: u64 = found.iter().map(|request| request.origin.unwrap().metadata_bytes).sum();
        prop_assert_eq!(found, metadata_bytes);
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..512)) {
        read_as_everything(&bytes);
    }

    #[test]
    fn no_damaged_sub_buffers_panic(
        processor in 0..2_usize,
        damage in prop::collection::vec((any::<Index>(), any::<u8>()), 1..8),
    ) {
        let mut bytes = PROCESSORS[processor][..4096].to_vec();
        for (at, value) in damage {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        read_as_everything(&bytes);
    }

    #[test]
    fn no_damaged_descriptions_panic(
        file in 0..5_usize,
        at in any::<Index>(),
        piece in prop::sample::select(vec!["", ";", "99999999999999999999", "-1", "0", "\n", "["]),
    ) {
        let text = [HEADER_PAGE, FORMATS[0], FORMATS[1], FORMATS[2], FORMATS[3]][file];
        let (before, after) = text.split_at(at.index(text.len()));
        let text = format!("{before}{piece}{}", after.get(1..).unwrap_or_default());
        let both =
            [RecordLayout::parse(&text, FORMATS), RecordLayout::parse(HEADER_PAGE, [&text; 4])];
        for layout in both {
            let Ok(layout) = layout else { continue };
            let mut assembler = Assembler::new(layout, disk(7 << 20));
            let _ = assembler.take(&PROCESSORS[0][..4096]);
            check(&ended(assembler));
        }
    }
}

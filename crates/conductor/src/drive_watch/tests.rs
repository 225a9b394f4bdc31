//! The observations of a drive in a trial, and that a simulation makes the same.

use std::ops::ControlFlow;

use ssdlab_disk::Backend;
use ssdlab_flash::simulation::{self as simulation, TraceFiles};
use ssdlab_flash::{Condition, Drive, Preparation, Specification, presets};
use ssdlab_trace::{ClampedTimes, Flags, Request, RequestKind};

use super::*;

/// A drive is watched from the first phase on, with that moment and the last.
#[test]
fn a_course_begins_with_the_first_phase_and_ends_with_the_trial() {
    let preset = presets::find("x25m-g1").unwrap();
    let specification = Specification::parse(preset.text).unwrap();
    let flash = Mutex::new(Flash::new(Drive::new(specification, 1)));
    let write = |at: u64, page: u64| {
        let data = [1; 4096];
        locked(&flash).write(Nanos(at), page * 4096, &data).unwrap();
        locked(&flash).flush(Nanos(at)).unwrap();
    };
    write(1_000, 0);
    let mut watch = DriveWatch::new(&flash, &[]);
    let second = 1_000_000_000;
    watch.hear(Nanos(2 * second), &Message::<()>::Begins("one".to_owned()));
    for page in 1..=100 {
        write(2 * second + page * 20_000_000, page);
    }
    watch.hear(Nanos(4 * second), &Message::<()>::Over("one".to_owned()));
    watch.hear(Nanos(4 * second), &Message::<()>::Begins("two".to_owned()));
    watch.hear(Nanos(5 * second), &Message::<()>::Over("two".to_owned()));
    watch.hear(Nanos(5 * second), &Message::Done(()));
    assert_eq!(watch.phases["one"].flash_written_bytes, 100 * 4096);
    assert_eq!(watch.phases["two"], FlashActivity::default());
    let course = watch.course.unwrap();
    assert_eq!(course.phases_ns, [("one".to_owned(), 0), ("two".to_owned(), 2 * second)].into());
    assert_eq!((course.at_ns[0], course.host_page_bytes[0]), (0, 0));
    assert!((24..=MOMENTS + 2).contains(&course.at_ns.len()), "{course:?}");
    assert_eq!(course.host_page_bytes.last(), Some(&(100 * 4096)));
    assert_eq!(course.flash_written_bytes.last(), Some(&(100 * 4096)));
}

/// A trial and a simulation of the same requests agree on the bytes written to flash, on a drive
/// that stores half of what it is sent.
#[test]
fn a_phase_counts_what_a_simulation_counts() {
    let text = "name = \"half\"\ncapacity = \"1 MiB\"\nspare_factor = 0.2\n\
                pages_per_block = 4\ncompression = 0.5\n";
    let specification = Specification::parse(text).unwrap();
    let preparation = Preparation::whole(specification, Condition::Filled, 1);
    let (drive, _) = preparation.prepare(&mut ssdlab_flash::unwatched).unwrap();
    let flash = Mutex::new(Flash::new(drive));
    let mut watch = DriveWatch::new(&flash, &[]);
    watch.hear(Nanos(0), &Message::<()>::Begins("one".to_owned()));
    // Out of order, so that the drive has work of its own.
    let offsets = (0..1000_u64).map(|write| write * 7 % 256 * 4096);
    let mut requests = Vec::new();
    for offset_bytes in offsets {
        locked(&flash).write(Nanos(0), offset_bytes, &[1; 4096]).unwrap();
        requests.push(Request {
            submitted_ns: 0,
            completed_ns: None,
            kind: RequestKind::Write,
            offset_bytes,
            length_bytes: 4096,
            flags: Flags::empty(),
            origin: None,
        });
    }
    watch.hear(Nanos(0), &Message::<()>::Over("one".to_owned()));
    watch.hear(Nanos(0), &Message::Done(()));
    let source = TraceFiles { files: Vec::new(), drive: None, is_queued: false };
    let job = simulation::SimulationJob { drive: preparation, source };
    let trace = requests.into_iter().map(Ok);
    let mut watched = |_, _, _| ControlFlow::Continue(());
    let outcome =
        simulation::replay(&job, trace, |_| ClampedTimes::default(), &mut watched).unwrap();
    let (phase, course) = (watch.phases["one"], watch.course.unwrap());
    assert!(outcome.flash_pages > 1000, "{outcome:?}");
    assert_eq!(outcome.flash_written_bytes, outcome.flash_pages * 2048);
    assert_eq!(phase.flash_written_bytes, outcome.flash_written_bytes);
    assert_eq!(course.flash_written_bytes.last(), Some(&outcome.flash_written_bytes));
    assert_eq!(course.wear, outcome.wear);
    let last = outcome.series.last().unwrap();
    assert_eq!(last.moment.flash_written_bytes, outcome.flash_written_bytes);
}

//! What holds for every drive and every sequence of commands.
//!
//! A flash that watches every operation keeps the rules of NAND, and a plain map of what the host
//! has written is the oracle.

mod activity;
mod shadow;
mod strategies;
mod time;
mod watched;
mod wear;

use proptest::prelude::*;
use shadow::{Shadowed, Step};
use ssdlab_flash::{
    Command, Condition, Drive, Extent, FlashCounters, Nanos, Refusal, Specification, Stream,
};
use strategies::{drive_file, steps};

fn specification(text: &str) -> Specification {
    Specification::parse(text).unwrap_or_else(|error| panic!("{error}; {}: {text}", error.help))
}

fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases(300))]

    /// A read returns the last write that was not trimmed, through power cuts and idle times; no
    /// page is programmed twice between erases; the valid pages are the mapped pages.
    #[test]
    fn what_was_written_is_there(text in drive_file(), steps in steps(300)) {
        let mut shadowed = Shadowed::new(specification(&text));
        for step in &steps {
            shadowed.perform(*step);
        }
        shadowed.check();
    }

    /// The same drive and the same commands: the same completions and the same state. A clone is
    /// a snapshot: what is done to one does not show in the other.
    #[test]
    fn equal_input_gives_equal_output(
        text in drive_file(),
        steps in steps(120),
        cut in 0_usize..120,
    ) {
        let perform = |drive: &mut Drive, now: &mut Nanos, steps: &[Step]| -> Vec<Option<Nanos>> {
            steps.iter().map(|step| step.submit(drive, now)).collect()
        };
        let new = || Drive::new(specification(&text), 1);
        let (mut first, mut second) = (new(), new());
        let (mut now, mut other_now) = (Nanos::ZERO, Nanos::ZERO);
        let (before, after) = steps.split_at(cut.min(steps.len()));
        let ends = perform(&mut first, &mut now, before);
        prop_assert_eq!(ends, perform(&mut second, &mut other_now, before));
        let snapshot = (first.clone(), now);
        let ends = perform(&mut first, &mut now, after);
        prop_assert_eq!(&ends, &perform(&mut second, &mut other_now, after));
        let (mut restored, mut now) = snapshot;
        prop_assert_eq!(&ends, &perform(&mut restored, &mut now, after));
        for drive in [&second, &restored] {
            prop_assert_eq!(drive.flash_counters(), first.flash_counters());
            prop_assert_eq!(drive.host_counters(), first.host_counters());
            prop_assert_eq!(drive.wear(), first.wear());
        }
    }

    /// A command that is refused changes nothing.
    #[test]
    fn refused_commands_change_nothing(
        text in drive_file(),
        steps in steps(20),
        offset in any::<u64>(),
        length in any::<u64>(),
    ) {
        let mut drive = Drive::new(specification(&text), 1);
        let mut now = Nanos::ZERO;
        for step in &steps {
            step.submit(&mut drive, &mut now);
        }
        let capacity = drive.specification().capacity_bytes();
        let extents = [
            (offset | 1, 512),
            (0, length | 1),
            (capacity, 512),
            (capacity - 512, 1024),
            (u64::MAX - 511, 512),
        ];
        let (asked, work) = (*drive.host_counters(), *drive.flash_counters());
        for (offset_bytes, length_bytes) in extents {
            let extent = Extent { offset_bytes, length_bytes };
            for command in [
                Command::Read(extent),
                Command::Write(extent, Stream::Hot),
                Command::Discard(extent),
                Command::WriteZeroes(extent),
            ] {
                let refused = drive.submit(now, command);
                let is_right = matches!(
                    refused,
                    Err(Refusal::OutOfRange { .. } | Refusal::Misaligned { .. } | Refusal::WornOut)
                );
                prop_assert!(is_right, "{:?}: {:?}", command, refused);
            }
        }
        prop_assert_eq!((asked, work), (*drive.host_counters(), *drive.flash_counters()));
    }
}

#[test]
fn a_command_for_no_bytes_touches_no_page_even_within_one() {
    let text = "name = \"any\"\ncapacity = \"1 MiB\"\nspare_factor = 0.2\npages_per_block = 4\n";
    let mut drive = Drive::new(specification(text), 1);
    let all = Extent { offset_bytes: 0, length_bytes: 1 << 20 };
    drive.submit(Nanos::ZERO, Command::Write(all, Stream::Cold)).expect("it is in range");
    drive.reset_counts();
    for offset_bytes in [0, 512, 1 << 20] {
        let extent = Extent { offset_bytes, length_bytes: 0 };
        for command in [
            Command::Read(extent),
            Command::Write(extent, Stream::Cold),
            Command::Discard(extent),
            Command::WriteZeroes(extent),
        ] {
            drive.submit(Nanos::ZERO, command).expect("it is in range");
        }
    }
    assert_eq!(*drive.flash_counters(), FlashCounters::default());
    let host = drive.host_counters();
    assert_eq!((host.written_pages, host.trimmed_pages), (0, 0));
}

proptest! {
    #![proptest_config(cases(60))]

    /// Every drive that a file can describe can be conditioned, discarded and written again.
    #[test]
    fn every_drive_can_be_filled_and_filled_again(text in drive_file(), fill in 1_u32..=100) {
        let mut drive = Drive::new(specification(&text), 1);
        let span = (drive.specification().logical_pages * fill / 100).max(1);
        let all = Extent { offset_bytes: 0, length_bytes: drive.specification().capacity_bytes() };
        for condition in [
            Condition::Filled,
            Condition::Overwritten { capacities_ppm: 3_000_000 },
            Condition::Purged,
            Condition::Steady,
        ] {
            let made = drive.condition(condition, span, 1, &mut ssdlab_flash::unwatched);
            made.expect("it does not wear out");
            let mapped = (0..drive.specification().logical_pages)
                .filter(|page| drive.is_mapped(ssdlab_flash::LogicalPage(*page)))
                .count();
            let expected = if condition == Condition::Purged { 0 } else { span as usize };
            prop_assert_eq!(mapped, expected, "{:?}", condition);
            drive.submit(Nanos::ZERO, Command::Discard(all)).expect("it is in range");
            drive.submit(Nanos::ZERO, Command::Write(all, Stream::Cold)).expect("it is in range");
        }
    }
}

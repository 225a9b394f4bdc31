//! Drive files: whatever is accepted makes a drive that can be written.

#![no_main]

use libfuzzer_sys::fuzz_target;
use ssdlab_flash::drive_file::DriveFile;
use ssdlab_flash::{Condition, Preparation};

/// Larger drives are checked, but not made.
const MOST_PAGES: u32 = 1 << 16;

fuzz_target!(|text: &str| {
    let Ok(specification) = DriveFile::parse(text).and_then(|file| file.resolve()) else { return };
    let pages = specification.logical_pages;
    if pages <= MOST_PAGES && specification.blocks <= MOST_PAGES {
        let condition = Condition::Overwritten { capacities_ppm: 2_000_000 };
        let preparation = Preparation::whole(specification, condition, 1);
        let _ = preparation.prepare(&mut ssdlab_flash::unwatched);
    }
});

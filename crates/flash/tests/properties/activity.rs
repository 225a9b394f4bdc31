//! What a drive says it did: bytes as they are stored, and what that means for its life.

use ssdlab_flash::{Command, Drive, Extent, FlashActivity, Moment, Nanos, Stream};

use crate::specification;

#[test]
fn what_is_done_ten_times_a_day_lasts_a_tenth_of_the_time() {
    let repeats_until_worn = Some(36_525.0);
    let activity = FlashActivity { repeats_until_worn, ..FlashActivity::default() };
    for (a_day, years) in [(10.0, 10.0), (1.0, 100.0)] {
        let found = activity.repeated(a_day).years_until_worn.unwrap();
        assert!((found - years).abs() < 1e-9, "{found}");
    }
}

#[test]
fn a_drive_that_halves_each_page_programs_and_reads_half_of_its_bytes() {
    let text = "name = \"half\"\ncapacity = \"1 MiB\"\nspare_factor = 0.2\n\
                pages_per_block = 4\ncompression = 0.5\n";
    let mut drive = Drive::new(specification(text), 1);
    let before = drive.flash_totals();
    let extent = Extent { offset_bytes: 0, length_bytes: 8 * 4096 };
    drive.submit(Nanos::ZERO, Command::Write(extent, Stream::Hot)).unwrap();
    drive.submit(Nanos::ZERO, Command::Read(extent)).unwrap();
    let found = drive.activity_since(&before);
    assert_eq!((found.flash_written_bytes, found.flash_read_bytes), (4 * 4096, 4 * 4096));
    let moment = Moment::of(&drive, Nanos::ZERO);
    assert_eq!((moment.host_page_bytes, moment.flash_written_bytes), (8 * 4096, 4 * 4096));
}

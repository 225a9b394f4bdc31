//! What a drive says it did: bytes as they are stored, and what that means for its life.

use ssdlab_flash::{
    Command, Condition, Drive, DriveSample, Extent, FlashActivity, Nanos, Stream, unwatched,
};

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
fn an_aged_drive_has_the_rest_of_its_life() {
    let text = "name = \"old\"\ncapacity = \"1 MiB\"\nspare_factor = 0.2\npages_per_block = 4\n\
                [wear]\nendurance = 3000\n";
    let mut drive = Drive::new(specification(text), 1);
    let pages = drive.specification().logical_pages;
    drive
        .condition(Condition::Aged { erases: 2900 }, pages, 1, &mut unwatched)
        .expect("it has life");
    let before = drive.flash_totals();
    while drive.activity_since(&before).hottest_erases == 0 {
        let all = Extent { offset_bytes: 0, length_bytes: drive.specification().capacity_bytes() };
        drive.submit(Nanos::ZERO, Command::Write(all, Stream::Hot)).unwrap();
    }
    let activity = drive.activity_since(&before);
    let repeats = activity.repeats_until_worn.unwrap() * activity.hottest_erases as f64;
    assert!((100.0..150.0).contains(&repeats), "{repeats} of 100, and a few of before");
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
    let moment = DriveSample::of(&drive, Nanos::ZERO);
    assert_eq!((moment.host_page_bytes, moment.flash_written_bytes), (8 * 4096, 4 * 4096));
}

/// The same bytes a day, in a few large portions or in many small ones.
#[test]
fn years_by_bytes_do_not_depend_on_how_a_day_is_cut_into_phases() {
    let text = "name = \"card\"\ncapacity = \"8 MiB\"\nspare_factor = 0.2\n\
                pages_per_block = 64\n[wear]\nendurance = 1000\n";
    let of = |portions: u64, a_day: f64| {
        let mut drive = Drive::new(specification(text), 1);
        let before = drive.flash_totals();
        let portion = (1_u64 << 20) / portions;
        let extent = Extent { offset_bytes: 0, length_bytes: portion };
        drive.submit(Nanos::ZERO, Command::Write(extent, Stream::Hot)).unwrap();
        drive.activity_since(&before).repeated(a_day)
    };
    let (few, many) = (of(1, 1.0), of(16, 16.0));
    assert_eq!((few.hottest_erases, many.hottest_erases), (0, 0), "nothing was erased yet");
    let [few, many] = [few, many].map(|found| found.years_by_bytes.unwrap());
    // 8 MiB x 1000 erases at 1 MiB a day.
    assert!((few - 8_000.0 / 365.25).abs() < 0.01 && (few - many).abs() < 1e-9, "{few} {many}");
}

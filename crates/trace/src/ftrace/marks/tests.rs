use super::*;

const META: Flags = Flags::METADATA;

#[test]
fn a_range_takes_its_part_of_a_mark_and_leaves_the_rest() {
    let mut marks = Marks::default();
    assert!(marks.put(Kind::Write, &(10..30), META | Flags::SYNC));
    let middle = marks.take(Kind::Write, &(15..20));
    assert_eq!(middle, Marked { flags: META, metadata_sectors: 5 });
    assert_eq!(marks.take(Kind::Write, &(15..20)), Marked::default());
    assert_eq!(marks.take(Kind::Read, &(0..99)), Marked::default());
    assert_eq!(marks.take(Kind::Write, &(0..99)).metadata_sectors, 15);
    assert!(marks.ranges.is_empty());
}

#[test]
fn a_request_merged_of_several_bios_takes_the_marks_of_all() {
    let mut marks = Marks::default();
    assert!(marks.put(Kind::Write, &(0..8), META));
    assert!(marks.put(Kind::Write, &(8..16), Flags::empty()));
    assert!(marks.put(Kind::Write, &(16..24), Flags::FUA));
    let all = marks.take(Kind::Write, &(0..24));
    assert_eq!(all, Marked { flags: META | Flags::FUA, metadata_sectors: 8 });
}

#[test]
fn the_latest_bio_says_what_its_sectors_are() {
    let mut marks = Marks::default();
    assert!(marks.put(Kind::Write, &(0..8), META));
    assert!(marks.put(Kind::Write, &(4..12), Flags::empty()));
    assert_eq!(marks.take(Kind::Write, &(0..12)).metadata_sectors, 4);
}

use super::*;

const META: Flags = Flags::METADATA;

#[test]
fn a_range_takes_its_part_of_a_mark_and_leaves_the_rest() {
    let mut marks = Marks::default();
    assert!(marks.put(RequestKind::Write, &(10..30), META | Flags::SYNC));
    let middle = marks.take(RequestKind::Write, &(15..20));
    assert_eq!(middle, MarkedRange { flags: META, metadata_sectors: 5 });
    assert_eq!(marks.take(RequestKind::Write, &(15..20)), MarkedRange::default());
    assert_eq!(marks.take(RequestKind::Read, &(0..99)), MarkedRange::default());
    assert_eq!(marks.take(RequestKind::Write, &(0..99)).metadata_sectors, 15);
    assert!(marks.ranges.is_empty());
}

#[test]
fn a_request_merged_of_several_bios_takes_the_marks_of_all() {
    let mut marks = Marks::default();
    assert!(marks.put(RequestKind::Write, &(0..8), META));
    assert!(marks.put(RequestKind::Write, &(8..16), Flags::empty()));
    assert!(marks.put(RequestKind::Write, &(16..24), Flags::FUA));
    let all = marks.take(RequestKind::Write, &(0..24));
    assert_eq!(all, MarkedRange { flags: META | Flags::FUA, metadata_sectors: 8 });
}

#[test]
fn the_latest_bio_says_what_its_sectors_are() {
    let mut marks = Marks::default();
    assert!(marks.put(RequestKind::Write, &(0..8), META));
    assert!(marks.put(RequestKind::Write, &(4..12), Flags::empty()));
    assert_eq!(marks.take(RequestKind::Write, &(0..12)).metadata_sectors, 4);
}

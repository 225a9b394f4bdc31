use super::*;

/// Of 4 GiB, shortened.
const SUPERBLOCK: &str = "\
Reiserfs super block in block 16 on 0x0 of format 3.6 with standard journal
Count of blocks on the device: 1048576
Number of bitmaps: 32
Blocksize: 4096
Objectid map size 2, max 972
Journal parameters:
	Device [0x0]
	Size 8193 blocks (including 1 for journal header) (first block 18)
";

fn parse(text: &str) -> Result<Layout, LayoutFault> {
    super::parse(&[text.to_owned()])
}

#[test]
fn the_journal_is_behind_the_first_bitmap_and_each_other_bitmap_before_what_it_maps() {
    let layout = parse(SUPERBLOCK).unwrap();
    let block = |first, count, kind| Area::of_blocks(first, count, 4096, kind);
    let start = [
        block(16, 1, BlockKind::Superblock),
        block(17, 1, BlockKind::Allocation),
        block(18, 8193, BlockKind::Journal),
        block(32_768, 1, BlockKind::Allocation),
    ];
    assert_eq!(layout.areas()[..4], start);
    assert_eq!(layout.areas().len(), 2 + 32);
}

#[test]
fn a_journal_elsewhere_is_no_area_and_too_many_bitmaps_are_a_fault() {
    let elsewhere = SUPERBLOCK.replace("with standard", "with non-standard");
    let layout = parse(&elsewhere).unwrap();
    assert!(layout.areas().iter().all(|area| area.kind != BlockKind::Journal));
    let many = "Number of bitmaps: 18446744073709551615";
    assert!(parse(&SUPERBLOCK.replace("Number of bitmaps: 32", many)).is_err());
    assert!(parse(&SUPERBLOCK.replace("first block", "at")).is_err());
}

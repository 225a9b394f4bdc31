use super::*;

/// Of 4 GiB, shortened.
const SUPERBLOCK: &str = "\
Info: Segments per section = 1
log_blocksize                 		[0x       c : 12]
log_blocks_per_seg            		[0x       9 : 9]
block_count                   		[0x  100000 : 1048576]
segment0_blkaddr              		[0x     200 : 512]
cp_blkaddr                    		[0x     200 : 512]
sit_blkaddr                   		[0x     600 : 1536]
nat_blkaddr                   		[0x     a00 : 2560]
ssa_blkaddr                   		[0x    1e00 : 7680]
main_blkaddr                  		[0x    2600 : 9728]
";
const SEGMENTS: &str = "\
segment_type(0:HD, 1:WD, 2:CD, 3:HN, 4:WN, 5:CN)

segno:       0	vblocks:  1	seg_type:3	sit_pack:1

  80  00  00  00  00  00  00  00  00  00  00  00  00  00  00  00

segno:       1	vblocks:  0	seg_type:4	sit_pack:1


segno:       2	vblocks:  0	seg_type:0	sit_pack:1
";
const SEGMENT_BYTES: u64 = 2 << 20;

#[test]
fn areas_end_where_the_next_begins() {
    let layout = parse(&[SUPERBLOCK.to_owned()]).unwrap();
    let area = |first, end, kind| Area::of_blocks(first, end - first, 4096, kind);
    let (superblock, allocation) = (BlockKind::Superblock, BlockKind::Allocation);
    let areas = [area(0, 2, superblock), area(512, 1536, superblock), area(1536, 9728, allocation)];
    assert_eq!(layout.areas(), areas);
    assert_eq!(layout.metadata, BlockKind::Inode);
}

#[test]
fn segments_of_nodes_are_inodes_where_owners_are_not_told() {
    let layout = parse(&[SUPERBLOCK, SEGMENTS].map(str::to_owned)).unwrap();
    let main = layout.split(9728 * 4096, 3 * SEGMENT_BYTES).collect::<Vec<_>>();
    assert_eq!(main, [(2 * SEGMENT_BYTES, Some(BlockKind::Inode)), (SEGMENT_BYTES, None)]);
}

#[test]
fn what_cannot_be_is_a_fault() {
    let faulty = |from, to| parse(&[SUPERBLOCK.replace(from, to)]).is_err();
    assert!(faulty(": 12]", ": 64]"));
    assert!(faulty(": 9728]", ": 2000000]"));
    assert!(faulty("cp_blkaddr", "cp"));
    let beyond = SEGMENTS.replace("segno:       1", "segno: 99999999");
    assert!(parse(&[SUPERBLOCK.to_owned(), beyond]).is_err());
}

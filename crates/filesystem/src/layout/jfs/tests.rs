use super::*;

/// Of 4 GiB, shortened.
const PRINTED: &str = "\
[4] s_bsize:		4096		[17] s_logdev:		0x00000000
[6] s_l2bfactor:	3		[19] s_logpxd.len:	4096
[9] pad:		Not Displayed	     s_logpxd.address:	1044480
[10] s_agsize:		0x00002000	[22] s_fsckpxd.len:	83
	JFS_COMMIT	JFS_GROUPCOMMIT	     s_fsckpxd.address:	1044397
display_super: [m]odify or e[x]it: > Inode 2 at block 11, offset 0x400:
[8] di_size:	0x0000000000085000	[27] di_acl.addr2:	0x00000000
";

#[test]
fn the_log_ends_the_device_and_the_block_map_is_as_long_as_its_inode_says() {
    let layout = parse(&[PRINTED.to_owned()]).unwrap();
    let journal = Area::of_blocks(1_044_480, 4096, 4096, BlockKind::Journal);
    assert_eq!(layout.areas().last(), Some(&journal));
    assert_eq!(journal.end_bytes(), 4 << 30);
    let map = Area { offset_bytes: 0x10000, length_bytes: 0x85000, kind: BlockKind::Allocation };
    assert!(layout.areas().contains(&map));
    assert!(parse(&[PRINTED.replace("di_size", "size")]).is_err());
}

#[test]
fn a_log_elsewhere_is_no_area() {
    let elsewhere = PRINTED.replace("s_logpxd.len:	4096", "s_logpxd.len:	0");
    let layout = parse(&[elsewhere.replace("1044480", "0")]).unwrap();
    assert!(layout.areas().iter().all(|area| area.kind != BlockKind::Journal));
}

#[test]
fn blocks_are_told_by_their_headers() {
    // Of the first inodes of files that mkfs.jfs makes.
    let inodes = b"\x5d\x3e\x02\x6b\x10\0\0\0\0\0\0\0\x01\0\0\0\
            \x04\0\0\0\x9b\0\0\0\0\0\0\0\0\0\0\0";
    assert_eq!(contents(inodes), Some(BlockKind::Inode));
    // Headers of a leaf of entries and of one of extents, as the headers named above have them.
    for slots in [[128, 1], [0, 1]] {
        let mut page = [0; 32];
        page[16] = 0x02;
        page[20..22].copy_from_slice(&slots);
        page[24] = 1;
        assert_eq!(contents(&page), Some(BlockKind::Directory));
    }
    assert_eq!(contents(&[0; 32]), None);
    assert_eq!(contents(&[0; 8]), None);
}

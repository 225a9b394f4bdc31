use super::*;

/// Of 4 GiB.
const SUPERBLOCK: &str = "blocksize = 4096\ndblocks = 1048576\nagblocks = 262144\n\
        agblklog = 18\nagcount = 4\nsectsize = 512\nlogstart = 524294\nlogblocks = 16384\n";

#[test]
fn headers_are_at_the_start_of_each_group_and_the_log_is_in_one() {
    let layout = parse(&[SUPERBLOCK.to_owned()]).unwrap();
    let journal = Area::of_blocks(524_294, 16_384, 4096, BlockKind::Journal);
    assert!(layout.areas().contains(&journal));
    assert_eq!(layout.areas().len(), 4 * 2 + 1);
    let group = layout.split(3 << 30, 4096).collect::<Vec<_>>();
    let headers =
        [(512, Some(BlockKind::Superblock)), (1536, Some(BlockKind::Allocation)), (2048, None)];
    assert_eq!(group, headers);
}

#[test]
fn a_log_is_numbered_by_group_where_groups_are_no_power_of_two() {
    // Of 95 GB: groups of 6,225,920 blocks, numbered as if they had 2^23.
    let text = "blocksize = 4096\ndblocks = 24903680\nagblocks = 6225920\nagblklog = 23\n\
            agcount = 4\nsectsize = 512\nlogstart = 16777222\nlogblocks = 16384\n";
    let layout = parse(&[text.to_owned()]).unwrap();
    let journal = Area::of_blocks(2 * 6_225_920 + 6, 16_384, 4096, BlockKind::Journal);
    assert!(layout.areas().contains(&journal));
    let external = text.replace("16777222", "0");
    let kinds = parse(&[external]).unwrap();
    assert!(kinds.areas().iter().all(|area| area.kind != BlockKind::Journal));
}

#[test]
fn what_cannot_be_is_a_fault() {
    let faulty = |from, to| parse(&[SUPERBLOCK.replace(from, to)]).is_err();
    assert!(faulty("agcount = 4", "agcount = 5"));
    assert!(faulty("agcount = 4", "agcount = 18446744073709551615"));
    assert!(faulty("agblklog = 18", "agblklog = 64"));
    assert!(faulty("sectsize = 512", "sectsize = 0"));
    assert!(faulty("logstart = ", ""));
}

#[test]
fn blocks_are_told_by_their_magic_number() {
    let leaf = [&[0; 8][..], &[0x3d, 0xf1, 0, 0]].concat();
    for (block, kind) in [
        (&b"IN\x81\xa4\x03\x02\0\0"[..], Some(BlockKind::Inode)),
        (b"AB3B\0\0\0\x01", Some(BlockKind::Allocation)),
        (b"XDB3\0\0\0\0", Some(BlockKind::Directory)),
        (&leaf, Some(BlockKind::Directory)),
        (b"text of a file", None),
        (b"IN", None),
    ] {
        assert_eq!(contents(block), kind, "{block:?}");
    }
}

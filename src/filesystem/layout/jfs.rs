//! Where jfs keeps what: superblocks, log and block map have places, as `jfs_debugfs` tells; inodes
//! and the pages of its trees can be recognised.
//!
//! Sources: `jfs_debugfs(8)` of jfsutils 1.1.15; in fs/jfs of Linux, `jfs_filsys.h` for what has a
//! fixed place, and `jfs_dinode.h`, `jfs_dtree.h`, `jfs_xtree.h` for what blocks begin with.

use super::answer::Answer;
use super::{Area, Kind, Layout, LayoutFault, Probe, Question};
use crate::filesystem::Call;

pub const LAYOUT: Probe = Probe {
    questions: &[Question {
        call: Call { program: "jfs_debugfs", arguments: &[] },
        // The superblock; inode 2 of the aggregate, which is the block map. `x` leaves each.
        input: "superblock\nx\ninode 2 a\nx\nquit\n",
        answer_file: None,
    }],
    without_owners: &[],
    marks_metadata: false,
    parse,
    contents: Some(contents),
};

const PAGE_BYTES: u64 = 4096;
const SUPERBLOCKS_AT: [u64; 2] = [0x8000, 0xf000];
/// The map of the aggregate's inodes, two pages between the first superblock and the inodes.
const INODE_MAP_AT: u64 = 0x9000;
const INODES_AT: u64 = 0xb000;
const BLOCK_MAP_AT: u64 = 0x10000;

fn parse(answers: &[String]) -> Result<Layout, LayoutFault> {
    let answer = Answer::new(answers, 0, "jfs_debugfs of jfsutils 1.1.15");
    let block_bytes = answer.block_bytes("s_bsize:")?;
    let [log, log_blocks] = [answer.number("s_logpxd.address:")?, answer.number("s_logpxd.len:")?];
    let [work, work_blocks] =
        [answer.number("s_fsckpxd.address:")?, answer.number("s_fsckpxd.len:")?];
    let fixed = |offset_bytes, length_bytes, kind| Area { offset_bytes, length_bytes, kind };
    let areas = [
        fixed(SUPERBLOCKS_AT[0], PAGE_BYTES, Kind::Superblock),
        fixed(SUPERBLOCKS_AT[1], PAGE_BYTES, Kind::Superblock),
        fixed(INODE_MAP_AT, INODES_AT - INODE_MAP_AT, Kind::Allocation),
        fixed(INODES_AT, SUPERBLOCKS_AT[1] - INODES_AT, Kind::Inode),
        fixed(BLOCK_MAP_AT, answer.number("di_size:")?, Kind::Allocation),
        Area::of_blocks(log, log_blocks, block_bytes, Kind::Journal),
    ];
    // The log is behind what fsck works in, or, on another device, that is the last.
    let ends = [(log, log_blocks), (work, work_blocks)];
    let end = ends.map(|(first, count)| first.saturating_add(count)).into_iter().max();
    let size_bytes = end.unwrap_or_default().saturating_mul(block_bytes);
    answer.layout(size_bytes, block_bytes, Kind::Unattributed, areas)
}

/// What a block is. None begins with a magic number; an inode says which fileset it is of and how
/// long its extent is, and a page of a tree how many slots it has and how long it is.
///
/// Pages of the map of the files' inodes and extended attributes say nothing.
fn contents(block: &[u8]) -> Option<Kind> {
    const FILES: [u8; 4] = 16_u32.to_le_bytes();
    /// Of 32 inodes of 512 bytes, in blocks of 4096 bytes, the only size that Linux takes.
    const INODE_EXTENT: [u8; 3] = [4, 0, 0];
    const ONE_BLOCK: [u8; 3] = [1, 0, 0];
    const LEAF_OR_INTERNAL: u8 = 0x02 | 0x04;
    const DIRECTORY_SLOTS: u8 = 128;
    const EXTENT_SLOTS: [u8; 2] = 256_u16.to_le_bytes();

    if block.get(4..8)? == FILES && block.get(16..19)? == INODE_EXTENT {
        return Some(Kind::Inode);
    }
    let slots = block.get(20..22)?;
    let is_page = block[16] & LEAF_OR_INTERNAL != 0 && block.get(24..27)? == ONE_BLOCK;
    let has_slots = slots[0] == DIRECTORY_SLOTS || slots == EXTENT_SLOTS;
    (is_page && has_slots).then_some(Kind::Directory)
}

#[cfg(test)]
mod tests {
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
        let journal = Area::of_blocks(1_044_480, 4096, 4096, Kind::Journal);
        assert_eq!(layout.areas().last(), Some(&journal));
        assert_eq!(journal.end_bytes(), 4 << 30);
        let map = Area { offset_bytes: 0x10000, length_bytes: 0x85000, kind: Kind::Allocation };
        assert!(layout.areas().contains(&map));
        assert!(parse(&[PRINTED.replace("di_size", "size")]).is_err());
    }

    #[test]
    fn a_log_elsewhere_is_no_area() {
        let elsewhere = PRINTED.replace("s_logpxd.len:	4096", "s_logpxd.len:	0");
        let layout = parse(&[elsewhere.replace("1044480", "0")]).unwrap();
        assert!(layout.areas().iter().all(|area| area.kind != Kind::Journal));
    }

    #[test]
    fn blocks_are_told_by_their_headers() {
        // Of the first inodes of files that mkfs.jfs makes.
        let inodes = b"\x5d\x3e\x02\x6b\x10\0\0\0\0\0\0\0\x01\0\0\0\
            \x04\0\0\0\x9b\0\0\0\0\0\0\0\0\0\0\0";
        assert_eq!(contents(inodes), Some(Kind::Inode));
        // Headers of a leaf of entries and of one of extents, as the headers named above have them.
        for slots in [[128, 1], [0, 1]] {
            let mut page = [0; 32];
            page[16] = 0x02;
            page[20..22].copy_from_slice(&slots);
            page[24] = 1;
            assert_eq!(contents(&page), Some(Kind::Directory));
        }
        assert_eq!(contents(&[0; 32]), None);
        assert_eq!(contents(&[0; 8]), None);
    }
}

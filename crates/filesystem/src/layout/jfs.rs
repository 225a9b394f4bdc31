//! The layout of jfs: `jfs_debugfs` gives the offsets of superblocks, log and block map; inodes and
//! tree pages are recognised by their contents.
//!
//! Sources: `jfs_debugfs(8)` of jfsutils 1.1.15; in fs/jfs of Linux, `jfs_filsys.h` for what has a
//! fixed offset, and `jfs_dinode.h`, `jfs_dtree.h`, `jfs_xtree.h` for the first bytes of blocks.

use super::answer::ToolOutput;
use super::{Area, BlockKind, Layout, LayoutFault, LayoutQuery, ToolQuery};
use crate::MkfsCall;

pub const LAYOUT: LayoutQuery = LayoutQuery {
    questions: &[ToolQuery {
        call: MkfsCall { program: "jfs_debugfs", arguments: &[] },
        // The superblock, then inode 2 of the aggregate, which is the block map. `x` leaves each
        // prompt.
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
    let answer = ToolOutput::new(answers, 0, "jfs_debugfs of jfsutils 1.1.15");
    let block_bytes = answer.block_bytes("s_bsize:")?;
    let [log, log_blocks] = [answer.number("s_logpxd.address:")?, answer.number("s_logpxd.len:")?];
    let [work, work_blocks] =
        [answer.number("s_fsckpxd.address:")?, answer.number("s_fsckpxd.len:")?];
    let fixed = |offset_bytes, length_bytes, kind| Area { offset_bytes, length_bytes, kind };
    let areas = [
        fixed(SUPERBLOCKS_AT[0], PAGE_BYTES, BlockKind::Superblock),
        fixed(SUPERBLOCKS_AT[1], PAGE_BYTES, BlockKind::Superblock),
        fixed(INODE_MAP_AT, INODES_AT - INODE_MAP_AT, BlockKind::Allocation),
        fixed(INODES_AT, SUPERBLOCKS_AT[1] - INODES_AT, BlockKind::Inode),
        fixed(BLOCK_MAP_AT, answer.number("di_size:")?, BlockKind::Allocation),
        Area::of_blocks(log, log_blocks, block_bytes, BlockKind::Journal),
    ];
    // The log follows fsck's work area; if the log is external, that area comes last.
    let ends = [(log, log_blocks), (work, work_blocks)];
    let end = ends.map(|(first, count)| first.saturating_add(count)).into_iter().max();
    let size_bytes = end.unwrap_or_default().saturating_mul(block_bytes);
    answer.layout(size_bytes, block_bytes, BlockKind::Unattributed, areas)
}

/// The kind of a block. There are no magic numbers; an inode names its fileset and the length of
/// its extent, a tree page its number of slots and its length.
///
/// Pages of the fileset's inode map and extended attributes cannot be recognised.
fn contents(block: &[u8]) -> Option<BlockKind> {
    const FILES: [u8; 4] = 16_u32.to_le_bytes();
    /// For 32 inodes of 512 bytes, in blocks of 4096 bytes, the only size Linux supports.
    const INODE_EXTENT: [u8; 3] = [4, 0, 0];
    const ONE_BLOCK: [u8; 3] = [1, 0, 0];
    const LEAF_OR_INTERNAL: u8 = 0x02 | 0x04;
    const DIRECTORY_SLOTS: u8 = 128;
    const EXTENT_SLOTS: [u8; 2] = 256_u16.to_le_bytes();

    if block.get(4..8)? == FILES && block.get(16..19)? == INODE_EXTENT {
        return Some(BlockKind::Inode);
    }
    let slots = block.get(20..22)?;
    let is_page = block[16] & LEAF_OR_INTERNAL != 0 && block.get(24..27)? == ONE_BLOCK;
    let has_slots = slots[0] == DIRECTORY_SLOTS || slots == EXTENT_SLOTS;
    (is_page && has_slots).then_some(BlockKind::Directory)
}

#[cfg(test)]
mod tests;

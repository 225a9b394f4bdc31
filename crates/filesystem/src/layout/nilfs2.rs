//! The layout of nilfs2: nilfs-tune locates the two superblocks; everything else is one log in
//! which files and metadata mix.
//!
//! Sources: nilfs-tune(8) of nilfs-tools 2.2; `nilfs2_ondisk.h` in include/uapi/linux
//! (`NILFS_SB_OFFSET_BYTES`, `NILFS_SB2_OFFSET_BYTES`).

use super::answer::ToolOutput;
use super::{Area, BlockKind, Layout, LayoutFault, LayoutQuery, ToolQuery};

pub const LAYOUT: LayoutQuery = LayoutQuery {
    questions: &[ToolQuery::of("nilfs-tune", &["-l"])],
    without_owners: &[],
    marks_metadata: false,
    parse,
    contents: None,
};

const SUPERBLOCK_AT: u64 = 1024;
/// The second superblock starts at the device's last block of this size.
const SECOND_ALIGNED_TO: u64 = 4096;

fn parse(answers: &[String]) -> Result<Layout, LayoutFault> {
    let superblock = ToolOutput::new(answers, 0, "nilfs-tune -l of nilfs-tools 2.2");
    let block_bytes = superblock.block_bytes("Block size:")?;
    let size_bytes = superblock.number("Device size:")?;
    let second = (size_bytes / SECOND_ALIGNED_TO).saturating_sub(1) * SECOND_ALIGNED_TO;
    let areas = [SUPERBLOCK_AT, second]
        .map(|at| Area::of_blocks(at / block_bytes, 1, block_bytes, BlockKind::Superblock));
    superblock.layout(size_bytes, block_bytes, BlockKind::CowMetadata, areas)
}

#[cfg(test)]
mod tests;

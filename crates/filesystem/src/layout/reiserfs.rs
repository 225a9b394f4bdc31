//! The layout of reiserfs: debugreiserfs locates the journal and the bitmaps; the rest is one tree.
//!
//! A tree node mixes inodes, directory entries, block pointers and file tails, so a write to it has
//! no single kind.
//!
//! Sources: debugreiserfs(8) of reiserfsprogs 3.6.27; fs/reiserfs/bitmap.c in Linux 6.1: the first
//! bitmap follows the superblock, each other one is the first of the blocks it maps.

use super::answer::ToolOutput;
use super::{Area, BlockKind, Layout, LayoutFault, LayoutQuery, ToolQuery};

pub const LAYOUT: LayoutQuery = LayoutQuery {
    questions: &[ToolQuery::of("debugreiserfs", &[])],
    without_owners: &[],
    marks_metadata: false,
    parse,
    contents: None,
};

fn parse(answers: &[String]) -> Result<Layout, LayoutFault> {
    let superblock = ToolOutput::new(answers, 0, "debugreiserfs of reiserfsprogs 3.6.27");
    let block_bytes = superblock.block_bytes("Blocksize:")?;
    let blocks = superblock.number("Count of blocks on the device:")?;
    let at = superblock.number("Reiserfs super block in block")?;
    let mapped_blocks = block_bytes * 8;
    let bitmaps = (0..superblock.number("Number of bitmaps:")?).map(|number| match number {
        0 => at.saturating_add(1),
        _ => mapped_blocks.saturating_mul(number),
    });
    let bitmaps =
        bitmaps.map(|block| Area::of_blocks(block, 1, block_bytes, BlockKind::Allocation));
    let areas = [Area::of_blocks(at, 1, block_bytes, BlockKind::Superblock)]
        .into_iter()
        .chain(journal(&superblock, block_bytes)?)
        .chain(bitmaps);
    let size_bytes = blocks.saturating_mul(block_bytes);
    superblock.layout(size_bytes, block_bytes, BlockKind::Unattributed, areas)
}

/// The journal with its header: `Size 8193 blocks (including 1 for journal header) (first block
/// 18)`. An external journal is `non-standard`.
fn journal(superblock: &ToolOutput, block_bytes: u64) -> Result<Option<Area>, LayoutFault> {
    if !superblock.text.contains("with standard journal") {
        return Ok(None);
    }
    let first = superblock.number("first block")?;
    let count = superblock.number("Size")?;
    Ok(Some(Area::of_blocks(first, count, block_bytes, BlockKind::Journal)))
}

#[cfg(test)]
mod tests;

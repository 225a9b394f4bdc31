//! The layout of f2fs: areas whose offsets are in the superblock; segments of the main area hold
//! nodes or data.
//!
//! Segments for hot data hold directories but also files with few dirty pages (`FI_HOT_DATA`,
//! fs/f2fs/data.c in Linux), so they cannot tell them apart. Nodes are not marked as metadata, but
//! belong to an internal inode.
//!
//! Sources: dump.f2fs(8) of f2fs-tools 1.15; Documentation/filesystems/f2fs.rst in the kernel,
//! "On-disk Layout".

use super::answer::{ToolOutput, leading_number};
use super::{Area, BlockKind, Layout, LayoutFault, LayoutQuery, ToolQuery};
use crate::MkfsCall;

pub const LAYOUT: LayoutQuery = LayoutQuery {
    questions: &[ToolQuery::of("dump.f2fs", &["-d1"])],
    without_owners: &[ToolQuery {
        call: MkfsCall { program: "dump.f2fs", arguments: &["-s", "0~-1"] },
        input: "",
        answer_file: Some("dump_sit"),
    }],
    marks_metadata: true,
    parse,
    contents: None,
};

fn parse(answers: &[String]) -> Result<Layout, LayoutFault> {
    let superblock = ToolOutput::new(answers, 0, "dump.f2fs -d1 of f2fs-tools 1.15");
    let field = |name| field(&superblock, name);
    let shift = |name| match field(name)? {
        bits @ 0..32 => Ok(1_u64 << bits),
        bits => Err(superblock.fault(format!("less than 32 as `{name}`"), bits.to_string())),
    };
    let block_bytes = shift("log_blocksize")?;
    let segment_blocks = shift("log_blocks_per_seg")?;
    let [checkpoints, maps, main] =
        [field("cp_blkaddr")?, field("sit_blkaddr")?, field("main_blkaddr")?];
    let between = |from: u64, to: u64, kind| {
        Area::of_blocks(from, to.saturating_sub(from), block_bytes, kind)
    };
    let fixed = [
        Area::of_blocks(0, 2, block_bytes, BlockKind::Superblock),
        between(checkpoints, maps, BlockKind::Superblock),
        // The segment information table, node address table and segment summary area.
        between(maps, main, BlockKind::Allocation),
    ];
    let nodes = answers.get(1).into_iter().flat_map(|text| node_segments(text)).map(|segment| {
        let first = segment.saturating_mul(segment_blocks).saturating_add(main);
        Area::of_blocks(first, segment_blocks, block_bytes, BlockKind::Inode)
    });
    let size_bytes = field("block_count")?.saturating_mul(block_bytes);
    let areas = fixed.into_iter().chain(nodes);
    superblock.layout(size_bytes, block_bytes, BlockKind::Inode, areas)
}

/// A field of the superblock: `main_blkaddr    [0x    2600 : 9728]`.
fn field(superblock: &ToolOutput, name: &str) -> Result<u64, LayoutFault> {
    let value = superblock.text.lines().find_map(|line| {
        let rest = line.strip_prefix(name)?.trim_start().strip_prefix('[')?;
        leading_number(rest.split_once(" : ")?.1)
    });
    value.ok_or_else(|| superblock.missing(name))
}

/// The node segments, which have types 3 to 5 even after they were freed: `segno: 1 vblocks: 0
/// seg_type:4 sit_pack:1`.
fn node_segments(text: &str) -> impl Iterator<Item = u64> {
    text.lines().filter_map(|line| {
        let (segment, rest) = line.strip_prefix("segno:")?.split_once("seg_type:")?;
        rest.starts_with(['3', '4', '5']).then(|| leading_number(segment.trim_start()))?
    })
}

#[cfg(test)]
mod tests;

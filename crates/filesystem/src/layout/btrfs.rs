//! The layout of btrfs: chunks of data and of metadata, listed in its chunk tree.
//!
//! Chunks are as they were at unmount; one that became empty and was freed before is missing.
//!
//! Sources: btrfs-inspect-internal(8) of btrfs-progs 6.2; btrfs(5), "superblock", for the offsets
//! of the superblock copies, which lie inside chunks.

use super::answer::{ToolOutput, leading_number};
use super::{Area, BlockKind, Layout, LayoutFault, LayoutQuery, ToolQuery};

pub const LAYOUT: LayoutQuery = LayoutQuery {
    questions: &[ToolQuery::of("btrfs", &["inspect-internal", "dump-tree", "-t", "chunk"])],
    without_owners: &[],
    marks_metadata: true,
    parse,
    contents: None,
};

const SUPERBLOCKS_AT: [u64; 3] = [64 << 10, 64 << 20, 256 << 30];
const SUPERBLOCK_BYTES: u64 = 4096;

fn parse(answers: &[String]) -> Result<Layout, LayoutFault> {
    let tree = ToolOutput::new(answers, 0, "btrfs inspect-internal dump-tree of btrfs-progs 6.2");
    let devices = tree.text.matches("DEV_ITEMS DEV_ITEM").count();
    if devices != 1 {
        return Err(tree.fault("a filesystem on one device", format!("{devices} devices")));
    }
    let size_bytes = tree.number("total_bytes")?;
    let block_bytes = tree.block_bytes("sector_size")?;
    let superblocks = SUPERBLOCKS_AT.map(|offset_bytes| Area {
        offset_bytes,
        length_bytes: SUPERBLOCK_BYTES,
        kind: BlockKind::Superblock,
    });
    let fits = |copy: &Area| copy.end_bytes() <= size_bytes;
    let chunks = chunks(&tree)?.into_iter().flat_map(|chunk| around(chunk, &superblocks));
    let areas = superblocks.into_iter().filter(fits).chain(chunks);
    tree.layout(size_bytes, block_bytes, BlockKind::CowMetadata, areas)
}

/// Every stripe: a chunk has a line with its length and type, then one with each stripe's offset.
/// In mixed chunks, the owner of a write tells data from metadata.
fn chunks(tree: &ToolOutput) -> Result<Vec<Area>, LayoutFault> {
    let mut areas = Vec::new();
    let mut chunk = None;
    for line in tree.text.lines().map(str::trim) {
        if line.starts_with("item ") {
            chunk = None;
        } else if let Some((length, kinds)) = line.split_once(" type ")
            && let Some(length) = length.strip_prefix("length ").and_then(leading_number)
        {
            chunk = kind(tree, kinds)?.map(|kind| (length, kind));
        } else if let Some((length_bytes, kind)) = chunk
            && line.starts_with("stripe ")
        {
            let place = line.split_once(" offset ").and_then(|(_, place)| leading_number(place));
            let offset_bytes =
                place.ok_or_else(|| tree.fault("`stripe .. offset BYTES`", format!("`{line}`")))?;
            areas.push(Area { offset_bytes, length_bytes, kind });
        }
    }
    Ok(areas)
}

/// What a chunk holds: `DATA|single`, `METADATA|DUP`. With other profiles, a stripe is only a part
/// of its chunk.
fn kind(tree: &ToolOutput, kinds: &str) -> Result<Option<BlockKind>, LayoutFault> {
    let words: Vec<_> = kinds.split('|').filter(|word| !["single", "DUP"].contains(word)).collect();
    match words[..] {
        ["DATA"] => Ok(Some(BlockKind::Data)),
        ["METADATA" | "SYSTEM"] => Ok(Some(BlockKind::CowMetadata)),
        ["DATA", "METADATA"] | ["METADATA", "DATA"] => Ok(None),
        _ => Err(tree.fault("a type of chunk, single or DUP", format!("`{kinds}`"))),
    }
}

/// The parts of a chunk around the superblocks in it.
fn around(chunk: Area, superblocks: &[Area]) -> Vec<Area> {
    let mut rest = chunk;
    let mut parts = Vec::new();
    for copy in superblocks {
        if copy.offset_bytes >= rest.offset_bytes && copy.end_bytes() <= rest.end_bytes() {
            parts.push(Area { length_bytes: copy.offset_bytes - rest.offset_bytes, ..rest });
            let length_bytes = rest.end_bytes() - copy.end_bytes();
            rest = Area { offset_bytes: copy.end_bytes(), length_bytes, ..rest };
        }
    }
    parts.push(rest);
    parts
}

#[cfg(test)]
mod tests;

//! The layout of ext2, ext3 and ext4, from dumpe2fs and debugfs.
//!
//! All metadata but directories, extents, indirect blocks and extended attributes lies where mkfs
//! put it, so metadata elsewhere is one of those.
//!
//! Sources: dumpe2fs(8), debugfs(8) of e2fsprogs 1.47; Documentation/filesystems/ext4 in the
//! kernel: blockgroup.rst (reserved blocks follow the descriptors), `mmp.rst`, `orphan.rst`.

use super::answer::{ToolOutput, range};
use super::{Area, BlockKind, InodePlaces, Layout, LayoutFault, LayoutQuery, ToolQuery};

/// The inode of a journal inside the filesystem.
const JOURNAL: u64 = 8;
/// The inode mke2fs gives to the orphan file, the next after lost+found.
const ORPHANS: u64 = 12;
/// What a line of `dumpe2fs -g` has.
const SEVEN_FIELDS: &str = "seven fields separated by colons";

pub const LAYOUT: LayoutQuery = LayoutQuery {
    questions: &[
        ToolQuery::of("dumpe2fs", &["-h"]),
        ToolQuery::of("dumpe2fs", &["-g"]),
        // -c: do not read the bitmaps, which takes time.
        ToolQuery::of("debugfs", &["-c", "-R", "stat <8>"]),
        ToolQuery::of("debugfs", &["-c", "-R", "stat <12>"]),
    ],
    without_owners: &[],
    marks_metadata: true,
    parse,
    contents: None,
};

fn parse(answers: &[String]) -> Result<Layout, LayoutFault> {
    let superblock = ToolOutput::new(answers, 0, "dumpe2fs -h of e2fsprogs 1.47");
    let groups = ToolOutput::new(answers, 1, "dumpe2fs -g of e2fsprogs 1.47");
    let journal = ToolOutput::new(answers, 2, "debugfs of e2fsprogs 1.47");
    let orphans = ToolOutput::new(answers, 3, "debugfs of e2fsprogs 1.47");
    let block_bytes = superblock.block_bytes("Block size:")?;
    let mut areas = areas_of_groups(&superblock, &groups, block_bytes)?;
    let mmp = superblock.optional("MMP block number:");
    areas.extend(mmp.map(|block| Area::of_blocks(block, 1, block_bytes, BlockKind::Superblock)));
    // An external journal has no inode here.
    if superblock.optional("Journal inode:") == Some(JOURNAL) {
        areas.extend(areas_of_inode(&journal, block_bytes, BlockKind::Journal)?);
    }
    // The orphan file replaces a list linked through the inodes.
    if superblock.optional("Orphan file inode:") == Some(ORPHANS) {
        areas.extend(areas_of_inode(&orphans, block_bytes, BlockKind::Inode)?);
    }
    let size_bytes = superblock.number("Block count:")?.saturating_mul(block_bytes);
    groups.layout(size_bytes, block_bytes, BlockKind::Directory, areas)
}

/// The areas in lines of `group:block:super:gdt:bbitmap:ibitmap:itable`, where -1 means none.
fn areas_of_groups(
    superblock: &ToolOutput,
    groups: &ToolOutput,
    block_bytes: u64,
) -> Result<Vec<Area>, LayoutFault> {
    let inode_blocks = superblock.number("Inode blocks per group:")?;
    let reserved_blocks = superblock.optional("Reserved GDT blocks:").unwrap_or(0);
    let mut areas = Vec::new();
    for line in group_lines(groups) {
        let fault = || groups.fault(SEVEN_FIELDS, format!("`{line}`"));
        let fields: Vec<_> = line.split(':').map(range).collect();
        let [_, _, copy, descriptors, block_bitmap, inode_bitmap, inode_table] = fields[..] else {
            return Err(fault());
        };
        let reserved = copy
            .and(descriptors)
            .map(|(first, count)| (first.saturating_add(count), reserved_blocks));
        let table = inode_table.ok_or_else(fault)?.0;
        areas.extend(
            [
                (copy, BlockKind::Superblock),
                (descriptors, BlockKind::Superblock),
                (reserved, BlockKind::Superblock),
                (Some(block_bitmap.ok_or_else(fault)?), BlockKind::Allocation),
                (Some(inode_bitmap.ok_or_else(fault)?), BlockKind::Allocation),
                (Some((table, inode_blocks)), BlockKind::Inode),
            ]
            .into_iter()
            .filter_map(|(blocks, kind)| {
                let (first, count) = blocks?;
                Some(Area::of_blocks(first, count, block_bytes, kind))
            }),
        );
    }
    if areas.is_empty() {
        return Err(groups.fault("a line for each group", "none"));
    }
    Ok(areas)
}

fn group_lines<'a>(groups: &ToolOutput<'a>) -> impl Iterator<Item = &'a str> {
    groups.text.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit()))
}

/// Where inodes are, by the first two answers.
pub(super) fn inode_places(answers: &[String]) -> Result<InodePlaces, LayoutFault> {
    let superblock = ToolOutput::new(answers, 0, "dumpe2fs -h of e2fsprogs 1.47");
    let groups = ToolOutput::new(answers, 1, "dumpe2fs -g of e2fsprogs 1.47");
    let block_bytes = superblock.block_bytes("Block size:")?;
    let table = |line: &str| {
        let first = line.split(':').nth(6).and_then(range).map(|(first, _)| first);
        let first = first.ok_or_else(|| groups.fault(SEVEN_FIELDS, format!("`{line}`")))?;
        Ok(first.saturating_mul(block_bytes))
    };
    Ok(InodePlaces::Tables {
        tables: group_lines(&groups).map(table).collect::<Result<_, _>>()?,
        inodes_per_group: superblock.number("Inodes per group:")?,
        inode_bytes: superblock.number("Inode size:")?,
    })
}

/// The blocks of an inode, including those that map the others: `(0-11):1545-1556, (IND):1557`
/// under `BLOCKS:`, or with (ETB0) under `EXTENTS:`.
fn areas_of_inode(
    inode: &ToolOutput,
    block_bytes: u64,
    kind: BlockKind,
) -> Result<Vec<Area>, LayoutFault> {
    let mut lines = inode.text.lines().skip_while(|line| !matches!(*line, "BLOCKS:" | "EXTENTS:"));
    let blocks = lines.nth(1).filter(|line| !line.is_empty());
    let blocks = blocks.ok_or_else(|| inode.fault("blocks of a file", "none"))?;
    let area = |item: &str| {
        let (first, count) = range(item.split_once("):")?.1)?;
        Some(Area::of_blocks(first, count, block_bytes, kind))
    };
    let area =
        |item| area(item).ok_or_else(|| inode.fault("`(PLACE):BLOCKS`", format!("`{item}`")));
    blocks.split(", ").map(area).collect()
}

#[cfg(test)]
mod tests;

//! The layout of ext2, ext3 and ext4, from dumpe2fs and debugfs.
//!
//! All metadata but directories, extents, indirect blocks and extended attributes lies where mkfs
//! put it, so metadata elsewhere is one of those.
//!
//! Sources: dumpe2fs(8), debugfs(8) of e2fsprogs 1.47; Documentation/filesystems/ext4 in the
//! kernel: blockgroup.rst (reserved blocks follow the descriptors), `mmp.rst`, `orphan.rst`.

use super::answer::{Answer, range};
use super::{Area, Kind, Layout, LayoutFault, Probe, Question};

/// The inode of a journal inside the filesystem.
const JOURNAL: u64 = 8;
/// The inode mke2fs gives to the orphan file, the next after lost+found.
const ORPHANS: u64 = 12;

pub const LAYOUT: Probe = Probe {
    questions: &[
        Question::of("dumpe2fs", &["-h"]),
        Question::of("dumpe2fs", &["-g"]),
        // -c: do not read the bitmaps, which takes time.
        Question::of("debugfs", &["-c", "-R", "stat <8>"]),
        Question::of("debugfs", &["-c", "-R", "stat <12>"]),
    ],
    without_owners: &[],
    marks_metadata: true,
    parse,
    contents: None,
};

fn parse(answers: &[String]) -> Result<Layout, LayoutFault> {
    let superblock = Answer::new(answers, 0, "dumpe2fs -h of e2fsprogs 1.47");
    let groups = Answer::new(answers, 1, "dumpe2fs -g of e2fsprogs 1.47");
    let journal = Answer::new(answers, 2, "debugfs of e2fsprogs 1.47");
    let orphans = Answer::new(answers, 3, "debugfs of e2fsprogs 1.47");
    let block_bytes = superblock.block_bytes("Block size:")?;
    let mut areas = areas_of_groups(&superblock, &groups, block_bytes)?;
    let mmp = superblock.optional("MMP block number:");
    areas.extend(mmp.map(|block| Area::of_blocks(block, 1, block_bytes, Kind::Superblock)));
    // An external journal has no inode here.
    if superblock.optional("Journal inode:") == Some(JOURNAL) {
        areas.extend(areas_of_inode(&journal, block_bytes, Kind::Journal)?);
    }
    // The orphan file replaces a list linked through the inodes.
    if superblock.optional("Orphan file inode:") == Some(ORPHANS) {
        areas.extend(areas_of_inode(&orphans, block_bytes, Kind::Inode)?);
    }
    let size_bytes = superblock.number("Block count:")?.saturating_mul(block_bytes);
    groups.layout(size_bytes, block_bytes, Kind::Directory, areas)
}

/// The areas in lines of `group:block:super:gdt:bbitmap:ibitmap:itable`, where -1 means none.
fn areas_of_groups(
    superblock: &Answer,
    groups: &Answer,
    block_bytes: u64,
) -> Result<Vec<Area>, LayoutFault> {
    let inode_blocks = superblock.number("Inode blocks per group:")?;
    let reserved_blocks = superblock.optional("Reserved GDT blocks:").unwrap_or(0);
    let mut areas = Vec::new();
    for line in groups.text.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit())) {
        let fault = || groups.fault("seven fields separated by colons", format!("`{line}`"));
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
                (copy, Kind::Superblock),
                (descriptors, Kind::Superblock),
                (reserved, Kind::Superblock),
                (Some(block_bitmap.ok_or_else(fault)?), Kind::Allocation),
                (Some(inode_bitmap.ok_or_else(fault)?), Kind::Allocation),
                (Some((table, inode_blocks)), Kind::Inode),
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

/// The blocks of an inode, including those that map the others: `(0-11):1545-1556, (IND):1557`
/// under `BLOCKS:`, or with (ETB0) under `EXTENTS:`.
fn areas_of_inode(inode: &Answer, block_bytes: u64, kind: Kind) -> Result<Vec<Area>, LayoutFault> {
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

//! The layout of XFS: `xfs_db` locates the log and the headers of the allocation groups; all other
//! metadata has magic numbers.
//!
//! Sources: `xfs_db(8)` of xfsprogs 6.1; the magic numbers of `xfs_format.h` and `xfs_da_format.h`
//! in fs/xfs/libxfs of Linux, each without and with checksums.

use super::answer::ToolOutput;
use super::{Area, BlockKind, InodePlaces, Layout, LayoutFault, LayoutQuery, ToolQuery};

pub const LAYOUT: LayoutQuery = LayoutQuery {
    questions: &[ToolQuery::of(
        "xfs_db",
        &[
            "-r",
            "-c",
            "sb 0",
            "-c",
            "print blocksize dblocks agblocks agblklog agcount inopblog sectsize logstart \
             logblocks",
        ],
    )],
    without_owners: &[],
    marks_metadata: true,
    parse,
    contents: Some(contents),
};

/// Header sectors at the start of a group: the superblock, then AGF, AGI and AGFL.
const HEADERS: u64 = 4;

fn parse(answers: &[String]) -> Result<Layout, LayoutFault> {
    let superblock = ToolOutput::new(answers, 0, "xfs_db of xfsprogs 6.1");
    let block_bytes = superblock.block_bytes("blocksize =")?;
    let sector_bytes = superblock.block_bytes("sectsize =")?;
    let group_blocks = superblock.number("agblocks =")?;
    let groups = (0..superblock.number("agcount =")?).flat_map(|group| {
        let start = group.saturating_mul(group_blocks).saturating_mul(block_bytes);
        let behind = start.saturating_add(sector_bytes);
        let length_bytes = (HEADERS - 1) * sector_bytes;
        [
            Area { offset_bytes: start, length_bytes: sector_bytes, kind: BlockKind::Superblock },
            Area { offset_bytes: behind, length_bytes, kind: BlockKind::Allocation },
        ]
    });
    let log = log(&superblock, group_blocks, block_bytes)?;
    let size_bytes = superblock.number("dblocks =")?.saturating_mul(block_bytes);
    superblock.layout(
        size_bytes,
        block_bytes,
        BlockKind::Unattributed,
        log.into_iter().chain(groups),
    )
}

/// The log, unless it is external. Its address combines a group number and a block number in it.
fn log(
    superblock: &ToolOutput,
    group_blocks: u64,
    block_bytes: u64,
) -> Result<Option<Area>, LayoutFault> {
    let start = superblock.number("logstart =")?;
    let blocks = superblock.number("logblocks =")?;
    let bits = superblock.number("agblklog =")?;
    if bits >= 64 {
        return Err(superblock.fault("less than 64 after `agblklog =`", bits.to_string()));
    }
    let (group, block) = (start >> bits, start & ((1 << bits) - 1));
    let first = group.saturating_mul(group_blocks).saturating_add(block);
    Ok((start != 0).then(|| Area::of_blocks(first, blocks, block_bytes, BlockKind::Journal)))
}

/// Where inodes are.
pub(super) fn inode_places(answers: &[String]) -> Result<InodePlaces, LayoutFault> {
    let superblock = ToolOutput::new(answers, 0, "xfs_db of xfsprogs 6.1");
    let bits = |label| {
        let bits = superblock.number(label)?;
        let few = u32::try_from(bits).ok().filter(|bits| *bits < 32);
        few.ok_or_else(|| {
            superblock.fault(format!("less than 32 after `{label}`"), bits.to_string())
        })
    };
    let inode_bits = bits("inopblog =")?;
    Ok(InodePlaces::Addresses {
        bits: (bits("agblklog =")? + inode_bits, inode_bits),
        group_blocks: superblock.number("agblocks =")?,
        block_bytes: superblock.block_bytes("blocksize =")?,
    })
}

/// The kind of a block, by its magic number.
///
/// There is none in the later blocks of a multi-block directory block (mkfs.xfs -n size) and,
/// without checksums, in remote attributes and symbolic links.
fn contents(block: &[u8]) -> Option<BlockKind> {
    let kind = match block.first_chunk::<4>()? {
        [b'I', b'N', ..] => BlockKind::Inode,
        // B-trees of free space by block and by length, of inodes, of reverse mappings and of
        // reference counts; and quotas, which count what is allocated.
        b"ABTB"
        | b"AB3B"
        | b"ABTC"
        | b"AB3C"
        | b"IABT"
        | b"IAB3"
        | b"FIBT"
        | b"FIB3"
        | b"RMB3"
        | b"R3FC"
        | [b'D', b'Q', ..] => BlockKind::Allocation,
        // File extents, directory entries, remote attributes, symbolic links.
        b"BMAP" | b"BMA3" | b"XD2B" | b"XDB3" | b"XD2D" | b"XDD3" | b"XD2F" | b"XDF3" | b"XARM"
        | b"XSLM" => BlockKind::Directory,
        // Blocks of directory and attribute B-trees begin with sibling pointers.
        _ => match block.get(8..10)? {
            [0xfe | 0x3e, 0xbe] | [0xd2 | 0x3d, 0xf1 | 0xff] | [0xfb | 0x3b, 0xee] => {
                BlockKind::Directory
            }
            _ => return None,
        },
    };
    Some(kind)
}

#[cfg(test)]
mod tests;

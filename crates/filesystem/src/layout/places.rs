//! Where a filesystem keeps each inode, where its number says that.

/// The places of inodes on the device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InodePlaces {
    /// ext2, ext3, ext4: tables, one for each group.
    Tables {
        /// The first byte of each group's table.
        tables: Vec<u64>,
        /// The inodes in each.
        inodes_per_group: u64,
        /// The length of an inode.
        inode_bytes: u64,
    },
    /// XFS: a number is a group, a block in it and a place in that.
    Addresses {
        /// The bits of the block and place together, and of the place alone.
        bits: (u32, u32),
        group_blocks: u64,
        /// The length of a block.
        block_bytes: u64,
    },
}

impl InodePlaces {
    /// The first byte of the block, or of the inode, with this number on the device; `None` if the
    /// filesystem has no such inode.
    pub fn offset_bytes(&self, inode: u64) -> Option<u64> {
        match self {
            Self::Tables { tables, inodes_per_group, inode_bytes } => {
                let index = inode.checked_sub(1)?;
                let group = usize::try_from(index.checked_div(*inodes_per_group)?).ok()?;
                let within = (index % inodes_per_group).checked_mul(*inode_bytes)?;
                tables.get(group)?.checked_add(within)
            }
            Self::Addresses { bits: (group_bits, inode_bits), group_blocks, block_bytes } => {
                let group = inode.checked_shr(*group_bits)?;
                let within = (inode & (1_u64.checked_shl(*group_bits)? - 1)) >> inode_bits;
                group.checked_mul(*group_blocks)?.checked_add(within)?.checked_mul(*block_bytes)
            }
        }
    }
}

#[cfg(test)]
mod tests;

//! Which filesystems tell where their inodes are.

use super::{InodePlaces, LayoutFault, ext, xfs};

/// Where a filesystem keeps its inodes, from the answers to the questions of its
/// [`LayoutQuery`](super::LayoutQuery); `None` for one whose inodes move.
pub fn inode_places(
    filesystem: &str,
    answers: &[String],
) -> Result<Option<InodePlaces>, LayoutFault> {
    match filesystem {
        "ext2" | "ext3" | "ext4" => ext::inode_places(answers).map(Some),
        "xfs" => xfs::inode_places(answers).map(Some),
        _ => Ok(None),
    }
}

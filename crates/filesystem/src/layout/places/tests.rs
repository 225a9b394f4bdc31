use crate::layout::inode_places;

#[test]
fn inodes_of_ext4_are_in_the_tables_of_their_groups() {
    let superblock = "Block size:               4096\nInodes per group:         8192\n\
                      Inode size:\t          256\n";
    let groups = "group:block:super:gdt:bbitmap:ibitmap:itable\n\
                  0:0:0:1:2:6:10-521\n1:32768:32768:32769:3:7:522-1033\n";
    let answers = [superblock.to_owned(), groups.to_owned()];
    let places = inode_places("ext4", &answers).unwrap().unwrap();
    assert_eq!(places.offset_bytes(1), Some(10 * 4096));
    assert_eq!(places.offset_bytes(18), Some(10 * 4096 + 17 * 256));
    assert_eq!(places.offset_bytes(8193), Some(522 * 4096));
    assert_eq!(places.offset_bytes(0), None);
    assert_eq!(places.offset_bytes(3 * 8192), None);
}

#[test]
fn inodes_of_xfs_are_where_their_numbers_say() {
    let superblock = "blocksize = 4096\nagblocks = 65536\nagblklog = 16\ninopblog = 3\n";
    let places = inode_places("xfs", &[superblock.to_owned()]).unwrap().unwrap();
    assert_eq!(places.offset_bytes(128), Some(16 * 4096));
    assert_eq!(places.offset_bytes((1 << 19) + 128), Some((65536 + 16) * 4096));
}

#[test]
fn those_of_btrfs_move() {
    assert_eq!(inode_places("btrfs", &[]), Ok(None));
}

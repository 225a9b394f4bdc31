use super::*;

/// Of 24 MiB with `-O mmp,orphan_file -b 1024 -J size=4`, shortened.
const SUPERBLOCK: &str = "\
Block count:              24576
Reserved block count:     1228
First block:              1
Block size:               1024
Reserved GDT blocks:      191
Blocks per group:         8192
Inode blocks per group:   86
Journal inode:            8
MMP block number:         472
Orphan file inode:        12
";
const GROUPS: &str = "
group:block:super:gdt:bbitmap:ibitmap:itable
0:1:1:2-2:194:197:200
1:8193:8193:8194-8194:195:198:286
2:16385:-1:-1:196:199:372
";
const JOURNAL: &str = "Size of extra inode fields: 32\nEXTENTS:\n(0-4095):16385-20480\n";
const ORPHANS: &str = "EXTENTS:\n(0-31):473-504\n";
/// Of an inode that is not in use.
const UNUSED: &str = "Size of extra inode fields: 0\nBLOCKS:\n\n";

fn parse(answers: [&str; 4]) -> Result<Layout, LayoutFault> {
    super::parse(&answers.map(str::to_owned))
}

fn kibibytes(layout: &Layout, kind: BlockKind) -> u64 {
    let areas = layout.areas().iter().filter(|area| area.kind == kind);
    areas.map(|area| area.length_bytes).sum::<u64>() / 1024
}

#[test]
fn every_fixed_place_is_found() {
    let layout = parse([SUPERBLOCK, GROUPS, JOURNAL, ORPHANS]).unwrap();
    // Two copies of superblock, descriptors and reserved blocks; one block against double
    // mounts.
    assert_eq!(kibibytes(&layout, BlockKind::Superblock), 2 * (1 + 1 + 191) + 1);
    assert_eq!(kibibytes(&layout, BlockKind::Allocation), 3 * 2);
    assert_eq!(kibibytes(&layout, BlockKind::Inode), 3 * 86 + 32);
    assert_eq!(kibibytes(&layout, BlockKind::Journal), 4096);
    assert_eq!(layout.areas()[0].offset_bytes, 1024);
    // The first block behind the orphans is a directory's.
    assert_eq!(layout.split(505 * 1024, 1024).collect::<Vec<_>>(), [(1024, None)]);
    assert_eq!(layout.metadata, BlockKind::Directory);
}

#[test]
fn blocks_that_map_a_journal_are_of_it() {
    let mapped = "BLOCKS:\n(0-11):500-511, (IND):512, (12-267):513-768\nTOTAL: 269\n";
    let layout = parse([SUPERBLOCK, GROUPS, mapped, ORPHANS]).unwrap_err();
    assert!(layout.expected.contains("overlap"), "{layout}");
    let mapped = mapped.replace("500-511", "600-611").replace("512", "612");
    let mapped = mapped.replace("513-768", "613-868");
    let layout = parse([SUPERBLOCK, GROUPS, &mapped, ORPHANS]).unwrap();
    assert_eq!(kibibytes(&layout, BlockKind::Journal), 269);
    let tree = "EXTENTS:\n(ETB0):16385, (0-9[u]):16386-16395, (10):16400\n";
    let layout = parse([SUPERBLOCK, GROUPS, tree, ORPHANS]).unwrap();
    assert_eq!(kibibytes(&layout, BlockKind::Journal), 12);
}

#[test]
fn without_a_journal_inode_there_is_no_journal() {
    let superblock = SUPERBLOCK.replace("Journal inode:", "Journal device:");
    let layout = parse([&superblock, GROUPS, UNUSED, ORPHANS]).unwrap();
    assert_eq!(kibibytes(&layout, BlockKind::Journal), 0);
    assert!(parse([SUPERBLOCK, GROUPS, UNUSED, ORPHANS]).is_err());
}

#[test]
fn groups_of_descriptors_may_lie_where_no_superblock_does() {
    // -O ^resize_inode,meta_bg: descriptors are in the first two and the last of 16 groups.
    let superblock = SUPERBLOCK.replace("Reserved GDT blocks:      191\n", "");
    let groups = "0:1:1:2:194:197:200\n1:8193:-1:8193:195:198:286\n";
    let layout = parse([&superblock, groups, JOURNAL, ORPHANS]).unwrap();
    assert_eq!(kibibytes(&layout, BlockKind::Superblock), 1 + 1 + 1 + 1);
}

#[test]
fn what_is_not_understood_is_a_fault_and_no_panic() {
    for groups in ["", "0:1:1:2-2:194:197\n", "0:1:1:2-2:-1:197:200\n", "0:1:x"] {
        assert!(parse([SUPERBLOCK, groups, JOURNAL, ORPHANS]).is_err(), "{groups}");
    }
    let far = "0:1:18446744073709551615:2-2:194:197:200\n";
    assert!(parse([SUPERBLOCK, far, JOURNAL, ORPHANS]).is_err());
    assert!(parse(["Block size: 1000\n", GROUPS, JOURNAL, ORPHANS]).is_err());
    assert!(super::parse(&[]).unwrap_err().to_string().contains("dumpe2fs -h"));
}

use super::*;

/// Of 700 MiB with `-m dup`, its data chunks made smaller, shortened.
const TREE: &str = "\
	item 0 key (DEV_ITEMS DEV_ITEM 1) itemoff 16185 itemsize 98
		devid 1 total_bytes 734003200 bytes_used 281018368
		io_align 4096 io_width 4096 sector_size 4096 type 0
	item 1 key (FIRST_CHUNK_TREE CHUNK_ITEM 13631488) itemoff 16105 itemsize 80
		length 8388608 owner 2 stripe_len 65536 type DATA|single
		io_align 65536 io_width 65536 sector_size 4096
		num_stripes 1 sub_stripes 1
			stripe 0 devid 1 offset 13631488
			dev_uuid 5cfbae9f-77c0-4ba6-914f-6b9a60923912
	item 2 key (FIRST_CHUNK_TREE CHUNK_ITEM 22020096) itemoff 15993 itemsize 112
		length 45088768 owner 2 stripe_len 65536 type METADATA|DUP
			stripe 0 devid 1 offset 22020096
			stripe 1 devid 1 offset 67108864
";

fn parse(text: &str) -> Result<Layout, LayoutFault> {
    super::parse(&[text.to_owned()])
}

#[test]
fn both_copies_are_metadata_but_for_the_superblock_in_one() {
    let layout = parse(TREE).unwrap();
    let metadata = layout.areas().iter().filter(|area| area.kind == BlockKind::CowMetadata);
    let bytes: u64 = metadata.map(|area| area.length_bytes).sum();
    assert_eq!(bytes, 2 * 45_088_768 - SUPERBLOCK_BYTES);
    assert_eq!(
        layout.split((64 << 20) - 4096, 3 * 4096).map(|(_, kind)| kind).collect::<Vec<_>>(),
        [Some(BlockKind::CowMetadata), Some(BlockKind::Superblock), Some(BlockKind::CowMetadata)]
    );
    let data = layout.split(13_631_488, 8_388_608).collect::<Vec<_>>();
    assert_eq!(data, [(8_388_608, Some(BlockKind::Data))]);
}

#[test]
fn chunks_of_both_types_are_no_area() {
    let layout = parse(&TREE.replace("METADATA|DUP", "DATA|METADATA|single")).unwrap();
    assert!(layout.areas().iter().all(|area| area.kind != BlockKind::CowMetadata));
    assert_eq!(layout.metadata, BlockKind::CowMetadata);
}

#[test]
fn other_profiles_and_more_devices_are_faults() {
    assert!(parse(&TREE.replace("DATA|single", "DATA|RAID0")).is_err());
    assert!(parse(&format!("{TREE}(DEV_ITEMS DEV_ITEM 2)")).is_err());
    assert!(parse(&TREE.replace("offset 22020096", "offset none")).is_err());
    assert!(parse(&TREE.replace("length 45088768", "length 18446744073709551615")).is_err());
    assert!(parse("").is_err());
}

//! Where btrfs keeps what: its chunks are of data or of metadata, as its tree of chunks tells.
//!
//! Chunks are as they were when the filesystem was left; one that became empty before is in none.
//!
//! Sources: btrfs-inspect-internal(8) of btrfs-progs 6.2; btrfs(5), "superblock", for the places
//! of the copies, which lie inside chunks.

use super::answer::{Answer, leading_number};
use super::{Area, Kind, Layout, LayoutFault, Probe, Question};

pub const LAYOUT: Probe = Probe {
    questions: &[Question::of("btrfs", &["inspect-internal", "dump-tree", "-t", "chunk"])],
    without_owners: &[],
    marks_metadata: true,
    parse,
    contents: None,
};

const SUPERBLOCKS_AT: [u64; 3] = [64 << 10, 64 << 20, 256 << 30];
const SUPERBLOCK_BYTES: u64 = 4096;

fn parse(answers: &[String]) -> Result<Layout, LayoutFault> {
    let tree = Answer::new(answers, 0, "btrfs inspect-internal dump-tree of btrfs-progs 6.2");
    let devices = tree.text.matches("DEV_ITEMS DEV_ITEM").count();
    if devices != 1 {
        return Err(tree.fault("a filesystem on one device", format!("{devices} of them")));
    }
    let size_bytes = tree.number("total_bytes")?;
    let block_bytes = tree.block_bytes("sector_size")?;
    let superblocks = SUPERBLOCKS_AT.map(|offset_bytes| Area {
        offset_bytes,
        length_bytes: SUPERBLOCK_BYTES,
        kind: Kind::Superblock,
    });
    let fits = |copy: &Area| copy.end_bytes() <= size_bytes;
    let chunks = chunks(&tree)?.into_iter().flat_map(|chunk| around(chunk, &superblocks));
    let areas = superblocks.into_iter().filter(fits).chain(chunks);
    tree.layout(size_bytes, block_bytes, Kind::CowMetadata, areas)
}

/// Every stripe: lines of a chunk's length and type, then one for each stripe's place. What is in a
/// chunk of both types its owner tells.
fn chunks(tree: &Answer) -> Result<Vec<Area>, LayoutFault> {
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

/// What a chunk holds: `DATA|single`, `METADATA|DUP`. Stripes of other profiles are parts of it.
fn kind(tree: &Answer, kinds: &str) -> Result<Option<Kind>, LayoutFault> {
    let words: Vec<_> = kinds.split('|').filter(|word| !["single", "DUP"].contains(word)).collect();
    match words[..] {
        ["DATA"] => Ok(Some(Kind::Data)),
        ["METADATA" | "SYSTEM"] => Ok(Some(Kind::CowMetadata)),
        ["DATA", "METADATA"] | ["METADATA", "DATA"] => Ok(None),
        _ => Err(tree.fault("a type of chunk, single or DUP", format!("`{kinds}`"))),
    }
}

/// What is left of a chunk around superblocks in it.
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
mod tests {
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
        let metadata = layout.areas().iter().filter(|area| area.kind == Kind::CowMetadata);
        let bytes: u64 = metadata.map(|area| area.length_bytes).sum();
        assert_eq!(bytes, 2 * 45_088_768 - SUPERBLOCK_BYTES);
        assert_eq!(
            layout.split((64 << 20) - 4096, 3 * 4096).map(|(_, kind)| kind).collect::<Vec<_>>(),
            [Some(Kind::CowMetadata), Some(Kind::Superblock), Some(Kind::CowMetadata)]
        );
        let data = layout.split(13_631_488, 8_388_608).collect::<Vec<_>>();
        assert_eq!(data, [(8_388_608, Some(Kind::Data))]);
    }

    #[test]
    fn chunks_of_both_types_are_no_area() {
        let layout = parse(&TREE.replace("METADATA|DUP", "DATA|METADATA|single")).unwrap();
        assert!(layout.areas().iter().all(|area| area.kind != Kind::CowMetadata));
        assert_eq!(layout.metadata, Kind::CowMetadata);
    }

    #[test]
    fn other_profiles_and_more_devices_are_faults() {
        assert!(parse(&TREE.replace("DATA|single", "DATA|RAID0")).is_err());
        assert!(parse(&format!("{TREE}(DEV_ITEMS DEV_ITEM 2)")).is_err());
        assert!(parse(&TREE.replace("offset 22020096", "offset none")).is_err());
        assert!(parse(&TREE.replace("length 45088768", "length 18446744073709551615")).is_err());
        assert!(parse("").is_err());
    }
}

use super::*;

fn layout(areas: &[(u64, u64, BlockKind)]) -> Layout {
    let area = |&(offset_bytes, length_bytes, kind)| Area { offset_bytes, length_bytes, kind };
    let areas = areas.iter().map(area).collect();
    Layout { areas, block_bytes: 1, metadata: BlockKind::Directory, files: BlockKind::Data }
}

#[test]
fn a_range_is_split_at_every_border() {
    use BlockKind::{Inode, Journal};
    let layout = layout(&[(10, 10, Journal), (20, 5, Inode), (40, 10, Journal)]);
    let split = |offset, length| layout.split(offset, length).collect::<Vec<_>>();
    assert_eq!(split(0, 10), [(10, None)]);
    assert_eq!(split(12, 3), [(3, Some(Journal))]);
    assert_eq!(
        split(5, 45),
        [(5, None), (10, Some(Journal)), (5, Some(Inode)), (15, None), (10, Some(Journal))]
    );
    assert_eq!(split(45, 20), [(5, Some(Journal)), (15, None)]);
    assert_eq!(split(60, u64::MAX), [(u64::MAX - 60, None)]);
    assert_eq!(split(12, 0), []);
}

#[test]
fn no_byte_is_lost_or_told_twice() {
    let kinds = BlockKind::ALL[1..].iter().cycle();
    let areas: Vec<_> = (0..50).zip(kinds).map(|(i, kind)| (i * 7, 3 + i % 5, *kind)).collect();
    let layout = layout(&areas);
    for offset in 0..60 {
        for length in 0..60 {
            let parts: Vec<_> = layout.split(offset, length).collect();
            assert_eq!(parts.iter().map(|(part, _)| part).sum::<u64>(), length);
            assert!(parts.iter().all(|(part, _)| *part > 0));
            let kinds = parts.iter().flat_map(|&(part, kind)| (0..part).map(move |_| kind));
            for (at, kind) in (offset..).zip(kinds) {
                let area = areas.iter().find(|(start, len, _)| (*start..start + len).contains(&at));
                assert_eq!(kind, area.map(|area| area.2), "at {at}");
            }
        }
    }
}

#[test]
fn what_a_guest_tells_is_checked() {
    let told = |areas: &[(u64, u64, BlockKind)]| {
        let text = serde_json::to_string(&layout(areas)).unwrap();
        serde_json::from_str::<Layout>(&text)
    };
    let sorted = [(10, 10, BlockKind::Journal), (20, 5, BlockKind::Inode)];
    assert_eq!(told(&sorted).unwrap(), layout(&sorted));
    assert!(told(&[sorted[1], sorted[0]]).is_err());
    assert!(told(&[(10, 11, BlockKind::Journal), sorted[1]]).is_err());
}

#[test]
fn names_are_different() {
    let names: std::collections::BTreeSet<_> = BlockKind::ALL.map(BlockKind::name).into();
    assert_eq!(names.len(), BlockKind::ALL.len());
}

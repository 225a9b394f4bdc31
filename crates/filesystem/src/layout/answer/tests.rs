use super::*;

fn answer(text: &str) -> ToolOutput<'_> {
    ToolOutput { tool: "a tool", text }
}

#[test]
fn a_label_is_a_whole_word_and_its_number_what_follows() {
    let answer = answer("agblocks = 7\n\tblocks: 0x1f8\nlast: none\n");
    assert_eq!(answer.number("blocks:"), Ok(0x1f8));
    assert_eq!(answer.number("agblocks ="), Ok(7));
    assert_eq!(answer.optional("last:"), None);
    let fault = answer.number("size:").unwrap_err().to_string();
    assert!(fault.contains("the output of a tool: expected a number after `size:`, found none"));
    assert!(answer.block_bytes("agblocks =").is_err());
}

#[test]
fn ranges_are_of_one_block_or_more() {
    assert_eq!(range("5-9"), Some((5, 5)));
    assert_eq!(range("7"), Some((7, 1)));
    assert_eq!(range("-1"), None);
    assert_eq!(range("9-5"), None);
    assert_eq!(range("0-18446744073709551615"), None);
}

#[test]
fn areas_are_sorted_and_joined_and_must_be_disjoint_and_on_the_device() {
    let area = |first, count, kind| Area::of_blocks(first, count, 10, kind);
    let (inode, journal) = (BlockKind::Inode, BlockKind::Journal);
    let of = |areas: &[Area]| answer("").layout(100, 10, BlockKind::Directory, areas.to_vec());
    let layout = of(&[area(3, 1, inode), area(1, 2, inode), area(7, 0, journal)]).unwrap();
    assert_eq!(layout.areas(), [area(1, 3, inode)]);
    assert!(of(&[area(1, 3, inode), area(3, 1, journal)]).is_err());
    assert!(of(&[area(9, 2, inode)]).is_err());
    assert!(of(&[area(u64::MAX, u64::MAX, inode)]).is_err());
    let many = (0..).step_by(2).map(|first| area(first, 1, inode));
    let fault = answer("").layout(u64::MAX, 10, BlockKind::Directory, many).unwrap_err();
    assert_eq!(fault.found, "more");
}

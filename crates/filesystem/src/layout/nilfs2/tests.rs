use super::*;

#[test]
fn the_second_superblock_is_in_the_last_whole_4_kib() {
    let parse = |size: u64| {
        let text = format!("Block size:\t\t  4096\nDevice size:\t\t  {size}\n");
        super::parse(&[text])
    };
    let copy =
        |offset_bytes| Area { offset_bytes, length_bytes: 4096, kind: BlockKind::Superblock };
    assert_eq!(parse(4 << 30).unwrap().areas(), [copy(0), copy((4 << 30) - 4096)]);
    assert_eq!(parse((4 << 30) + 512).unwrap().areas()[1], copy((4 << 30) - 4096));
    assert!(parse(0).is_err());
}

use super::*;

#[test]
fn every_kind_has_its_place_in_records_and_all_add_up() {
    let written = |bytes| KindWrites { bytes, requests: 1 };
    let kinds = ByKind {
        data: written(1),
        journal: written(20),
        inode: written(300),
        directory: written(4_000),
        allocation: written(50_000),
        superblock: written(600_000),
        cow_metadata: written(7_000_000),
        unattributed: written(80_000_000),
    };
    let record = serde_json::to_value(kinds).unwrap();
    for kind in BlockKind::ALL {
        assert_eq!(record[kind.name()]["bytes"], kinds.of(kind).bytes);
    }
    assert_eq!(kinds.total(), KindWrites { bytes: 87_654_321, requests: 8 });
}

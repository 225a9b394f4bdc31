use super::*;

#[test]
fn files_beyond_the_limit_lose_their_names_but_not_their_bytes() {
    let mut ledger = AttributedWrites::default();
    let key = |number| {
        let inode = Some(Inode { filesystem: 0, tree: 0, number, life: 0 });
        LedgerKey { causer: Causer::BEFORE, kind: BlockKind::Data.into(), inode }
    };
    let count = MOST_ROWS as u64 + 10;
    for number in 0..count {
        ledger.row(key(number)).bytes += number;
    }
    assert_eq!(ledger.bytes(), count * (count - 1) / 2);
    assert!(ledger.rows().count() <= MOST_ROWS);
    assert!(ledger.rows().any(|(own, _)| *own == key(count - 1)));
    assert!(!ledger.rows().any(|(own, _)| *own == key(1)));
}

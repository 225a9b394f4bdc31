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

#[test]
fn the_largest_programs_are_kept_and_all_add_up() {
    let rows = (0..30).map(|n| (format!("program {n}"), String::new(), 1000 + n));
    let twice = [("cp", "mail"), ("cp", "backup"), ("cp", "mail")];
    let twice = twice.map(|(program, service)| (program.to_owned(), service.to_owned(), 1020));
    let own = ByProgram::new(rows.chain(twice), 7);
    let names: Vec<(&str, &str)> =
        own.largest.iter().map(|row| (&*row.program, &*row.service)).take(3).collect();
    assert_eq!(names, [("cp", "mail"), ("program 29", ""), ("program 28", "")]);
    let sum = |own: &ByProgram| -> u64 {
        own.largest.iter().map(|row| row.bytes).sum::<u64>() + own.rest_bytes
    };
    assert_eq!((own.largest.len(), sum(&own)), (20, 30_435 + 3 * 1020 + 7));
    let both = ByProgram::total([&own, &own].into_iter());
    assert_eq!((both.largest[0].bytes, sum(&both)), (4080, 2 * sum(&own)));
}

#[test]
fn a_ledger_without_programs_is_read_and_written_as_before() {
    let stored = serde_json::to_value(Ledger::default()).unwrap();
    assert_eq!(stored.get("by_program"), None);
    assert_eq!(serde_json::from_value::<Ledger>(stored).unwrap(), Ledger::default());
}

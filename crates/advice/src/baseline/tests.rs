//! A cost that grows beyond what is allowed is worse, and is told by kind and by file.

use std::collections::BTreeMap;

use ssdlab_operations::calls::FileActivity;
use ssdlab_results::{Baseline, PhaseCost, TreatmentCost};

use super::{
    Allowance, Allowances, BaselineComparison, Cost, CostVerdict, allowance, compare_costs,
    made_otherwise,
};

fn phase() -> PhaseCost {
    let file = |bytes, syncs| FileActivity { written_bytes: bytes, writes: 1, syncs };
    PhaseCost {
        name: "run".to_owned(),
        time_ns: Some(1_000_000),
        written_bytes: 100_000,
        flushes: 10,
        syncs: Some(10),
        kinds: BTreeMap::from([("data".to_owned(), 80_000), ("journal".to_owned(), 20_000)]),
        files: BTreeMap::from([
            ("db".to_owned(), file(60_000, 8)),
            ("log".to_owned(), file(20_000, 2)),
        ]),
    }
}

fn treatment(phase: PhaseCost) -> TreatmentCost {
    let fingerprint = format!("{phase:?}");
    TreatmentCost { levels: "filesystem = ext4".to_owned(), fingerprint, phases: vec![phase] }
}

fn baseline(recorded: TreatmentCost) -> Baseline {
    Baseline {
        schema: 1,
        folder: ".".to_owned(),
        plan: String::new(),
        drives: BTreeMap::new(),
        made_with: BTreeMap::new(),
        treatments: vec![recorded],
    }
}

fn compared(found: PhaseCost, given: &[(Cost, Allowance)]) -> BaselineComparison {
    compare_costs(&baseline(treatment(phase())), &[treatment(found)], &Allowances::with(given))
}

fn outcome(found: PhaseCost) -> CostVerdict {
    compared(found, &[]).outcome
}

#[test]
fn equal_costs_are_the_same() {
    let found = compared(phase(), &[]);
    assert_eq!((found.outcome, found.is_identical), (CostVerdict::Same, true));
    assert!(found.changes.is_empty());
}

#[test]
fn five_percent_more_bytes_and_one_flush_more_are_worse() {
    let of = |bytes, flushes| outcome(PhaseCost { written_bytes: bytes, flushes, ..phase() });
    assert_eq!(of(102_000, 10), CostVerdict::Allowed);
    assert_eq!(of(102_001, 10), CostVerdict::Worse);
    assert_eq!(of(105_000, 10), CostVerdict::Worse);
    assert_eq!(of(100_000, 11), CostVerdict::Worse);
    assert_eq!(of(100_000, 9), CostVerdict::Better);
    assert_eq!(of(98_000, 10), CostVerdict::Allowed);
    assert_eq!(of(97_999, 10), CostVerdict::Better);
    assert_eq!(of(97_999, 11), CostVerdict::Worse, "one is not weighed against the other");
    assert_eq!(outcome(PhaseCost { time_ns: Some(1_050_001), ..phase() }), CostVerdict::Worse);
    assert_eq!(outcome(PhaseCost { syncs: Some(11), ..phase() }), CostVerdict::Worse);
    assert_eq!(outcome(PhaseCost { syncs: None, ..phase() }), CostVerdict::Same);
}

#[test]
fn unmounting_may_write_a_share_of_all_bytes_more() {
    let late = |bytes| PhaseCost {
        name: super::UNMOUNTING.to_owned(),
        written_bytes: bytes,
        flushes: bytes,
        ..PhaseCost::default()
    };
    let both = |bytes| TreatmentCost { phases: vec![phase(), late(bytes)], ..treatment(phase()) };
    let outcome = |bytes| {
        let baseline = baseline(both(10_000));
        compare_costs(&baseline, &[both(bytes)], &Allowances::default()).outcome
    };
    assert_eq!(outcome(12_200), CostVerdict::Allowed);
    assert_eq!(outcome(12_201), CostVerdict::Worse);
    assert_eq!(outcome(7_799), CostVerdict::Better);
}

#[test]
fn a_change_is_told_by_kind_and_by_file() {
    let mut found = PhaseCost { written_bytes: 150_000, flushes: 11, ..phase() };
    found.kinds.insert("data".to_owned(), 130_000);
    found.files.get_mut("db").unwrap().syncs += 1;
    found.files.get_mut("log").unwrap().written_bytes -= 1;
    let new = FileActivity { written_bytes: 50_000, writes: 1, syncs: 0 };
    found.files.insert("new".to_owned(), new);
    let changes = compared(found, &[]).changes;
    let [bytes, flushes] = &changes[..] else { panic!("{changes:?}") };
    assert_eq!((bytes.cost, bytes.recorded, bytes.found), (Cost::Bytes, 100_000, 150_000));
    let parts = |parts: &[super::CostPart]| {
        parts.iter().map(|part| format!("{} {:+}", part.name, part.by)).collect::<Vec<_>>()
    };
    assert_eq!(parts(&bytes.by_kind), ["data +50000"]);
    assert_eq!(parts(&bytes.by_file), ["new +50000", "log -1"]);
    assert_eq!(parts(&flushes.by_file), ["db +1"]);
}

#[test]
fn what_is_allowed_is_read_and_applied() {
    let given = ["bytes=10%", "flushes=1", "time=1 ms", "syncs=50 %"];
    let given: Vec<_> = given.map(|text| allowance(text).unwrap()).into();
    let found = PhaseCost {
        written_bytes: 110_000,
        flushes: 11,
        time_ns: Some(2_000_000),
        syncs: Some(15),
        ..phase()
    };
    assert_eq!(compared(found, &given).outcome, CostVerdict::Allowed);
    assert_eq!(allowance("bytes=64 KiB"), Ok((Cost::Bytes, Allowance::Number(65536))));
    for wrong in ["byte=1", "bytes", "flushes=-1", "syncs=1.5", "time=5", "bytes=120%"] {
        assert!(allowance(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn what_differs_in_how_it_was_made_is_named() {
    let of = |all: &[(&str, &str)]| {
        all.iter().map(|(name, what)| ((*name).to_owned(), (*what).to_owned())).collect()
    };
    let recorded: BTreeMap<_, _> = of(&[("mke2fs", "1.46"), ("ssdlab", "1")]);
    let found = of(&[("mke2fs", "1.47"), ("ssdlab", "1"), ("library a", "0")]);
    let expected = [("library a", None, Some("0")), ("mke2fs", Some("1.46"), Some("1.47"))];
    assert_eq!(made_otherwise(&recorded, &found), expected);
}

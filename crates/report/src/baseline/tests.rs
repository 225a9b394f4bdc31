//! The screen says whether a load costs more, where, and what to do.

use ssdlab_advice::{BaselineComparison, Cost, CostChange, CostPart, CostVerdict};

use super::baseline_screen;
use crate::Style;

fn change(cost: Cost, [recorded, found, allowed]: [u64; 3], verdict: CostVerdict) -> CostChange {
    CostChange {
        levels: "filesystem = ext4, drive = x25m-g2".to_owned(),
        phase: "run".to_owned(),
        cost,
        recorded,
        found,
        allowed,
        verdict,
        by_kind: Vec::new(),
        by_file: Vec::new(),
    }
}

fn screen(outcome: CostVerdict, is_identical: bool, changes: Vec<CostChange>) -> String {
    let found = BaselineComparison { schema: 1, outcome, is_identical, changes };
    let command = "ssdlab baseline record a.toml --out a.toml";
    baseline_screen(&found, command, Style::default())
}

#[test]
fn a_regression_is_told_by_phase_kind_and_file() {
    let part = |name: &str, by| CostPart { name: name.to_owned(), by };
    let by_kind = vec![part("data", 90_000), part("journal", -8192)];
    let by_file = ["a", "b", "c", "d", "e"].map(|name| part(name, 20_000)).to_vec();
    let bytes = change(Cost::Bytes, [1_000_000, 1_100_000, 1_020_000], CostVerdict::Worse);
    let flushes = change(Cost::Flushes, [40, 41, 40], CostVerdict::Worse);
    let time = change(Cost::Time, [2_000_000, 1_000_000, 2_100_000], CostVerdict::Better);
    let changes = vec![
        CostChange { by_kind, by_file, ..bytes },
        CostChange { by_file: vec![part("db", 1)], ..flushes },
        time,
        change(Cost::Bytes, [10, 11, 11], CostVerdict::Allowed),
    ];
    let says = screen(CostVerdict::Worse, false, changes);
    let expected = "\
Does the load cost what it did?

  No, it costs more: bytes written and flushes of the drive. Elsewhere it costs
  less: virtual time.

  filesystem = ext4, drive = x25m-g2: run
    Bytes     1.00 MB to 1.10 MB, +10.00 % (1.02 MB at most)
      by kind data +90.0 kB, journal -8.19 kB
      by file a +20.0 kB, b +20.0 kB, c +20.0 kB, d +20.0 kB and 1 more
    Flushes   40 to 41, +1 (no more is allowed)
      by file db +1 (syncs)
    Time      2.00 ms to 1.00 ms, -50.00 % (less)

  1 other change no larger than is allowed.

  To accept it: ssdlab baseline record a.toml --out a.toml
";
    assert_eq!(says, expected);
}

#[test]
fn what_is_equal_or_better_is_said() {
    let same = screen(CostVerdict::Same, true, Vec::new());
    assert!(same.contains("Yes, to the bit"), "{same}");
    assert!(!same.contains("record"), "{same}");
    let better = change(Cost::Flushes, [40, 39, 40], CostVerdict::Better);
    let better = screen(CostVerdict::Better, false, vec![better]);
    assert!(better.contains("It costs less: flushes of the drive."), "{better}");
    assert!(better.contains("To keep it: ssdlab baseline record"), "{better}");
}

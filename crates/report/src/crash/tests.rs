//! The screen is short, in words, and says what is missing.

use ssdlab_advice::Proportion;
use ssdlab_operations::calls::{CallEffect, FileCall, Unsynced};
use ssdlab_plan::SyncRemedy;
use ssdlab_results::{CrashCause, TriedRemedy};

use super::{CrashExample, CrashReport, CrashRow, crash_screen};
use crate::Style;

fn row(filesystem: &str, count: u64, interval: [f64; 2]) -> CrashRow {
    let found = Proportion { count, of: 500, interval };
    CrashRow { filesystem: filesystem.to_owned(), found }
}

fn report(rows: Vec<CrashRow>, example: Option<CrashExample>) -> CrashReport {
    let run = Some("crashtest-1".to_owned());
    let (failures, limits) = (Vec::new(), Vec::new());
    CrashReport { rows, failures, example, has_promised: true, limits, run }
}

fn check_shape(screen: &str) {
    assert!(screen.lines().count() <= 16, "{screen}");
    assert!(screen.lines().all(|line| line.chars().count() <= 80), "{screen}");
    let sentences = screen.split_terminator([':', '.', '?']);
    assert!(sentences.into_iter().all(|of| of.split_whitespace().count() <= 25), "{screen}");
}

#[test]
fn nothing_found_has_a_bound() {
    let rows = vec![row("ext4", 0, [0.0, 0.0073]), row("xfs", 0, [0.0, 0.0073])];
    let screen = crash_screen(&report(rows, None), Style::default());
    check_shape(&screen);
    assert!(screen.contains("Yes, as far as 1000 power cuts on ext4 and xfs"), "{screen}");
    assert!(screen.contains("less than 0.6 %"), "{screen}");
}

#[test]
fn where_nothing_was_promised_the_answer_is_no_yes() {
    let rows = |count| vec![row("ext4", count, [0.0, 0.0073])];
    let screen = |rows| {
        let silent = CrashReport { has_promised: false, ..report(rows, None) };
        crash_screen(&silent, Style::default())
    };
    check_shape(&screen(rows(0)));
    assert!(!screen(rows(0)).contains("Yes"), "{}", screen(rows(0)));
    assert!(screen(rows(0)).contains("Nothing was promised: the program printed no line."));
    check_shape(&screen(rows(3)));
    assert!(screen(rows(3)).contains("No. After 3 of 500 power cuts the check failed"));
}

#[test]
fn the_missing_sync_is_named() {
    let effect = CallEffect::Names { path: "a.tmp".to_owned(), to: Some("a".to_owned()) };
    let renamed = FileCall { name: "rename".to_owned(), effect, error: None };
    let files = [("log".to_owned(), (0, 4096))].into();
    let cause = CrashCause {
        unsynced: Unsynced { files, names: vec![renamed.clone()] },
        said: Some("17".to_owned()),
        ignored: None,
        remedy: Some(TriedRemedy {
            remedy: SyncRemedy::DirectoryAfterChange,
            cuts: 60,
            of: "the top folder".to_owned(),
            call: Some(renamed),
            is_late: false,
        }),
    };
    let example = CrashExample {
        filesystem: "ext4".to_owned(),
        says: "ended with exit code 1: lost: 16 of 17".to_owned(),
        command: "ssdlab cut crashtest-20261129-210000 --trial 0 --cut 3".to_owned(),
        cause: Some(cause),
    };
    let rows = vec![
        row("ext4", 84, [0.14, 0.2]),
        row("xfs", 0, [0.0, 0.0073]),
        row("btrfs", 1, [0.0, 0.01]),
    ];
    let screen = crash_screen(&report(rows, Some(example)), Style::default());
    check_shape(&screen);
    assert!(screen.contains("84 of 500"), "{screen}");
    assert!(screen.contains("log, bytes 0 to 4095; rename of a.tmp to a"), "{screen}");
    let unwrapped = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    let missing = "fsync of the directory (the top folder) after the rename of a.tmp to a.";
    assert!(unwrapped.contains(missing), "{screen}");
    assert!(screen.contains("none of 60 cuts"), "{screen}");
}

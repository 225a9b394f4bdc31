use std::collections::BTreeMap;

use ssdlab_operations::cuts::{
    CutMoment, CutOutcome, CutVerdict, Damage, ExpectedVersions, FileOperation, FileOperationStep,
    FileState, Finding, FsckResult, WatchedFile,
};
use ssdlab_plan::{Factor, Levels};
use ssdlab_results::{
    AtRisk, ChangedInput, CourseEvent, CourseEventKind, FileAfter, REPEAT_SCHEMA, RepeatedCut,
    RequestAtRisk, SHRINK_SCHEMA, Shrink,
};

use super::{repeat, shrink};
use crate::words::Style;

fn outcome() -> CutOutcome {
    CutOutcome {
        cut: 12,
        survivor: 0,
        state: None,
        at_ns: 1_234_567_890,
        moment: CutMoment::Event,
        phase: "append".to_owned(),
        unmountable: None,
        recovery_ns: Some(3_200_000),
        amiss: None,
        unchecked: false,
        checked_before: None,
        unpromised: None,
        verdict: Some(CutVerdict {
            damaged: BTreeMap::from([(Damage::Empty, 1)]),
            broken_promises: 1,
            lost_operations: 16,
            lost_bytes: 17_500,
            lost_ns: 750_000_000,
        }),
        data: None,
    }
}

fn file(name: &str, done: u32, found: FileState, verdict: CutVerdict) -> FileAfter {
    let expected = ExpectedVersions { promised: done, done, begun: done, contents: done };
    FileAfter { name: name.to_owned(), expected, found, verdict }
}

fn made_again() -> RepeatedCut {
    let whole = |version| FileState { version: Some(version), fault: None };
    let lost = |broken_promises, lost_operations| CutVerdict {
        broken_promises,
        lost_operations,
        lost_bytes: 7500,
        lost_ns: 750_000_000,
        ..CutVerdict::default()
    };
    RepeatedCut {
        schema: REPEAT_SCHEMA,
        run: "cuts-1".to_owned(),
        trial: 3,
        levels: Levels(BTreeMap::from([(Factor::Filesystem, "ext4".to_owned())])),
        agrees: true,
        chosen: false,
        same_trial: true,
        changes: Vec::new(),
        recorded: outcome(),
        repeated: CutOutcome { recovery_ns: Some(3_100_000), ..outcome() },
        drive: AtRisk {
            requests: 812,
            volatile: 34,
            volatile_bytes: 139_264,
            under_way: 1,
            under_way_bytes: 4096,
            older_bytes: 81_920,
        },
        contents_sha256: "0123456789abcdef".repeat(4),
        image_bytes: 1 << 30,
        files: vec![
            file("replaced-0000", 3, whole(3), CutVerdict::default()),
            file("replaced-0001", 3, FileState::faulty(Damage::Empty), lost(0, 1)),
            file(
                "log",
                35,
                FileState { version: Some(20), fault: Some(Damage::Torn) },
                lost(1, 15),
            ),
        ],
        course: course(),
    }
}

/// A file is replaced and a record is appended, and a write of each is at risk.
fn course() -> Vec<CourseEvent> {
    let file_operation =
        |of, version, step| CourseEventKind::FileOperation(FileOperation { of, version, step });
    let request = |number, acknowledged, lost| {
        CourseEventKind::Request(RequestAtRisk {
            number,
            command: "write",
            offset_bytes: 4096 * number,
            length_bytes: 8192,
            acknowledged,
            lost,
        })
    };
    let file = WatchedFile::Replaced(1);
    let course = [
        file_operation(file, 4, FileOperationStep::Contents),
        file_operation(file, 4, FileOperationStep::Begun),
        file_operation(file, 4, FileOperationStep::Done),
        request(810, true, false),
        file_operation(file, 4, FileOperationStep::Place),
        file_operation(WatchedFile::Log, 35, FileOperationStep::Done),
        file_operation(WatchedFile::Log, 35, FileOperationStep::Place),
        request(811, false, true),
    ];
    let at = (1..).map(|number| 1_234_567_890 - 1_000_000 / number);
    at.zip(course).map(|(at_ns, what)| CourseEvent { at_ns, what }).collect()
}

#[test]
fn a_repeat_says_what_was_volatile_and_what_became_of_each_file() {
    insta::assert_snapshot!(repeat(&made_again(), Style::default()));
}

/// That a filesystem has no check is not that it is sound.
#[test]
fn a_check_that_was_not_run_found_nothing() {
    let unchecked = CutOutcome { unchecked: true, ..outcome() };
    let shown = repeat(&RepeatedCut { repeated: unchecked, ..made_again() }, Style::default());
    assert!(shown.contains("was not run") && !shown.contains("nothing amiss"), "{shown}");
}

/// What the replay of a journal repaired is shown before what it left.
#[test]
fn what_a_check_found_before_the_journal_was_replayed_is_shown() {
    let amiss = Some(FsckResult::Amiss("block 7 is free".to_owned()));
    let repaired = CutOutcome { checked_before: amiss, ..outcome() };
    let shown = repeat(&RepeatedCut { repeated: repaired, ..made_again() }, Style::default());
    let [before, mounted] =
        ["block 7 is free", "Mounted in"].map(|says| shown.find(says).expect(says));
    assert!(before < mounted, "{shown}");
}

#[test]
fn a_repeat_that_differs_shows_both_and_what_has_changed() {
    let change = ChangedInput {
        of: "lab_kernel".to_owned(),
        recorded: Some("1111".to_owned()),
        repeated: Some("2222".to_owned()),
    };
    let kept = CutOutcome {
        verdict: Some(CutVerdict::default()),
        amiss: Some("block 7 is free\n".repeat(12)),
        ..outcome()
    };
    let differs = RepeatedCut {
        agrees: false,
        same_trial: false,
        changes: vec![change],
        repeated: kept,
        files: Vec::new(),
        ..made_again()
    };
    insta::assert_snapshot!(repeat(&differs, Style::default()));
}

#[test]
fn a_smallest_workload_is_shown_beside_the_one_it_came_from() {
    let found = Shrink {
        schema: SHRINK_SCHEMA,
        finding: Finding::BrokenPromise,
        from: vec!["name = \"unpack\"".to_owned(), "do = \"append\"".to_owned()],
        to: vec!["do = \"append\"".to_owned()],
        trials: 17,
        is_least: true,
        cuts: 50,
        found: 3,
        repeat: RepeatedCut { chosen: true, ..made_again() },
        command: "ssdlab cut cuts-1-shrunk --trial 3 --cut 12 --survivor 0 --lose 811".to_owned(),
    };
    insta::assert_snapshot!(shrink(&found, Style::default()));
}

/// A long trial shows its end.
#[test]
fn only_the_last_events_are_shown() {
    let course: Vec<CourseEvent> = (0..10).flat_map(|_| course()).collect();
    let shown = repeat(&RepeatedCut { course, ..made_again() }, Style::default());
    assert!(shown.contains("40 earlier events (--json)."), "{shown}");
}

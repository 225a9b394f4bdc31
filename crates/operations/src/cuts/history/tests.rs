//! Verdicts on found states, for each way to replace a file and for a log.

use super::{CutVerdict, ExpectedVersions, FileHistory};
use crate::cuts::database::TornPages;
use crate::cuts::sequence::SequenceOperation;
use crate::cuts::{
    Damage, FileOperation, FileOperationStep, FileState, Sequence, Sync, WatchedFile, WatchedFiles,
};

const FILE: WatchedFile = WatchedFile::Replaced(0);

fn history(of: WatchedFile, operations: &[(u64, u32, FileOperationStep)]) -> FileHistory {
    let mut history = FileHistory::default();
    for (at, version, step) in operations {
        history.add(*at, FileOperation { of, version: *version, step: *step });
    }
    history
}

fn whole(version: u32) -> FileState {
    FileState::whole(version)
}

fn judged(history: &FileHistory, at_ns: u64, found: FileState) -> CutVerdict {
    history.judge(at_ns, &WatchedFiles::default(), [(FILE, found)])
}

/// One replacement that begins at 10, with these syncs.
fn replacement(file: bool, directory: bool) -> FileHistory {
    let steps = [
        (10, FileOperationStep::Contents, file),
        (11, FileOperationStep::Begun, true),
        (12, FileOperationStep::Done, true),
        (13, FileOperationStep::Place, directory),
    ];
    let steps = steps.into_iter().filter(|(.., is_told)| *is_told);
    history(FILE, &steps.map(|(at, step, _)| (at, 1, step)).collect::<Vec<_>>())
}

#[test]
fn old_or_new_is_as_it_should_be_until_it_is_promised() {
    let with_both = replacement(true, true);
    for (at, version) in [(9, 0), (11, 0), (11, 1), (12, 1), (13, 1)] {
        assert_eq!(
            judged(&with_both, at, whole(version)),
            CutVerdict::default(),
            "{version} at {at}"
        );
    }
    let lost = |lost_ns, broken_promises| CutVerdict {
        broken_promises,
        lost_operations: 1,
        lost_bytes: 10_000,
        lost_ns,
        ..CutVerdict::default()
    };
    assert_eq!(judged(&with_both, 12, whole(0)), lost(0, 0));
    assert_eq!(judged(&with_both, 20, whole(0)), lost(8, 1));
    assert_eq!(judged(&replacement(true, false), 20, whole(0)), lost(8, 0));
    assert_eq!(judged(&replacement(false, false), 20, whole(0)), lost(8, 0));
}

#[test]
fn damage_breaks_a_promise_where_every_version_was_promised() {
    let is_broken = |history: &FileHistory, at, fault| {
        let verdict = judged(history, at, FileState::faulty(fault));
        assert_eq!(verdict.damaged[&fault], 1);
        verdict.broken_promises == 1
    };
    let nothing = replacement(false, false);
    assert!(is_broken(&nothing, 9, Damage::Empty), "nothing was done to it yet");
    assert!(!is_broken(&nothing, 11, Damage::Empty), "the rename may be done, the contents not");
    assert!(is_broken(&nothing, 20, Damage::Missing), "a name that is replaced is never missing");
    let file = replacement(true, false);
    assert!(is_broken(&file, 11, Damage::Empty) && is_broken(&file, 20, Damage::Zeros));
    assert!(!is_broken(&replacement(false, true), 20, Damage::Zeros));
    assert!(is_broken(&replacement(true, true), 20, Damage::Torn));
}

#[test]
fn what_nobody_wrote_is_garbage() {
    let verdict = judged(&replacement(true, true), 20, whole(2));
    assert_eq!((verdict.damaged[&Damage::Garbage], verdict.broken_promises), (1, 1));
}

#[test]
fn a_log_keeps_what_was_promised_and_may_end_in_a_part() {
    let log = history(
        WatchedFile::Log,
        &[
            (10, 1, FileOperationStep::Begun),
            (11, 1, FileOperationStep::Done),
            (12, 1, FileOperationStep::Place),
            (20, 2, FileOperationStep::Begun),
            (21, 2, FileOperationStep::Done),
            (30, 3, FileOperationStep::Begun),
        ],
    );
    let judged = |at, found| log.judge(at, &WatchedFiles::default(), [(WatchedFile::Log, found)]);
    assert_eq!(judged(25, whole(2)), CutVerdict::default());
    let torn = |version| FileState { version: Some(version), fault: Some(Damage::Torn) };
    assert_eq!(judged(30, torn(2)), CutVerdict::default());
    let one = judged(30, torn(1));
    assert_eq!((one.lost_operations, one.lost_bytes, one.lost_ns), (1, 500, 9));
    assert_eq!((one.broken_promises, one.damaged.len()), (0, 0));
    assert_eq!(judged(30, whole(0)).broken_promises, 1);
    let zeros = judged(30, FileState { version: Some(1), fault: Some(Damage::Zeros) });
    assert_eq!((zeros.broken_promises, zeros.damaged[&Damage::Zeros]), (0, 1));
    assert_eq!(judged(30, whole(4)).damaged[&Damage::Garbage], 1);
    let gone = judged(5, FileState::faulty(Damage::Missing));
    assert_eq!((gone.broken_promises, gone.damaged[&Damage::Missing]), (1, 1));
}

#[test]
fn a_database_keeps_what_was_promised_and_has_no_damage() {
    let subject = WatchedFile::Database(TornPages::FullPages);
    let steps = [FileOperationStep::Begun, FileOperationStep::Done, FileOperationStep::Place];
    let operations: Vec<_> = (1..=2)
        .flat_map(|commit| {
            (0..).zip(steps).map(move |(at, step)| (10 * u64::from(commit) + at, commit, step))
        })
        .collect();
    let database = history(subject, &operations);
    let judged = |at, found| database.judge(at, &WatchedFiles::default(), [(subject, found)]);
    assert_eq!(judged(30, whole(2)), CutVerdict::default());
    let one = judged(30, whole(1));
    assert_eq!((one.broken_promises, one.lost_operations, one.lost_ns), (1, 1, 9));
    let unpromised = judged(21, whole(1));
    assert_eq!((unpromised.broken_promises, unpromised.lost_operations), (0, 1));
    let torn = judged(30, FileState { version: Some(2), fault: Some(Damage::Torn) });
    assert_eq!(
        (torn.broken_promises, torn.damaged[&Damage::Torn], torn.lost_operations),
        (1, 1, 0)
    );
    assert_eq!(judged(15, whole(2)).damaged[&Damage::Garbage], 1);
}

/// Until its sync returned a sequence may be anything; after that it is as it is promised.
#[test]
fn a_sequence_is_promised_by_its_sync() {
    let sequence = Sequence { before: None, last: SequenceOperation::Create, sync: Sync::File };
    let subject = WatchedFile::Sequence(sequence);
    let history = history(
        subject,
        &[
            (10, 1, FileOperationStep::Begun),
            (11, 1, FileOperationStep::Done),
            (12, 1, FileOperationStep::Place),
        ],
    );
    let judged = |at, found| {
        let verdict = history.judge(at, &WatchedFiles::default(), [(subject, found)]);
        (verdict.broken_promises, verdict.damaged.len(), verdict.lost_operations)
    };
    let empty = FileState::faulty(Damage::Empty);
    assert_eq!(judged(5, empty), (1, 1, 0));
    assert_eq!(judged(5, whole(1)), (1, 1, 0));
    assert_eq!(judged(11, empty), (0, 1, 1));
    assert_eq!(judged(11, whole(0)), (0, 0, 1));
    assert_eq!(judged(12, whole(0)), (1, 0, 1));
    assert_eq!(judged(12, empty), (1, 1, 0));
    assert_eq!(judged(12, whole(1)), (0, 0, 0));
}

#[test]
fn promises_are_syncs_that_returned() {
    assert_eq!(replacement(true, true).promises(), [10, 13]);
    assert_eq!(replacement(false, false).promises(), [0; 0]);
}

#[test]
fn what_is_expected_of_a_file_grows_step_by_step() {
    let both = replacement(true, true);
    let expected = |at| {
        let ExpectedVersions { promised, done, begun, contents } = both.expected(FILE, at);
        [contents, begun, done, promised]
    };
    assert_eq!(
        [9, 10, 11, 12, 13].map(expected),
        [[0, 0, 0, 0], [1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]]
    );
}

#[test]
fn what_is_done_is_at_risk_until_its_place_is_promised() {
    let both = replacement(true, true);
    assert_eq!([10, 11, 12, 13].map(|at| both.unpromised(at)), [0, 0, 1, 0]);
    assert_eq!(replacement(false, false).unpromised(100), 1);
}

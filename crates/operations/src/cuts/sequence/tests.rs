use std::collections::BTreeSet;

use super::{Entries, EntryState, Sequence, SequenceOperation, Sync, Tree, bytes_of};
use crate::cuts::{Damage, FileState};

/// The names after some operations, as they would be found.
fn entries(operations: &[SequenceOperation]) -> Entries {
    let tree = operations
        .iter()
        .fold(Tree::first(), |tree, operation| tree.after(operation.effect()).unwrap());
    let entry = |node: Option<usize>| match node {
        None => EntryState::Directory,
        Some(file) => EntryState::File(Ok(bytes_of(&tree.files[file]))),
    };
    tree.names.iter().map(|(name, node)| (name.clone(), entry(*node))).collect()
}

fn sequence(before: Option<SequenceOperation>, last: SequenceOperation, sync: Sync) -> Sequence {
    Sequence { before, last, sync }
}

#[test]
fn every_sequence_is_found_in_the_version_after_its_last_operation_and_before_its_first() {
    let all = Sequence::all(2);
    assert_eq!(Sequence::all(1).len(), 37);
    assert_eq!(all.len(), 416);
    let names: BTreeSet<String> = all.iter().map(|sequence| sequence.name()).collect();
    assert_eq!(names.len(), all.len());
    for sequence in all {
        let mut done = Vec::new();
        assert_eq!(sequence.state_in(&entries(&done)), FileState::whole(0), "{sequence:?}");
        for (operation, version) in sequence.steps() {
            done.push(operation);
            assert_eq!(
                sequence.state_in(&entries(&done)),
                FileState::whole(version),
                "{sequence:?}"
            );
        }
    }
}

/// After a sync of a file other names may be as they were.
#[test]
fn a_sync_is_about_its_own_names() {
    let both = (Some(SequenceOperation::Create), SequenceOperation::Append);
    let appended = entries(&[SequenceOperation::Append]);
    let of_file = sequence(both.0, both.1, Sync::File);
    assert_eq!(of_file.steps(), [(SequenceOperation::Create, 0), (SequenceOperation::Append, 1)]);
    assert_eq!(of_file.state_in(&appended), FileState::whole(1));
    let of_all = sequence(both.0, both.1, Sync::All);
    assert_eq!(of_all.steps(), [(SequenceOperation::Create, 1), (SequenceOperation::Append, 2)]);
    // `b` is older than `a`.
    assert_eq!(of_all.state_in(&appended), FileState::whole(0));
    let of_names = sequence(None, SequenceOperation::Create, Sync::Directory);
    let mut empty = entries(&[SequenceOperation::Create]);
    empty.insert("b".to_owned(), EntryState::File(Ok(Vec::new())));
    assert_eq!(of_names.state_in(&empty), FileState::whole(1));
    assert_eq!(
        sequence(None, SequenceOperation::Create, Sync::File).state_in(&empty).fault,
        Some(Damage::Empty)
    );
}

#[test]
fn what_is_as_it_never_was_is_at_fault() {
    let over = sequence(None, SequenceOperation::RenameOver, Sync::All);
    let fault = |change: &dyn Fn(&mut Entries)| {
        let mut entries = entries(&[SequenceOperation::RenameOver]);
        change(&mut entries);
        over.state_in(&entries).fault
    };
    let file = |bytes: Vec<u8>| EntryState::File(Ok(bytes));
    assert_eq!(fault(&|_| {}), None);
    assert_eq!(fault(&|entries| drop(entries.remove("a"))), Some(Damage::Missing));
    for (bytes, expected) in [
        (vec![0; 5000], Damage::Zeros),
        (bytes_of("CC"), Damage::Torn),
        (bytes_of("CCACC"), Damage::Garbage),
    ] {
        let changed =
            |entries: &mut Entries| drop(entries.insert("a".to_owned(), file(bytes.clone())));
        assert_eq!(fault(&changed), Some(expected));
    }
    let unreadable = |entries: &mut Entries| {
        entries.insert("a".to_owned(), EntryState::File(Err(Damage::Unreadable)));
    };
    assert_eq!(fault(&unreadable), Some(Damage::Unreadable));
    let stray = |entries: &mut Entries| drop(entries.insert("x".to_owned(), EntryState::Directory));
    assert_eq!(fault(&stray), Some(Damage::Garbage));
}

/// Names of one file share its contents.
#[test]
fn a_second_name_shows_what_the_first_wrote() {
    let linked = sequence(Some(SequenceOperation::Link), SequenceOperation::Overwrite, Sync::All);
    let mut half = entries(&[SequenceOperation::Link, SequenceOperation::Overwrite]);
    half.insert("b".to_owned(), EntryState::File(Ok(bytes_of("AAAAA"))));
    assert_eq!(linked.state_in(&half), FileState::whole(1));
}

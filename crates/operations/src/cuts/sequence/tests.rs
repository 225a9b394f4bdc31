use std::collections::BTreeSet;

use super::{Entries, Entry, Operation, Sequence, Sync, Tree, bytes_of};
use crate::cuts::{Fault, Found};

/// The names after some operations, as they would be found.
fn entries(operations: &[Operation]) -> Entries {
    let tree = operations
        .iter()
        .fold(Tree::first(), |tree, operation| tree.after(operation.effect()).unwrap());
    let entry = |node: Option<usize>| match node {
        None => Entry::Directory,
        Some(file) => Entry::File(Ok(bytes_of(&tree.files[file]))),
    };
    tree.names.iter().map(|(name, node)| (name.clone(), entry(*node))).collect()
}

fn sequence(before: Option<Operation>, last: Operation, sync: Sync) -> Sequence {
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
        assert_eq!(sequence.found(&entries(&done)), Found::whole(0), "{sequence:?}");
        for (operation, version) in sequence.steps() {
            done.push(operation);
            assert_eq!(sequence.found(&entries(&done)), Found::whole(version), "{sequence:?}");
        }
    }
}

/// After a sync of a file other names may be as they were.
#[test]
fn a_sync_is_about_its_own_names() {
    let both = (Some(Operation::Create), Operation::Append);
    let appended = entries(&[Operation::Append]);
    let of_file = sequence(both.0, both.1, Sync::File);
    assert_eq!(of_file.steps(), [(Operation::Create, 0), (Operation::Append, 1)]);
    assert_eq!(of_file.found(&appended), Found::whole(1));
    let of_all = sequence(both.0, both.1, Sync::All);
    assert_eq!(of_all.steps(), [(Operation::Create, 1), (Operation::Append, 2)]);
    // `b` is older than `a`.
    assert_eq!(of_all.found(&appended), Found::whole(0));
    let of_names = sequence(None, Operation::Create, Sync::Directory);
    let mut empty = entries(&[Operation::Create]);
    empty.insert("b".to_owned(), Entry::File(Ok(Vec::new())));
    assert_eq!(of_names.found(&empty), Found::whole(1));
    assert_eq!(
        sequence(None, Operation::Create, Sync::File).found(&empty).fault,
        Some(Fault::Empty)
    );
}

#[test]
fn what_is_as_it_never_was_is_at_fault() {
    let over = sequence(None, Operation::RenameOver, Sync::All);
    let fault = |change: &dyn Fn(&mut Entries)| {
        let mut entries = entries(&[Operation::RenameOver]);
        change(&mut entries);
        over.found(&entries).fault
    };
    let file = |bytes: Vec<u8>| Entry::File(Ok(bytes));
    assert_eq!(fault(&|_| {}), None);
    assert_eq!(fault(&|entries| drop(entries.remove("a"))), Some(Fault::Missing));
    for (bytes, expected) in [
        (vec![0; 5000], Fault::Zeros),
        (bytes_of("CC"), Fault::Torn),
        (bytes_of("CCACC"), Fault::Garbage),
    ] {
        let changed =
            |entries: &mut Entries| drop(entries.insert("a".to_owned(), file(bytes.clone())));
        assert_eq!(fault(&changed), Some(expected));
    }
    let unreadable = |entries: &mut Entries| {
        entries.insert("a".to_owned(), Entry::File(Err(Fault::Unreadable)));
    };
    assert_eq!(fault(&unreadable), Some(Fault::Unreadable));
    let stray = |entries: &mut Entries| drop(entries.insert("x".to_owned(), Entry::Directory));
    assert_eq!(fault(&stray), Some(Fault::Garbage));
}

/// Names of one file share its contents.
#[test]
fn a_second_name_shows_what_the_first_wrote() {
    let linked = sequence(Some(Operation::Link), Operation::Overwrite, Sync::All);
    let mut half = entries(&[Operation::Link, Operation::Overwrite]);
    half.insert("b".to_owned(), Entry::File(Ok(bytes_of("AAAAA"))));
    assert_eq!(linked.found(&half), Found::whole(1));
}

//! Checks what must hold for any log and any output of strace: no input panics, what is written
//! reads back, and what is recorded can be performed.

use proptest::prelude::*;
use proptest::sample::{Index, select};
use ssdlab_operations::{
    Allocation, Entry, Handle, LeftOut, LogHeader, LogReader, LogWriter, Omission, OpenFlags,
    Operation, OperationTarget, ProgramStart, RelativePath, StraceRecorder, Transfer, Tree,
};

const LOG: &[u8] = include_bytes!("../fixtures/shell.log");
const TRACE: &[u8] = include_bytes!("../fixtures/shell.strace");

/// Reads all of it, and checks what a reader promises.
fn read(bytes: &[u8]) {
    let Ok(mut log) = LogReader::new(bytes) else { return };
    let is_inside =
        |path: &RelativePath| !path.as_bytes().split(|byte| *byte == b'/').any(|it| it == b"..");
    while let Ok(Some(entry)) = log.next_entry() {
        if let Entry::File { path, .. } | Entry::Directory { path, .. } = entry {
            assert!(is_inside(&path));
        }
    }
    let mut tree = Tree::default();
    while let Ok(Some(operation)) = log.next_operation() {
        let _ = tree.apply(&operation);
        if let Operation::Unlink { path } | Operation::MakeDirectory { path, .. } = operation {
            assert!(is_inside(&path));
        }
    }
}

/// Records, and checks that what comes out is a log that fits the directory.
fn record(trace: &[u8]) {
    let setting = ProgramStart { directory: b"/recorded", umask: 0o022 };
    let mut recorder = StraceRecorder::new(trace, setting, Tree::default());
    let mut log = LogWriter::new(Vec::new(), &LogHeader::default(), &[]).unwrap();
    let mut tree = Tree::default();
    let mut count = 0;
    let is_whole = loop {
        let Ok(operation) = recorder.next_operation() else { break false };
        let Some(operation) = operation else { break true };
        tree.apply(&operation).expect("what is recorded fits");
        log.append(&operation).unwrap();
        count += 1;
    };
    let log = log.finish().unwrap();
    let mut reader = LogReader::new(&log[..]).unwrap();
    while reader.next_operation().expect("what is written can be read").is_some() {
        count -= 1;
    }
    assert_eq!(count, 0);
    if is_whole {
        assert!(tree.entries().eq(recorder.tree().entries()));
    }
}

fn paths() -> impl Strategy<Value = RelativePath> {
    let name = prop::collection::vec(1..=255_u8, 1..6);
    prop::collection::vec(name, 1..4)
        .prop_filter_map("a path", |names| RelativePath::new(&names.join(&b'/')))
}

fn targets() -> impl Strategy<Value = OperationTarget> {
    let handle =
        (0..4_u32).prop_map(|number| OperationTarget::Handle(Handle::new(number).unwrap()));
    prop_oneof![paths().prop_map(OperationTarget::Path), handle]
}

fn texts() -> impl Strategy<Value = Box<[u8]>> {
    prop::collection::vec(1..=255_u8, 1..20).prop_map(Vec::into_boxed_slice)
}

fn flags() -> impl Strategy<Value = OpenFlags> {
    any::<[bool; 8]>().prop_map(
        |[read, write, truncate, append, sync, data_sync, directory, or_existing]| OpenFlags {
            read,
            write,
            truncate,
            append,
            sync,
            data_sync,
            directory,
            or_existing,
        },
    )
}

/// Operations, of which those on handles use 0 to 3.
fn operations() -> impl Strategy<Value = Operation> {
    let offset = 0..1_u64 << 40;
    let handle = || (0..4_u32).prop_map(|number| Handle::new(number).unwrap());
    let transfer = (handle(), offset.clone(), 1..1_u64 << 20, 1..9_u64).prop_map(
        |(handle, offset, length, count)| Transfer::new(handle, offset, length, count).unwrap(),
    );
    let mode = 0..0o10000_u32;
    let create = prop::option::of(mode.clone());
    prop_oneof![
        (handle(), flags(), create, paths()).prop_map(|(handle, flags, create, path)| {
            Operation::Open { handle, flags, create, path }
        }),
        handle().prop_map(|handle| Operation::Close { handle }),
        handle().prop_map(|handle| Operation::List { handle }),
        (handle(), any::<bool>())
            .prop_map(|(handle, only_data)| Operation::Sync { handle, only_data }),
        (handle(), offset.clone()).prop_map(|(handle, offset)| Operation::Seek { handle, offset }),
        (handle(), any::<i64>())
            .prop_map(|(handle, seconds)| Operation::SetModified { handle, seconds }),
        transfer.clone().prop_map(Operation::Read),
        transfer.prop_map(Operation::Write),
        (handle(), select(&Allocation::ALL[..]), offset.clone(), offset.clone()).prop_map(
            |(handle, allocation, offset, length)| {
                Operation::Allocate { handle, allocation, offset, length }
            }
        ),
        (targets(), offset)
            .prop_map(|(target, size_bytes)| Operation::Truncate { target, size_bytes }),
        (targets(), mode.clone()).prop_map(|(target, mode)| Operation::SetMode { target, mode }),
        targets().prop_map(|target| Operation::SetTimes { target }),
        (mode, paths()).prop_map(|(mode, path)| Operation::MakeDirectory { mode, path }),
        (paths(), paths()).prop_map(|(from, to)| Operation::Rename { from, to }),
        (paths(), paths()).prop_map(|(from, to)| Operation::Exchange { from, to }),
        (paths(), paths()).prop_map(|(existing, path)| Operation::Link { existing, path }),
        (texts(), paths()).prop_map(|(target, path)| Operation::Symlink { target, path }),
        paths().prop_map(|path| Operation::RemoveDirectory { path }),
        paths().prop_map(|path| Operation::Unlink { path }),
        paths().prop_map(|path| Operation::ReadFile { path }),
        paths().prop_map(|path| Operation::ListDirectory { path }),
        paths().prop_map(|path| Operation::Stat { path }),
        paths().prop_map(|path| Operation::ReadLink { path }),
        Just(Operation::SyncFilesystem),
    ]
}

/// Operations among which every handle is open where it is used.
fn sensible(operations: Vec<Operation>) -> Vec<Operation> {
    let mut open = [false; 4];
    let is_sensible = |operation: &Operation| {
        let (handle, becomes) = match (operation, operation.handle()) {
            (Operation::Open { handle, .. }, _) => (*handle, Some(true)),
            (Operation::Close { handle }, _) => (*handle, Some(false)),
            (_, Some(handle)) => (handle, None),
            (_, None) => return true,
        };
        let state = &mut open[handle.number() as usize];
        let fits = *state == (becomes != Some(true));
        *state = if fits { becomes.unwrap_or(*state) } else { *state };
        fits
    };
    operations.into_iter().filter(is_sensible).collect()
}

fn entries() -> impl Strategy<Value = Entry> {
    let mode = 0..0o10000_u32;
    prop_oneof![
        (mode.clone(), paths()).prop_map(|(mode, path)| Entry::Directory { mode, path }),
        (mode, 0..1_u64 << 62, paths()).prop_map(|(mode, size_bytes, path)| Entry::File {
            mode,
            size_bytes,
            path
        }),
        (texts(), paths()).prop_map(|(target, path)| Entry::Symlink { target, path }),
        (paths(), paths()).prop_map(|(existing, path)| Entry::Link { existing, path }),
    ]
}

fn headers() -> impl Strategy<Value = LogHeader> {
    let omissions = prop::collection::vec((select(&Omission::ALL[..]), 1..u64::MAX), 0..4);
    ("[a-zü \\\\]{0,40}", omissions).prop_map(|(title, omissions)| {
        let mut left_out = LeftOut::default();
        for (omission, count) in omissions {
            left_out.add(omission, count);
        }
        LogHeader { title, left_out }
    })
}

/// Bytes that were something, with a few of them changed or missing.
fn damaged(whole: &'static [u8]) -> impl Strategy<Value = Vec<u8>> {
    let damage = prop::collection::vec((any::<Index>(), any::<u8>()), 0..4);
    let gaps = prop::collection::vec((any::<Index>(), 0..400_usize), 0..3);
    (damage, gaps).prop_map(move |(damage, gaps)| {
        let mut bytes = whole.to_vec();
        for (at, value) in damage {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        for (at, length) in gaps {
            let at = at.index(bytes.len());
            bytes.drain(at..bytes.len().min(at + length));
        }
        bytes
    })
}

/// Lines of the trace in any order, as of any processes.
fn shuffled() -> impl Strategy<Value = Vec<u8>> {
    let lines: Vec<&[u8]> = TRACE.split_inclusive(|byte| *byte == b'\n').collect();
    prop::collection::vec(select(lines), 0..80).prop_map(|lines| lines.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..512)) {
        read(&bytes);
        read(&[b"ssdlab operation log 1\nbefore\noperations\n", &bytes[..]].concat());
        record(&bytes);
        record(&[b"1 ", &bytes[..]].concat());
    }

    #[test]
    fn no_damaged_logs_panic(log in damaged(LOG)) {
        read(&log);
    }

    #[test]
    fn no_damaged_traces_panic(trace in damaged(TRACE)) {
        record(&trace);
    }

    #[test]
    fn no_shuffled_traces_panic(trace in shuffled()) {
        record(&trace);
    }

    #[test]
    fn a_written_log_reads_back_equal(
        header in headers(),
        before in prop::collection::vec(entries(), 0..8),
        operations in prop::collection::vec(operations(), 0..40).prop_map(sensible),
    ) {
        let mut log = LogWriter::new(Vec::new(), &header, &before).unwrap();
        for operation in &operations {
            log.append(operation).unwrap();
        }
        let log = log.finish().unwrap();
        let mut reader = LogReader::new(&log[..]).unwrap();
        prop_assert_eq!(reader.header(), &header);
        for entry in before {
            prop_assert_eq!(reader.next_entry().unwrap(), Some(entry));
        }
        for operation in operations {
            prop_assert_eq!(reader.next_operation().unwrap(), Some(operation));
        }
        prop_assert_eq!(reader.next_operation().unwrap(), None);
    }

    #[test]
    fn the_entries_of_a_tree_are_the_tree(
        operations in prop::collection::vec(operations(), 0..60),
    ) {
        let mut tree = Tree::default();
        for operation in &operations {
            let before: Vec<_> = tree.entries().collect();
            if tree.apply(operation).is_err() {
                prop_assert!(tree.entries().eq(before));
            }
        }
        let entries: Vec<_> = tree.entries().collect();
        prop_assert!(Tree::new(&entries).unwrap().entries().eq(entries.iter().cloned()));
    }
}

//! Checks the format of logs: what is written, and what is refused.

use ssdlab_operations::{
    Entry, LogHeader, LogReader, Omission, Operation, OperationLogError, RelativePath, Tree,
};

const LOG: &str = "\
ssdlab operation log 1
title make -j2
left-out executed 3
before
directory 755 src
file 644 1234 src/a\\x20b.c
link src/a\\x20b.c src/other
symlink ../\\xff newest
operations
open 0 read src/a\\x20b.c
create 1 write,append 600 x
read 0 0 100 12
write 1 0 4096 2
write 1 8192 1
ftruncate 5 1
close 1
close 0
rename x src/y
end
";

/// The operations of a log, which is read to its end.
fn operations(log: &str) -> Result<Vec<Operation>, OperationLogError> {
    let mut log = LogReader::new(log.as_bytes())?;
    std::iter::from_fn(|| log.next_operation().transpose()).collect()
}

/// The message about a log in which this operation stands alone.
fn refusal(operation: &str) -> String {
    let log = format!("ssdlab operation log 1\nbefore\noperations\n{operation}\nend\n");
    operations(&log).expect_err(operation).to_string()
}

#[test]
fn a_log_is_read() {
    let mut log = LogReader::new(LOG.as_bytes()).unwrap();
    assert_eq!(log.header().title, "make -j2");
    assert_eq!(log.header().left_out.count(Omission::Executed), 3);
    let path = RelativePath::new(b"src").unwrap();
    assert_eq!(log.next_entry().unwrap(), Some(Entry::Directory { mode: 0o755, path }));
    let path = RelativePath::new(b"src/a b.c").unwrap();
    let expected = Entry::File { mode: 0o644, size_bytes: 1234, path };
    assert_eq!(log.next_entry().unwrap(), Some(expected));

    let operations = operations(LOG).unwrap();
    let calls: Vec<_> = operations.iter().map(|one| (one.name(), one.calls())).collect();
    let expected = [
        ("open", 1),
        ("create", 1),
        ("read", 12),
        ("write", 2),
        ("write", 1),
        ("ftruncate", 1),
        ("close", 1),
        ("close", 1),
        ("rename", 1),
    ];
    assert_eq!(calls, expected);
    let bytes = operations.iter().filter_map(|one| match one {
        Operation::Read(transfer) | Operation::Write(transfer) => Some(transfer.bytes()),
        _ => None,
    });
    assert_eq!(bytes.collect::<Vec<_>>(), [1200, 8192, 1]);
}

#[test]
fn a_tree_comes_to_what_the_operations_leave() {
    let mut log = LogReader::new(LOG.as_bytes()).unwrap();
    let mut tree = Tree::default();
    while let Some(entry) = log.next_entry().unwrap() {
        tree.add(&entry).unwrap();
    }
    while let Some(operation) = log.next_operation().unwrap() {
        tree.apply(&operation).unwrap();
    }
    let after: Vec<_> = tree.entries().map(|entry| entry.to_string()).collect();
    let expected = [
        "symlink ../\\xff newest",
        "directory 755 src",
        "file 644 1234 src/a\\x20b.c",
        "link src/a\\x20b.c src/other",
        "file 600 5 src/y",
    ];
    assert_eq!(after, expected);
    let path = RelativePath::new(b"src").unwrap();
    assert!(tree.apply(&Operation::RemoveDirectory { path }).is_err());
}

#[test]
fn no_path_leads_out_of_the_directory() {
    for path in ["..", "a/..", "/etc/passwd", "a//b", "a/./b", "a/", "\\x2e\\x2e/a", "", "a\\x00"] {
        let message = refusal(&format!("unlink {path}"));
        assert!(message.contains("line 4") && message.contains("the path"), "{message}");
    }
    let long = "a".repeat(256);
    assert!(refusal(&format!("stat {long}")).contains("the path"));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let refused = [
        ("read 0 0 1", "the handle is \"0\", not an open one"),
        ("open 0 read a\nopen 0 read b", "line 5: the handle is \"0\", not a free one"),
        ("open 1048576 read a", "the handle"),
        ("open 0 execute a", "the flags"),
        ("open 0 read a\nread 0 1 0", "the length"),
        ("open 0 read a\nread 0 9223372036854775807 1", "the length"),
        ("open 0 read a\nwrite 0 0 4294967296 4294967296", "the length"),
        ("mkdir 10000 a", "the mode"),
        ("mkdir +7 a", "the mode"),
        ("truncate -1 a", "the size"),
        ("unlink a b", "the rest"),
        ("unlink a\\xFF", "the path"),
        ("symlink  a", "the link's target"),
        ("fly a", "the operation is \"fly\""),
    ];
    for (operation, expected) in refused {
        let message = refusal(operation);
        assert!(message.contains(expected), "{operation}: {message}");
    }
}

#[test]
fn a_cut_log_says_so_wherever_it_is_cut() {
    for length in LOG.find('\n').unwrap() + 1..LOG.len() {
        let error = operations(&LOG[..length]).unwrap_err();
        assert!(matches!(error, OperationLogError::Truncated { .. }), "{length}: {error}");
    }
}

#[test]
fn other_files_and_versions_are_told_apart() {
    let message = operations("\u{1f}\u{8b}\u{8}").unwrap_err().to_string();
    assert!(message.contains("decompress"), "{message}");
    let message = operations("ssdlab operation log 2\n").unwrap_err().to_string();
    assert!(message.contains("version \"2\""), "{message}");
    let message = operations(&format!("{LOG}more\n")).unwrap_err().to_string();
    assert!(message.contains("line 20: the line after the end"), "{message}");
}

#[test]
fn memory_does_not_grow_with_a_line() {
    let header = LogHeader::default();
    assert_eq!(header.title, "");
    let log = format!("ssdlab operation log 1\ntitle {}", "x".repeat(1 << 20));
    assert!(operations(&log).unwrap_err().to_string().contains("128 KiB"));
}

#[test]
fn a_line_that_is_too_long_is_skipped() {
    let name = "x".repeat(1 << 20);
    let log = format!("ssdlab operation log 1\nbefore\noperations\nunlink {name}\nunlink a\nfly\n");
    let mut log = LogReader::new(log.as_bytes()).unwrap();
    assert!(log.next_operation().unwrap_err().to_string().contains("line 4"));
    let path = RelativePath::new(b"a").unwrap();
    assert_eq!(log.next_operation().unwrap(), Some(Operation::Unlink { path }));
    assert!(log.next_operation().unwrap_err().to_string().contains("line 6"));
}

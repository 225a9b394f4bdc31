use super::*;

/// `struct fanotify_event_info_fid`: its kind, an identifier of the filesystem, a handle, a name.
fn record(kind: u8, handle_kind: u32, words: &[u32], name: &[u8]) -> Vec<u8> {
    let handle_bytes = u32::try_from(4 * words.len()).unwrap();
    let mut body = vec![7; 8];
    for word in [handle_bytes, handle_kind].iter().chain(words) {
        body.extend(word.to_ne_bytes());
    }
    body.extend(name);
    let length = u16::try_from(4 + body.len()).unwrap();
    [&[kind, 0][..], &length.to_ne_bytes(), &body].concat()
}

fn event(records: &[Vec<u8>]) -> Vec<u8> {
    let records = records.concat();
    let mut event = u32::try_from(HEAD_BYTES + records.len()).unwrap().to_ne_bytes().to_vec();
    event.resize(HEAD_BYTES, 0);
    event.extend(records);
    event
}

#[test]
fn names_and_files_are_read_from_events() {
    let of_btrfs = record(1, 0x4d, &[257, 0, 5, 0, 9], b"");
    let bytes = [
        event(&[record(2, 1, &[2, 0], b"one\0\0\0\0\0"), record(1, 1, &[12, 77], b"")]),
        // An overflow of the queue has no records.
        event(&[]),
        event(&[record(2, 0x4d, &[256, 0, 5, 0, 1], b"two\0"), of_btrfs]),
        event(&[record(2, 0x81, &[1, 1, 3], b"three\0"), record(1, 0x81, &[2, 1, 4], b"")]),
        // The ends of a file and of a folder.
        event(&[record(1, 1, &[12, 77], b"")]),
        event(&[record(2, 1, &[13, 78], b".\0")]),
    ]
    .concat();
    let found = events(&bytes);
    let shown = |event: &FileEvent| {
        let HandledFile { tree, inode, generation } = event.file;
        let name = event.name.as_ref().map(|(_, name)| name.to_str().unwrap().to_owned());
        (name.unwrap_or_default(), tree, inode, generation)
    };
    let expected = [
        ("one".to_owned(), 0, 12, 77),
        ("two".to_owned(), 5, 257, 9),
        ("three".to_owned(), 0, (1 << 32) + 2, 4),
        (String::new(), 0, 12, 77),
        (String::new(), 0, 13, 78),
    ];
    assert_eq!(found.iter().map(shown).collect::<Vec<_>>(), expected);
}

#[test]
fn what_is_cut_off_is_left_out() {
    let whole = event(&[record(2, 1, &[2, 0], b"one\0"), record(1, 1, &[12, 77], b"")]);
    for length in 0..whole.len() {
        assert!(events(&whole[..length]).is_empty(), "{length}");
    }
    assert!(event_of(&record(2, 1, &[2, 0], b"one\0")).is_none());
    assert!(event_of(&record(1, 1, &[1; 40], b"")).is_none());
}

//! Requests with known attributions.

use proptest::prelude::*;
use ssdlab_filesystem::layout::Area;
use ssdlab_trace::{Flags, WriteOrigin};

use super::*;

const BLOCK: u64 = 4096;

/// A journal, an inode table, and the rest as ext4 has it.
fn layout() -> Layout {
    let area = |block: u64, blocks: u64, kind| Area {
        offset_bytes: block * BLOCK,
        length_bytes: blocks * BLOCK,
        kind,
    };
    let areas = vec![area(10, 10, BlockKind::Inode), area(100, 100, BlockKind::Journal)];
    Layout::new(areas, BLOCK, BlockKind::Directory)
}

/// A write of blocks, some of them of the filesystem's own structures.
fn write(submitted_ns: u64, took_ns: u64, block: u64, blocks: u64, structures: u64) -> Request {
    Request {
        submitted_ns,
        completed_ns: Some(submitted_ns + took_ns),
        kind: RequestKind::Write,
        offset_bytes: block * BLOCK,
        length_bytes: blocks * BLOCK,
        flags: Flags::empty(),
        origin: Some(WriteOrigin { directory_bytes: 0, metadata_bytes: structures * BLOCK }),
    }
}

fn attributed(
    requests: &[Request],
    moments: &[KindWrites],
    classifier: Option<ContentsClassifier>,
) -> Result<Vec<ByKind>, LedgerError> {
    // A block begins with its number.
    let mut read = |offset: u64, into: &mut [u8]| {
        into[..8].copy_from_slice(&(offset / BLOCK).to_le_bytes());
        Ok(())
    };
    let known = KnownFilesystem { layout: &layout(), classifier, read: &mut read };
    by_kind(requests.iter().copied().map(Ok), moments, known)
}

fn blocks(bytes: u64, requests: u64) -> KindWrites {
    KindWrites { bytes: bytes * BLOCK, requests }
}

#[test]
fn where_it_lies_and_whose_it_is_says_what_it_is() {
    let requests = [
        write(0, 1, 100, 2, 2),
        write(1, 1, 10, 1, 1),
        // From the last block of the inode table on: a directory, then a file.
        write(2, 1, 19, 6, 2),
        write(3, 1, 50, 3, 0),
        Request { origin: None, ..write(4, 1, 60, 1, 0) },
    ];
    let pages = attributed(&requests, &[blocks(13, 5)], None).unwrap();
    let expected = ByKind {
        data: blocks(4 + 3, 2),
        journal: blocks(2, 1),
        inode: blocks(1 + 1, 1),
        directory: blocks(1, 0),
        unattributed: blocks(1, 1),
        ..ByKind::default()
    };
    assert_eq!(pages, [expected]);
}

#[test]
fn directories_have_pages_of_their_own() {
    let mut request = write(0, 1, 50, 4, 1);
    request.origin = Some(WriteOrigin { directory_bytes: 2 * BLOCK, metadata_bytes: BLOCK });
    let pages = attributed(&[request], &[blocks(4, 1)], None).unwrap();
    assert_eq!(pages[0].directory, blocks(3, 1));
    assert_eq!(pages[0].data, blocks(1, 0));
}

#[test]
fn blocks_tell_what_they_are_where_the_layout_does_not() {
    let tell: ContentsClassifier = |head| match head[0] {
        50 => Some(BlockKind::Inode),
        52 => Some(BlockKind::Allocation),
        _ => None,
    };
    // Three of five are structures, and one of them does not say which.
    let pages = attributed(&[write(0, 1, 50, 5, 3)], &[blocks(5, 1)], Some(tell)).unwrap();
    let expected = ByKind {
        data: blocks(2, 1),
        inode: blocks(1, 0),
        allocation: blocks(1, 0),
        directory: blocks(1, 0),
        ..ByKind::default()
    };
    assert_eq!(pages, [expected]);
}

#[test]
fn the_devices_counters_say_where_a_phase_ends() {
    // The first is completed last.
    let requests = [write(0, 100, 50, 1, 0), write(1, 1, 10, 2, 2), write(2, 1, 100, 4, 4)];
    let pages =
        attributed(&requests, &[blocks(0, 0), blocks(6, 2), blocks(6, 2), blocks(7, 3)], None);
    let pages = pages.unwrap();
    let totals: Vec<KindWrites> = pages.iter().map(ByKind::total).collect();
    assert_eq!(totals, [blocks(0, 0), blocks(6, 2), blocks(0, 0), blocks(1, 1)]);
    assert_eq!(pages[3].data, blocks(1, 1));
}

#[test]
fn a_request_too_few_or_too_many_is_found_out() {
    let requests = [write(0, 1, 50, 1, 0), write(1, 1, 51, 1, 0)];
    for moment in [blocks(3, 2), blocks(1, 0), blocks(2, 1)] {
        let error = attributed(&requests, &[moment, blocks(9, 9)], None).unwrap_err();
        assert!(matches!(error, LedgerError::Skewed { expected, .. } if expected == moment));
    }
    // The device also counts requests that only flush.
    assert!(attributed(&requests, &[blocks(1, 4), blocks(2, 9)], None).is_ok());
    // One that was never completed has not been counted.
    let lost = Request { completed_ns: None, ..write(2, 1, 52, 1, 0) };
    assert!(attributed(&[requests[0], requests[1], lost], &[blocks(2, 2)], None).is_ok());
}

proptest! {
    #[test]
    fn no_byte_is_lost(
        requests in prop::collection::vec((0..300_u64, 1..50_u64, 0..60_u64, 0..60_u64), 1..50)
    ) {
        let requests: Vec<Request> = (0..)
            .zip(requests)
            .map(|(at, (block, blocks, structures, directories))| {
                let metadata_bytes = structures.min(blocks) * BLOCK;
                let directory_bytes = directories.min(blocks - structures.min(blocks)) * BLOCK;
                let origin = Some(WriteOrigin { directory_bytes, metadata_bytes });
                Request { origin, ..write(at, 1 + block, block, blocks, 0) }
            })
            .collect();
        let bytes = requests.iter().map(|request| request.length_bytes).sum();
        let all = KindWrites { bytes, requests: requests.len() as u64 };
        let tell: ContentsClassifier = |head| (head[0] % 3 == 0).then_some(BlockKind::Inode);
        for classifier in [None, Some(tell)] {
            prop_assert_eq!(attributed(&requests, &[all], classifier).unwrap()[0].total(), all);
        }
    }
}

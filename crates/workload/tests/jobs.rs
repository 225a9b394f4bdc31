//! Jobs on real files: what they read, write and sync, when they end, and how they fail.
//!
//! They need a kernel that gives `io_uring`, and say so where it does not.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::thread::sleep;
use std::time::Duration;

use libtest_mimic::{Arguments, Trial};
use ssdlab_plan::io::{BlockSize, Io, IoContents, IoEnd, IoPattern, IoSyncPolicy, SyncBy};
use ssdlab_workload::engine::{
    BLOCK_BYTES, EngineError, EngineJob, EngineOperationKind, EngineOutcome, run,
};
use tempfile::NamedTempFile;

const CASES: [(&str, fn()); 10] = [
    ("every_write_lands_where_it_should", every_write_lands),
    ("contents_do_not_repeat", contents_do_not_repeat),
    ("contents_are_those_asked_for", contents_are_those_asked_for),
    ("a_job_ends_by_operations_bytes_or_time", ends),
    ("syncs_come_as_often_as_stated", syncs),
    ("appends_go_to_the_ends_of_files_in_turn", appends),
    ("reads_and_writes_are_counted_apart_and_together", counted_apart),
    ("an_open_load_counts_a_stall_and_a_closed_one_does_not", stall),
    ("an_open_load_keeps_its_rate", rate),
    ("a_failing_operation_says_where", failures),
];

fn main() {
    let arguments = Arguments::from_args();
    let file = tempfile::tempfile().unwrap();
    let reason = match on(&file, &writes()) {
        Err(error @ EngineError::NoRing { .. }) => error.to_string(),
        _ => String::new(),
    };
    let trials = CASES.map(|(name, case)| {
        Trial::test(name, move || {
            case();
            Ok(())
        })
        .with_kind(&reason)
        .with_ignored_flag(!reason.is_empty())
    });
    libtest_mimic::run(&arguments, trials.into()).exit();
}

const SPAN: u64 = 1 << 20;

/// A hundred random writes, eight at a time.
fn writes() -> Io {
    Io {
        file: "data".to_owned(),
        files: 1,
        size_bytes: SPAN,
        pattern: IoPattern::Random,
        read_share: 0.0,
        blocks: vec![BlockSize { bytes: 4096, weight: 1 }],
        contents: IoContents::Random,
        depth: 8,
        direct: false,
        sync: IoSyncPolicy::Never,
        sync_by: SyncBy::Fdatasync,
        end: IoEnd::Operations(100),
        period_ns: None,
    }
}

/// Blocks of two sizes.
fn mixed() -> Vec<BlockSize> {
    vec![BlockSize { bytes: 4096, weight: 3 }, BlockSize { bytes: 16_384, weight: 1 }]
}

fn job<'a>(file: &'a File, io: &'a Io) -> EngineJob<'a> {
    EngineJob { io, files: std::slice::from_ref(file), text: &[], seed: 1 }
}

/// Performs a job on one file.
fn on(file: &File, io: &Io) -> Result<EngineOutcome, EngineError> {
    run(&job(file, io), &mut |_| true)
}

/// A file of zeros.
fn file() -> NamedTempFile {
    let file = NamedTempFile::new().unwrap();
    file.as_file().set_len(SPAN).unwrap();
    file
}

/// The two numbers that a block was stamped with: its offset and the write's number.
fn stamp(block: &[u8]) -> (u64, u64) {
    let number = |at: usize| u64::from_le_bytes(block[at..at + 8].try_into().unwrap());
    (number(0), number(8))
}

fn every_write_lands() {
    let file = file();
    let whole = Io { pattern: IoPattern::Sequential, end: IoEnd::Bytes(SPAN), ..writes() };
    on(file.as_file(), &whole).unwrap();
    for (index, block) in fs::read(file.path()).unwrap().chunks(BLOCK_BYTES).enumerate() {
        let at = (index * BLOCK_BYTES) as u64;
        assert_eq!(stamp(block), (at, index as u64 + 1));
    }
    let file = self::file();
    let done = on(file.as_file(), &Io { blocks: mixed(), ..writes() }).unwrap();
    let bytes = fs::read(file.path()).unwrap();
    assert_eq!(bytes.len() as u64, SPAN);
    let mut written = 0;
    for (at, block) in (0..).step_by(BLOCK_BYTES).zip(bytes.chunks(BLOCK_BYTES)) {
        if block.iter().any(|byte| *byte != 0) {
            assert_eq!(stamp(block).0, at);
            assert!((1..=100).contains(&stamp(block).1));
            written += block.len() as u64;
        }
    }
    assert!((SPAN / 8..=done.writes.bytes).contains(&written), "{written}");
}

fn contents_do_not_repeat() {
    let file = file();
    let end = IoEnd::Bytes(SPAN);
    let whole = Io { pattern: IoPattern::Sequential, depth: 1, end, ..writes() };
    on(file.as_file(), &whole).unwrap();
    let bytes = fs::read(file.path()).unwrap();
    // Within what filesystems compress at a time no two blocks are alike behind their stamps.
    let mut blocks: Vec<&[u8]> = bytes[..128 << 10].chunks(BLOCK_BYTES).map(|b| &b[16..]).collect();
    blocks.sort_unstable();
    blocks.dedup();
    assert_eq!(blocks.len(), 32);
}

fn contents_are_those_asked_for() {
    let written = |contents, text: &[u8]| {
        let file = file();
        // What was there does not show through.
        let bytes = usize::try_from(SPAN).unwrap();
        fs::write(file.path(), vec![7; bytes]).unwrap();
        let end = IoEnd::Bytes(SPAN);
        let whole = Io { pattern: IoPattern::Sequential, end, contents, ..writes() };
        run(&EngineJob { text, ..job(file.as_file(), &whole) }, &mut |_| true).unwrap();
        fs::read(file.path()).unwrap()
    };
    assert!(written(IoContents::Zeros, &[]).iter().all(|byte| *byte == 0));
    // The stamps of blocks aside, it is what was given, slot after slot.
    let given: Vec<u8> = (b'a'..b'q').flat_map(|letter| [letter; BLOCK_BYTES]).collect();
    let bytes = written(IoContents::Text, &given);
    let behind = |block: &[u8]| block[16..].iter().copied().collect::<BTreeSet<u8>>();
    let blocks: Vec<BTreeSet<u8>> = bytes.chunks(BLOCK_BYTES).map(behind).collect();
    assert!(blocks.iter().all(|block| block.len() == 1), "{blocks:?}");
    let letters: BTreeSet<u8> = blocks.into_iter().flatten().collect();
    assert_eq!(letters, (b'a'..b'q').collect());
}

fn ends() {
    let file = file();
    let of = |end| on(file.as_file(), &Io { blocks: mixed(), end, ..writes() }).unwrap().writes;
    assert_eq!(of(IoEnd::Operations(33)).operations, 33);
    let bytes = of(IoEnd::Bytes(100_000)).bytes;
    assert!((100_000..100_000 + 16_384).contains(&bytes), "{bytes}");
    let timed = of(IoEnd::Time(50_000_000));
    assert!(timed.operations > 0 && timed.took >= Duration::from_millis(50));
    let counted = of(IoEnd::Operations(500));
    assert_eq!(counted.latencies.len(), 500);
    assert_eq!(counted.series.operations.iter().sum::<u64>(), 500);
}

fn syncs() {
    let file = file();
    let of = |sync, read_share| {
        let io = Io { sync, read_share, end: IoEnd::Operations(10), ..writes() };
        on(file.as_file(), &io).unwrap().syncs.operations
    };
    assert_eq!(of(IoSyncPolicy::Never, 0.0), 0);
    assert_eq!(of(IoSyncPolicy::AtEnd, 0.0), 1);
    assert_eq!(of(IoSyncPolicy::AtEnd, 1.0), 0);
    assert_eq!(of(IoSyncPolicy::Every(4), 0.0), 2);
    assert_eq!(of(IoSyncPolicy::Every(1), 0.0), 10);
}

fn appends() {
    let (one, other) = (NamedTempFile::new().unwrap(), NamedTempFile::new().unwrap());
    fs::write(one.path(), "before").unwrap();
    let open = |file: &NamedTempFile| OpenOptions::new().append(true).open(file.path()).unwrap();
    let files = [open(&one), open(&other)];
    let io = Io {
        size_bytes: 0,
        pattern: IoPattern::Append,
        blocks: vec![BlockSize { bytes: 500, weight: 1 }],
        depth: 1,
        sync: IoSyncPolicy::Every(3),
        sync_by: SyncBy::Fsync,
        end: IoEnd::Operations(8),
        ..writes()
    };
    let done = run(&EngineJob { files: &files, ..job(&files[0], &io) }, &mut |_| true).unwrap();
    assert_eq!((done.writes.operations, done.writes.bytes), (8, 4000));
    // Three writes are to both files, and so are the next three.
    assert_eq!(done.syncs.operations, 4);
    let [one, other] = [one, other].map(|file| fs::read(file.path()).unwrap());
    assert_eq!((one.len(), other.len()), (2006, 2000));
    assert!(one.starts_with(b"before"));
    let stamps = |bytes: &[u8]| bytes.chunks(500).map(stamp).collect::<Vec<_>>();
    assert_eq!(stamps(&one[6..]), [(6, 1), (506, 3), (1006, 5), (1506, 7)]);
    assert_eq!(stamps(&other), [(0, 2), (500, 4), (1000, 6), (1500, 8)]);
}

fn counted_apart() {
    let file = file();
    let end = IoEnd::Operations(1000);
    let done = on(file.as_file(), &Io { read_share: 0.3, end, ..writes() }).unwrap();
    let EngineOutcome { reads, writes, .. } = &done;
    assert!((200..400).contains(&reads.operations), "{}", reads.operations);
    let all = done.moved();
    assert_eq!(all.operations, 1000);
    assert_eq!(reads.operations + writes.operations, 1000);
    assert_eq!(all.bytes, 4_096_000);
    assert_eq!((all.took, reads.took), (writes.took, writes.took));
}

/// The engine's own thread stands still for a while, as it would if the kernel kept it.
fn stall() {
    const STALL: Duration = Duration::from_millis(300);
    let file = file();
    let slow = |period_ns| {
        let io = Io { depth: 1, period_ns, end: IoEnd::Operations(400), ..writes() };
        let mut stall = Some(STALL);
        let done = run(&job(file.as_file(), &io), &mut |_| {
            sleep(stall.take().unwrap_or_default());
            true
        });
        let latencies = done.unwrap().writes.latencies;
        latencies.len() - latencies.count_between(0, 99_999_999)
    };
    // One due each millisecond: those of the first 200 ms of the stall felt 100 ms of it or more.
    assert!(slow(Some(1_000_000)) >= 190);
    // A closed load has one that waits for it; others are slow only where the machine is.
    assert!(slow(None) < 95);
}

fn rate() {
    let file = file();
    let paced = Io { period_ns: Some(2_000_000), ..writes() };
    let done = on(file.as_file(), &Io { end: IoEnd::Operations(51), ..paced.clone() }).unwrap();
    // The fifty-first is due after 100 ms, and none begins before it is due.
    assert!(done.writes.took >= Duration::from_millis(100));
    assert_eq!(done.writes.operations, 51);
    // A stall at the end does not swallow those that were due in it.
    let io = Io { depth: 1, end: IoEnd::Time(100_000_000), ..paced };
    let mut turns = 0;
    let done = run(&job(file.as_file(), &io), &mut |_| {
        turns += 1;
        sleep(Duration::from_millis(if turns == 40 { 200 } else { 0 }));
        true
    });
    assert_eq!(done.unwrap().writes.operations, 50);
}

fn failures() {
    let file = file();
    let read_only = File::open(file.path()).unwrap();
    let Err(EngineError::Operation { kind, offset, length, cause }) = on(&read_only, &writes())
    else {
        panic!("written to a file that is open for reading")
    };
    assert_eq!(
        (kind, length, cause.raw_os_error()),
        (EngineOperationKind::Write, 4096, Some(libc::EBADF))
    );
    assert!(offset < SPAN);
    file.as_file().set_len(6000).unwrap();
    let reads = Io { pattern: IoPattern::Sequential, read_share: 1.0, depth: 1, ..writes() };
    let error = on(file.as_file(), &reads).unwrap_err();
    assert_eq!(error.to_string(), "the read of 4096 bytes at offset 4096 moved only 1904");
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let error = on(&full, &writes()).unwrap_err().to_string();
    assert!(error.contains("the write of 4096 bytes at offset "), "{error}");
    assert!(error.contains("No space left on device"), "{error}");
    let stopped = run(&job(file.as_file(), &writes()), &mut |_| false);
    assert!(matches!(stopped, Err(EngineError::Stopped)));
}

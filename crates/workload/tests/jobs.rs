//! Jobs on real files: what they read, write and sync, when they end, and how they fail.
//!
//! They need a kernel that gives `io_uring`, and say so where it does not.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::thread::sleep;
use std::time::Duration;

use libtest_mimic::{Arguments, Trial};
use ssdlab_workload::engine::{
    BLOCK_BYTES, Block, Contents, End, EngineError, Job, Kind, Outcome, Pattern, SyncCall,
    SyncPolicy, run,
};
use tempfile::NamedTempFile;

const CASES: [(&str, fn()); 11] = [
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
    ("a_job_that_makes_no_sense_is_refused", nonsense),
];

fn main() {
    let arguments = Arguments::from_args();
    let file = tempfile::tempfile().unwrap();
    let reason = match job(&file).run() {
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

const BLOCKS: &[Block] = &[Block { bytes: 4096, weight: 1 }];

const MIXED: &[Block] = &[Block { bytes: 4096, weight: 3 }, Block { bytes: 16_384, weight: 1 }];

/// A hundred random writes, eight at a time.
fn job(file: &File) -> Job<'_> {
    Job {
        files: std::slice::from_ref(file),
        span_bytes: SPAN,
        pattern: Pattern::Random,
        read_share: 0.0,
        blocks: BLOCKS,
        depth: 8,
        sync: SyncPolicy::Never,
        sync_call: SyncCall::Fdatasync,
        end: End::Operations(100),
        period: None,
        contents: Contents::Random,
        seed: 1,
    }
}

/// What the tests do with jobs.
trait Runs {
    fn run(&self) -> Result<Outcome, EngineError>;
}

impl Runs for Job<'_> {
    fn run(&self) -> Result<Outcome, EngineError> {
        run(self, &mut |_| true)
    }
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
    let whole = End::Bytes(SPAN);
    Job { pattern: Pattern::Sequential, end: whole, ..job(file.as_file()) }.run().unwrap();
    for (index, block) in fs::read(file.path()).unwrap().chunks(BLOCK_BYTES).enumerate() {
        let at = (index * BLOCK_BYTES) as u64;
        assert_eq!(stamp(block), (at, index as u64 + 1));
    }
    let file = self::file();
    let done = Job { blocks: MIXED, ..job(file.as_file()) }.run().unwrap();
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
    let whole = End::Bytes(SPAN);
    Job { pattern: Pattern::Sequential, depth: 1, end: whole, ..job(file.as_file()) }
        .run()
        .unwrap();
    let bytes = fs::read(file.path()).unwrap();
    // Within what filesystems compress at a time no two blocks are alike behind their stamps.
    let mut blocks: Vec<&[u8]> = bytes[..128 << 10].chunks(BLOCK_BYTES).map(|b| &b[16..]).collect();
    blocks.sort_unstable();
    blocks.dedup();
    assert_eq!(blocks.len(), 32);
}

fn contents_are_those_asked_for() {
    let written = |contents| {
        let file = file();
        // What was there does not show through.
        let bytes = usize::try_from(SPAN).unwrap();
        fs::write(file.path(), vec![7; bytes]).unwrap();
        let whole =
            Job { pattern: Pattern::Sequential, end: End::Bytes(SPAN), ..job(file.as_file()) };
        Job { contents, ..whole }.run().unwrap();
        fs::read(file.path()).unwrap()
    };
    assert!(written(Contents::Zeros).iter().all(|byte| *byte == 0));
    // The stamps of blocks aside, it is what was given, slot after slot.
    let given: Vec<u8> = (b'a'..b'q').flat_map(|letter| [letter; BLOCK_BYTES]).collect();
    let bytes = written(Contents::Given(&given));
    let behind = |block: &[u8]| block[16..].iter().copied().collect::<BTreeSet<u8>>();
    let blocks: Vec<BTreeSet<u8>> = bytes.chunks(BLOCK_BYTES).map(behind).collect();
    assert!(blocks.iter().all(|block| block.len() == 1), "{blocks:?}");
    let letters: BTreeSet<u8> = blocks.into_iter().flatten().collect();
    assert_eq!(letters, (b'a'..b'q').collect());
}

fn ends() {
    let file = file();
    let of = |end| Job { blocks: MIXED, end, ..job(file.as_file()) }.run().unwrap().writes;
    assert_eq!(of(End::Operations(33)).operations, 33);
    let bytes = of(End::Bytes(100_000)).bytes;
    assert!((100_000..100_000 + 16_384).contains(&bytes), "{bytes}");
    let timed = of(End::Time(Duration::from_millis(50)));
    assert!(timed.operations > 0 && timed.took >= Duration::from_millis(50));
    let counted = of(End::Operations(500));
    assert_eq!(counted.latencies.len(), 500);
    assert_eq!(counted.series.operations.iter().sum::<u64>(), 500);
}

fn syncs() {
    let file = file();
    let of = |sync, read_share| {
        let job = Job { sync, read_share, end: End::Operations(10), ..job(file.as_file()) };
        job.run().unwrap().syncs.operations
    };
    assert_eq!(of(SyncPolicy::Never, 0.0), 0);
    assert_eq!(of(SyncPolicy::AtEnd, 0.0), 1);
    assert_eq!(of(SyncPolicy::AtEnd, 1.0), 0);
    assert_eq!(of(SyncPolicy::Every(4), 0.0), 2);
    assert_eq!(of(SyncPolicy::Every(1), 0.0), 10);
}

fn appends() {
    let (one, other) = (NamedTempFile::new().unwrap(), NamedTempFile::new().unwrap());
    fs::write(one.path(), "before").unwrap();
    let open = |file: &NamedTempFile| OpenOptions::new().append(true).open(file.path()).unwrap();
    let files = [open(&one), open(&other)];
    let blocks = &[Block { bytes: 500, weight: 1 }];
    let job = Job {
        files: &files,
        span_bytes: 0,
        pattern: Pattern::Append,
        blocks,
        sync: SyncPolicy::Every(3),
        sync_call: SyncCall::Fsync,
        ..job(&files[0])
    };
    let done = Job { depth: 1, end: End::Operations(8), ..job }.run().unwrap();
    assert_eq!((done.writes.operations, done.writes.bytes), (8, 4000));
    // Three writes are to both files, and so are the next three.
    assert_eq!(done.syncs.operations, 4);
    let [one, other] = [one, other].map(|file| fs::read(file.path()).unwrap());
    assert_eq!((one.len(), other.len()), (2006, 2000));
    assert!(one.starts_with(b"before"));
    let stamps = |bytes: &[u8]| bytes.chunks(500).map(stamp).collect::<Vec<_>>();
    assert_eq!(stamps(&one[6..]), [(6, 1), (506, 3), (1006, 5), (1506, 7)]);
    assert_eq!(stamps(&other), [(0, 2), (500, 4), (1000, 6), (1500, 8)]);
    let reads = Job { read_share: 0.1, ..job };
    assert!(matches!(reads.run(), Err(EngineError::Job { .. })));
}

fn counted_apart() {
    let file = file();
    let end = End::Operations(1000);
    let done = Job { read_share: 0.3, end, ..job(file.as_file()) }.run().unwrap();
    let Outcome { reads, writes, .. } = &done;
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
    let slow = |period| {
        let job = Job { depth: 1, period, end: End::Operations(400), ..job(file.as_file()) };
        let mut stall = Some(STALL);
        let done = run(&job, &mut |_| {
            sleep(stall.take().unwrap_or_default());
            true
        });
        let latencies = done.unwrap().writes.latencies;
        latencies.len() - latencies.count_between(0, 99_999_999)
    };
    // One due each millisecond: those of the first 200 ms of the stall felt 100 ms of it or more.
    assert!(slow(Some(Duration::from_millis(1))) >= 190);
    // A closed load has one that waits for it; others are slow only where the machine is.
    assert!(slow(None) < 95);
}

fn rate() {
    let file = file();
    let period = Some(Duration::from_millis(2));
    let done = Job { period, end: End::Operations(51), ..job(file.as_file()) }.run().unwrap();
    // The fifty-first is due after 100 ms, and none begins before it is due.
    assert!(done.writes.took >= Duration::from_millis(100));
    assert_eq!(done.writes.operations, 51);
    // A stall at the end does not swallow those that were due in it.
    let end = End::Time(Duration::from_millis(100));
    let job = Job { depth: 1, period, end, ..job(file.as_file()) };
    let mut turns = 0;
    let done = run(&job, &mut |_| {
        turns += 1;
        sleep(Duration::from_millis(if turns == 40 { 200 } else { 0 }));
        true
    });
    assert_eq!(done.unwrap().writes.operations, 50);
}

fn failures() {
    let file = file();
    let read_only = File::open(file.path()).unwrap();
    let Err(EngineError::Operation { kind, offset, length, cause }) = job(&read_only).run() else {
        panic!("written to a file that is open for reading")
    };
    assert_eq!((kind, length, cause.raw_os_error()), (Kind::Write, 4096, Some(libc::EBADF)));
    assert!(offset < SPAN);
    file.as_file().set_len(6000).unwrap();
    let one = Job { depth: 1, ..job(file.as_file()) };
    let reads = Job { pattern: Pattern::Sequential, read_share: 1.0, ..one };
    let error = reads.run().unwrap_err();
    assert_eq!(error.to_string(), "the read of 4096 bytes at offset 4096 moved only 1904");
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let error = job(&full).run().unwrap_err().to_string();
    assert!(error.contains("the write of 4096 bytes at offset "), "{error}");
    assert!(error.contains("No space left on device"), "{error}");
    let stopped = run(&job(file.as_file()), &mut |_| false);
    assert!(matches!(stopped, Err(EngineError::Stopped)));
}

fn nonsense() {
    let file = file();
    let good = job(file.as_file());
    let none = [Block { bytes: 4096, weight: 0 }];
    for bad in [
        Job { files: &[], ..good },
        Job { blocks: &[], ..good },
        Job { blocks: &none, ..good },
        Job { blocks: &[Block { bytes: 0, weight: 1 }], ..good },
        Job { span_bytes: 4095, ..good },
        Job { read_share: f64::NAN, ..good },
        Job { depth: 0, ..good },
        Job { depth: 5000, ..good },
        Job { sync: SyncPolicy::Every(0), ..good },
        Job { period: Some(Duration::ZERO), ..good },
        Job { contents: Contents::Given(&[]), ..good },
    ] {
        assert!(matches!(bad.run(), Err(EngineError::Job { .. })), "{bad:?}");
    }
}

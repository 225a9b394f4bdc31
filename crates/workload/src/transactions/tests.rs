use std::fs;
use std::path::Path;
use std::time::Duration;

use ssdlab_host::interrupt::Interrupt;
use ssdlab_host::program::Rules;

use super::{
    CHECKPOINT_FRAMES, ContentPool, DATABASE, IoEnd, JOURNAL, JournalMode, LOG, PhaseContext,
    PhaseOutcome, STREAM, Synchronous, Transactions, WorkloadError, run,
};

const WORK: Transactions = Transactions {
    database_pages: 64,
    pages: 3,
    journal: JournalMode::Rollback,
    synchronous: Synchronous::Full,
    end: IoEnd::Operations(5),
    think_ns: 0,
    period_ns: None,
    beside_bytes_per_second: None,
};

/// Performs transactions in a folder with a database of zeros.
fn perform(work: &Transactions, folder: &Path) -> Result<PhaseOutcome, WorkloadError> {
    fs::write(folder.join(DATABASE), vec![0; 64 * 4096]).unwrap();
    let interrupt = Interrupt::default();
    let limit = Duration::from_mins(1);
    let rules = Rules { marker: "test", limit, interrupt: &interrupt };
    let place = PhaseContext { directory: folder, mounted_at: folder, commit: &[], rules };
    run(work, &ContentPool::new(1), 1, place)
}

#[test]
fn a_rollback_commit_writes_and_syncs_what_sqlite_does() {
    let folder = tempfile::tempdir().unwrap();
    let done = perform(&WORK, folder.path()).unwrap();
    // A header, four old pages with number and checksum, the header's first part, four pages.
    let each = 512 + 4 * (4 + 4096 + 4) + 12 + 4 * 4096;
    assert_eq!(done.application_bytes, Some(5 * each));
    let counted = done.counted.unwrap();
    assert_eq!((counted.operations, counted.latencies.len()), (5, 5));
    // Two of the journal, one of the directory, one of the database.
    let syncs = done.reported["sync.ops_per_second"] * counted.took.as_secs_f64();
    assert!((syncs - 20.0).abs() < 1e-6, "{syncs}");
    let database = fs::read(folder.path().join(DATABASE)).unwrap();
    assert_eq!(database.len(), 64 * 4096);
    let changed = database.chunks(4096).filter(|page| page.iter().any(|byte| *byte != 0));
    assert!((4..=16).contains(&changed.count()));
    assert!(!folder.path().join(JOURNAL).exists());
}

/// What strace(1) shows of `SQLite` 3.40 by mode: syncs of five commits.
#[test]
fn a_commit_is_synced_as_often_as_the_pragma_says() {
    let syncs = |journal, synchronous| {
        let folder = tempfile::tempdir().unwrap();
        let done = perform(&Transactions { journal, synchronous, ..WORK }, folder.path()).unwrap();
        let rate = done.reported.get("sync.ops_per_second").copied().unwrap_or(0.0);
        (rate * done.counted.unwrap().took.as_secs_f64()).round()
    };
    let (rollback, wal) = (JournalMode::Rollback, JournalMode::Wal);
    let all = [Synchronous::Full, Synchronous::Normal, Synchronous::Off];
    let every = all.map(|synchronous| [syncs(rollback, synchronous), syncs(wal, synchronous)]);
    // A log's header is synced, too, before the first.
    assert_eq!(every, [[20.0, 6.0], [15.0, 1.0], [0.0, 0.0]]);
}

#[test]
fn a_log_is_moved_into_the_database_and_begun_anew() {
    let folder = tempfile::tempdir().unwrap();
    let end = IoEnd::Operations(CHECKPOINT_FRAMES as u64 / 4 + 1);
    let done = perform(&Transactions { journal: JournalMode::Wal, end, ..WORK }, folder.path());
    let log = (32 + 1000 * (24 + 4096)) as u64;
    let again = 32 + 4 * (24 + 4096);
    assert_eq!(fs::metadata(folder.path().join(LOG)).unwrap().len(), log);
    let database = fs::read(folder.path().join(DATABASE)).unwrap();
    let changed =
        database.chunks(4096).filter(|page| page.iter().any(|byte| *byte != 0)).count() as u64;
    assert!(changed > 60, "{changed}");
    assert_eq!(done.unwrap().application_bytes, Some(log + again + changed * 4096));
}

#[test]
fn a_transaction_is_timed_from_when_it_was_due() {
    let folder = tempfile::tempdir().unwrap();
    let (end, period_ns) = (IoEnd::Time(50_000_000), Some(1_000_000));
    let done = perform(&Transactions { end, period_ns, ..WORK }, folder.path()).unwrap();
    // Fifty fell due, and none is left out however late it was.
    assert_eq!(done.counted.unwrap().operations, 50);
}

#[test]
fn somebody_writes_beside_transactions() {
    let folder = tempfile::tempdir().unwrap();
    let beside = Some(100_000_000);
    let work = Transactions { beside_bytes_per_second: beside, think_ns: 20_000_000, ..WORK };
    let done = perform(&work, folder.path()).unwrap();
    assert!(done.reported["beside.bytes_per_second"] > 0.0);
    let streamed = fs::metadata(folder.path().join(STREAM)).unwrap().len();
    assert!(streamed >= 1 << 20, "{streamed}");
}

#[test]
fn a_missing_database_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let interrupt = Interrupt::default();
    let rules = Rules { marker: "test", limit: Duration::from_mins(1), interrupt: &interrupt };
    let place =
        PhaseContext { directory: folder.path(), mounted_at: folder.path(), commit: &[], rules };
    let error = run(&WORK, &ContentPool::new(1), 1, place).unwrap_err().to_string();
    assert!(error.contains("cannot open database"), "{error}");
}

//! The effect of each of Bonnie's tests on a directory, and how it is stopped early.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use ssdlab_host::interrupt::Interrupt;
use ssdlab_host::program::Rules;
use ssdlab_host::thread;
use ssdlab_plan::schedule::{self, Action, Phase};
use ssdlab_plan::{Bonnie, BonnieTest};
use tempfile::TempDir;

use crate::{PhaseContext, PhaseOutcome, PreparedWorkload, WorkloadError};

const SIZES: Bonnie = Bonnie {
    size_bytes: 300 * 1024,
    chunk_bytes: 1024,
    char_bytes: 5 * 1024,
    seeks: 200,
    seekers: 4,
    files: 100,
    file_bytes: (0, 3000),
    directories: 3,
    fsync_each: false,
    least_ns: 0,
};

/// A directory that tests work in.
struct Bench {
    folder: TempDir,
    workload: PreparedWorkload,
    interrupt: Interrupt,
    limit: Duration,
}

impl Bench {
    fn new(sizes: &Bonnie, seed: u64) -> Self {
        let spec =
            schedule::Workload { bonnie: Some(sizes.clone()), ..schedule::Workload::default() };
        let mut workload =
            PreparedWorkload::new(&spec, &BTreeMap::new(), seed, &Interrupt::default()).unwrap();
        workload.seed(seed);
        let folder = tempfile::tempdir().unwrap();
        let (interrupt, limit) = (Interrupt::default(), Duration::from_mins(1));
        Self { folder, workload, interrupt, limit }
    }

    fn place(&self) -> (Rules<'_>, &Path) {
        let rules = Rules { marker: "test", limit: self.limit, interrupt: &self.interrupt };
        (rules, self.folder.path())
    }

    fn act(&mut self, action: Action) -> Result<PhaseOutcome, WorkloadError> {
        let folder = self.folder.path();
        let rules = Rules { marker: "test", limit: self.limit, interrupt: &self.interrupt };
        let place = PhaseContext { directory: folder, mounted_at: folder, commit: &[], rules };
        self.workload.perform(&phase(action), place)
    }

    fn perform(&mut self, test: BonnieTest) -> PhaseOutcome {
        self.act(Action::Bonnie { test }).unwrap_or_else(|error| panic!("{test:?}: {error}"))
    }

    fn verify(&self) -> Result<bool, WorkloadError> {
        let (rules, folder) = self.place();
        self.workload
            .verify(&[], PhaseContext { directory: folder, mounted_at: folder, commit: &[], rules })
    }

    /// Everything below the directory: its path and its contents, none for directories.
    fn contents(&self) -> BTreeMap<String, Option<Vec<u8>>> {
        let mut found = BTreeMap::new();
        let mut open = vec![self.folder.path().to_owned()];
        while let Some(folder) = open.pop() {
            for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
                let name = path.strip_prefix(self.folder.path()).unwrap().display().to_string();
                found.insert(name, fs::read(&path).ok());
                if path.is_dir() {
                    open.push(path);
                }
            }
        }
        found
    }
}

fn phase(action: Action) -> Phase {
    Phase { cold: true, ..Phase::new("test", action, 0) }
}

#[test]
fn after_every_test_the_directory_is_as_it_must_be() {
    let mut bench = Bench::new(&SIZES, 7);
    for test in BonnieTest::ALL {
        let done = bench.perform(test);
        assert!(bench.verify().unwrap(), "{test:?}");
        let counted = done.counted.unwrap();
        let (operations, bytes) = match test {
            BonnieTest::SeqOutputChar | BonnieTest::SeqInputChar => (5, Some(5 * 1024)),
            BonnieTest::RandomSeek => (200, Some(200 * 1024)),
            _ if test.is_of_the_file() => (300, Some(300 * 1024)),
            _ => (100, None),
        };
        assert_eq!(counted.operations, operations, "{test:?}");
        assert_eq!(counted.latencies.len(), operations, "{test:?}");
        assert!(bytes.is_none_or(|bytes| bytes == counted.bytes), "{test:?}");
        let files = bench.contents().values().filter(|contents| contents.is_some()).count();
        let created = [
            BonnieTest::SeqCreate,
            BonnieTest::SeqStat,
            BonnieTest::RandomCreate,
            BonnieTest::RandomStat,
        ];
        assert_eq!(files, if created.contains(&test) { 101 } else { 1 }, "{test:?}");
    }
    assert!(bench.act(Action::Delete).is_ok());
    assert!(bench.contents().is_empty() && bench.verify().unwrap());
}

/// `--verify` detects a change.
#[test]
fn a_changed_byte_of_the_file_is_found() {
    let mut bench = Bench::new(&SIZES, 7);
    for test in [BonnieTest::SeqOutputBlock, BonnieTest::Rewrite, BonnieTest::RandomSeek] {
        bench.perform(test);
    }
    let path = bench.folder.path().join("bonnie");
    let mut bytes = fs::read(&path).unwrap();
    assert_eq!(bytes.len(), 300 * 1024);
    bytes[200_000] ^= 1;
    fs::write(&path, bytes).unwrap();
    let message = bench.verify().unwrap_err().to_string();
    assert!(message.contains("bonnie has the byte 200000"), "{message}");
}

#[test]
fn what_was_written_is_what_the_kernel_counted_for_all_threads() {
    let mut bench = Bench::new(&SIZES, 7);
    for test in BonnieTest::ALL {
        let before = thread::used().wchar_bytes.unwrap();
        let done = bench.perform(test);
        let own = thread::used().wchar_bytes.unwrap() - before;
        let all = own + done.threads.wchar_bytes.unwrap();
        assert_eq!(done.application_bytes, Some(all), "{test:?}");
        assert_eq!(done.threads.wchar_bytes > Some(0), test == BonnieTest::RandomSeek, "{test:?}");
    }
}

#[test]
fn a_test_that_is_too_fast_is_repeated_and_leaves_the_same_names() {
    let least = Duration::from_millis(60);
    let long = Bonnie { least_ns: 60_000_000, ..SIZES };
    let (mut short, mut long) = (Bench::new(&SIZES, 7), Bench::new(&long, 7));
    let mut repeated = 0;
    for test in BonnieTest::ALL {
        let once = short.perform(test).counted.unwrap();
        let counted = long.perform(test).counted.unwrap();
        assert!(counted.took >= least, "{test:?}: {:?}", counted.took);
        assert!(counted.operations >= once.operations, "{test:?}");
        repeated += usize::from(counted.operations > once.operations);
        assert!(long.verify().unwrap(), "{test:?}");
        let names = |bench: &Bench| bench.contents().into_keys().collect::<Vec<_>>();
        assert_eq!(names(&short), names(&long), "{test:?}");
    }
    // Where a test takes as long as that, it is done once.
    assert!(repeated > 0);
}

#[test]
fn a_seed_decides_what_is_left() {
    let left = |seed| {
        let mut bench = Bench::new(&SIZES, seed);
        for test in [
            BonnieTest::SeqOutputBlock,
            BonnieTest::RandomSeek,
            BonnieTest::SeqCreate,
            BonnieTest::RandomCreate,
        ] {
            bench.perform(test);
        }
        bench.contents()
    };
    let one = left(1);
    assert!(one == left(1));
    assert!(one != left(2));
    let in_directories = |name: &&String| name.starts_with("bonnie-seq/00001/");
    assert_eq!(one.keys().filter(in_directories).count(), 34);
}

#[test]
fn every_test_stops_at_its_limit_and_on_an_interrupt() {
    for test in BonnieTest::ALL {
        let mut bench = Bench::new(&SIZES, 7);
        for earlier in BonnieTest::ALL.iter().take_while(|earlier| **earlier != test) {
            bench.perform(*earlier);
        }
        bench.limit = Duration::ZERO;
        let ended = bench.act(Action::Bonnie { test });
        assert!(matches!(ended, Err(WorkloadError::Limit { .. })), "{test:?}");
    }
    for test in [BonnieTest::SeqOutputChar, BonnieTest::SeqCreate] {
        let mut bench = Bench::new(&SIZES, 7);
        bench.interrupt.set();
        let ended = bench.act(Action::Bonnie { test });
        assert!(matches!(ended, Err(WorkloadError::Interrupted)), "{test:?}");
    }
}

#[test]
fn what_has_gone_is_named() {
    let mut bench = Bench::new(&SIZES, 7);
    let missing = bench.act(Action::Bonnie { test: BonnieTest::Rewrite }).unwrap_err();
    assert!(missing.to_string().contains("cannot open bonnie"), "{missing}");
    bench.perform(BonnieTest::SeqOutputBlock);
    fs::File::options()
        .write(true)
        .open(bench.folder.path().join("bonnie"))
        .unwrap()
        .set_len(9)
        .unwrap();
    let short = bench.act(Action::Bonnie { test: BonnieTest::SeqInputBlock }).unwrap_err();
    assert!(short.to_string().contains("cannot read bonnie"), "{short}");
    bench.perform(BonnieTest::SeqCreate);
    let one = bench.contents().into_keys().find(|name| name.starts_with("bonnie-seq/00001/"));
    fs::remove_file(bench.folder.path().join(one.unwrap())).unwrap();
    let shown = bench.act(Action::Bonnie { test: BonnieTest::SeqStat }).unwrap_err().to_string();
    assert!(shown.contains("bonnie-seq listed 99 files while it was read, but has 100"), "{shown}");
}

//! Series on a real filesystem, and the oracle that knows what they leave.

use std::fs;
use std::path::Path;

use ssdlab_host::interrupt::Interrupt;
use ssdlab_host::program::Rules;
use ssdlab_operations::cuts::WatchedFiles;
use ssdlab_plan::maildir::{MailAgent, Maildir};
use ssdlab_plan::rotation::Rotate;

use super::*;
use crate::content::FileContents;
use crate::synthetic::maildir::Spool;
use crate::synthetic::rotation::Rotation;
use crate::verify::{Oracle, umask};

/// Performs a series in a folder and expects the oracle to find it there.
fn perform<S: Iterator<Item = ScriptStep>>(series: impl Fn() -> S, folder: &Path) -> PhaseOutcome {
    let (contents, interrupt) = (FileContents::sample(), Interrupt::default());
    let rules = Rules { marker: "test", limit: Duration::from_mins(1), interrupt: &interrupt };
    let place = PhaseContext { directory: folder, mounted_at: folder, commit: &[], rules };
    let player = Player::new(folder, &contents, rules).unwrap();
    let done = run(series(), 0, player, place).unwrap();
    assert_eq!(compare(series(), folder), Ok(()));
    done
}

fn compare(series: impl Iterator<Item = ScriptStep>, folder: &Path) -> Result<(), String> {
    let mut oracle = Oracle::default();
    oracle.perform_all(series, umask().unwrap()).unwrap();
    let (contents, interrupt) = (FileContents::sample(), Interrupt::default());
    let compared = oracle.compare(folder, &contents, &WatchedFiles::default(), &interrupt);
    compared.map_err(|error| error.to_string())
}

#[test]
fn a_spool_is_delivered_to_and_fetched_from() {
    for agent in [MailAgent::Postfix, MailAgent::Dovecot] {
        let work = Maildir { messages: 60, mailboxes: 4, agent, fetch_at: 5, think_ns: 0 };
        let folder = tempfile::tempdir().unwrap();
        let done = perform(|| Spool::new(work, 1), folder.path());
        let counted = done.counted.unwrap();
        assert_eq!((counted.operations, counted.latencies.len()), (60, 60));
        assert_eq!(done.application_bytes, Some(counted.bytes));
        fs::write(folder.path().join("mail/0/tmp/left"), "").unwrap();
        let found = compare(Spool::new(work, 1), folder.path()).unwrap_err();
        assert!(found.contains("mail/0/tmp/left should not be there"), "{found}");
    }
}

#[test]
fn a_log_is_appended_to_and_rotated() {
    for compress in [false, true] {
        let work = Rotate { records: 100, size_bytes: 5000, keep: 3, compress, think_ns: 0 };
        let folder = tempfile::tempdir().unwrap();
        let done = perform(|| Rotation::new(work, 1), folder.path());
        let counted = done.counted.unwrap();
        assert_eq!((counted.operations, counted.bytes), (100, 50_000));
        let compressed = if compress { 10 * 1250 } else { 0 };
        assert_eq!(done.application_bytes, Some(50_000 + compressed));
        let log = folder.path().join(if compress { "rotated.log.2.gz" } else { "rotated.log.2" });
        fs::write(log, "x").unwrap();
        let found = compare(Rotation::new(work, 1), folder.path()).unwrap_err();
        assert!(found.contains("has the size 1 instead of"), "{found}");
    }
}

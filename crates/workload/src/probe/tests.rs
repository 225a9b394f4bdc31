use std::fs;
use std::path::Path;

use super::*;

/// A folder beside the sources: `/tmp` may be in memory.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap()
}

#[test]
fn a_file_without_a_name_answers_every_kind_of_question() {
    let folder = folder();
    let mut file = ProbeFile::create(folder.path()).unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    file.fill(0).unwrap();
    file.fill(FILL_BYTES).unwrap();
    assert_eq!(file.file.metadata().unwrap().len(), 2 * FILL_BYTES);
    file.settle(Nanos::ZERO).unwrap();
    for question in ProbeQuestion::ALL {
        let load = question.load(2 * FILL_BYTES);
        let times = file.perform(&ProbePart { load, requests: 40, seed: 1 }).unwrap();
        let is_alone = load.depth == 1;
        assert_eq!(times.each.len(), if is_alone { 40 } else { 0 }, "{question:?}");
        let is_flushed = load.access == ProbeAccess::SyncedWrite;
        assert_eq!(times.flushes.len(), if is_flushed { 40 } else { 0 }, "{question:?}");
        assert!(times.elapsed > Nanos::ZERO, "{question:?}");
    }
    assert_eq!(file.file.metadata().unwrap().len(), 2 * FILL_BYTES);
}

#[test]
fn folders_in_memory_and_that_do_not_exist_are_refused() {
    let refused = |folder: &str| ProbeFile::create(Path::new(folder)).unwrap_err().to_string();
    assert!(refused("/dev/shm").contains("in memory, not on a drive"));
    assert!(refused("/no/such/folder").contains("No such file"));
}

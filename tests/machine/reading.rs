//! The reader that runs alongside a phase, on a filesystem that supports direct I/O.

use ssdlab_plan::metric;
use ssdlab_workload::ConcurrentReader;
use ssdlab_workload::synthetic::content::ContentPool;

use super::{Case, Needs};

pub fn cases() -> Vec<Case> {
    let name = "a_reader_reads_until_the_work_is_done";
    vec![Case::new(name, Needs::DirectIo, reader)]
}

fn reader() {
    let place = tempfile::tempdir_in(super::DIRECT_IO).unwrap();
    let path = place.path().join("reader");
    ConcurrentReader::make(&path, &ContentPool::new(1), 1).unwrap();
    let (done, read) = ConcurrentReader::open(&path, 1).unwrap().beside(None, || 7);
    let read = read.unwrap().metrics(|_, _| true);
    assert_eq!(done, 7);
    assert!(read["reader.reads"] >= 1.0 && read["reader.max_ns"] >= read["reader.p50_ns"]);
    let names: Vec<&str> = read.keys().map(String::as_str).collect();
    let mut of_readers = metric::all().filter(|metric| metric.name.starts_with("reader."));
    assert!(of_readers.all(|metric| names.contains(&metric.name)));
}

//! Checks that the files of one trace become one stream in order of time.

use ssdlab_trace::{TraceFormat, TraceOptions, TraceReader, TraceStage, merge};

use super::{LITTLE_ENDIAN, drain};

fn merged(files: &[&[u8]], format: TraceFormat) -> (Vec<(u64, u64)>, Option<String>) {
    let readers =
        files.iter().map(|file| TraceReader::new(*file, format, &TraceOptions::default()).unwrap());
    let (requests, error) = drain(merge(readers.collect()));
    (requests.iter().map(|request| (request.submitted_ns, request.offset_bytes)).collect(), error)
}

#[test]
fn requests_are_in_order_of_time_and_then_of_files() {
    let files: [&[u8]; 4] = [
        b"20,h,0,Read,1,1,0\n30,h,0,Read,2,1,0\n30,h,0,Read,3,1,0\n",
        b"",
        b"10,h,0,Read,4,1,0\n30,h,0,Read,5,1,0\n",
        b"30,h,0,Read,6,1,0\n31,h,0,Read,7,1,0\n",
    ];
    let expected =
        [(0, 4), (1000, 1), (2000, 2), (2000, 3), (2000, 5), (2000, 6), (2100, 7)].to_vec();
    assert_eq!(merged(&files, TraceFormat::MsrCambridge), (expected, None));
}

#[test]
fn what_follows_a_completion_out_of_order_is_not_before_it() {
    let late = b"8,0 0 1 0.000000001 1 Q R 8 + 8 [a]\n8,0 0 2 0.000000009 1 C R 8 + 8 [0]\n\
        8,0 0 3 0.000000002 1 Q R 16 + 8 [a]\n";
    let files: [&[u8]; 2] = [late, b"8,0 1 1 0.000000007 1 Q R 24 + 8 [a]\n"];
    let options = TraceOptions { stage: TraceStage::Queued, drive: None };
    let readers =
        files.map(|file| TraceReader::new(file, TraceFormat::Blkparse, &options).unwrap());
    let mut merged = merge(readers.into());
    let found: Vec<_> = merged.by_ref().map(|request| request.unwrap().submitted_ns).collect();
    assert_eq!(found, [0, 6, 6]);
    assert_eq!((merged.clamped().requests, merged.clamped().furthest_ns), (1, 5));
}

#[test]
fn it_ends_where_one_file_is_cut() {
    let files: [&[u8]; 2] =
        [b"1,h,0,Read,1,1,0\n3,h,0,Re", b"2,h,0,Read,2,1,0\n4,h,0,Read,3,1,0\n"];
    let (found, error) = merged(&files, TraceFormat::MsrCambridge);
    assert_eq!(found, [(0, 1)]);
    assert!(error.unwrap().contains("is truncated at line 2"));
}

#[test]
fn files_of_several_drives_are_refused() {
    let files: [&[u8]; 2] = [b"1,h,0,Read,1,1,0\n", b"1,h,1,Read,1,1,0\n"];
    let (found, error) = merged(&files, TraceFormat::MsrCambridge);
    assert!(found.is_empty());
    assert!(error.unwrap().contains("\"h,0\" and to \"h,1\""));
}

#[test]
fn a_processor_may_issue_what_another_one_queued() {
    let only_queued = &LITTLE_ENDIAN[..(48 + 16) + (48 + 8) + 48];
    assert_eq!(merged(&[only_queued, LITTLE_ENDIAN], TraceFormat::Blktrace).1, None);
    let error = merged(&[only_queued, only_queued], TraceFormat::Blktrace).1;
    assert!(error.unwrap().contains("no issued requests, but 2 queued"));
}

#[test]
fn nothing_merges_to_nothing() {
    assert_eq!(merged(&[], TraceFormat::Blktrace), (Vec::new(), None));
}

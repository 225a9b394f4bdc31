use ssdlab_trace::{Flags, RequestKind, TraceOptions, TraceReader};

use super::*;

#[test]
fn records_stand_in_the_order_of_submission_and_tell_what_never_ended() {
    let mut file = Vec::new();
    let mut log = DiskLog::new(Box::new(&mut file), 1 << 20).unwrap();
    let request = |submitted_ns| Request {
        submitted_ns,
        completed_ns: None,
        kind: RequestKind::Write,
        offset_bytes: 0,
        length_bytes: 512,
        flags: Flags::empty(),
        origin: None,
    };
    let numbers: Vec<u64> = (0..4).map(|time| log.submit(request(time))).collect();
    for (index, at) in [(3, 5), (1, 6), (0, 9)] {
        log.complete(numbers[index], at).unwrap();
    }
    log.finish().unwrap();
    let options = TraceOptions::default();
    let read: Vec<_> = TraceReader::detect(&file[..], &options)
        .unwrap()
        .map(|request| request.unwrap().completed_ns)
        .collect();
    assert_eq!(read, [Some(9), Some(6), None, Some(5)]);
}

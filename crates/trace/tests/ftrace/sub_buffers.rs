//! Checks how descriptions and sub-buffers are read: times, lengths, losses, and what is wrong.

use ssdlab_trace::ftrace::{Assembler, FtraceError, RecordLayout};

use super::recorder::{
    COMPLETE, HEADER_PAGE, ISSUE, event, flagged, format, head, layout, long, short, sub_buffer,
};
use super::{FORMATS, disk, ended, recorder};

fn assembler() -> Assembler {
    Assembler::new(layout(), disk(recorder::device()))
}

/// When the requests of a sub-buffer were issued.
fn times(sub_buffer: &[u8]) -> Vec<u64> {
    let mut assembler = assembler();
    assembler.take(sub_buffer).unwrap();
    ended(assembler).iter().map(|request| request.submitted_ns).collect()
}

fn fault(sub_buffer: &[u8]) -> String {
    assembler().take(sub_buffer).unwrap_err().to_string()
}

#[test]
fn a_field_that_is_needed_and_missing_is_named() {
    let [queue, issue, requeue, complete] = FORMATS;
    let without = complete.replace("nr_sector;", "sectors;");
    let error =
        RecordLayout::parse(super::HEADER_PAGE, [queue, issue, requeue, &without]).unwrap_err();
    let lacking = FtraceError::Undescribed { file: "block_rq_complete", what: "nr_sector" };
    assert_eq!(error, lacking);
    assert_eq!(
        error.to_string(),
        "tracefs describes block_rq_complete without nr_sector, which is needed; \
         use another kernel, or measure without request recording"
    );
    let error = RecordLayout::parse("", FORMATS).unwrap_err();
    assert_eq!(error, FtraceError::Undescribed { file: "header_page", what: "timestamp" });
}

#[test]
fn a_field_of_an_odd_size_is_named() {
    let format = format(1).replace("offset:16;\tsize:8", "offset:16;\tsize:6");
    let error = RecordLayout::parse(HEADER_PAGE, [&format; 4]).unwrap_err().to_string();
    let expected = "tracefs describes sector of block_bio_queue as \"6 bytes\", \
                    not a number of 1, 2, 4 or 8 bytes;";
    assert!(error.starts_with(expected), "{error}");
}

#[test]
fn records_of_all_types_let_time_pass() {
    let one = event(0, ISSUE, "R", 0, 8);
    let padding = [head(29, 7), 8_u32.to_le_bytes().to_vec(), vec![0xff; 4]].concat();
    let unknown = short(3, &event(0, 99, "R", 0, 8));
    let extension = [head(30, 5), 2_u32.to_le_bytes().to_vec()].concat();
    let clock = [head(31, 9), 4_u32.to_le_bytes().to_vec()].concat();
    let rest = [head(29, 0), vec![0xff; 8]].concat();
    let records = [
        short(1, &one),
        long(10, &one),
        padding,
        unknown,
        short(1, &one),
        extension,
        short(1, &one),
        clock,
        short(0, &one),
        rest,
    ];
    let extended_ns = (2 << 27) + 5;
    let expected = [1001, 1011, 1011 + 7 + 3 + 1, 1022 + extended_ns + 1, (4 << 27) + 9];
    // The clock's own time is less than what passed before it, which no trace has.
    let mut sorted = expected;
    sorted.sort_unstable();
    assert_eq!(times(&sub_buffer(1000, &records)), sorted);
}

#[test]
fn a_time_of_the_clock_lacks_the_highest_bits_of_the_one_before() {
    let clock = [head(31, 9), 4_u32.to_le_bytes().to_vec()].concat();
    let records = [clock, short(0, &event(0, ISSUE, "R", 0, 8))];
    let highest = 3 << 59;
    assert_eq!(times(&sub_buffer(highest + 1, &records)), [highest + (4 << 27) + 9]);
}

#[test]
fn what_was_overwritten_is_counted() {
    let data = short(0, &event(0, ISSUE, "R", 0, 8));
    let mut assembler = assembler();
    assembler.take(&flagged(0, 0, &data, &[])).unwrap();
    assert_eq!(assembler.lost().overwritten, 0);
    assembler.take(&flagged(0, 1 << 31, &data, &7_u64.to_le_bytes())).unwrap();
    assert_eq!(assembler.lost().overwritten, 1, "how many is not told");
    assembler.take(&flagged(0, 3 << 30, &data, &7_u64.to_le_bytes())).unwrap();
    assert_eq!(assembler.lost().overwritten, 8);
    assert_eq!(ended(assembler).len(), 3, "and the rest is read");
}

#[test]
fn a_sub_buffer_that_is_cut_is_an_error() {
    let whole = sub_buffer(0, &[short(0, &event(0, ISSUE, "R", 0, 8))]);
    assert_eq!(times(&whole[..24 + 36]), [0]);
    for length in 0..24 + 36 {
        let error = fault(&whole[..length]);
        assert!(error.starts_with(&format!("the length of a trace's sub-buffer is {length}, not")));
    }
}

#[test]
fn records_that_reach_too_far_or_not_far_enough_are_errors() {
    let good = short(0, &event(0, COMPLETE, "R", 0, 8));
    for (record, expected) in [
        (head(5, 0), "a record of a trace's sub-buffer is 20, not within the data;"),
        (head(0, 0), "a record of a trace's sub-buffer is 4, not within the data;"),
        ([head(0, 0), vec![3, 0, 0, 0]].concat(), "the length of a record of"),
        ([head(0, 0), vec![0xff; 4]].concat(), "a record of a trace's sub-buffer is 4294967292"),
        ([head(2, 0), good[4..12].to_vec()].concat(), "the length of a record of a trace's"),
    ] {
        let mut assembler = assembler();
        let error = assembler.take(&sub_buffer(0, &[good.clone(), record])).unwrap_err();
        assert!(error.to_string().starts_with(expected), "{error}");
        assert_eq!(ended(assembler).len(), 1, "what comes before is good");
    }
}

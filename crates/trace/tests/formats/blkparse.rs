//! Checks the text of blkparse, with process names and lines that mislead.

use ssdlab_trace::{Flags, RequestKind, TraceFormat, TraceOptions};

use super::{BLKPARSE, BLKPARSE_T, ending, issued, queued, request, requests, with};

#[test]
fn its_default_output_is_read() {
    assert_eq!(requests(BLKPARSE, TraceFormat::Blkparse, &TraceOptions::default()), issued());
}

#[test]
fn its_output_with_times_per_request_is_read() {
    assert_eq!(requests(BLKPARSE_T, TraceFormat::Blkparse, &TraceOptions::default()), issued());
    assert_eq!(
        requests(BLKPARSE_T, TraceFormat::Blkparse, &queued()),
        requests(BLKPARSE, TraceFormat::Blkparse, &queued())
    );
}

#[test]
fn write_zeroes_and_unknown_flags_are_understood() {
    let trace = b"259,12  31 99999999 86400.000000007 4194304  D WZSU 0 + 4294967295 [a [b] + c]\n";
    let expected = with(Flags::SYNC, request(0, RequestKind::WriteZeroes, 0, 4_294_967_295 * 512));
    assert_eq!(requests(trace, TraceFormat::Blkparse, &TraceOptions::default()), [expected]);
}

#[test]
fn only_the_chosen_stage_is_read() {
    let trace = b"  8,0    1        1     0.000000000     7  Q   R 8 + 8 [x]\n";
    assert_eq!(
        ending(trace, TraceFormat::Blkparse),
        "the trace has no issued requests, but 1 queued: read those instead"
    );
}

#[test]
fn a_fault_is_named_by_line_and_field() {
    let line = "  8,0    1        1     0.000000000     7  D   R 8 + 8 [x]\n";
    for (wrong, expected) in [
        (line.replace("0.000000000", "0.0"), "the time is \"0.0\", not seconds with nine decimal"),
        (line.replace("8 + 8", "x + 8"), "the sector is \"x\", not a number of 512-byte sectors"),
        (line.replace("8 + 8", "8 + "), "the length is \"[x]\", not a number of 512-byte sectors"),
        (line.replace("R 8", "X 8"), "the operation is \"X\", not R, W, WZ or D, with flags"),
        (
            line.replace("8 + 8", "36028797018963968 + 8"),
            "the sector is \"36028797018963968\", not a number of 512-byte sectors",
        ),
        (
            line.replace("8 + 8", "36028797018963967 + 8"),
            "the offset is 18446744073709551104, not one whose sum with the length is below",
        ),
        ("  8,0    1  \n".to_owned(), "the line is \"  8,0    1  \", not an event of seven"),
    ] {
        let error = ending(format!("{line}\n{wrong}").as_bytes(), TraceFormat::Blkparse);
        let expected = format!("blkparse trace, line 3: {expected}");
        assert!(error.starts_with(&expected), "{error}\n{expected}");
    }
}

#[test]
fn a_last_line_without_its_end_is_cut() {
    let trace = b"  8,0    1        1     0.000000000     7  D   R 8 + 8 [x]";
    let error = ending(trace, TraceFormat::Blkparse);
    assert!(error.starts_with("the blkparse trace is truncated at line 1; everything before that"));
}

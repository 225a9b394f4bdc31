//! Checks what tracing tools print: biosnoop's table and ftrace's text.

use ssdlab_trace::{ClampedTimes, Flags, RequestKind, TraceFormat, TraceOptions, TraceReader};

use super::{completed, drain, drive, ending, queued, request, requests, with};

/// A line says when a request was completed, so lines are sorted by what that makes of submissions.
#[test]
fn biosnoop_has_latencies_and_lines_by_completion() {
    let trace = "Tracing block device I/O... Hit Ctrl-C to end.\n\
        TIME(s)     COMM           PID    DISK    T SECTOR     BYTES  LAT(ms)\n\
        0.000000    tmux: server   1950   xvda1   W 8          4096      0.50\n\
        0.000100    jbd2/xvda1-8   184    xvda1   R 16         512       2.10\n\
        0.000200    kworker/23:1   9126           R 18446744073709551615 0         0.61\n\
        0.000300    kworker/23:1   9126   xvda1   R 18446744073709551615 0         0.61\n";
    let mut reader = TraceReader::detect(trace.as_bytes(), &TraceOptions::default()).unwrap();
    assert_eq!(reader.format(), TraceFormat::Biosnoop);
    let found: Vec<_> = reader.by_ref().map(Result::unwrap).collect();
    let expected = [
        completed(2_100_000, request(0, RequestKind::Read, 16 * 512, 512)),
        completed(2_000_000, request(1_500_000, RequestKind::Write, 8 * 512, 4096)),
    ];
    assert_eq!(found, expected);
    assert_eq!(reader.clamped(), ClampedTimes::default());
    let other = format!("{trace}0.0004    x   1   sdb   R 16  512  0.10\n");
    assert_eq!(requests(other.as_bytes(), TraceFormat::Biosnoop, &drive("xvda1")), expected);
}

#[test]
fn biosnoop_of_libbpf_tools_has_letters_and_a_time_in_the_queue() {
    let trace =
        b"TIME(s)     COMM           PID     DISK      T SECTOR     BYTES   QUE(ms) LAT(ms)\n\
        0.000000    fio            7       sda       WS 8         4096      9.000   1.000\n\
        0.000010    fio            7       sda       FF 0         0         0.000   0.005\n";
    let expected = [
        completed(1_000_000, with(Flags::SYNC, request(0, RequestKind::Write, 4096, 4096))),
        completed(1_010_000, request(1_005_000, RequestKind::Flush, 0, 0)),
    ];
    assert_eq!(requests(trace, TraceFormat::Biosnoop, &TraceOptions::default()), expected);
}

const FTRACE: &str = "# tracer: nop\n#\n\
    #           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n\
    \x20            fio-77      [000] .....  100.000000: block_bio_queue: 8,0 WS 2048 + 8 [fio]\n\
    \x20            fio-77      [000] .....  100.000001: block_getrq: 8,0 WS 2048 + 8 [fio]\n\
    \x20   kworker-101     [000] .....  100.000010: block_rq_issue: 8,0 WS 4096 () 2048 + 8 [a b]\n\
    \x20   <idle>-0       [001] d.h1.  100.000110: block_rq_complete: 8,0 WS () 2048 + 8 [0]\n\
    \x20            fio-77      [000] .....  100.000200: block_rq_issue: 8,0 FF 0 () \
    18446744073709551615 + 0 none,0,0 [fio]\n\
    \x20         <idle>-0       [001] d.h1.  100.000250: block_rq_complete: 8,0 FF () \
    18446744073709551615 + 0 none,0,0 [0]\n\
    \x20         smartd-9       [001] .....  100.000300: block_rq_issue: 8,0 N 36 \
    (12 00 00 00 24 00) 18446744073709551615 + 0 [smartd]\n\
    \x20            fio-77      [000] .....  100.000400: block_rq_issue: 8,0 N 0 () 0 + 16 [fio]\n";

#[test]
fn ftrace_s_issues_and_completions_are_paired() {
    let reader = TraceReader::detect(FTRACE.as_bytes(), &TraceOptions::default()).unwrap();
    assert_eq!(reader.format(), TraceFormat::Ftrace);
    let expected = [
        completed(100_000, with(Flags::SYNC, request(0, RequestKind::Write, 2048 * 512, 4096))),
        completed(240_000, request(190_000, RequestKind::Flush, 0, 0)),
        request(390_000, RequestKind::WriteZeroes, 0, 16 * 512),
    ];
    assert_eq!(drain(reader), (expected.to_vec(), None));
    let expected =
        completed(110_000, with(Flags::SYNC, request(0, RequestKind::Write, 2048 * 512, 4096)));
    assert_eq!(requests(FTRACE.as_bytes(), TraceFormat::Ftrace, &queued()), [expected]);
    // As perf prints it.
    let perf = b"fio 77 [001] 5.000000001: block:block_rq_issue: 8,0 R 4096 () 8 + 8 [fio]\n";
    let found = requests(perf, TraceFormat::Ftrace, &TraceOptions::default());
    assert_eq!(found, [request(0, RequestKind::Read, 4096, 4096)]);
}

#[test]
fn a_fault_is_named_by_line_and_field() {
    let titles = "TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)\n";
    let ftrace = "x-1 [000] . 1.000000: block_rq_issue: 8,0 R 512 () 8 + 1 [x]\n";
    for (format, first, wrong, expected) in [
        (TraceFormat::Biosnoop, titles, "12:00 a 1 sda R 8 512 0.1", "the time is \"12:00\", not"),
        (TraceFormat::Biosnoop, titles, "0.1 a 1 sda R 8 512 fast", "the latency is \"fast\", not"),
        (
            TraceFormat::Biosnoop,
            titles,
            "0.1 a 1 sda R x 512 0.1",
            "the sector is \"x\", not a number",
        ),
        (
            TraceFormat::Biosnoop,
            titles,
            "0.1",
            "the line is \"0.1\", not the columns of the titles",
        ),
        (
            TraceFormat::Ftrace,
            ftrace,
            "x-1 [000] . 1.0: block_rq_issue: sda R 512 () 8 + 1 [x]",
            "the device is \"sda\", not major,minor",
        ),
        (
            TraceFormat::Ftrace,
            ftrace,
            "x-1 [000] . 1.0: block_rq_issue: 8,0 Z 512 () 8 + 1 [x]",
            "the operation is \"Z\", not R, W, WZ, D, N or FF",
        ),
    ] {
        let error = ending(format!("{first}{wrong}\n").as_bytes(), format);
        let expected = format!("{format} trace, line 2: {expected}");
        assert!(error.starts_with(&expected), "{error}\n{expected}");
    }
}

//! Checks that formats are told apart by content and found by name.

use ssdlab_trace::{TraceFormat, TraceOptions, TraceReader};

use super::{BIG_ENDIAN, BLKPARSE, BLKPARSE_T, FIO, LITTLE_ENDIAN, VERSION_8, drain, issued};

#[test]
fn each_format_is_known_by_its_beginning() {
    for (trace, format) in [
        (LITTLE_ENDIAN, TraceFormat::Blktrace),
        (BIG_ENDIAN, TraceFormat::Blktrace),
        (VERSION_8, TraceFormat::Blktrace),
        (BLKPARSE, TraceFormat::Blkparse),
        (BLKPARSE_T, TraceFormat::Blkparse),
        (b"Input file sda.blktrace.0 added\n  8,0    0        3     0.000000000  4162  Q", {
            TraceFormat::Blkparse
        }),
        (FIO, TraceFormat::FioLog),
        (b"fio version 2 iolog\n", TraceFormat::FioLog),
        (b"128166372003061629,usr,0,Read,7014609920,24576,41286\r\n128", TraceFormat::MsrCambridge),
        (
            b"Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n",
            TraceFormat::MsrCambridge,
        ),
        (b"rhswfsj\0\x01\0\0\0", TraceFormat::DmLogWrites),
        (b"ssdlabrq\x01\0\0\0", TraceFormat::RequestLog),
    ] {
        assert_eq!(TraceFormat::detect(trace).unwrap(), format);
    }
    let reader = TraceReader::detect(BLKPARSE, &TraceOptions::default()).unwrap();
    assert_eq!(reader.format(), TraceFormat::Blkparse);
    assert_eq!(drain(reader), (issued(), None));
}

#[test]
fn what_is_not_known_says_what_it_begins_with() {
    assert_eq!(
        TraceFormat::detect(b"\x1f\x8b\x08\0sda.csv").unwrap_err().to_string(),
        "the trace begins with \"\\x1f\\x8b\\x08\\x00sda.csv\", which matches none of the known \
         formats (blktrace, blkparse, ftrace, biosnoop, msr-cambridge, systor, alibaba, tencent, \
         fiu, fio, dm-log-writes, ssdlab); decompress it if it is compressed, or name its format"
    );
    let empty = TraceReader::detect(&b""[..], &TraceOptions::default()).unwrap_err().to_string();
    assert!(empty.starts_with("the trace begins with nothing, which matches none of"), "{empty}");
    assert!(TraceFormat::detect(b"1,2,3,4,5,6,7\n").is_err());
}

/// A trace of system calls is not one of blocks: what to do instead is said.
#[test]
fn strace_is_recognised() {
    for trace in [
        "execve(\"/bin/cp\", [\"cp\"], 0x7ffd /* 9 vars */) = 0\nbrk(NULL)   = 0x55d0\n",
        "4162  12:00:00.000001 openat(AT_FDCWD, \"a\", O_RDONLY) = 3 <0.000010>\n",
        "[pid  7] 1700000000.000001 fsync(3)            = 0\n",
    ] {
        let error = TraceFormat::detect(trace.as_bytes()).unwrap_err().to_string();
        assert!(error.contains("system calls (strace)"), "{trace}: {error}");
        assert!(error.contains("blktrace") && error.contains("ssdlab record"), "{error}");
    }
}

#[test]
fn names_are_understood() {
    for format in TraceFormat::ALL {
        assert_eq!(format.to_string().parse::<TraceFormat>().unwrap(), format);
    }
    assert_eq!(
        "zip".parse::<TraceFormat>().unwrap_err().to_string(),
        "\"zip\" is not a trace format; choose one of: blktrace, blkparse, ftrace, biosnoop, \
         msr-cambridge, systor, alibaba, tencent, fiu, fio, dm-log-writes, ssdlab"
    );
}

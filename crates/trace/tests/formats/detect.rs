//! Checks that formats are told apart by content and found by name.

use ssdlab_trace::{Format, Options, Reader};

use super::{BIG_ENDIAN, BLKPARSE, BLKPARSE_T, FIO, LITTLE_ENDIAN, VERSION_8, drain, issued};

#[test]
fn each_format_is_known_by_its_beginning() {
    for (trace, format) in [
        (LITTLE_ENDIAN, Format::Blktrace),
        (BIG_ENDIAN, Format::Blktrace),
        (VERSION_8, Format::Blktrace),
        (BLKPARSE, Format::Blkparse),
        (BLKPARSE_T, Format::Blkparse),
        (b"Input file sda.blktrace.0 added\n  8,0    0        3     0.000000000  4162  Q", {
            Format::Blkparse
        }),
        (FIO, Format::FioLog),
        (b"fio version 2 iolog\n", Format::FioLog),
        (b"128166372003061629,usr,0,Read,7014609920,24576,41286\r\n128", Format::MsrCambridge),
        (b"Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n", Format::MsrCambridge),
        (b"rhswfsj\0\x01\0\0\0", Format::DmLogWrites),
        (b"ssdlabrq\x01\0\0\0", Format::RequestLog),
    ] {
        assert_eq!(Format::detect(trace).unwrap(), format);
    }
    let reader = Reader::detect(BLKPARSE, &Options::default()).unwrap();
    assert_eq!(reader.format(), Format::Blkparse);
    assert_eq!(drain(reader), (issued(), None));
}

#[test]
fn what_is_not_known_says_what_it_begins_with() {
    assert_eq!(
        Format::detect(b"\x1f\x8b\x08\0sda.csv").unwrap_err().to_string(),
        "the trace begins with \"\\x1f\\x8b\\x08\\x00sda.csv\", which matches none of the known \
         formats (blktrace, blkparse, ftrace, biosnoop, msr-cambridge, systor, alibaba, tencent, \
         fiu, fio, dm-log-writes, ssdlab); decompress it if it is compressed, or name its format"
    );
    let empty = Reader::detect(&b""[..], &Options::default()).unwrap_err().to_string();
    assert!(empty.starts_with("the trace begins with nothing, which matches none of"), "{empty}");
    assert!(Format::detect(b"1,2,3,4,5,6,7\n").is_err());
}

/// A trace of system calls is not one of blocks: what to do instead is said.
#[test]
fn strace_is_recognised() {
    for trace in [
        "execve(\"/bin/cp\", [\"cp\"], 0x7ffd /* 9 vars */) = 0\nbrk(NULL)   = 0x55d0\n",
        "4162  12:00:00.000001 openat(AT_FDCWD, \"a\", O_RDONLY) = 3 <0.000010>\n",
        "[pid  7] 1700000000.000001 fsync(3)            = 0\n",
    ] {
        let error = Format::detect(trace.as_bytes()).unwrap_err().to_string();
        assert!(error.contains("system calls (strace)"), "{trace}: {error}");
        assert!(error.contains("blktrace") && error.contains("ssdlab record"), "{error}");
    }
}

#[test]
fn names_are_understood() {
    for format in Format::ALL {
        assert_eq!(format.to_string().parse::<Format>().unwrap(), format);
    }
    assert_eq!(
        "zip".parse::<Format>().unwrap_err().to_string(),
        "\"zip\" is not a trace format; choose one of: blktrace, blkparse, ftrace, biosnoop, \
         msr-cambridge, systor, alibaba, tencent, fiu, fio, dm-log-writes, ssdlab"
    );
}

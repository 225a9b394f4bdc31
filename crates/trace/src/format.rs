//! Defines the trace formats, and their names.

use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TraceFormat {
    /// Recorded by blktrace(8): binary, one file per processor.
    Blktrace,
    /// Printed by blkparse(1) by default: text.
    Blkparse,
    /// The text of ftrace's block events, of `trace_pipe`, trace-cmd(1) or perf-script(1).
    Ftrace,
    /// The table of biosnoop, of bcc or libbpf-tools.
    Biosnoop,
    /// The comma-separated lines of the MSR Cambridge traces.
    MsrCambridge,
    /// The comma-separated lines of the SYSTOR '17 traces.
    Systor,
    /// The comma-separated lines of Alibaba's block traces.
    Alibaba,
    /// The comma-separated lines of Tencent's block traces.
    Tencent,
    /// The lines of the FIU traces.
    Fiu,
    /// Written by fio(1) with `write_iolog`, version 2 or 3.
    FioLog,
    /// Written by the device-mapper target log-writes: binary.
    DmLogWrites,
    /// ssdlab's own log: binary, see [`RequestLogWriter`](crate::RequestLogWriter).
    RequestLog,
}

impl TraceFormat {
    pub const ALL: [Self; 12] = [
        Self::Blktrace,
        Self::Blkparse,
        Self::Ftrace,
        Self::Biosnoop,
        Self::MsrCambridge,
        Self::Systor,
        Self::Alibaba,
        Self::Tencent,
        Self::Fiu,
        Self::FioLog,
        Self::DmLogWrites,
        Self::RequestLog,
    ];

    /// Its name for users, as parsed by [`str::parse`].
    pub fn name(self) -> &'static str {
        match self {
            Self::Blktrace => "blktrace",
            Self::Blkparse => "blkparse",
            Self::Ftrace => "ftrace",
            Self::Biosnoop => "biosnoop",
            Self::MsrCambridge => "msr-cambridge",
            Self::Systor => "systor",
            Self::Alibaba => "alibaba",
            Self::Tencent => "tencent",
            Self::Fiu => "fiu",
            Self::FioLog => "fio",
            Self::DmLogWrites => "dm-log-writes",
            Self::RequestLog => "ssdlab",
        }
    }

    /// Whether its events are those of the block layer: of each stage, and of completions.
    pub(crate) fn has_stages(self) -> bool {
        matches!(self, Self::Blktrace | Self::Blkparse | Self::Ftrace)
    }

    pub(crate) fn names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }
}

impl fmt::Display for TraceFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

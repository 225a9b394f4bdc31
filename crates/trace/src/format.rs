//! Defines the trace formats, their names, and how to detect them.

use std::fmt;
use std::str::FromStr;

use crate::error::excerpt;
use crate::{TraceError, blkparse, blktrace, dm_log_writes, fio, msr, request_log};

/// A trace format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// Recorded by blktrace(8): binary, one file per processor.
    Blktrace,
    /// Printed by blkparse(1) by default: text.
    Blkparse,
    /// The comma-separated lines of the MSR Cambridge traces.
    MsrCambridge,
    /// Written by fio(1) with `write_iolog`, version 2 or 3.
    FioLog,
    /// Written by the device-mapper target log-writes: binary.
    DmLogWrites,
    /// ssdlab's own log: binary, see [`RequestLogWriter`](crate::RequestLogWriter).
    RequestLog,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 6] = [
        Self::Blktrace,
        Self::Blkparse,
        Self::MsrCambridge,
        Self::FioLog,
        Self::DmLogWrites,
        Self::RequestLog,
    ];

    /// Its name for users, as parsed by [`str::parse`].
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Blktrace => "blktrace",
            Self::Blkparse => "blkparse",
            Self::MsrCambridge => "msr-cambridge",
            Self::FioLog => "fio",
            Self::DmLogWrites => "dm-log-writes",
            Self::RequestLog => "ssdlab",
        }
    }

    /// The format of a trace that begins with these bytes; a few lines or records are enough.
    pub fn detect(first_bytes: &[u8]) -> Result<Self, TraceError> {
        let looks_like = |format: &Self| match format {
            Self::Blktrace => blktrace::looks_like(first_bytes),
            Self::Blkparse => blkparse::looks_like(first_bytes),
            Self::MsrCambridge => msr::looks_like(first_bytes),
            Self::FioLog => fio::looks_like(first_bytes),
            Self::DmLogWrites => dm_log_writes::looks_like(first_bytes),
            Self::RequestLog => request_log::looks_like(first_bytes),
        };
        Self::ALL
            .into_iter()
            .find(looks_like)
            .ok_or_else(|| TraceError::UnknownFormat { beginning: excerpt(first_bytes) })
    }

    pub(crate) fn names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = TraceError;

    fn from_str(name: &str) -> Result<Self, TraceError> {
        Self::ALL
            .into_iter()
            .find(|format| format.name() == name)
            .ok_or_else(|| TraceError::UnknownName { name: name.to_owned() })
    }
}

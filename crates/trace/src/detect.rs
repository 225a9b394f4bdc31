//! Finds the format of a trace by its name, or by the first bytes of the trace.

use std::str::FromStr;

use crate::error::excerpt;
use crate::field::last_word;
use crate::lines::without_mark;
use crate::{TraceError, TraceFormat};
use crate::{alibaba, biosnoop, blkparse, blktrace, dm_log_writes, fio, fiu, msr};
use crate::{request_log, systor, tencent, trace_pipe};

impl FromStr for TraceFormat {
    type Err = TraceError;

    fn from_str(name: &str) -> Result<Self, TraceError> {
        Self::ALL
            .into_iter()
            .find(|format| format.name() == name)
            .ok_or_else(|| TraceError::UnknownName { name: name.to_owned() })
    }
}

impl TraceFormat {
    /// The format of a trace that begins with these bytes; a few lines or records are enough.
    pub fn detect(first_bytes: &[u8]) -> Result<Self, TraceError> {
        let first_bytes = without_mark(first_bytes);
        let looks_like = |format: &Self| match format {
            Self::Blktrace => blktrace::looks_like(first_bytes),
            Self::Blkparse => blkparse::looks_like(first_bytes),
            Self::Ftrace => trace_pipe::looks_like(first_bytes),
            Self::Biosnoop => biosnoop::looks_like(first_bytes),
            Self::MsrCambridge => msr::looks_like(first_bytes),
            Self::Systor => systor::looks_like(first_bytes),
            Self::Alibaba => alibaba::looks_like(first_bytes),
            Self::Tencent => tencent::looks_like(first_bytes),
            Self::Fiu => fiu::looks_like(first_bytes),
            Self::FioLog => fio::looks_like(first_bytes),
            Self::DmLogWrites => dm_log_writes::looks_like(first_bytes),
            Self::RequestLog => request_log::looks_like(first_bytes),
        };
        Self::ALL.into_iter().find(looks_like).ok_or_else(|| {
            if lists_system_calls(first_bytes) {
                return TraceError::SystemCalls;
            }
            TraceError::UnknownFormat { beginning: excerpt(first_bytes) }
        })
    }
}

/// Whether a text is from strace(1): most of its lines are a call and its result, perhaps after a
/// PID and a time.
fn lists_system_calls(text: &[u8]) -> bool {
    let is_name = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'_';
    let is_call = |line: &&[u8]| {
        let mut parts = line.splitn(2, |byte| *byte == b'(');
        let name = parts.next().map_or(&[][..], |before| last_word(before).1);
        let rest = parts.next().unwrap_or_default();
        name.first().is_some_and(u8::is_ascii_lowercase)
            && name.iter().all(is_name)
            && rest.windows(4).any(|four| four == b") = " || four == b")  =" || four == b")   ")
    };
    let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).take(20);
    let calls = lines.clone().filter(is_call).count();
    calls > 0 && 2 * calls >= lines.count()
}

//! What the processor of a lab kernel has computed: for how long by whom, and how often each
//! function's blocks.
//!
//! Source: kernel/processor.c, which counts it. Other kernels tell neither.

use std::collections::BTreeMap;
use std::fs;

/// How long was computed since the kernel started, in ns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProcessorTime {
    /// By processes, in system calls.
    pub processes_ns: u64,
    /// By kernel threads: journals, writeback, workers.
    pub kernel_threads_ns: u64,
    /// In interrupts, and in work deferred to their end.
    pub interrupts_ns: u64,
}

impl ProcessorTime {
    /// The computation since an earlier moment.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        let less = u64::saturating_sub;
        Self {
            processes_ns: less(self.processes_ns, earlier.processes_ns),
            kernel_threads_ns: less(self.kernel_threads_ns, earlier.kernel_threads_ns),
            interrupts_ns: less(self.interrupts_ns, earlier.interrupts_ns),
        }
    }
}

/// The computation so far; `None` if the kernel does not report it.
pub fn computed() -> Option<ProcessorTime> {
    parse_computed(&fs::read_to_string("/proc/ssdlab/processor").ok()?)
}

/// The blocks executed so far, by function; `None` if the kernel does not report them.
pub fn functions() -> Option<BTreeMap<String, u64>> {
    Some(parse_functions(&fs::read_to_string("/proc/ssdlab/functions").ok()?))
}

fn parse_computed(text: &str) -> Option<ProcessorTime> {
    let of = |name: &str| {
        let mut words = text
            .lines()
            .map(str::split_whitespace)
            .find_map(|mut words| (words.next() == Some(name)).then_some(words))?;
        words.next()?.parse().ok()
    };
    Some(ProcessorTime {
        processes_ns: of("processes")?,
        kernel_threads_ns: of("kernel_threads")?,
        interrupts_ns: of("interrupts")?,
    })
}

/// Functions of one name, or that the compiler has split, are one.
fn parse_functions(text: &str) -> BTreeMap<String, u64> {
    let mut functions = BTreeMap::new();
    for line in text.lines() {
        if let Some((name, blocks)) = line.split_once(' ')
            && let Ok(blocks) = blocks.parse::<u64>()
        {
            *functions.entry(name.to_owned()).or_default() += blocks;
        }
    }
    functions
}

#[cfg(test)]
mod tests;

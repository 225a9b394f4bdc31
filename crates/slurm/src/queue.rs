//! Parses the output of squeue(1).

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use super::JobId;

/// The output format, in the notation of squeue(1): name, array job, element, state, reason, nodes.
pub(super) const FORMAT: &str = "%j|%F|%K|%T|%r|%N";

/// The elements of some arrays, as far as the controller remembers them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Queue {
    /// Those that have not ended.
    pub elements: Vec<Element>,
    /// Those that have ended in the last minutes (`MinJobAge`).
    pub over: Vec<Element>,
}

/// The states of elements that have ended (squeue(1), job state codes), in lower case.
const OVER: [&str; 11] = [
    "boot_fail",
    "cancelled",
    "completed",
    "deadline",
    "failed",
    "node_fail",
    "out_of_memory",
    "preempted",
    "revoked",
    "special_exit",
    "timeout",
];

/// An element of an array.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Element {
    /// The array's name.
    pub array: String,
    /// The array's job.
    pub job: JobId,
    /// Its index in the array, from 0.
    pub index: usize,
    /// Its Slurm state in lower case: `pending`, `running`, `completing`, ...
    pub state: String,
    /// The Slurm reason for waiting; `None` is one of the possible texts.
    pub reason: String,
    /// Its node; empty while it waits, and if Slurm's text is not a host name.
    pub node: String,
}

impl Queue {
    pub(super) fn read(text: &str) -> Self {
        let all = text.lines().filter_map(Element::read);
        let (over, elements) = all.partition(|element| OVER.contains(&element.state.as_str()));
        Self { elements, over }
    }

    /// The jobs of its elements.
    #[must_use]
    pub fn jobs(&self) -> BTreeSet<JobId> {
        self.elements.iter().map(|element| element.job).collect()
    }

    /// Whether an element has not ended.
    #[must_use]
    pub fn has(&self, array: &str, index: usize) -> bool {
        self.elements.iter().any(|element| element.is(array, index))
    }
}

impl Element {
    fn read(line: &str) -> Option<Self> {
        let mut parts = line.trim().split('|');
        Some(Self {
            array: parts.next()?.to_owned(),
            job: JobId::read(parts.next()?)?,
            index: parts.next()?.parse().ok()?,
            state: parts.next()?.to_lowercase(),
            reason: parts.next()?.to_owned(),
            node: Some(parts.next()?).filter(|node| is_host(node)).unwrap_or_default().to_owned(),
        })
    }

    /// Whether it is this element of this array.
    #[must_use]
    pub fn is(&self, array: &str, index: usize) -> bool {
        self.array == array && self.index == index
    }

    /// Its name as an attempt: `JOB_ELEMENT`.
    #[must_use]
    pub fn attempt(&self) -> String {
        attempt(self.job, self.index)
    }
}

/// Whether a text is the name of one host, or empty: it is passed to rsync(1), which would
/// interpret other texts as options or remote paths.
pub(super) fn is_host(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    text.chars().all(is_plain) && !text.starts_with('-')
}

/// The name of an element as an attempt.
#[must_use]
pub fn attempt(job: JobId, index: usize) -> String {
    format!("{job}_{index}")
}

#[cfg(test)]
mod tests;

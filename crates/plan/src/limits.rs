//! The limits of the amounts in a plan, and in a schedule that was read.

use std::ops::Range;

use super::error::PlanFault;

/// The most bytes of one file or tree: sums of some thousand of them do not overflow.
pub(super) const MOST_BYTES: u64 = 1 << 50;

/// The most files of a tree: the generator holds the whole tree in memory.
pub(super) const MOST_FILES: u64 = 5_000_000;

/// The most treatments of a plan.
pub(super) const MOST_TREATMENTS: usize = 1_000;

/// The most blocks of a run in a lab.
pub(super) const MOST_BLOCKS: u32 = 10_000;

/// The fault of a phase that ends before it begins.
pub(super) const NO_WORK: &str = "it must be given more than 0 to do";

/// The fault of more bytes than a file may have.
pub(super) fn fault_of_bytes(bytes: u64) -> Option<String> {
    let most = ssdlab_quantity::Bytes(MOST_BYTES);
    (bytes > MOST_BYTES).then(|| format!("{bytes} bytes exceed the maximum, {most}"))
}

/// The number, or the largest possible, which exceeds every limit.
pub(super) fn small(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Work whose fault is this, if it has none; otherwise the fault, at its place in the plan.
pub(super) fn sound<T>(
    work: T,
    fault: Option<String>,
    at: &Range<usize>,
    help: &str,
) -> Result<T, PlanFault> {
    fault.map_or(Ok(work), |fault| Err(PlanFault::at(at.clone(), fault, help)))
}

/// The message of the first condition that is false.
pub(super) fn first_false<const N: usize>(all: [(bool, &str); N]) -> Option<String> {
    all.into_iter().find(|(is_so, _)| !is_so).map(|(_, fault)| fault.to_owned())
}

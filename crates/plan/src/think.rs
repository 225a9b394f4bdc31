//! The pauses of a program that performs operations one after the other.

use std::time::Duration;

use ssdlab_quantity::Span;

/// The default time from the end of an operation to the next.
const THINK: Duration = Duration::from_millis(100);

/// The time from the end of an operation to the next, in ns.
pub(super) fn think_ns(written: Option<Span>) -> u64 {
    written.unwrap_or(Span(THINK)).nanos()
}

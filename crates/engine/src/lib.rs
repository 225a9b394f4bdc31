//! Operations on files, performed as fast as the kernel lets them be, and timed one by one.
//!
//! It knows how to ask a kernel for work and how to count what comes back; it must not know plans,
//! filesystems, or what its numbers are for.

mod counted;

pub use counted::{Counted, LONGEST_NS, MOST_STEPS, Series};

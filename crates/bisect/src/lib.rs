//! The search for the commit of a git tree from which on the answer to a question differs.
//!
//! Git chooses what is examined next. This room does not know what is built from a revision or what
//! is asked about it; it is told the finding of each.

mod checkout;
mod error;
mod history;
mod search;

pub use self::checkout::{Checkout, Kept, kept, remove};
pub use self::error::BisectError;
pub use self::history::{Commit, History};
pub use self::search::{Bisection, Ends, Examiner, Finding, Outcome, Step, Verdicts, search};

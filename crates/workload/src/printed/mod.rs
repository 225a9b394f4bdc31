//! What benchmark programs print about themselves, as text goes in and as numbers come out.
//!
//! Pure, so that the results of a program we ran and of one that somebody else ran are read by the
//! same code. An error is a sentence that says what was expected and what was found.

pub mod bonnie;
pub mod fio;

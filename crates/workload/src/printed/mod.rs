//! Parses the output of benchmark programs.
//!
//! Pure, so that our own and imported results are parsed by the same code. An error is a sentence
//! with what was expected and what was found.

pub mod bonnie;
pub mod fio;

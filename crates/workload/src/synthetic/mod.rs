//! Synthetic workloads: file trees and builds with the shape of kernel sources, from a seed.
//!
//! Integers only, no clock, no hash maps: the same seed gives the same operations and the same
//! bytes on every machine.

pub mod bonnie;
pub mod build;
mod checkout;
pub mod churn;
pub mod content;
mod directories;
mod distribution;
mod draft;
mod kernel;
pub mod maildir;
mod make;
#[cfg(test)]
mod model;
mod names;
pub(super) mod random;
pub mod rotation;
mod source_text;
pub mod tree;

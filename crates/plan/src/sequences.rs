//! Phases that perform every short sequence of operations (`do = "sequences"`): their form in a
//! plan, and what it means.

use std::fmt;
use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_operations::cuts::Sequence;

use super::error::PlanFault;
use super::limits::{first_false, sound};

/// The most operations of a sequence: the number of sequences grows by a factor of ten with each.
const MOST_OPERATIONS: u32 = 2;

/// The system calls of a sequence, about.
const CALLS: u64 = 8;

/// The space that a sequence's directory takes, about, in bytes.
const BYTES: u64 = 48 << 10;

/// What is written for a sequence, about, in bytes: two files of five letters of 1000 bytes, and an
/// operation or two.
const WRITTEN_BYTES: u64 = 12_000;

/// Short sequences of operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sequences {
    /// Every sequence of up to this many operations is performed: 1 or 2.
    #[schemars(example = 2)]
    pub operations: u32,
}

impl fmt::Display for Sequences {
    /// As a plan writes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sequences = {{ operations = {} }}", self.operations)
    }
}

impl Sequences {
    /// What exceeds the limits of plans, if anything.
    pub(super) fn fault(self) -> Option<String> {
        let is_possible = (1..=MOST_OPERATIONS).contains(&self.operations);
        first_false([(is_possible, "a sequence has 1 or 2 operations")])
    }

    /// How many there are.
    fn number(self) -> u64 {
        Sequence::all(self.operations).len() as u64
    }

    /// The system calls that they make, about.
    pub fn calls(self) -> u64 {
        self.number() * CALLS
    }

    /// What is written for them, before the phase and in it, about, in bytes.
    pub fn written_bytes(self) -> u64 {
        self.number() * WRITTEN_BYTES
    }

    /// The space that their files take, about, in bytes.
    pub fn bytes(self) -> u64 {
        self.number() * BYTES
    }
}

/// Checks a plan's table.
pub(super) fn resolve(sequences: Sequences, at: &Range<usize>) -> Result<Sequences, PlanFault> {
    let help = "for example sequences = { operations = 2 }";
    sound(sequences, sequences.fault(), at, help)
}

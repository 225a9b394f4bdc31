//! What the contents that phases write say about compression: they are generated, so that what is
//! gained by compressing them follows from the generator.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::factor::Factor;
use super::io::IoContents;
use super::metric::Unit;
use super::schedule::{Action, Claim, FileTree, Phase, Schedule, Workload};
use super::setup::Setup;

impl fmt::Display for IoContents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Random => "random bytes, which do not compress",
            Self::Text => "text made to compress to about a third",
            Self::Zeros => "zeros, which compress to almost nothing",
        })
    }
}

impl Workload {
    /// What each file of `io` phases holds before the first phase: what the first phase that names
    /// it writes.
    pub fn contents(&self) -> BTreeMap<String, IoContents> {
        let of = |phase: &Phase| match &phase.action {
            Action::Io(io) => io.names().map(|name| (name, io.contents)).collect(),
            _ => Vec::new(),
        };
        self.phases.iter().rev().flat_map(of).collect()
    }
}

impl Schedule {
    /// The phases that write generated contents, by what these are: those of `io`, and of a
    /// synthetic tree.
    pub fn generated_contents(&self) -> BTreeMap<IoContents, Vec<String>> {
        let mut phases: BTreeMap<IoContents, Vec<String>> = BTreeMap::new();
        for phase in &self.workload.phases {
            if let Some(contents) = self.contents_of(phase) {
                phases.entry(contents).or_default().push(phase.name.clone());
            }
        }
        phases
    }

    /// The same, if treatments differ in compression; else nothing.
    pub fn compressed_contents(&self) -> BTreeMap<IoContents, Vec<String>> {
        let compressions: BTreeSet<_> = self.setups().map(compression).collect();
        if compressions.len() > 1 { self.generated_contents() } else { BTreeMap::new() }
    }

    /// That a claim about compression follows from what its phases write, if it does.
    pub(super) fn by_contents(&self, claim: &Claim) -> Option<String> {
        let setup = |treatment: usize| self.treatments[treatment].setup.as_ref().ok();
        let differ = |(own, other): (usize, Option<usize>)| {
            let sides = setup(own).zip(setup(other?))?;
            Some(compression(sides.0) != compression(sides.1))
        };
        if !claim.pairs(self).into_iter().any(|pair| differ(pair) == Some(true)) {
            return None;
        }
        let phases = claim.all_phases();
        let phase = |name: &String| self.workload.phases.iter().find(|phase| phase.name == *name);
        let contents: Option<BTreeSet<IoContents>> =
            phases.iter().map(|name| self.contents_of(phase(name)?)).collect();
        let contents = contents?;
        let only = contents.first().filter(|_| contents.len() == 1)?;
        // What does not compress gains nothing, whatever is measured; of what does, only the amount
        // is given.
        let is_amount = claim.metric.unit == Unit::Bytes;
        let is_given = *only == IoContents::Random || is_amount;
        is_given.then(|| format!("the phase writes {only}"))
    }

    fn contents_of(&self, phase: &Phase) -> Option<IoContents> {
        match &phase.action {
            Action::Io(io) => (io.read_share < 1.0).then_some(io.contents),
            Action::Unpack => match self.workload.tree {
                Some(FileTree::Synthetic { .. }) => Some(IoContents::Text),
                _ => None,
            },
            _ => None,
        }
    }
}

/// What a treatment asks of its filesystem about compression: its level, and options of mkfs and
/// mount; empty if nothing.
fn compression(setup: &Setup) -> BTreeSet<&str> {
    let level = setup.levels.0.get(&Factor::Compression).map(String::as_str);
    let options = setup.mkfs.iter().chain(&setup.mount).map(String::as_str);
    let compresses = |option: &&str| {
        let is_off = ["=no", "=none", "=off"].iter().any(|off| option.ends_with(off));
        option.contains("compress") && !is_off
    };
    level.filter(|level| *level != "off").into_iter().chain(options.filter(compresses)).collect()
}

#[cfg(test)]
mod tests;

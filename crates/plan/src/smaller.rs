//! Smaller workloads, among which the smallest that still shows something can be searched for.

use ssdlab_operations::cuts::database::DatabaseShape;

use super::database::Database;
use super::schedule::{Action, Workload};
use super::sequences::Sequences;
use super::versions::{Append, Replace};

impl Workload {
    /// Workloads that do less and still have files that record their history: without one of the
    /// phases, the last one first, but with all programs, as one may need what another left; then
    /// with fewer operations of one phase, the fewest first.
    /// Whoever goes on with one of them comes to an end.
    pub fn smaller(&self) -> impl Iterator<Item = Self> {
        let count = self.phases.len();
        let is_program =
            |index: &usize| matches!(self.phases[*index].action, Action::Command { .. });
        let without = (0..count).rev().filter(move |index| !is_program(index)).map(|index| {
            let mut workload = self.clone();
            workload.phases.remove(index);
            workload
        });
        let with_less = (0..count).flat_map(move |index| {
            self.phases[index].action.smaller().into_iter().map(move |action| {
                let mut workload = self.clone();
                workload.phases[index].action = action;
                workload
            })
        });
        without.chain(with_less).filter(Self::has_history)
    }
}

impl Action {
    fn smaller(&self) -> Vec<Self> {
        match *self {
            Self::Append(work) => {
                let records = fewer(work.records).map(|records| Append { records, ..work });
                let syncs = work.sync_every.into_iter().flat_map(fewer);
                let syncs = syncs.map(|every| Append { sync_every: Some(every), ..work });
                records.chain(syncs).map(Self::Append).collect()
            }
            Self::Replace(work) => {
                let files = fewer(work.files).map(|files| Replace { files, ..work });
                let rounds = fewer(work.rounds).map(|rounds| Replace { rounds, ..work });
                files.chain(rounds).map(Self::Replace).collect()
            }
            Self::Database(work) => {
                let commits = fewer(work.commits).map(|commits| Database { commits, ..work });
                let shapes = smaller_shapes(work.shape);
                let shapes = shapes.map(|shape| Database { shape, ..work });
                let possible = commits.chain(shapes).filter(|work| work.fault().is_none());
                possible.map(Self::Database).collect()
            }
            Self::Sequences(work) => {
                let less = fewer(work.operations).map(|operations| Sequences { operations });
                less.map(Self::Sequences).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// With fewer pages in a commit, more checkpoints, or a smaller table.
fn smaller_shapes(shape: DatabaseShape) -> impl Iterator<Item = DatabaseShape> {
    let pages = fewer(shape.pages).map(move |pages| DatabaseShape { pages, ..shape });
    let checkpoints = fewer(shape.checkpoint_every)
        .map(move |checkpoint_every| DatabaseShape { checkpoint_every, ..shape });
    let tables =
        fewer(shape.table_pages).map(move |table_pages| DatabaseShape { table_pages, ..shape });
    pages.chain(checkpoints).chain(tables)
}

/// Numbers from 1 on that are smaller, in ascending order: each is half as far away as the one
/// before it.
fn fewer(number: u32) -> impl Iterator<Item = u32> {
    let halved = move |times| number.saturating_sub(1).checked_shr(times).unwrap_or(0);
    (0..).map(halved).take_while(|less| *less > 0).map(move |less| number - less)
}

#[cfg(test)]
mod tests;

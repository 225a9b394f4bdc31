//! The levels by which treatments differ, and those that they share.

use super::Schedule;
use crate::factor::Levels;

impl Schedule {
    /// The levels by which a treatment differs from others; all of them if there is no other.
    pub fn distinct(&self, levels: &Levels) -> Levels {
        Self::beyond(levels, &self.shared())
    }

    /// The same for each treatment, in their order.
    pub fn each_distinct(&self) -> impl Iterator<Item = Levels> {
        let shared = self.shared();
        self.treatments.iter().map(move |treatment| Self::beyond(&treatment.levels, &shared))
    }

    /// Levels without those that all treatments share; all of them if none is left.
    fn beyond(levels: &Levels, shared: &Levels) -> Levels {
        let distinct = levels.only(|factor| levels.0.get(factor) != shared.0.get(factor));
        if distinct.0.is_empty() { levels.clone() } else { distinct }
    }

    /// The levels that all treatments share.
    pub fn shared(&self) -> Levels {
        let Some(first) = self.treatments.first() else { return Levels::default() };
        first.levels.only(|factor| {
            let level = first.levels.0.get(factor);
            self.treatments.iter().all(|other| other.levels.0.get(factor) == level)
        })
    }
}

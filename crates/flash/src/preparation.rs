//! A drive as an experiment finds it: made from its specification, in the requested state.

use std::ops::ControlFlow;

use crate::condition::{Condition, ConditionError, Conditioned};
use crate::drive::Drive;
use crate::specification::Specification;
use crate::units::MILLION;

/// Everything that determines a drive before its first command. Equal preparations make equal
/// drives.
#[derive(Debug, Clone)]
pub struct Preparation {
    /// The drive.
    pub specification: Specification,
    /// The state it is brought into.
    pub condition: Condition,
    /// The part of the drive that conditioning uses, in millionths; the rest holds no data.
    pub fill_ppm: u32,
    /// The seed of everything random.
    pub seed: u64,
}

impl Preparation {
    /// The preparation of a drive that is used completely.
    #[must_use]
    pub const fn whole(specification: Specification, condition: Condition, seed: u64) -> Self {
        Self { specification, condition, fill_ppm: MILLION, seed }
    }

    /// The pages that conditioning uses: the first ones of the drive, and at least one.
    #[must_use]
    pub fn span_pages(&self) -> u32 {
        let pages = u64::from(self.specification.logical_pages) * u64::from(self.fill_ppm);
        u32::try_from(pages / u64::from(MILLION)).unwrap_or(u32::MAX).max(1)
    }

    /// Makes the drive, and returns the outcome of conditioning. `progress` is as for
    /// [`Drive::condition`].
    pub fn prepare(
        &self,
        progress: &mut dyn FnMut(u64, u64) -> ControlFlow<()>,
    ) -> Result<(Drive, Conditioned), ConditionError> {
        let mut drive = Drive::new(self.specification.clone(), self.seed);
        let found = drive.condition(self.condition, self.span_pages(), self.seed, progress)?;
        Ok((drive, found))
    }
}

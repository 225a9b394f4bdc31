//! The files of drives, hosts and kernels that a plan names as levels.

use std::path::{Component, Path, PathBuf};
use std::slice;

use super::factor::{Factor, Level, Levels};
use super::written::{OneOrMany, Plan, WrittenClaim};

/// A level of a factor; if it names a file, by a path that starts at the root and has no
/// `.` or `..`, so that one file is one level. `base` is the folder that relative paths start from.
/// The file need not exist; a `..` behind a symbolic link is taken literally.
pub fn level_from(base: &Path, factor: Factor, level: &str) -> String {
    if !factor.names_file(level) {
        return level.to_owned();
    }
    let mut path = PathBuf::new();
    for part in base.join(level).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => _ = path.pop(),
            part => path.push(part),
        }
    }
    path.display().to_string()
}

impl Plan {
    /// Makes their paths absolute, in every table that names levels; `base` is the folder that
    /// relative paths start from.
    pub(super) fn resolve_files(&mut self, base: &Path) {
        for factor in Factor::OF_FILES {
            let resolve = |level: &mut String| *level = level_from(base, factor, level);
            for factors in [&mut self.factors, &mut self.simulated.factors] {
                let words = factors.get_mut(&factor).map(|levels| levels.get_mut().words_mut());
                words.into_iter().flatten().for_each(resolve);
            }
            let claims = self.claims.iter_mut().map(toml::Spanned::get_mut);
            for among in claims.filter_map(|claim| claim.among.get_mut(&factor)) {
                among.iter_mut().for_each(resolve);
            }
            let levels = self.tables_mut().filter_map(|levels| levels.0.get_mut(&factor));
            levels.for_each(resolve);
        }
    }

    /// Every table that names one level of a factor.
    fn tables_mut(&mut self) -> impl Iterator<Item = &mut Levels> {
        let baseline = self.baseline.iter_mut().map(toml::Spanned::get_mut);
        let listed = self.treatments.iter_mut().chain(&mut self.exclude);
        let listed = listed.map(toml::Spanned::get_mut);
        let steps = self.steps.iter_mut().map(|step| &mut step.get_mut().only);
        let published = self.published.iter_mut().map(|own| &mut own.get_mut().only);
        let claims = self.claims.iter_mut().flat_map(|claim| claim.get_mut().tables_mut());
        baseline.chain(listed).chain(steps).chain(published).chain(claims)
    }
}

impl WrittenClaim {
    fn tables_mut(&mut self) -> impl Iterator<Item = &mut Levels> {
        let against = self.against.as_mut().map(|side| &mut side.levels);
        let optional = [self.best.as_mut(), against, self.excess_over.as_mut()];
        let required = [&mut self.compare.levels, &mut self.only];
        required.into_iter().chain(optional.into_iter().flatten())
    }
}

impl OneOrMany {
    fn words_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let levels = match self {
            Self::One(level) => slice::from_mut(level),
            Self::Many(levels) => levels,
        };
        levels.iter_mut().filter_map(|level| match level {
            Level::Word(word) => Some(word),
            Level::Number(_) => None,
        })
    }
}

#[cfg(test)]
mod tests;

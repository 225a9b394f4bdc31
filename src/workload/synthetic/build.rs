//! Cloning, building and cleaning a kernel tree, without git, make or a compiler.
//!
//! A post of March 2009 measured how much a journal and access times add to the writes of
//! `git clone`, `make` and `make clean`. A compiler would make that experiment slow, large and
//! different on every machine; what matters to a filesystem is only which files are made, read,
//! renamed and removed, in which order, and how large they are. Three lists of operations say so.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::checkout::checkout;
use super::make::{KEPT, make};
use super::random::{Random, Stream};
use super::tree::{self, TreeShape};
use crate::workload::operation::Operation;

/// How large a build is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuildShape {
    /// The sources.
    pub tree: TreeShape,
    /// How many sources are compiled, if there are so many.
    pub units: u64,
}

impl BuildShape {
    /// A build of the given tree that compiles as large a part of it as the default does.
    #[must_use]
    pub fn of(tree: TreeShape) -> Self {
        Self { tree, units: tree.files * DEFAULT_UNITS / DEFAULT_TREE.files }
    }
}

impl Default for BuildShape {
    /// The build of Linux 2.6.29, as the post of March 2009 measured it.
    fn default() -> Self {
        Self::of(DEFAULT_TREE)
    }
}

/// Linux 2.6.29.
const DEFAULT_TREE: TreeShape = TreeShape { files: 26_700, bytes: 340_000_000 };

/// Chosen so that `make` writes about 203 MB; its budget is at the function `make`.
const DEFAULT_UNITS: u64 = 925;

/// The operations of the three phases, to be performed one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Build {
    /// `git clone --shared`.
    pub clone: Vec<Operation>,
    /// `make`.
    pub make: Vec<Operation>,
    /// `make clean`: what is left is the clone, the configuration, and what `make` derived from
    /// it, which a kernel's `make clean` keeps for the building of external modules.
    pub clean: Vec<Operation>,
}

/// The build of this shape: the same for the same seed.
#[must_use]
pub fn synthetic(shape: BuildShape, seed: u64) -> Build {
    let tree = tree::synthetic(shape.tree, seed);
    let mut random = Random::new(seed, Stream::Build);
    let clone = checkout(&tree, random.branch());
    let make = make(&tree, shape.units, random);
    let clean = clean(&tree, &make);
    Build { clone, make, clean }
}

/// Lists every directory, as `find` does, then removes what `make` left except what is kept.
fn clean(tree: &[Operation], make: &[Operation]) -> Vec<Operation> {
    let listed = |operation: &Operation| match operation {
        Operation::MakeDir { path } => Some(Operation::ListDir { path: Arc::clone(path) }),
        _ => None,
    };
    let lists = tree.iter().chain(make).filter_map(listed);
    let products = products(make).into_iter();
    let removals = products.map(|path| Operation::Remove { path: Arc::clone(path) });
    lists.chain(removals).collect()
}

/// The files that `make` made and `make clean` removes.
fn products(make: &[Operation]) -> BTreeSet<&Arc<str>> {
    let mut files = BTreeSet::new();
    for operation in make {
        match operation {
            Operation::WriteFile { path, .. } => {
                files.insert(path);
            }
            Operation::Rename { from, to } => {
                files.remove(from);
                files.insert(to);
            }
            Operation::Remove { path } => {
                files.remove(path);
            }
            _ => {}
        }
    }
    files.retain(|path| !KEPT.iter().any(|(kept, _)| path.ends_with(kept)));
    files
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::model::{Model, fingerprint};
    use super::*;
    use crate::workload::operation::bytes_written;

    /// Performs the three phases; the answer is what there is after each.
    fn checked(build: &Build) -> [Model; 3] {
        let mut model = Model::default();
        [&build.clone, &build.make, &build.clean].map(|operations| {
            model.perform(operations);
            model.clone()
        })
    }

    fn small(files: u64, units: u64) -> BuildShape {
        BuildShape { tree: TreeShape { files, bytes: files * 12_000 }, units }
    }

    #[test]
    fn the_default_build_is_pinned() {
        let build = synthetic(BuildShape::default(), 1);
        let prints = [&build.clone, &build.make, &build.clean].map(|list| fingerprint(list));
        let expected =
            [827_652_549_275_695_620, 2_014_278_805_530_239_574, 12_188_552_987_060_418_536];
        assert_eq!(prints, expected);
    }

    #[test]
    fn the_default_build_writes_what_was_measured() {
        let of_seed = |seed| bytes_written(&synthetic(BuildShape::default(), seed).make);
        let seeds = 8;
        let mean = (0..seeds).map(of_seed).sum::<u64>() / seeds;
        assert!((199_000_000..207_000_000).contains(&mean), "{mean}");
    }

    #[test]
    fn a_clone_is_the_tree_and_a_repository() {
        let shape = small(500, 50);
        let [clone, ..] = checked(&synthetic(shape, 3));
        let in_repository = |path: &&Arc<str>| path.starts_with("linux/.git/");
        let files = clone.files.keys().filter(|path| !in_repository(path)).count();
        assert_eq!(files, 500);
        assert!(clone.files.contains_key("linux/.git/index"));
        assert!(!clone.files.keys().any(|path| path.ends_with(".lock")));
    }

    #[test]
    fn clean_leaves_the_clone_and_the_configuration() {
        let [clone, made, cleaned] = checked(&synthetic(small(2000, 150), 4));
        assert!(made.files.contains_key("linux/vmlinux"));
        let mut expected = clone;
        for (path, bytes) in KEPT {
            expected.files.insert(format!("linux{path}").into(), bytes);
        }
        assert_eq!(cleaned.files, expected.files);
        assert_eq!(cleaned.directories, made.directories);
    }

    #[test]
    fn each_unit_has_an_object_and_a_command() {
        let [_, made, _] = checked(&synthetic(small(2000, 150), 4));
        let ending = |ending: &str| made.files.keys().filter(|path| path.ends_with(ending)).count();
        let built_in = ending("/built-in.o");
        assert!(built_in > 10);
        assert_eq!(ending(".o") - built_in - ending("/.tmp_kallsyms1.o"), 150);
        assert_eq!(ending(".o.cmd") - built_in, 150);
        assert_eq!(ending(".o.d"), 0);
    }

    #[test]
    fn units_read_shared_headers() {
        let build = synthetic(BuildShape::default(), 1);
        let reads = build.make.iter().filter(|operation| match operation {
            Operation::ReadFile { path } => path.ends_with(".h"),
            _ => false,
        });
        let reads = reads.count() as u64;
        let a_unit = reads / BuildShape::default().units;
        assert!((165..190).contains(&a_unit), "{a_unit}");
    }

    #[test]
    fn more_units_than_sources_compile_what_there_is() {
        checked(&synthetic(small(40, 1000), 1));
    }

    #[test]
    fn a_scaled_build_compiles_the_same_part() {
        let tenth = BuildShape::of(TreeShape { files: 2670, bytes: 34_000_000 });
        assert_eq!(tenth.units, DEFAULT_UNITS / 10);
        assert_eq!(BuildShape::default().units, DEFAULT_UNITS);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn any_build_is_possible_and_repeatable(
            files in prop_oneof![0_u64..4, 0_u64..1000],
            units in 0_u64..200,
            seed: u64,
        ) {
            let build = synthetic(small(files, units), seed);
            checked(&build);
            prop_assert_eq!(&build, &synthetic(small(files, units), seed));
            prop_assert_ne!(&build, &synthetic(small(files, units), seed ^ 1));
        }
    }
}

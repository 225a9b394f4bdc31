//! The three scripts of a build against measurements, and against a directory.

use std::sync::Arc;

use proptest::prelude::*;

use super::super::model::{BuildModel, fingerprint};
use super::*;

/// Performs the three phases; returns the directory after each.
fn checked(build: &BuildScripts) -> [BuildModel; 3] {
    let mut model = BuildModel::default();
    [&build.clone, &build.make, &build.clean].map(|script| {
        model.perform(script);
        model.clone()
    })
}

/// The build of a plan that says nothing about it.
fn default_build() -> BuildShape {
    BuildShape::of(TreeShape { files: KERNEL_FILES, bytes: 340_000_000 })
}

fn small(files: u64, units: u64) -> BuildShape {
    BuildShape { tree: TreeShape { files, bytes: files * 12_000 }, units }
}

#[test]
fn the_default_build_is_pinned() {
    let build = synthetic(default_build(), 1);
    let prints = [&build.clone, &build.make, &build.clean].map(fingerprint);
    let expected =
        [2_297_840_701_437_778_536, 4_145_585_258_423_502_470, 3_337_607_577_298_061_877];
    assert_eq!(prints, expected);
}

#[test]
fn the_default_build_writes_what_was_measured() {
    let of_seed = |seed| synthetic(default_build(), seed).make.written_bytes();
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
    let build = synthetic(default_build(), 1);
    let reads = build.make.operations.iter().filter(|operation| match operation {
        Operation::ReadFile { path } => path.as_bytes().ends_with(b".h"),
        _ => false,
    });
    let reads = reads.count() as u64;
    let a_unit = reads / default_build().units;
    assert!((165..190).contains(&a_unit), "{a_unit}");
}

#[test]
fn more_units_than_sources_compile_what_there_is() {
    checked(&synthetic(small(40, 1000), 1));
}

#[test]
fn a_scaled_build_compiles_the_same_part() {
    let tenth = BuildShape::of(TreeShape { files: 2670, bytes: 34_000_000 });
    assert_eq!(tenth.units, KERNEL_UNITS / 10);
    assert_eq!(default_build().units, KERNEL_UNITS);
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

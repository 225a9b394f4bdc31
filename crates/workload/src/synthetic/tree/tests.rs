//! Trees against the figures that they follow.

use std::sync::LazyLock;

use proptest::prelude::*;

use super::super::kernel::{DIRECTORIES, FILES};
use super::super::model::{BuildModel, fingerprint};
use super::*;

/// The tree of a plan that says nothing about it.
const DEFAULT: TreeShape = TreeShape { files: 36_706, bytes: 493_000_000 };

fn checked(shape: TreeShape, seed: u64) -> BuildModel {
    let script = synthetic(shape, seed).unpack();
    let mut model = BuildModel::default();
    model.perform(&script);
    assert_eq!(to_u64(model.files.len()), shape.files);
    let expected = if shape.files == 0 { 0 } else { shape.bytes };
    assert_eq!(script.written_bytes(), expected);
    model
}

/// As many files and bytes as were measured.
static KERNEL: LazyLock<BuildModel> =
    LazyLock::new(|| checked(TreeShape { files: FILES, bytes: 874_773_076 }, 1));

#[test]
fn the_default_tree_is_pinned() {
    let script = synthetic(DEFAULT, 1).unpack();
    assert_eq!(fingerprint(&script), 9_562_318_879_349_810_939);
}

#[test]
fn the_default_tree_is_shaped_like_a_kernel() {
    let model = checked(DEFAULT, 1);
    let directories = to_u64(model.directories.len());
    let measured = DEFAULT.files * DIRECTORIES / FILES;
    assert!(directories.abs_diff(measured) * 100 < measured * 3, "{directories}");

    let longest = model.files.keys().map(|path| path.len()).max();
    assert!(longest.is_some_and(|longest| (80..200).contains(&longest)), "{longest:?}");
    let mean_path = model.files.keys().map(|path| path.len()).sum::<usize>() / model.files.len();
    // Measured: 36.9 characters, and here 6 of the top directory.
    assert!((38..48).contains(&mean_path), "{mean_path}");
}

#[test]
fn sizes_have_the_measured_quantiles() {
    let model = &*KERNEL;
    let mut sizes: Vec<u64> = model.files.values().copied().collect();
    sizes.sort_unstable();
    // Quartiles, nine tenths and 31 of 32 of all files measured, whatever their kind.
    let measured = [(8, 1240), (16, 3816), (24, 11_128), (29, 29_130), (31, 60_820)];
    for (of_32, expected) in measured {
        let found = sizes[sizes.len() * of_32 / 32];
        assert!(found.abs_diff(expected) * 10 < expected, "{found} is not near {expected}");
    }
}

#[test]
fn directories_have_the_measured_numbers_of_files() {
    let model = &*KERNEL;
    let of_directory = |directory: &Arc<str>| {
        let inside =
            |path: &&Arc<str>| path.rsplit_once('/').is_some_and(|(d, _)| d == &**directory);
        let first = Arc::<str>::from(format!("{directory}/"));
        let below = model.files.range(first.clone()..).map(|(path, _)| path);
        below.take_while(|path| path.starts_with(&*first)).filter(inside).count()
    };
    let mut counts: Vec<_> = model.directories.iter().map(of_directory).collect();
    counts.sort_unstable();
    let quantile = |of_32: usize| counts[counts.len() * of_32 / 32];
    assert_eq!([4, 8, 16, 24, 28].map(quantile), [1, 3, 6, 14, 27]);
}

#[test]
fn names_end_as_measured() {
    let model = checked(TreeShape { files: 10_000, bytes: 1 }, 1);
    for kind in KINDS.iter().filter(|kind| !kind.extension.is_empty()) {
        let ending = format!(".{}", kind.extension);
        let found = model.files.keys().filter(|path| path.ends_with(&ending)).count();
        assert_eq!(to_u64(found), kind.share, "{ending}");
    }
}

#[test]
fn a_hundredth_of_the_bytes_is_incompressible() {
    let tree = synthetic(DEFAULT, 1);
    let files = || tree.files().map(|(_, file)| file);
    let is_binary = |file: &SourceFile| matches!(file.content, Content::Binary { .. });
    let binary: u64 = files().filter(is_binary).map(|file| file.bytes).sum();
    let per_mille = binary * 1000 / files().map(|file| file.bytes).sum::<u64>();
    assert!((8..=12).contains(&per_mille), "{per_mille}");
}

#[test]
fn no_directory_is_empty() {
    let model = checked(TreeShape { files: 3000, bytes: 1 }, 5);
    for directory in &model.directories {
        let inside = format!("{directory}/");
        assert!(model.files.keys().any(|path| path.starts_with(&inside)), "{directory}");
    }
}

#[test]
fn extreme_shapes_are_exact() {
    for files in [0, 1, 2, 3] {
        for bytes in [0, 1, 1_000_000] {
            checked(TreeShape { files, bytes }, files);
        }
    }
    // More files than the default has, and fewer bytes.
    checked(TreeShape { files: 40_000, bytes: 77 }, 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn any_shape_is_exact_and_repeatable(
        files in 0_u64..1500,
        bytes in 0_u64..1 << 40,
        seed: u64,
    ) {
        let shape = TreeShape { files, bytes };
        checked(shape, seed);
        prop_assert_eq!(synthetic(shape, seed), synthetic(shape, seed));
        if files > 0 {
            prop_assert_ne!(synthetic(shape, seed), synthetic(shape, seed ^ 1));
        }
    }
}

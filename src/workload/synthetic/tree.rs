//! A synthetic source tree: the operations that unpack something shaped like a kernel's sources.
//!
//! The real sources need a download and have one size; a synthetic tree needs neither, can be of
//! any size, and is the same on every machine. The measured figures it follows are in `kernel`.

use std::sync::Arc;

use super::directories::{Directory, TOP, directories};
use super::distribution::apportion;
use super::kernel::{FILES_PER_DIRECTORY, KINDS, Kind, STEM_LENGTHS};
use super::random::{Random, Stream, to_u64, to_usize};
use crate::workload::operation::{Content, Operation};

/// The modification time of every file, as an archive made from a commit has one time for all:
/// 24 June 2011, 00:00 UTC, the day after Linux 2.6.39.2.
const MTIME_S: i64 = 1_308_873_600;

/// How large a tree is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeShape {
    /// How many files.
    pub files: u64,
    /// How many bytes the files hold together; without files there are none.
    pub bytes: u64,
}

impl Default for TreeShape {
    /// The sources of Linux 2.6.39, as the post of July 2011 counts them.
    fn default() -> Self {
        Self { files: 36_706, bytes: 493_000_000 }
    }
}

/// A file without a name.
#[derive(Clone, Copy)]
struct File {
    kind: &'static Kind,
    bytes: u64,
}

/// The operations that make a tree of exactly this shape, in the order of an unpacked archive.
///
/// Everything is below one directory. The order is depth first and by name, which is the order
/// of git's index and so of the archives made with git. The seed decides the names, and with them
/// the order, and which file has which of the sizes.
#[must_use]
pub fn synthetic(shape: TreeShape, seed: u64) -> Vec<Operation> {
    let mut random = Random::new(seed, Stream::Tree);
    let mut directories = directories(shape.files, &mut random);
    let files = files(shape, &mut random);
    let mut placed = place(&files, &mut directories, &mut random);
    placed.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    operations(&placed, &mut random)
}

/// The files of the tree in random order: every kind by its share, sizes by their quantiles.
fn files(shape: TreeShape, random: &mut Random) -> Vec<File> {
    let shares = KINDS.each_ref().map(|kind| kind.share);
    let counts = apportion(shape.files, &shares);
    let of_kind = |(kind, count): (&'static Kind, u64)| {
        kind.sizes.spread(count).map(move |bytes| File { kind, bytes })
    };
    let mut files: Vec<File> = KINDS.iter().zip(counts).flat_map(of_kind).collect();
    let measured: Vec<u64> = files.iter().map(|file| file.bytes).collect();
    for (file, bytes) in files.iter_mut().zip(apportion(shape.bytes, &measured)) {
        file.bytes = bytes;
    }
    random.shuffle(&mut files);
    files
}

/// Puts the files into the directories; the answer is their paths.
fn place(
    files: &[File],
    directories: &mut [Directory],
    random: &mut Random,
) -> Vec<(String, File)> {
    let count = to_u64(directories.len());
    let weights: Vec<u64> = FILES_PER_DIRECTORY.spread(count).collect();
    let mut counts = apportion(to_u64(files.len()), &weights);

    // A directory without files has subdirectories: git keeps no empty directory.
    random.shuffle(directories);
    directories.sort_by_key(|directory| !directory.has_children);
    counts.sort_unstable();
    let without_files = counts.partition_point(|&count| count == 0);
    random.shuffle(&mut counts[without_files..]);

    let mut placed = Vec::with_capacity(files.len());
    let mut rest = files;
    for (directory, count) in directories.iter_mut().zip(counts) {
        let (here, later) = rest.split_at(to_usize(count));
        rest = later;
        let path = |&file: &File| (path_for(file.kind, directory, random), file);
        placed.extend(here.iter().map(path));
    }
    placed
}

/// A new path in the directory for a file of this kind.
fn path_for(kind: &Kind, directory: &mut Directory, random: &mut Random) -> String {
    // Measured, two thirds of the files without an extension are these two.
    let usual = ["Makefile", "Kconfig"];
    let usual = usual.into_iter().filter(|_| kind.extension.is_empty());
    let name = match usual.into_iter().find(|name| directory.names.take(name)) {
        Some(name) => name.to_owned(),
        None => directory.names.claim(STEM_LENGTHS.draw(random), kind.extension, random),
    };
    format!("{}/{name}", directory.path)
}

/// The files in their order, each directory before the first thing in it.
fn operations(files: &[(String, File)], random: &mut Random) -> Vec<Operation> {
    let mut operations = vec![Operation::MakeDir { path: TOP.into() }];
    let mut previous = format!("{TOP}/");
    for (path, file) in files {
        for (slash, _) in path.match_indices('/') {
            if !previous.starts_with(&path[..=slash]) {
                operations.push(Operation::MakeDir { path: path[..slash].into() });
            }
        }
        operations.push(write(path.as_str().into(), *file, random.bits()));
        previous.clone_from(path);
    }
    operations
}

fn write(path: Arc<str>, file: File, seed: u64) -> Operation {
    let content = if file.kind.binary { Content::Binary { seed } } else { Content::Text { seed } };
    let (bytes, mode) = (file.bytes, file.kind.mode);
    Operation::WriteFile { path, bytes, content, mode, mtime_s: Some(MTIME_S) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::kernel::{DIRECTORIES, FILES};
    use super::super::model::{Model, fingerprint};
    use super::*;
    use crate::workload::operation::{bytes_written, files_created};

    fn checked(shape: TreeShape, seed: u64) -> Model {
        let operations = synthetic(shape, seed);
        let mut model = Model::default();
        model.perform(&operations);
        assert_eq!(to_u64(files_created(&operations)), shape.files);
        let expected = if shape.files == 0 { 0 } else { shape.bytes };
        assert_eq!(bytes_written(&operations), expected);
        model
    }

    #[test]
    fn the_default_tree_is_pinned() {
        let operations = synthetic(TreeShape::default(), 1);
        assert_eq!(fingerprint(&operations), 6_759_845_300_006_072_787);
    }

    #[test]
    fn the_default_tree_is_shaped_like_a_kernel() {
        let shape = TreeShape::default();
        let model = checked(shape, 1);
        let directories = to_u64(model.directories.len());
        let measured = shape.files * DIRECTORIES / FILES;
        assert!(directories.abs_diff(measured) * 100 < measured * 3, "{directories}");

        let longest = model.files.keys().map(|path| path.len()).max();
        assert!(longest.is_some_and(|longest| (80..200).contains(&longest)), "{longest:?}");
        let mean_path =
            model.files.keys().map(|path| path.len()).sum::<usize>() / model.files.len();
        // Measured: 36.9 characters, and here 6 of the top directory.
        assert!((38..48).contains(&mean_path), "{mean_path}");
    }

    #[test]
    fn sizes_have_the_measured_quantiles() {
        let model = checked(TreeShape { files: FILES, bytes: 874_773_076 }, 1);
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
        let model = checked(TreeShape { files: FILES, bytes: 1 }, 1);
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
        let operations = synthetic(TreeShape::default(), 1);
        let is_binary = |operation: &&Operation| {
            matches!(operation, Operation::WriteFile { content: Content::Binary { .. }, .. })
        };
        let binary: Vec<Operation> = operations.iter().filter(is_binary).cloned().collect();
        let per_mille = bytes_written(&binary) * 1000 / bytes_written(&operations);
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
        checked(TreeShape { files: 300_000, bytes: 77 }, 1);
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
}

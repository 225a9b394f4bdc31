//! A synthetic source tree, shaped like a kernel's sources.
//!
//! The real sources need a download and have a fixed size; a synthetic tree needs none, can have
//! any size, and is the same on every machine. Its measured figures are in `kernel`.

use std::collections::BTreeSet;
use std::sync::Arc;

use ssdlab_operations::{Operation, RelativePath};

use super::directories::{TOP, TreeDirectory, directories};
use super::distribution::apportion;
use super::kernel::{FILES_PER_DIRECTORY, FileKind, KINDS, STEM_LENGTHS};
use super::random::{RandomPurpose, RandomStream, to_u64, to_usize};
use crate::content::Content;
use crate::script::Script;

/// The modification time of every file, because an archive made from a commit has one for all: 24
/// June 2011, 00:00 UTC, the day after Linux 2.6.39.2.
const MTIME_S: i64 = 1_308_873_600;

/// The size of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeShape {
    pub files: u64,
    /// The total size of the files in bytes; 0 without files.
    pub bytes: u64,
}

/// A file without a name.
#[derive(Clone, Copy)]
struct File {
    kind: &'static FileKind,
    bytes: u64,
}

/// A tree, in the order of an unpacked archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceTree(pub(super) Vec<TreeItem>);

/// A directory or a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TreeItem {
    pub path: Arc<str>,
    pub file: Option<SourceFile>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SourceFile {
    pub mode: u32,
    pub bytes: u64,
    pub content: Content,
}

impl SourceTree {
    /// Makes the tree, with modification times as in an archive.
    pub fn unpack(&self) -> Script {
        let mut script = Script::default();
        for item in &self.0 {
            item.make(&mut script, Some(MTIME_S));
        }
        script
    }

    /// The files, with their paths.
    pub(super) fn files(&self) -> impl Iterator<Item = (&Arc<str>, SourceFile)> {
        self.0.iter().filter_map(|item| Some((&item.path, item.file?)))
    }
}

impl TreeItem {
    /// Makes it; a file gets the modification time, if given.
    pub fn make(&self, script: &mut Script, modified_s: Option<i64>) {
        match self.file {
            None => script.make_directory(&self.path),
            Some(SourceFile { mode, bytes, content }) => {
                script.make_file(&self.path, mode, bytes, content, modified_s);
            }
        }
    }
}

/// A tree of exactly this shape.
///
/// Everything is below one directory. The order is depth first and by name, as in git's index and
/// the archives made by git. The seed determines the names, and thus the order, and the assignment
/// of sizes to files.
pub fn synthetic(shape: TreeShape, seed: u64) -> SourceTree {
    let mut random = RandomStream::new(seed, RandomPurpose::Tree);
    let mut directories = directories(shape.files, &mut random);
    let files = files(shape, &mut random);
    let mut placed = place(&files, &mut directories, &mut random);
    placed.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    items(&placed, &mut random)
}

/// The files of the tree in random order: every kind by its share, sizes by their quantiles.
fn files(shape: TreeShape, random: &mut RandomStream) -> Vec<File> {
    let shares = KINDS.each_ref().map(|kind| kind.share);
    let counts = apportion(shape.files, &shares);
    let of_kind = |(kind, count): (&'static FileKind, u64)| {
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

/// Assigns the files to directories; returns their paths.
fn place(
    files: &[File],
    directories: &mut [TreeDirectory],
    random: &mut RandomStream,
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

fn path_for(kind: &FileKind, directory: &mut TreeDirectory, random: &mut RandomStream) -> String {
    // Two thirds of the measured files without an extension have one of these names.
    let usual = ["Makefile", "Kconfig"];
    let usual = usual.into_iter().filter(|_| kind.extension.is_empty());
    let name = match usual.into_iter().find(|name| directory.names.take(name)) {
        Some(name) => name.to_owned(),
        None => directory.names.claim(STEM_LENGTHS.draw(random), kind.extension, random),
    };
    format!("{}/{name}", directory.path)
}

/// The files in their order, each directory before the first thing in it.
fn items(files: &[(String, File)], random: &mut RandomStream) -> SourceTree {
    let directory = |path: &str| TreeItem { path: path.into(), file: None };
    let mut items = vec![directory(TOP)];
    let mut previous = format!("{TOP}/");
    for (path, File { kind, bytes }) in files {
        for (slash, _) in path.match_indices('/') {
            if !previous.starts_with(&path[..=slash]) {
                items.push(directory(&path[..slash]));
            }
        }
        let seed = random.bits();
        let content = if kind.binary { Content::Binary { seed } } else { Content::Text { seed } };
        let file = Some(SourceFile { mode: kind.mode, bytes: *bytes, content });
        items.push(TreeItem { path: path.as_str().into(), file });
        previous.clone_from(path);
    }
    SourceTree(items)
}

/// The paths of the files that a script makes, which removes and renames none; in an order drawn
/// from the seed. A file with several names is there by each.
pub fn shuffled(script: &Script, seed: u64) -> Vec<&RelativePath> {
    let mut symlinks = BTreeSet::new();
    let mut files = Vec::new();
    for operation in &script.operations {
        match operation {
            Operation::Open { create: Some(_), path, .. } => files.push(path),
            Operation::Link { existing, path } if !symlinks.contains(existing) => files.push(path),
            Operation::Symlink { path, .. } | Operation::Link { path, .. } => {
                symlinks.insert(path);
            }
            _ => {}
        }
    }
    RandomStream::new(seed, RandomPurpose::ReadOrder).shuffle(&mut files);
    files
}

#[cfg(test)]
mod tests;

//! The filesystem operations of a kernel's `make`.
//!
//! The model is the kbuild of 2.6.29: a compiler that lists the headers it read, from which a
//! helper makes the `.cmd` file; in each directory a `built-in.o` that `ld -r` links from the
//! directory's objects and its subdirectories' `built-in.o`, so that each object is copied at every
//! level (since 4.20 these are thin archives, which are cheap); at the top two links around the
//! symbol table, and a compressed image.
//!
//! Not modelled: the helper's second read of the headers, modules, host programs, and the
//! interleaving of `-j2`.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::directories::TOP;
use super::distribution::{SizeQuantiles, scale};
use super::draft::Draft;
use super::random::{RandomStream, Zipf, to_u64, to_usize};
use super::tree::SourceTree;
use crate::script::Script;

/// The configuration and the files derived from it before compiling, with their sizes for a typical
/// x86 configuration in 2009. `make clean` keeps them.
pub(super) const KEPT: [(&str, u64); 6] = [
    ("/.config", 62_000),
    ("/include/config/auto.conf", 31_000),
    ("/include/generated/autoconf.h", 44_000),
    ("/include/generated/utsrelease.h", 36),
    ("/include/generated/bounds.h", 280),
    ("/include/generated/asm-offsets.h", 9000),
];

/// The header that is read first for each unit.
const EVERY_UNIT_READS: &str = "/include/generated/autoconf.h";

/// Bytes of object files; the mean is 40,000.
///
/// A log-normal distribution, computed beforehand. Its spread (sigma 1.1) is that of the 4,023
/// modules of Debian's kernel 6.1.192 (1.08); its mean is a choice: objects of 2009 without debug
/// information.
static OBJECT_SIZES: SizeQuantiles = SizeQuantiles([
    1240, 2789, 4004, 5078, 6107, 7126, 8157, 9214, 10307, 11447, 12643, 13906, 15245, 16674,
    18205, 19856, 21645, 23595, 25734, 28098, 30731, 33691, 37056, 40928, 45454, 50847, 57433,
    65743, 76719, 92257, 117_014, 167_967, 231_372, 309_228, 403_767, 517_476, 653_120, 813_769,
    1_002_827, 1_579_343,
]);

/// The minimum number of headers of a unit, besides the one that all read.
const HEADERS_MIN: u64 = 100;

/// The maximum number of headers.
const HEADERS_MAX: u64 = 250;

/// One header in this many is ever read (a choice): most belong to other architectures and to
/// drivers that are not compiled.
const HEADERS_OF_WHICH_ONE_IS_READ: usize = 3;

/// Sources deeper than this many levels are compiled only if others do not suffice: they mostly
/// belong to other architectures, device trees, tests and documentation.
const USUAL_DEPTH: usize = 3;

/// The maximum number of compiled sources per directory: a configuration excludes many.
const UNITS_PER_DIRECTORY: usize = 20;

/// Bytes of a compiler's command line with its options.
const COMMAND_BYTES: u64 = 1800;

/// The size of the linked kernel, without relocations, per 1,000 bytes of objects.
const KERNEL_PER_MILLE: u64 = 500;

/// The size of the symbol table's source per 1,000 bytes of the kernel; likewise the next three.
const SYMBOL_TABLE_SOURCE_PER_MILLE: u64 = 150;
/// The symbol table compiled.
const SYMBOL_TABLE_PER_MILLE: u64 = 40;
/// The symbols' names and addresses as text.
const SYSTEM_MAP_PER_MILLE: u64 = 70;
/// The kernel compressed.
const IMAGE_PER_MILLE: u64 = 250;

/// An object file that a later link reads.
struct Object {
    path: Arc<str>,
    bytes: u64,
}

/// The work in a directory.
#[derive(Default)]
struct Folder {
    sources: Vec<Arc<str>>,
    objects: Vec<Object>,
}

/// A `make` in progress.
struct Make {
    draft: Draft,
    random: RandomStream,
    /// The headers that are read, the most popular first.
    headers: Vec<Arc<str>>,
    popularity: Zipf,
    /// For each header, the number of units when it was last read.
    last_read: Vec<usize>,
    autoconf: Arc<str>,
    /// The sizes of the objects still to be made.
    object_sizes: Vec<u64>,
    units: usize,
}

/// The operations of `make` in a clone of the tree, compiling this many of its sources.
///
/// The bytes that the default build writes to files, for seed 1; seeds 0 to 29 write 196 to 208 MB,
/// with a mean of 203.
///
/// | what                                 | files |    MB |     % |
/// |--------------------------------------|-------|-------|-------|
/// | objects of units                     |   925 |  36.9 |  17.9 |
/// | `.cmd` of units                      |   925 |  13.1 |   6.4 |
/// | `.d` of units, removed again         |   925 |   7.6 |   3.7 |
/// | `built-in.o`, copies of the objects  |   199 | 100.8 |  49.0 |
/// | `.cmd` of `built-in.o` and `vmlinux` |   200 |   0.0 |   0.0 |
/// | `.tmp_vmlinux1`                      |     1 |  18.5 |   9.0 |
/// | symbol table, source and object      |     2 |   3.5 |   1.7 |
/// | `vmlinux`                            |     1 |  19.2 |   9.3 |
/// | `System.map`                         |     1 |   1.3 |   0.6 |
/// | `bzImage`                            |     1 |   4.6 |   2.2 |
/// | configuration                        |     6 |   0.1 |   0.1 |
/// | all                                  |  3186 | 205.7 | 100.0 |
pub(super) fn make(tree: &SourceTree, units: u64, mut random: RandomStream) -> Script {
    let mut folders = chosen_sources(tree, units, &mut random);
    let mut make = Make::new(tree, &folders, random);
    make.configure();
    // A path sorts before all below it, so the last is a directory whose subdirectories are done.
    while let Some((directory, mut folder)) = folders.pop_last() {
        for source in &folder.sources {
            let object = make.compile(source);
            folder.objects.push(object);
        }
        if let Some((parent, _)) = directory.rsplit_once('/') {
            let built_in = make.link_directory(&directory, &folder.objects);
            let parent = folders.entry(parent.into()).or_default();
            parent.objects.push(built_in);
        } else {
            make.link_kernel(&folder.objects);
        }
    }
    make.draft.script
}

/// The sources to compile, by directory, with at least the top directory.
fn chosen_sources(
    tree: &SourceTree,
    units: u64,
    random: &mut RandomStream,
) -> BTreeMap<Arc<str>, Folder> {
    let mut directories: BTreeMap<&str, Vec<&Arc<str>>> = BTreeMap::new();
    for source in files_named(tree, ".c") {
        if let Some((directory, _)) = source.rsplit_once('/') {
            directories.entry(directory).or_default().push(source);
        }
    }
    let mut directories: Vec<_> = directories.into_iter().collect();
    random.shuffle(&mut directories);
    directories.sort_by_key(|(path, _)| path.matches('/').count() > USUAL_DEPTH);

    let mut chosen = BTreeMap::from([(TOP.into(), Folder::default())]);
    let mut wanted = to_usize(units);
    for (path, sources) in directories {
        let taken = sources.into_iter().take(UNITS_PER_DIRECTORY.min(wanted));
        let sources: Vec<_> = taken.map(Arc::clone).collect();
        wanted -= sources.len();
        if !sources.is_empty() {
            let objects = Vec::new();
            chosen.insert(path.into(), Folder { sources, objects });
        }
    }
    chosen
}

fn files_named<'a>(tree: &'a SourceTree, ending: &'a str) -> impl Iterator<Item = &'a Arc<str>> {
    tree.files().map(|(path, _)| path).filter(move |path| path.ends_with(ending))
}

impl Make {
    fn new(
        tree: &SourceTree,
        folders: &BTreeMap<Arc<str>, Folder>,
        mut random: RandomStream,
    ) -> Self {
        let mut headers: Vec<_> = files_named(tree, ".h").map(Arc::clone).collect();
        random.shuffle(&mut headers);
        headers.truncate(headers.len().div_ceil(HEADERS_OF_WHICH_ONE_IS_READ));
        let units: usize = folders.values().map(|folder| folder.sources.len()).sum();
        let mut object_sizes: Vec<_> = OBJECT_SIZES.spread(to_u64(units)).collect();
        random.shuffle(&mut object_sizes);
        Self {
            draft: Draft::new(random.branch()),
            random,
            popularity: Zipf::new(headers.len(), 0),
            last_read: vec![0; headers.len()],
            headers,
            autoconf: format!("{TOP}{EVERY_UNIT_READS}").into(),
            object_sizes,
            units: 0,
        }
    }

    /// Writes the configuration and the headers made from it.
    fn configure(&mut self) {
        for directory in ["include", "include/config", "include/generated"] {
            self.draft.script.make_directory(&format!("{TOP}/{directory}"));
        }
        for (path, bytes) in KEPT {
            self.draft.text(&format!("{TOP}{path}"), bytes);
        }
    }

    /// Compiles a source: the compiler writes the object and a list of the files it read, the
    /// helper (`fixdep`) turns the list into the `.cmd` file.
    fn compile(&mut self, source: &Arc<str>) -> Object {
        self.draft.script.read(source);
        let list_bytes = to_u64(source.len()) + self.read_headers();
        let object = product(source, "", ".o");
        let list = product(source, ".", ".o.d");
        self.draft.text(&list, list_bytes);
        let size = self.object_sizes.pop();
        let bytes = size.expect("there is a size for each source");
        self.draft.object(&object, bytes);
        self.draft.script.read(&list);
        // The list again, and for about each second header an option that it depends on.
        let command = beside(&object, ".tmp");
        self.draft.text(&command, COMMAND_BYTES + list_bytes * 3 / 2);
        self.draft.script.unlink(&list);
        self.draft.script.rename(&command, &beside(&object, ".cmd"));
        Object { path: object, bytes }
    }

    /// Reads the headers of a unit; returns the size of their list in bytes.
    fn read_headers(&mut self) -> u64 {
        self.units += 1;
        let autoconf = Arc::clone(&self.autoconf);
        let mut list_bytes = self.read_header(&autoconf);
        let mut wanted = HEADERS_MIN + self.random.below(HEADERS_MAX - HEADERS_MIN + 1);
        // A compiler reads a header once, however often it is included. In a small tree there
        // may be too few headers, so the search for new ones must end.
        let mut draws = 4 * wanted;
        while wanted > 0 && draws > 0 && !self.headers.is_empty() {
            draws -= 1;
            let rank = self.popularity.rank(&mut self.random);
            if self.last_read[rank] < self.units {
                self.last_read[rank] = self.units;
                let header = Arc::clone(&self.headers[rank]);
                list_bytes += self.read_header(&header);
                wanted -= 1;
            }
        }
        list_bytes
    }

    /// Reads a header; returns the length of its line in a list of headers, in bytes.
    fn read_header(&mut self, header: &Arc<str>) -> u64 {
        self.draft.script.read(header);
        // Without the top directory, but with two spaces, a backslash and a line end.
        to_u64(header.len() - TOP.len() - 1 + 4)
    }

    /// Links a directory's objects, and those of its subdirectories, into one.
    fn link_directory(&mut self, directory: &str, objects: &[Object]) -> Object {
        let path: Arc<str> = format!("{directory}/built-in.o").into();
        let bytes = self.read_objects(objects);
        self.draft.object(&path, bytes);
        let names: usize = objects.iter().map(|object| object.path.len() + 1).sum();
        self.draft.text(&beside(&path, ".cmd"), to_u64(names));
        Object { path, bytes }
    }

    /// Reads objects to link them; returns their total size.
    fn read_objects(&mut self, objects: &[Object]) -> u64 {
        for object in objects {
            self.draft.script.read(&object.path);
        }
        objects.iter().map(|object| object.bytes).sum()
    }

    /// Links the kernel, once for the addresses of its symbols and once with the table of them.
    fn link_kernel(&mut self, objects: &[Object]) {
        let at_top = |name: &str| -> Arc<str> { format!("{TOP}/{name}").into() };
        let [first, source, table] =
            [".tmp_vmlinux1", ".tmp_kallsyms1.S", ".tmp_kallsyms1.o"].map(at_top);
        let [kernel, map, image] = ["vmlinux", "System.map", "bzImage"].map(at_top);

        let bytes = scale(self.read_objects(objects), KERNEL_PER_MILLE, 1000);
        let part = |per_mille| scale(bytes, per_mille, 1000);
        self.draft.object(&first, bytes);
        self.draft.script.read(&first);
        self.draft.text(&source, part(SYMBOL_TABLE_SOURCE_PER_MILLE));
        self.draft.script.read(&source);
        self.draft.object(&table, part(SYMBOL_TABLE_PER_MILLE));

        self.read_objects(objects);
        self.draft.script.read(&table);
        self.draft.object(&kernel, bytes + part(SYMBOL_TABLE_PER_MILLE));
        self.draft.text(&beside(&kernel, ".cmd"), COMMAND_BYTES);
        self.draft.script.read(&kernel);
        self.draft.text(&map, part(SYSTEM_MAP_PER_MILLE));
        self.draft.script.read(&kernel);
        self.draft.binary(&image, part(IMAGE_PER_MILLE));
    }
}

/// The path of a file derived from a source: `.foo.o.d` from `foo.c`, in the same directory.
fn product(source: &str, before: &str, after: &str) -> Arc<str> {
    let (directory, name) = source.rsplit_once('/').unwrap_or(("", source));
    let stem = name.strip_suffix(".c").unwrap_or(name);
    format!("{directory}/{before}{stem}{after}").into()
}

/// A hidden file beside another: `.foo.o.cmd` beside `foo.o`.
fn beside(path: &str, ending: &str) -> Arc<str> {
    let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
    format!("{directory}/.{name}{ending}").into()
}

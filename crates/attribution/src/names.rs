//! What people call files and cgroups.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use ssdlab_causes::Inode;
use ssdlab_host::cgroup_io::CgroupTree;
use ssdlab_host::file_handle::{self, HandleKind};
use ssdlab_host::mounts::Mount;
use ssdlab_host::name_watch::{NameWatch, ReportedFile};
use ssdlab_host::sysfs::major_minor;
use ssdlab_host::tracefs::monotonic_ns;
use ssdlab_host::{btrfs, cgroup_name, whole_disk};

/// The most names that are kept.
const MOST_NAMES: usize = 500_000;

/// How many files of an inode number are remembered: more than are made and deleted in the 40 ms
/// before their events are taken.
const MOST_LIVES: usize = 4096;

/// How a filesystem is asked for a file's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameSource {
    Handles(HandleKind),
    /// By btrfs's own ioctl.
    Btrfs,
}

/// A filesystem whose files are named.
#[derive(Debug)]
pub struct NamedFilesystem {
    /// Where it is mounted, for this process.
    pub path: PathBuf,
    /// The numbers of its files' devices, as `major:minor`.
    pub numbers: Vec<String>,
    source: NameSource,
    /// The subvolume that is mounted there.
    subvolume: Option<u64>,
    /// Reports names, where the kernel can.
    watch: Option<NameWatch>,
}

impl NamedFilesystem {
    fn new(path: PathBuf, mount: &Mount, source: NameSource, naming: Naming) -> Self {
        let root = File::open(&path).ok();
        let of_root = root.as_ref().and_then(|root| root.metadata().ok());
        let mut numbers = vec![mount.device.clone()];
        numbers.extend(of_root.map(|metadata| major_minor(metadata.dev())));
        let subvolume = root.as_ref().filter(|_| source == NameSource::Btrfs);
        let subvolume = subvolume.and_then(|root| btrfs::subvolume(root).ok());
        let watch = (naming == Naming::Wanted).then(|| NameWatch::on(&path).ok()).flatten();
        Self { path, numbers, source, subvolume, watch }
    }

    /// Its root, open for as short as possible: nobody could unmount it meanwhile. `None` if
    /// something else is there by now.
    fn root(&self) -> Option<File> {
        let root = File::open(&self.path).ok()?;
        let number = major_minor(root.metadata().ok()?.dev());
        self.numbers.contains(&number).then_some(root)
    }

    fn path_of(&self, root: &File, inode: &Inode) -> Option<String> {
        match self.source {
            NameSource::Handles(kind) => {
                let path = file_handle::path_of(root, kind, inode.number).ok()??;
                Some(path.display().to_string())
            }
            NameSource::Btrfs => {
                let path = btrfs::path_of(root, inode.tree, inode.number).ok()??;
                Some(if self.subvolume == Some(inode.tree) {
                    self.path.join(path).display().to_string()
                } else {
                    format!(
                        "{} (subvolume {}): {}",
                        self.path.display(),
                        inode.tree,
                        path.display()
                    )
                })
            }
        }
    }
}

/// The files that had an inode number, as they were made or deleted.
#[derive(Debug, Default)]
struct Lives {
    /// The life of the first that is kept.
    first: u32,
    /// Their generations, and paths if they had any.
    files: VecDeque<(u32, Option<String>)>,
}

impl Lives {
    /// Those of a number of which it is not known how many files it had before.
    fn uncounted() -> Self {
        Self { first: u32::MAX, files: VecDeque::new() }
    }

    /// Adds a file, unless it is known, and returns by how many more are kept.
    fn add(&mut self, generation: u32, path: Option<String>) -> usize {
        if let Some((_, own)) = self.files.iter_mut().rev().find(|(own, _)| *own == generation) {
            // That a file is no more may be reported before the name that it had.
            *own = own.take().or(path);
            return 0;
        }
        let is_full = self.files.len() >= MOST_LIVES;
        if is_full {
            self.drop_first();
        }
        self.files.push_back((generation, path));
        usize::from(!is_full)
    }

    fn path(&self, life: u32) -> Option<&String> {
        let index = usize::try_from(life.checked_sub(self.first)?).ok()?;
        self.files.get(index)?.1.as_ref()
    }

    /// Forgets the paths, and not how many files they were of. The last file may still be there.
    fn forget(&mut self) {
        while self.files.len() > 1 {
            self.drop_first();
        }
        for (_, path) in &mut self.files {
            *path = None;
        }
        self.files.shrink_to_fit();
    }

    fn drop_first(&mut self) {
        self.files.pop_front();
        self.first = self.first.saturating_add(1);
    }
}

/// Whether names are looked up: that takes time, and keeps filesystems busy for moments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Naming {
    Wanted,
    /// Only those of cgroups.
    Services,
    Unwanted,
}

/// The names of files, asked for when they are met.
#[derive(Debug)]
pub struct Names {
    naming: Naming,
    /// By their places in the watch.
    pub filesystems: BTreeMap<usize, NamedFilesystem>,
    /// Paths, and when they were looked up.
    paths: BTreeMap<Inode, (String, u64)>,
    /// What filesystems reported, by filesystem, tree and number.
    reported: BTreeMap<(usize, u64, u64), Lives>,
    /// How many files these are.
    reported_files: usize,
    cgroups: CgroupTree,
    services: BTreeMap<String, String>,
}

impl Names {
    pub fn new(naming: Naming) -> Self {
        let root = Path::new("/");
        let mounts = whole_disk::mount_table(root).unwrap_or_default();
        let cgroups = CgroupTree::find(root, &mounts);
        let (filesystems, paths, reported, services) = Default::default();
        Self { naming, filesystems, paths, reported, reported_files: 0, cgroups, services }
    }

    /// Adds a filesystem by its place in the watch, and by where it is mounted for this process.
    pub fn add_filesystem(
        &mut self,
        place: usize,
        path: PathBuf,
        mount: &Mount,
        source: NameSource,
    ) {
        let named = NamedFilesystem::new(path, mount, source, self.naming);
        self.filesystems.insert(place, named);
    }

    /// Looks up files that were just met: soon they may be deleted. What lives for a moment is
    /// named by what its filesystem reported.
    pub fn learn(&mut self, fresh: &[Inode]) {
        if self.naming != Naming::Wanted {
            return;
        }
        self.read_reports();
        let mut roots: BTreeMap<usize, Option<File>> = BTreeMap::new();
        for inode in fresh {
            let Some(filesystem) = self.filesystems.get(&inode.filesystem) else { continue };
            let root = roots.entry(inode.filesystem).or_insert_with(|| filesystem.root());
            let found = root.as_ref().and_then(|root| filesystem.path_of(root, inode));
            let path = found.or_else(|| self.reported(inode));
            if let Some(path) = path.filter(|_| !self.is_full()) {
                self.paths.insert(*inode, (path, monotonic_ns()));
            }
        }
    }

    /// Whether no more names are kept.
    pub fn is_full(&self) -> bool {
        self.paths.len() >= MOST_NAMES
    }

    /// Drops the names of files that no row is of.
    pub fn retain(&mut self, files: &BTreeSet<Inode>) {
        self.paths.retain(|inode, _| files.contains(inode));
    }

    /// Drops names that were looked up after their file was deleted: they are those of the files
    /// that have its number since.
    pub fn check(&mut self, deleted: &[(Inode, u64)]) {
        for (inode, when_ns) in deleted {
            if self.paths.get(inode).is_some_and(|(_, looked_up_ns)| looked_up_ns >= when_ns) {
                self.paths.remove(inode);
                if let Some(path) = self.reported(inode) {
                    self.paths.insert(*inode, (path, *when_ns));
                }
            }
        }
    }

    /// What filesystems reported since the last call, with their places.
    fn take_reports(&mut self) -> Vec<(usize, ReportedFile)> {
        let of = |(place, filesystem): (&usize, &mut NamedFilesystem)| {
            // Without reports, what lives for a moment has no name.
            let reports = filesystem.watch.as_mut()?.take().unwrap_or_default();
            Some(reports.into_iter().map(|report| (*place, report)).collect::<Vec<_>>())
        };
        self.filesystems.iter_mut().filter_map(of).flatten().collect()
    }

    fn read_reports(&mut self) {
        for (place, ReportedFile { file, path }) in self.take_reports() {
            if self.reported_files >= MOST_NAMES {
                self.forget_reports();
            }
            let lives = self.reported.entry((place, file.tree, file.inode)).or_default();
            let path = path.map(|path| path.display().to_string());
            self.reported_files += lives.add(file.generation, path);
        }
    }

    fn forget_reports(&mut self) {
        let is_reused = |place: &usize| {
            // btrfs gives each number once.
            self.filesystems.get(place).is_some_and(|named| named.source != NameSource::Btrfs)
        };
        self.reported.retain(|(place, ..), _| is_reused(place));
        self.reported.values_mut().for_each(Lives::forget);
        self.reported_files = 0;
        if self.reported.len() >= MOST_NAMES {
            self.reported.clear();
            // Reports that follow could no longer be counted.
            for filesystem in self.filesystems.values_mut() {
                filesystem.watch = None;
            }
        }
    }

    /// Drops what was reported before the recording: its events begin at life 0.
    pub fn discard_reports(&mut self) {
        self.take_reports();
    }

    /// Tells no names by order of numbers that were reported while the recording started: whether
    /// these reports or its events came first is not known.
    pub fn distrust_reports(&mut self) {
        for (place, ReportedFile { file, .. }) in self.take_reports() {
            self.reported.insert((place, file.tree, file.inode), Lives::uncounted());
        }
    }

    fn reported(&self, inode: &Inode) -> Option<String> {
        let lives = self.reported.get(&(inode.filesystem, inode.tree, inode.number))?;
        lives.path(inode.life).cloned()
    }

    /// Looks up what people call cgroups that were just met: soon their containers may be gone.
    pub fn learn_cgroups<'a>(&mut self, fresh: impl Iterator<Item = &'a str>) {
        for cgroup in fresh {
            if self.naming != Naming::Unwanted && !self.services.contains_key(cgroup) {
                let below = cgroup_name::holder(cgroup.trim_start_matches('/'));
                let folder = self.cgroups.folder_of(below);
                let name = cgroup_name::name(Path::new("/"), below, folder.as_deref());
                let name = cgroup_name::kind(below).with_word(name);
                self.services.insert(cgroup.to_owned(), name);
            }
        }
    }

    /// What people call a cgroup: the unit, container or guest that it is of. Empty for the root.
    pub fn service(&self, cgroup: &str) -> String {
        self.services.get(cgroup).cloned().unwrap_or_default()
    }

    /// The path of a file as it was first met. `None` if nobody saw its name.
    pub fn path(&self, inode: &Inode) -> Option<String> {
        self.paths.get(inode).map(|(path, _)| path.clone())
    }
}

#[cfg(test)]
mod tests;

//! The system of files that a plan's commands find in a guest as their root: what was named, and
//! nothing else of this machine.
//!
//! Whole folders are shown where they are if this machine allows it; else files are linked, which
//! takes no space, or copied. Owners and times do not matter: to a guest all files belong to root
//! and are of one time.

mod archive;
mod image;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, FileType, Metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, symlink};
use std::path::{Component, Path, PathBuf};

use sha2::{Digest, Sha256};
use ssdlab_disk::guest::{InPlace, can_show};
use ssdlab_host::interrupt::Interrupt;
use ssdlab_plan::{AddedPath, CommandSystem};
use ssdlab_workload::command_system::{PLACES, ROOT};

use super::error::GuestsError;

/// What every system of this machine's own has, as far as it exists.
const OF_MACHINE: [&str; 8] =
    ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc"];

/// Folders with what programs do without, and much of it.
const LEFT_OUT: [&str; 7] = [
    "/usr/share/doc",
    "/usr/share/info",
    "/usr/share/man",
    "/usr/src",
    "/usr/lib/debug",
    "/usr/lib/firmware",
    "/usr/lib/modules",
];

/// How many links are followed on the way to a folder, as Linux has it.
const MOST_LINKS: u32 = 40;

/// The folder of this machine's own settings: it is copied, as much in it is for few to read.
const SETTINGS: &str = "/etc";

/// What is shown instead of a folder or a file that is not to be seen, in the guests' root.
const NO_FOLDER: &str = "no-folder";
const NO_FILE: &str = "no-file";

#[derive(Debug)]
pub(super) struct MadeSystem {
    /// Its name, with the digest of what it has.
    pub name: String,
    /// What of it is where it was.
    pub in_place: Vec<InPlace>,
}

/// A system that is being made.
struct Copying<'a> {
    /// Where.
    folder: PathBuf,
    interrupt: &'a Interrupt,
    /// Whether files that not everybody may read are left out: those of this machine, so that
    /// guests have the same whoever runs them, and no secrets.
    is_public: bool,
    /// Identifies what was copied.
    digest: Sha256,
    /// The names of top folders that are shown in place, and whether what is copied is in one.
    shown: BTreeSet<OsString>,
    is_shown: bool,
    in_place: Vec<InPlace>,
}

/// Makes the system of a plan's commands in the root that guests share.
pub(super) fn make(
    root: &Path,
    system: &CommandSystem,
    interrupt: &Interrupt,
) -> Result<MadeSystem, GuestsError> {
    for path in system.add.iter().map(AddedPath::path) {
        let metadata = fs::symlink_metadata(absolute(path)).map_err(failed(path))?;
        refuse_special(metadata.file_type()).map_err(failed(path))?;
    }
    for (name, is_folder) in [(NO_FOLDER, true), (NO_FILE, false)] {
        let path = root.join(name);
        let made = if is_folder { fs::create_dir(&path) } else { File::create(&path).map(drop) };
        made.map_err(GuestsError::folder(&path))?;
    }
    match Copying::new(root, system, true, interrupt)?.whole(system) {
        // Links lead from elsewhere in the system to what would be shown, or it cannot be shown.
        Err(GuestsError::System { cause, .. }) if cause.kind() == io::ErrorKind::CrossesDevices => {
            let folder = root.join(ROOT.trim_start_matches('/'));
            fs::remove_dir_all(&folder).map_err(GuestsError::folder(&folder))?;
            Copying::new(root, system, false, interrupt)?.whole(system)
        }
        made => made,
    }
}

/// The folder that holds what a system has, given the root that guests share.
pub(super) fn folder_of(root: &Path, system: &CommandSystem) -> PathBuf {
    match &system.root {
        None => PathBuf::from("/"),
        Some(own) if own.is_dir() && !image::is_layout(own) => own.clone(),
        Some(_) => root.join(ROOT.trim_start_matches('/')),
    }
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> GuestsError + use<> {
    let path = path.to_owned();
    move |cause| GuestsError::System { path, cause }
}

/// Devices, sockets and pipes mean something on this machine only.
fn refuse_special(kind: FileType) -> io::Result<()> {
    let what = if kind.is_fifo() {
        "pipe"
    } else if kind.is_socket() {
        "socket"
    } else if kind.is_block_device() || kind.is_char_device() {
        "device"
    } else {
        return Ok(());
    };
    Err(io::Error::other(format!("it is a {what}, and a guest reaches only files and folders")))
}

/// The first name of a path from the top.
fn first(path: &Path) -> Option<OsString> {
    let name = path.components().find(|part| matches!(part, Component::Normal(_)));
    name.map(|part| part.as_os_str().to_owned())
}

/// A path without `.` and `..`.
fn absolute(path: &Path) -> PathBuf {
    let mut plain = PathBuf::from("/");
    for part in path.components() {
        match part {
            Component::ParentDir => _ = plain.pop(),
            Component::Normal(name) => plain.push(name),
            Component::Prefix(_) | Component::RootDir | Component::CurDir => {}
        }
    }
    plain
}

impl<'a> Copying<'a> {
    /// One that has nothing yet but the places of the folders that it shows, if it may show any.
    fn new(
        root: &Path,
        system: &CommandSystem,
        shows: bool,
        interrupt: &'a Interrupt,
    ) -> Result<Self, GuestsError> {
        let folder = root.join(ROOT.trim_start_matches('/'));
        fs::create_dir(&folder).map_err(GuestsError::folder(&folder))?;
        let folder = folder.canonicalize().map_err(GuestsError::folder(&folder))?;
        let is_public = system.root.is_none();
        let mut copying = Self {
            folder,
            interrupt,
            is_public,
            digest: Sha256::new(),
            shown: BTreeSet::new(),
            is_shown: false,
            in_place: Vec::new(),
        };
        if shows {
            let base = system.root.as_deref().unwrap_or(Path::new("/"));
            copying.show(base, &system.add).map_err(failed(base))?;
        }
        Ok(copying)
    }

    /// Shows top folders in place to which nothing is added and in which nothing is mounted.
    fn show(&mut self, base: &Path, added: &[AddedPath]) -> io::Result<()> {
        if !base.is_dir() || image::is_layout(base) {
            return Ok(());
        }
        let places = PLACES.map(Path::new).into_iter().map(Path::to_owned);
        let others = places.chain(added.iter().map(|added| absolute(added.at())));
        let others: BTreeSet<OsString> = others.filter_map(|path| first(&path)).collect();
        for from in self.tops(base)? {
            let Some(name) = first(from.strip_prefix(base).unwrap_or(&from)) else { continue };
            let is_folder = fs::symlink_metadata(&from).is_ok_and(|found| found.is_dir());
            let is_settings = self.is_public && from == Path::new(SETTINGS);
            if is_folder && !is_settings && !others.contains(&name) {
                let to = self.folder.join(&name);
                DirBuilder::new().mode(0o755).create(&to)?;
                self.in_place.push(InPlace::new(&from.canonicalize()?, &to)?);
                self.shown.insert(name);
            }
        }
        if !can_show(&self.in_place) {
            self.in_place.clear();
            self.shown.clear();
        }
        Ok(())
    }

    /// What is at the top of a system of files, in the order of names.
    fn tops(&self, base: &Path) -> io::Result<Vec<PathBuf>> {
        if self.is_public {
            return Ok(OF_MACHINE.map(PathBuf::from).to_vec());
        }
        let entries = fs::read_dir(base)?.map(|entry| Ok(entry?.path()));
        let mut entries = entries.collect::<io::Result<Vec<_>>>()?;
        entries.sort();
        Ok(entries)
    }

    fn whole(mut self, system: &CommandSystem) -> Result<MadeSystem, GuestsError> {
        match &system.root {
            None => {
                for top in OF_MACHINE.map(Path::new) {
                    self.add(top, top).map_err(failed(top))?;
                }
            }
            Some(own) if image::is_layout(own) => {
                self.unpack_image(own).map_err(failed(own))?;
            }
            Some(own) if own.is_dir() => {
                self.copy_folder(own, Path::new("")).map_err(failed(own))?;
            }
            Some(archive) => self.unpack(archive).map_err(failed(archive))?,
        }
        self.is_public = false;
        for added in &system.add {
            let path = added.path();
            self.add(&absolute(path), &absolute(added.at())).map_err(failed(path))?;
        }
        for place in PLACES.map(Path::new) {
            self.inside(place).map_err(failed(place))?;
        }
        // What is hidden may be where this user cannot mount anything.
        if !can_show(&self.in_place) && !self.in_place.is_empty() {
            return Err(failed(&self.folder)(io::ErrorKind::CrossesDevices.into()));
        }
        let name = format!("system sha256:{}", hex::encode(self.digest.finalize()));
        Ok(MadeSystem { name, in_place: self.in_place })
    }

    /// Adds a file or a folder of this machine at a path of the system, if it exists.
    fn add(&mut self, path: &Path, at: &Path) -> io::Result<()> {
        let path = if path == at { path.to_owned() } else { path.canonicalize()? };
        let Ok(metadata) = fs::symlink_metadata(&path) else { return Ok(()) };
        let name = at.strip_prefix("/").unwrap_or(at);
        let parent = self.inside(name.parent().unwrap_or(Path::new("")))?;
        self.copy(&path, &parent, name, &metadata)
    }

    /// A folder of the system, made where there is none. Links are followed as the system's own
    /// programs would: none leads out of it.
    fn inside(&self, name: &Path) -> io::Result<PathBuf> {
        let mut place = PathBuf::new();
        let mut rest: Vec<PathBuf> = name.iter().rev().map(PathBuf::from).collect();
        let mut links = 0;
        while let Some(part) = rest.pop() {
            match part.components().next() {
                Some(Component::RootDir) => place.clear(),
                Some(Component::ParentDir) => _ = place.pop(),
                Some(Component::Normal(own)) => {
                    let here = self.folder.join(&place).join(own);
                    match fs::read_link(&here) {
                        Ok(_) if links == MOST_LINKS => {
                            return Err(io::Error::other(format!(
                                "too many links at /{}",
                                name.display()
                            )));
                        }
                        Ok(target) => {
                            links += 1;
                            rest.extend(target.iter().rev().map(PathBuf::from));
                        }
                        Err(_) => {
                            if place.as_os_str().is_empty() && self.shown.contains(own) {
                                return Err(io::ErrorKind::CrossesDevices.into());
                            }
                            if !here.is_dir() {
                                DirBuilder::new().mode(0o755).create(&here)?;
                            }
                            place.push(own);
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(self.folder.join(place))
    }

    /// Copies a file or a folder into a folder of the system.
    fn copy(
        &mut self,
        from: &Path,
        into: &Path,
        name: &Path,
        metadata: &Metadata,
    ) -> io::Result<()> {
        if self.interrupt.is_set() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let kind = metadata.file_type();
        let is_left_out = self.is_public && LEFT_OUT.iter().any(|out| from == Path::new(out));
        // What others may not read, not even its owner has in a guest; and a copy has no copy of
        // itself.
        let is_secret = self.is_public && metadata.mode() & 0o4 == 0;
        if is_left_out || is_secret || from == self.folder {
            return if self.is_shown { self.hide(name, kind.is_dir()) } else { Ok(()) };
        }
        if kind.is_dir() {
            let is_top = name.parent().is_some_and(|parent| parent.as_os_str().is_empty());
            self.is_shown |= is_top && self.shown.contains(name.as_os_str());
            let copied = self.copy_folder(from, name);
            self.is_shown &= !is_top;
            return copied;
        }
        let to = into.join(name.file_name().unwrap_or_default());
        if !self.is_shown && fs::symlink_metadata(&to).is_ok() {
            return Ok(());
        }
        if kind.is_symlink() {
            let target = fs::read_link(from)?;
            self.digest.update(format!("link {} to {}\n", name.display(), target.display()));
            return if self.is_shown { Ok(()) } else { symlink(target, to) };
        }
        if !kind.is_file() {
            return if self.is_shown { self.hide(name, false) } else { Ok(()) };
        }
        let (bytes, time) = (metadata.len(), metadata.mtime());
        self.digest.update(format!("file {} {bytes} {time}\n", name.display()));
        if self.is_shown || fs::hard_link(from, &to).is_ok() {
            return Ok(());
        }
        match fs::copy(from, &to) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
            copied => copied.map(drop),
        }
    }

    /// Shows nothing in the place of what is in a folder that is shown.
    fn hide(&mut self, name: &Path, is_folder: bool) -> io::Result<()> {
        let nothing = self.folder.with_file_name(if is_folder { NO_FOLDER } else { NO_FILE });
        self.in_place.push(InPlace::new(&nothing, &self.folder.join(name))?);
        Ok(())
    }

    /// Copies what a folder has, in the order of names.
    fn copy_folder(&mut self, from: &Path, name: &Path) -> io::Result<()> {
        let entries = match fs::read_dir(from) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(()),
            entries => entries?,
        };
        let mut entries = entries.collect::<io::Result<Vec<_>>>()?;
        entries.sort_by_key(fs::DirEntry::file_name);
        let into = if self.is_shown { PathBuf::new() } else { self.inside(name)? };
        for entry in entries {
            let path = entry.path();
            // A program of this machine may be removing what it has made.
            let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
            self.copy(&path, &into, &name.join(entry.file_name()), &metadata)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;

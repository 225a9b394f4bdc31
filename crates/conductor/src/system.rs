//! The system of files that a plan's commands find in a guest as their root: a copy of what was
//! named, and of nothing else of this machine.
//!
//! Files are linked where this machine allows it, which takes no space, and else copied. Owners and
//! times do not matter: to a guest all files belong to root and are of one time.

use std::fs::{self, DirBuilder, Metadata, Permissions};
use std::io::{self, Seek};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt, symlink};
use std::path::{Component, Path, PathBuf};

use sha2::{Digest, Sha256};
use ssdlab_host::checksum;
use ssdlab_host::interrupt::Interrupt;
use ssdlab_plan::CommandSystem;
use ssdlab_workload::command_system::{PLACES, ROOT};
use ssdlab_workload::plain_archive;

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
}

/// Makes the system of a plan's commands in the root that guests share. Returns its name and the
/// digest of what it has.
pub(super) fn make(
    root: &Path,
    system: &CommandSystem,
    interrupt: &Interrupt,
) -> Result<String, GuestsError> {
    let folder = root.join(ROOT.trim_start_matches('/'));
    fs::create_dir(&folder).map_err(GuestsError::folder(&folder))?;
    let folder = folder.canonicalize().map_err(GuestsError::folder(&folder))?;
    let mut copying =
        Copying { folder, interrupt, is_public: system.root.is_none(), digest: Sha256::new() };
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |cause| GuestsError::System { path, cause }
    };
    match &system.root {
        None => {
            for top in OF_MACHINE.map(Path::new) {
                copying.add(top).map_err(failed(top))?;
            }
        }
        Some(own) if own.is_dir() => {
            copying.copy_folder(own, Path::new("")).map_err(failed(own))?;
        }
        Some(archive) => copying.unpack(archive).map_err(failed(archive))?,
    }
    copying.is_public = false;
    for path in &system.add {
        let top = absolute(path);
        fs::symlink_metadata(&top).map_err(failed(path))?;
        copying.add(&top).map_err(failed(path))?;
    }
    for place in PLACES.map(Path::new) {
        copying.inside(place).map_err(failed(place))?;
    }
    Ok(format!("system sha256:{}", hex::encode(copying.digest.finalize())))
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

impl Copying<'_> {
    /// Adds a file or a folder of this machine at its own path, if it exists.
    fn add(&mut self, path: &Path) -> io::Result<()> {
        let Ok(metadata) = fs::symlink_metadata(path) else { return Ok(()) };
        let name = path.strip_prefix("/").unwrap_or(path);
        let parent = self.inside(name.parent().unwrap_or(Path::new("")))?;
        self.copy(path, &parent, name, &metadata)
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
        let is_left_out = self.is_public && LEFT_OUT.iter().any(|out| from == Path::new(out));
        // What others may not read, not even its owner has in a guest; and a copy has no copy of
        // itself.
        let is_secret = self.is_public && metadata.mode() & 0o4 == 0;
        if is_left_out || is_secret || from == self.folder {
            return Ok(());
        }
        let kind = metadata.file_type();
        if kind.is_dir() {
            return self.copy_folder(from, name);
        }
        let to = into.join(name.file_name().unwrap_or_default());
        if fs::symlink_metadata(&to).is_ok() {
            return Ok(());
        }
        if kind.is_symlink() {
            let target = fs::read_link(from)?;
            self.digest.update(format!("link {} to {}\n", name.display(), target.display()));
            return symlink(target, to);
        }
        // Devices, sockets and pipes mean something on this machine only.
        if !kind.is_file() {
            return Ok(());
        }
        let (bytes, time) = (metadata.len(), metadata.mtime());
        self.digest.update(format!("file {} {bytes} {time}\n", name.display()));
        if fs::hard_link(from, &to).is_ok() {
            return Ok(());
        }
        match fs::copy(from, &to) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
            copied => copied.map(drop),
        }
    }

    /// Copies what a folder has, in the order of names.
    fn copy_folder(&mut self, from: &Path, name: &Path) -> io::Result<()> {
        let entries = match fs::read_dir(from) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(()),
            entries => entries?,
        };
        let mut entries = entries.collect::<io::Result<Vec<_>>>()?;
        entries.sort_by_key(fs::DirEntry::file_name);
        let into = self.inside(name)?;
        for entry in entries {
            let path = entry.path();
            // A program of this machine may be removing what it has made.
            let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
            self.copy(&path, &into, &name.join(entry.file_name()), &metadata)?;
        }
        Ok(())
    }

    /// Unpacks an archive of a whole system.
    fn unpack(&mut self, archive: &Path) -> io::Result<()> {
        let mut plain = plain_archive(archive, self.interrupt)?;
        self.digest.update(checksum::checksum_of(&mut plain)?);
        plain.rewind()?;
        let mut archive = tar::Archive::new(plain);
        // Devices are made by the guest.
        for entry in archive.entries()? {
            if self.interrupt.is_set() {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let mut entry = entry?;
            let kind = entry.header().entry_type();
            if kind.is_character_special() || kind.is_block_special() || kind.is_fifo() {
                continue;
            }
            let name = entry.path()?.into_owned();
            // Refuses whatever leads out of the folder.
            let is_unpacked = entry.unpack_in(&self.folder)?;
            // Whoever unpacks it may have to write to what is only to be read.
            if is_unpacked && kind.is_dir() {
                let parent = self.inside(name.parent().unwrap_or(Path::new("")))?;
                let folder = parent.join(name.file_name().unwrap_or_default());
                if fs::symlink_metadata(&folder)?.is_dir() {
                    fs::set_permissions(&folder, Permissions::from_mode(0o755))?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;

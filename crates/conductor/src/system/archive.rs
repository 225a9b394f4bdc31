//! Unpacks the archive of a whole system, or a layer of one, into its folder.

use std::collections::BTreeSet;
use std::fs::{self, File, Permissions};
use std::io::{self, Seek};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use sha2::Digest;
use ssdlab_host::files::checksum_of;
use ssdlab_workload::plain_archive;

use super::{Copying, image};

/// What the name of an entry begins with that removes what layers below have (OCI image
/// specification, "Whiteouts"), and the rest of the name of one that removes all of its folder.
const WHITEOUT: &str = ".wh.";
const ALL_OF_FOLDER: &str = ".wh..opq";

/// What a layer removes from those below it.
enum Whiteout {
    /// All that a folder has.
    AllOf(PathBuf),
    /// A file or a folder.
    Of(PathBuf),
}

impl Whiteout {
    /// What an entry of a layer removes, if it is a whiteout.
    fn of(name: &Path) -> Option<Self> {
        let own = name.file_name()?.to_str()?.strip_prefix(WHITEOUT)?;
        let folder = name.parent()?;
        Some(match own {
            ALL_OF_FOLDER => Self::AllOf(folder.to_owned()),
            removed => Self::Of(folder.join(removed)),
        })
    }
}

impl Copying<'_> {
    /// Unpacks an archive of a whole system, or of an image of one.
    pub(super) fn unpack(&mut self, archive: &Path) -> io::Result<()> {
        let mut plain = plain_archive(archive, self.interrupt)?;
        if image::is_packed(&plain)? {
            plain.rewind()?;
            let folder = tempfile::tempdir_in(self.folder.parent().unwrap_or(&self.folder))?;
            tar::Archive::new(plain).unpack(folder.path())?;
            return self.unpack_image(folder.path());
        }
        self.unpack_plain(plain)
    }

    /// Unpacks the layers of an image, each on top of those before it.
    pub(super) fn unpack_image(&mut self, layout: &Path) -> io::Result<()> {
        for layer in image::layers(layout)? {
            let plain = plain_archive(&layer, self.interrupt)?;
            self.remove_whiteouts(&plain)?;
            self.unpack_plain(plain)?;
        }
        Ok(())
    }

    /// Removes what a layer removes of those below it: its whiteouts may come after its own files.
    fn remove_whiteouts(&self, mut layer: &File) -> io::Result<()> {
        layer.rewind()?;
        for entry in tar::Archive::new(layer).entries()? {
            let Some(whiteout) = Whiteout::of(&entry?.path()?) else { continue };
            match whiteout {
                Whiteout::AllOf(folder) => {
                    let folder = self.inside(&folder)?;
                    for own in fs::read_dir(folder)? {
                        remove(&own?.path())?;
                    }
                }
                Whiteout::Of(removed) => remove(&self.place_of(&removed)?)?,
            }
        }
        Ok(())
    }

    fn unpack_plain(&mut self, mut plain: File) -> io::Result<()> {
        plain.rewind()?;
        self.digest.update(checksum_of(&mut plain)?);
        plain.rewind()?;
        let mut archive = tar::Archive::new(plain);
        let mut own = BTreeSet::new();
        for entry in archive.entries()? {
            if self.interrupt.is_set() {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let mut entry = entry?;
            let kind = entry.header().entry_type();
            let name = entry.path()?.into_owned();
            // Devices are made by the guest.
            let is_special =
                kind.is_character_special() || kind.is_block_special() || kind.is_fifo();
            if is_special || Whiteout::of(&name).is_some() {
                continue;
            }
            self.make_way(&name, kind.is_dir(), &mut own)?;
            // Refuses whatever leads out of the folder.
            let is_unpacked = entry.unpack_in(&self.folder)?;
            // Whoever unpacks it may have to write to what is only to be read.
            if is_unpacked && kind.is_dir() {
                let folder = self.place_of(&name)?;
                if fs::symlink_metadata(&folder)?.is_dir() {
                    fs::set_permissions(&folder, Permissions::from_mode(0o755))?;
                }
            }
        }
        Ok(())
    }

    /// Removes what a layer below has in the place of an entry, unless both are folders. `own` are
    /// the entries so far.
    fn make_way(
        &self,
        name: &Path,
        is_folder: bool,
        own: &mut BTreeSet<PathBuf>,
    ) -> io::Result<()> {
        if name.file_name().is_none() || !own.insert(name.to_owned()) {
            return Ok(());
        }
        let place = self.place_of(name)?;
        match fs::symlink_metadata(&place) {
            Ok(found) if found.is_dir() != is_folder => remove(&place),
            _ => Ok(()),
        }
    }

    /// The place of an entry, whose own name is not followed if it is a link.
    fn place_of(&self, name: &Path) -> io::Result<PathBuf> {
        let parent = self.inside(name.parent().unwrap_or(Path::new("")))?;
        Ok(parent.join(name.file_name().unwrap_or_default()))
    }
}

/// Removes a file or a folder, if it is there.
fn remove(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
    }
}

//! Atomic file replacement: readers see either the old or the complete new contents, even if the
//! program or the machine crashes in between.

use std::fs::Permissions;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::sync::sync_folder;

/// The write buffer: reports of long runs are large.
const BUFFER_BYTES: usize = 1 << 18;

/// A file that gets its name when it is complete. Dropped earlier, it leaves nothing.
#[derive(Debug)]
pub struct WholeFile {
    file: BufWriter<NamedTempFile>,
    path: PathBuf,
}

impl WholeFile {
    /// Begins a file in its target folder. An existing object of that name must be a regular file:
    /// a link may point anywhere, and a device may be a disk in use.
    pub fn begin(path: &Path) -> io::Result<Self> {
        check_place(path)?;
        let file = NamedTempFile::new_in(folder_of(path))?;
        Ok(Self { file: BufWriter::with_capacity(BUFFER_BYTES, file), path: path.to_owned() })
    }

    /// Renames the file to its name, with the permissions of the one it replaces, and syncs both.
    pub fn keep(self) -> io::Result<()> {
        let file = self.file.into_inner()?;
        check_place(&self.path)?;
        let replaced = self.path.symlink_metadata().ok().map(|found| found.permissions().mode());
        let mode = replaced.map_or_else(|| 0o666 & !umask(), |mode| mode & 0o777);
        file.as_file().set_permissions(Permissions::from_mode(mode))?;
        file.as_file().sync_all()?;
        file.persist(&self.path)?;
        sync_folder(folder_of(&self.path))
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Writes a file incrementally but atomically.
pub fn write(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut file = WholeFile::begin(path)?;
    write(&mut file)?;
    file.keep()
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn check_place(path: &Path) -> io::Result<()> {
    match path.symlink_metadata() {
        Ok(found) if found.is_symlink() => {
            Err(io::Error::other("there is a symbolic link; name its target"))
        }
        Ok(found) if !found.is_file() => {
            Err(io::Error::other("there is something that is not a regular file"))
        }
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The umask of this process, from proc(5); the usual one if it cannot be read.
fn umask() -> u32 {
    let status = procfs::process::Process::myself().and_then(|process| process.status());
    status.ok().and_then(|status| status.umask).unwrap_or(0o022)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    use std::fs;
    use std::os::unix::fs::symlink;

    fn names(folder: &Path) -> Vec<String> {
        let names = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> =
            names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_there_whole_or_as_it_was() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("file");
        fs::write(&path, "before").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        let half = |out: &mut dyn Write| {
            out.write_all(b"ha")?;
            Err(io::ErrorKind::StorageFull.into())
        };
        assert!(write(&path, half).is_err());
        assert_eq!(
            (fs::read(&path).unwrap(), names(place.path())),
            (b"before".to_vec(), vec!["file".to_owned()])
        );
        write(&path, |out| out.write_all(b"after")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"after");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(names(place.path()), ["file"]);
    }

    #[test]
    fn nothing_is_written_through_a_link_nor_in_the_place_of_something_else() {
        let place = tempfile::tempdir().unwrap();
        let [file, link, dangling, pipe, folder] =
            ["file", "link", "dangling", "pipe", "folder"].map(|name| place.path().join(name));
        fs::write(&file, "mine").unwrap();
        symlink(&file, &link).unwrap();
        symlink("nowhere", &dangling).unwrap();
        mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR, 0).unwrap();
        fs::create_dir(&folder).unwrap();
        let before = names(place.path());
        for path in [&link, &dangling, &pipe, &folder] {
            let error = write(path, |out| out.write_all(b"theirs")).unwrap_err().to_string();
            assert!(
                error.contains("symbolic link") || error.contains("not a regular file"),
                "{error}"
            );
        }
        assert_eq!((fs::read(&file).unwrap(), names(place.path())), (b"mine".to_vec(), before));
    }

    #[test]
    fn a_link_that_is_put_there_meanwhile_is_not_followed() {
        let place = tempfile::tempdir().unwrap();
        let [file, name] = ["file", "name"].map(|name| place.path().join(name));
        fs::write(&file, "mine").unwrap();
        let mut begun = WholeFile::begin(&name).unwrap();
        begun.write_all(b"theirs").unwrap();
        symlink(&file, &name).unwrap();
        assert!(begun.keep().is_err());
        assert_eq!(fs::read(&file).unwrap(), b"mine");
    }
}

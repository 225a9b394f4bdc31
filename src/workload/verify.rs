//! What operations leave behind: a model of a directory, and the comparison of a real one with it.
//!
//! The model knows names and recipes for contents, no filesystem and no driver, so what a
//! filesystem lost, changed or invented after it was told to keep something is found here.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::sync::Arc;

use super::WorkloadError;
use super::driver::{CHUNK_BYTES, Contents, DIRECTORY_MODE};
use super::operation::{Content, Operation};
use crate::host::interrupt::Interrupt;

/// A directory as operations leave it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Model {
    entries: BTreeMap<Arc<str>, Entry>,
    /// Every file that was written; an entry is a name of one of them.
    files: Vec<Written>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Entry {
    Directory,
    /// The place of the file in [`Model::files`].
    File(usize),
    Symlink(Arc<str>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Written {
    bytes: u64,
    content: Content,
    mode: u32,
}

impl Model {
    /// Does in the model what the driver does on a filesystem.
    pub fn apply(&mut self, operation: &Operation) {
        match operation {
            Operation::MakeDir { path } => {
                self.entries.insert(Arc::clone(path), Entry::Directory);
            }
            Operation::WriteFile { path, bytes, content, mode, mtime_s: _ } => {
                let file = Written { bytes: *bytes, content: *content, mode: *mode };
                self.entries.insert(Arc::clone(path), Entry::File(self.files.len()));
                self.files.push(file);
            }
            Operation::Symlink { path, target } => {
                self.entries.insert(Arc::clone(path), Entry::Symlink(Arc::clone(target)));
            }
            Operation::HardLink { path, existing } => {
                if let Some(entry) = self.entries.get(existing).cloned() {
                    self.entries.insert(Arc::clone(path), entry);
                }
            }
            Operation::Rename { from, to } => self.rename(from, to),
            Operation::Remove { path } => {
                self.entries.remove(path);
            }
            Operation::ReadFile { .. } | Operation::ListDir { .. } => {}
        }
    }

    /// Forgets everything, as the driver deletes everything.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    fn rename(&mut self, from: &Arc<str>, to: &Arc<str>) {
        let both = (self.entries.get(from), self.entries.get(to));
        // Two names of one file stay as they are: rename(2).
        if let (Some(Entry::File(one)), Some(Entry::File(other))) = both
            && one == other
        {
            return;
        }
        if let Some(entry) = self.entries.remove(from) {
            self.entries.insert(Arc::clone(to), entry);
        }
        let inside = format!("{from}/");
        let moved: Vec<Arc<str>> =
            self.entries.keys().filter(|path| path.starts_with(&inside)).cloned().collect();
        for path in moved {
            if let Some(entry) = self.entries.remove(&path) {
                self.entries.insert(format!("{to}/{}", &path[inside.len()..]).into(), entry);
            }
        }
    }

    /// Compares a directory with the model; the error is the first difference. `umask` is that of
    /// the process that performed the operations.
    pub fn compare(
        &self,
        directory: &Path,
        contents: &Contents,
        umask: u32,
        interrupt: &Interrupt,
    ) -> Result<(), WorkloadError> {
        let mut found = BTreeMap::new();
        walk(directory, "", &mut found)?;
        let mut names = vec![0; self.files.len()];
        for entry in self.entries.values() {
            if let Entry::File(file) = entry {
                names[*file] += 1;
            }
        }
        let mut reader = Reader { contents, expected: Vec::new(), found: Vec::new() };
        for (path, entry) in &self.entries {
            if interrupt.is_set() {
                return Err(WorkloadError::Interrupted);
            }
            let Some(metadata) = found.remove(&**path) else {
                return Err(differs(path, "is missing"));
            };
            let real = directory.join(&**path);
            match entry {
                Entry::Directory => {
                    kind(path, metadata.is_dir(), "directory")?;
                    same(path, "mode", &octal(DIRECTORY_MODE & !umask), &mode(&metadata))?;
                }
                Entry::Symlink(target) => {
                    kind(path, metadata.is_symlink(), "symbolic link")?;
                    let points = fs::read_link(&real).map_err(unread(path))?;
                    same(path, "target", &**target, &*points.to_string_lossy())?;
                }
                Entry::File(file) => {
                    let written = &self.files[*file];
                    kind(path, metadata.is_file(), "file")?;
                    same(path, "mode", &octal(written.mode & !umask), &mode(&metadata))?;
                    same(path, "number of names", &names[*file], &metadata.nlink())?;
                    same(path, "size", &written.bytes, &metadata.len())?;
                    reader.check(path, &real, written)?;
                }
            }
        }
        match found.keys().next() {
            Some(path) => Err(differs(path, "should not be there")),
            None => Ok(()),
        }
    }
}

/// Compares files with their recipes.
struct Reader<'a> {
    contents: &'a Contents,
    expected: Vec<u8>,
    found: Vec<u8>,
}

impl Reader<'_> {
    fn check(&mut self, path: &str, real: &Path, written: &Written) -> Result<(), WorkloadError> {
        let mut file = File::open(real).map_err(unread(path))?;
        let mut offset = 0;
        while offset < written.bytes {
            let left = usize::try_from(written.bytes - offset).unwrap_or(CHUNK_BYTES);
            let length = left.min(CHUNK_BYTES);
            self.expected.resize(length, 0);
            self.found.resize(length, 0);
            self.contents
                .fill(written.content, offset, &mut self.expected)
                .map_err(WorkloadError::operation("make the contents of", path))?;
            file.read_exact(&mut self.found).map_err(unread(path))?;
            let mut pairs = self.expected.iter().zip(&self.found);
            if let Some(at) = pairs.position(|(expected, found)| expected != found) {
                let what = format!("byte {}", offset + at as u64);
                return same(path, &what, &self.expected[at], &self.found[at]);
            }
            offset += length as u64;
        }
        Ok(())
    }
}

/// The bits that this process takes off the modes of what it makes.
pub fn umask() -> Result<u32, WorkloadError> {
    let status = procfs::process::Process::myself().and_then(|process| process.status());
    let umask = status.map_err(io::Error::other).map(|status| status.umask);
    umask.and_then(|umask| umask.ok_or_else(|| io::ErrorKind::Unsupported.into())).map_err(
        |cause| {
            let path = "this process (/proc/self/status)".to_owned();
            WorkloadError::Operation { step: "read the umask of", path, cause }
        },
    )
}

/// Everything below a directory, by its path relative to where the walk began.
fn walk(
    directory: &Path,
    prefix: &str,
    found: &mut BTreeMap<String, Metadata>,
) -> Result<(), WorkloadError> {
    let here = if prefix.is_empty() { "." } else { prefix };
    for entry in fs::read_dir(directory.join(prefix)).map_err(unread(here))? {
        let name = entry.map_err(unread(here))?.file_name();
        let name = name.to_string_lossy();
        let path = if prefix.is_empty() { name.into_owned() } else { format!("{prefix}/{name}") };
        let metadata = directory.join(&path).symlink_metadata().map_err(unread(&path))?;
        if metadata.is_dir() {
            walk(directory, &path, found)?;
        }
        found.insert(path, metadata);
    }
    Ok(())
}

fn mode(metadata: &Metadata) -> String {
    octal(metadata.permissions().mode() & 0o7777)
}

/// As people write permissions.
fn octal(mode: u32) -> String {
    format!("{mode:o}")
}

fn kind(path: &str, is_right: bool, expected: &str) -> Result<(), WorkloadError> {
    if is_right { Ok(()) } else { Err(differs(path, &format!("is no {expected}"))) }
}

fn same<T: PartialEq + Display + ?Sized>(
    path: &str,
    what: &str,
    expected: &T,
    found: &T,
) -> Result<(), WorkloadError> {
    if expected == found {
        return Ok(());
    }
    Err(differs(path, &format!("has the {what} {found} instead of {expected}")))
}

fn differs(path: &str, how: &str) -> WorkloadError {
    WorkloadError::Differs { path: path.to_owned(), how: how.to_owned() }
}

/// What cannot be read back is as good as changed.
fn unread(path: &str) -> impl FnOnce(io::Error) -> WorkloadError + use<> {
    let path = path.to_owned();
    move |cause| differs(&path, &format!("cannot be read: {cause}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::driver::{Bounds, Driver};
    use std::os::unix::fs::FileExt;
    use std::time::Duration;
    use tempfile::TempDir;

    fn file(path: &str, bytes: u64, content: Content) -> Operation {
        Operation::WriteFile { path: path.into(), bytes, content, mode: 0o644, mtime_s: None }
    }

    fn rename(from: &str, to: &str) -> Operation {
        Operation::Rename { from: from.into(), to: to.into() }
    }

    fn link(path: &str, existing: &str) -> Operation {
        Operation::HardLink { path: path.into(), existing: existing.into() }
    }

    /// Every kind of operation, and what is easily got wrong about some.
    fn operations() -> Vec<Operation> {
        vec![
            Operation::MakeDir { path: "d".into() },
            Operation::MakeDir { path: "d/inner".into() },
            file("d/inner/text", 2_500_000, Content::Text { seed: 1 }),
            file("d/binary", 5000, Content::Binary { seed: 2 }),
            file("d/archived", 7, Content::Archive { offset: 9 }),
            file("d-beside", 1, Content::Text { seed: 3 }),
            file("gone", 0, Content::Text { seed: 4 }),
            Operation::ReadFile { path: "d/archived".into() },
            Operation::ListDir { path: "d".into() },
            Operation::Symlink { path: "s".into(), target: "no/where".into() },
            link("name", "d/binary"),
            rename("name", "d/binary"),
            link("d/other", "d/archived"),
            Operation::Remove { path: "gone".into() },
            rename("d", "e"),
            file("new", 3, Content::Text { seed: 5 }),
            rename("new", "d-beside"),
        ]
    }

    /// A folder in which the operations have been performed, and the model of it.
    fn performed(operations: &[Operation]) -> (TempDir, Model) {
        let place = tempfile::tempdir().unwrap();
        let (contents, interrupt) = (Contents::sample(), Interrupt::default());
        let bounds = Bounds { interrupt: &interrupt, limit: Duration::from_mins(1) };
        Driver::new(place.path(), &contents, bounds).unwrap().perform(operations).unwrap();
        let mut model = Model::default();
        for operation in operations {
            model.apply(operation);
        }
        (place, model)
    }

    fn compare(place: &Path, model: &Model) -> Result<(), String> {
        let umask = super::umask().unwrap();
        model
            .compare(place, &Contents::sample(), umask, &Interrupt::default())
            .map_err(|error| error.to_string())
    }

    /// Performs all operations, lets `damage` happen, and expects to be told about it.
    fn finds(told: &str, damage: fn(&Path)) {
        let (place, model) = performed(&operations());
        damage(place.path());
        let difference = compare(place.path(), &model).unwrap_err();
        assert!(difference.contains(told), "{difference}");
    }

    #[test]
    fn the_model_agrees_with_what_the_driver_did_after_every_operation() {
        for length in 0..=operations().len() {
            let (place, model) = performed(&operations()[..length]);
            assert_eq!(compare(place.path(), &model), Ok(()), "{length}");
        }
    }

    #[test]
    fn a_cleared_model_is_an_empty_directory() {
        let (_, mut model) = performed(&operations());
        model.clear();
        assert_eq!(compare(tempfile::tempdir().unwrap().path(), &model), Ok(()));
    }

    #[test]
    fn a_changed_byte_is_found() {
        finds("e/inner/text has the byte 2400000", |place| {
            let file = File::options().write(true).open(place.join("e/inner/text")).unwrap();
            file.write_all_at(&[0], 2_400_000).unwrap();
        });
    }

    #[test]
    fn what_is_missing_and_what_is_too_much_is_found() {
        finds("s is missing", |place| fs::remove_file(place.join("s")).unwrap());
        finds("e/extra should not be there", |place| {
            fs::write(place.join("e/extra"), "").unwrap();
        });
        // A file under its old name.
        finds("e/inner is missing", |place| {
            fs::rename(place.join("e/inner"), place.join("e/outer")).unwrap();
        });
    }

    #[test]
    fn other_kinds_sizes_modes_targets_and_links_are_found() {
        finds("e/binary has the size 4999", |place| {
            File::options()
                .write(true)
                .open(place.join("e/binary"))
                .unwrap()
                .set_len(4999)
                .unwrap();
        });
        finds("e has the mode 700", |place| {
            fs::set_permissions(place.join("e"), fs::Permissions::from_mode(0o700)).unwrap();
        });
        finds("s has the target somewhere", |place| {
            fs::remove_file(place.join("s")).unwrap();
            std::os::unix::fs::symlink("somewhere", place.join("s")).unwrap();
        });
        finds("s is no symbolic link", |place| {
            fs::remove_file(place.join("s")).unwrap();
            fs::write(place.join("s"), "").unwrap();
        });
        finds("e/archived has the number of names 1", |place| {
            fs::rename(place.join("e/other"), place.join("e/kept")).unwrap();
            fs::copy(place.join("e/kept"), place.join("e/other")).unwrap();
            fs::remove_file(place.join("e/kept")).unwrap();
        });
    }
}

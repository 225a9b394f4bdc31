//! What came with this program, below `lib/ssdlab` beside its own folder, and the programs of
//! guests, which may be among that.
//!
//! An archive's programs for guests bring their libraries and loader, so that guests do the same on
//! every machine. This machine needs none of it, and may have another C library, or none.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::program::{self, ProgramError, is_executable};

/// The loader of 64-bit programs, at the place their headers name (System V ABI, AMD64
/// supplement, 1.0, 5.2.1 and the GNU C library).
pub const LOADER: &str = "/lib64/ld-linux-x86-64.so.2";

/// What the C library loads by itself when it ends a thread (glibc, `misc/unwind-link.c`): no
/// program names it.
pub const UNWINDER: &str = "libgcc_s.so.1";

/// The folder of programs for guests below `lib/ssdlab`, and its folders.
const GUEST: &str = "guest";
const PROGRAMS: &str = "bin";
const LIBRARIES: &str = "lib";

/// A folder that came with this program; `None` if there is none, as where a checkout was built.
pub fn shipped(name: &str) -> Option<PathBuf> {
    below(&std::env::current_exe().ok()?, name)
}

fn below(program: &Path, name: &str) -> Option<PathBuf> {
    let folder = program.parent()?.parent()?.join("lib/ssdlab").join(name);
    folder.is_dir().then_some(folder)
}

/// Where programs are from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Toolbox {
    Machine,
    /// A folder that came with this program.
    Shipped(PathBuf),
}

impl Toolbox {
    /// The source of the programs of guests. In a guest all libraries are in one folder, so all
    /// programs are from one source: what came with this program, unless it lacks one that this
    /// machine has.
    pub fn for_guests<'a>(programs: impl IntoIterator<Item = &'a str>) -> Self {
        Self::of(shipped(GUEST), programs)
    }

    fn of<'a>(shipped: Option<PathBuf>, programs: impl IntoIterator<Item = &'a str>) -> Self {
        let Some(shipped) = shipped.map(Self::Shipped) else { return Self::Machine };
        let has = |toolbox: &Self, name: &str| toolbox.find(name, "").is_ok();
        let suffices = |name: &str| has(&shipped, name) || !has(&Self::Machine, name);
        if programs.into_iter().all(suffices) { shipped } else { Self::Machine }
    }

    pub fn find(&self, program: &str, package: &str) -> Result<PathBuf, ProgramError> {
        let Self::Shipped(folder) = self else { return program::find(program, package) };
        let path = folder.join(PROGRAMS).join(program);
        let missing = ProgramError::Missing { program: program.into(), package: package.into() };
        if is_executable(&path) { Ok(path) } else { Err(missing) }
    }

    /// A program's version as it prints it itself; `None` if it is not installed.
    pub fn version(&self, name: &str, argument: &str) -> Option<String> {
        let path = self.find(name, "").ok()?;
        let mut call = match self {
            Self::Machine => Command::new(path),
            Self::Shipped(_) => {
                let mut call = Loader::of(&path).call();
                call.arg(path);
                call
            }
        };
        call.arg(argument);
        let version = program::version_of(call)?;
        Some(if version.contains(name) { version } else { format!("{name}: {version}") })
    }
}

/// What loads a program's libraries.
#[derive(Debug)]
pub struct Loader {
    path: PathBuf,
    /// Where the libraries are; `None` where this machine's are.
    libraries: Option<PathBuf>,
}

impl Loader {
    /// The loader that came with the program, or else this machine's.
    pub fn of(program: &Path) -> Self {
        let folder = program.ancestors().nth(2).filter(|folder| folder.ends_with(GUEST));
        let own = folder.map(|folder| (folder.join(&LOADER[1..]), folder.join(LIBRARIES)));
        match own.filter(|(path, _)| is_executable(path)) {
            Some((path, libraries)) => Self { path, libraries: Some(libraries) },
            None => Self { path: LOADER.into(), libraries: None },
        }
    }

    /// The loader itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The [`UNWINDER`] that came with the program.
    pub fn unwinder(&self) -> Option<PathBuf> {
        let path = self.libraries.as_ref()?.join(UNWINDER);
        path.is_file().then_some(path)
    }

    /// A call of the loader, to which a program and its arguments are to be added.
    pub fn call(&self) -> Command {
        let mut command = Command::new(&self.path);
        if let Some(libraries) = &self.libraries {
            command.args([OsStr::new("--library-path"), libraries.as_os_str()]);
        }
        command
    }
}

#[cfg(test)]
mod tests;

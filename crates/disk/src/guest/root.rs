//! The file tree that a guest sees: this program, the programs it calls, their libraries, and
//! nothing else of the machine.
//!
//! Everything is copied, so that upgrading the machine during a run changes nothing. The loader
//! lists the libraries a program needs (`ld.so --list`), wherever a distribution installs them; in
//! the guest all are in one folder.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use miette::Diagnostic;
use ssdlab_host::program::{self, ProgramError, Rules};
use ssdlab_host::toolbox::{LOADER, Loader, UNWINDER};
use thiserror::Error;

use super::InPlace;

/// Keeps the loader from looking for variants of libraries for newer processors.
const TUNABLES: (&str, &str) = ("GLIBC_TUNABLES", "glibc.cpu.hwcaps=-SSE4_2");

/// Where programs and libraries are in the guest.
const PROGRAMS: &str = "bin";
const LIBRARIES: &str = "lib";

/// An error while making a guest's root.
#[derive(Debug, Error, Diagnostic)]
pub enum RootError {
    /// A file cannot be made or copied.
    #[error("cannot make the guest's {}: {cause}", path.display())]
    #[diagnostic(help("check the free space where ssdlab keeps its state (XDG_STATE_HOME)"))]
    File {
        /// The file in the guest's root.
        path: PathBuf,
        cause: io::Error,
    },
    /// A program's libraries cannot be listed.
    #[error("cannot list the libraries that {} needs: {cause}", program.display())]
    Libraries { program: PathBuf, cause: ProgramError },
    /// A library is missing.
    #[error("{} needs the library {library}, which is not installed", program.display())]
    #[diagnostic(help("reinstall the program's package"))]
    NoLibrary { program: PathBuf, library: String },
}

/// A guest's root on this machine.
#[derive(Debug)]
pub struct Root {
    folder: PathBuf,
    in_place: Vec<InPlace>,
}

impl Root {
    /// Makes a root in an empty folder, with this program as its first process.
    pub fn make(folder: &Path, rules: Rules<'_>) -> Result<Self, RootError> {
        let root = Self { folder: folder.to_owned(), in_place: Vec::new() };
        for name in [PROGRAMS, LIBRARIES, "lib64", "etc", "dev", "proc", "sys", "run", "tmp", "var"]
        {
            let path = folder.join(name);
            fs::create_dir(&path).map_err(at(&path))?;
        }
        // mkfs.nilfs2 reads the mount table there.
        let mtab = folder.join("etc/mtab");
        symlink("/proc/self/mounts", &mtab).map_err(at(&mtab))?;
        // By its number, because the name may lead to another program by now, or to none.
        let this = format!("/proc/{}/exe", std::process::id());
        root.add(Path::new(&this), "init", rules)?;
        Ok(root)
    }

    /// Adds a program with its libraries. Returns their copies, the program first.
    pub fn add_program(&self, program: &Path, rules: Rules<'_>) -> Result<Vec<PathBuf>, RootError> {
        let name = program.file_name().unwrap_or_default().to_string_lossy();
        self.add(program, &format!("{PROGRAMS}/{name}"), rules)
    }

    /// Adds a file that is only read, with what can be read of `contents`.
    pub fn add_file(&self, contents: &mut impl Read, name: &str) -> Result<(), RootError> {
        let path = self.folder.join(name);
        File::create_new(&path)
            .and_then(|mut file| io::copy(contents, &mut file).map(drop))
            .map_err(at(&path))
    }

    /// Shows folders and files of this machine in it: those that [`can_show`](super::can_show).
    pub fn show(&mut self, in_place: Vec<InPlace>) {
        self.in_place = in_place;
    }

    /// What it shows.
    pub(super) fn in_place(&self) -> &[InPlace] {
        &self.in_place
    }

    /// The root's folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The guest's environment, in which its programs find each other and their libraries. The
    /// library variants that the loader looks for must not depend on the machine's processor.
    pub fn environment() -> [String; 4] {
        [
            format!("PATH=/{PROGRAMS}"),
            format!("LD_LIBRARY_PATH=/{LIBRARIES}"),
            format!("{}={}", TUNABLES.0, TUNABLES.1),
            "LC_ALL=C".to_owned(),
        ]
    }

    fn add(&self, program: &Path, name: &str, rules: Rules<'_>) -> Result<Vec<PathBuf>, RootError> {
        let mut copies = vec![self.copy(program, name)?];
        let loader = Loader::of(program);
        if !loader.path().exists() {
            return Ok(copies); // a machine of static programs
        }
        copies.push(self.copy(loader.path(), LOADER.trim_start_matches('/'))?);
        let mut command = loader.call();
        command.arg("--list").arg(program);
        // The copies must not depend on the user, nor on the machine's processor.
        command.env_remove("LD_LIBRARY_PATH").env_remove("LD_PRELOAD").env(TUNABLES.0, TUNABLES.1);
        let unknown = |cause| RootError::Libraries { program: program.to_owned(), cause };
        let listed = program::run_to_any_end(command, rules).map_err(unknown)?;
        for line in listed.stdout.lines() {
            // "libc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f…)"; what has no arrow, or
            // is named by a path, is the loader itself, or the kernel's own.
            let Some((library, found)) = line.trim().split_once(" => ") else { continue };
            let path = found.rsplit_once(" (").map_or(found, |(path, _)| path);
            if library.starts_with('/') {
                continue;
            }
            if !path.starts_with('/') {
                let library = library.to_owned();
                return Err(RootError::NoLibrary { program: program.to_owned(), library });
            }
            copies.push(self.copy(Path::new(path), &format!("{LIBRARIES}/{library}"))?);
        }
        if let Some(unwinder) = loader.unwinder() {
            copies.push(self.copy(&unwinder, &format!("{LIBRARIES}/{UNWINDER}"))?);
        }
        Ok(copies)
    }

    fn copy(&self, from: &Path, name: &str) -> Result<PathBuf, RootError> {
        let to = self.folder.join(name);
        if to.exists() {
            return Ok(to);
        }
        fs::copy(from, &to).map_err(at(&to))?;
        Ok(to)
    }
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> RootError + use<> {
    let path = path.to_owned();
    move |cause| RootError::File { path, cause }
}

//! The lab kernel: built once from a distribution's source, kept in the user's cache, checked
//! before it is run.
//!
//! `kernel/build`, which is embedded in the program, knows how to build it; this room does not know
//! what it is run for.

mod binary;
mod build;
mod cache;
mod error;
mod origin;
mod recipe;
mod shelf;
#[cfg(test)]
mod tests;

use std::fs;
use std::path::{Path, PathBuf};

use ssdlab_host::interrupt::Interrupt;

use self::cache::Cache;
pub use self::error::KernelError;
pub use self::origin::{Kind, Origin, Source};
use self::recipe::Recipe;
pub use self::shelf::Kept;

/// A lab kernel that is ready to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabKernel {
    /// The program.
    pub path: PathBuf,
    /// The first 16 hexadecimal digits of its SHA-256.
    pub identity: String,
    /// Its version string, e.g. `6.1.192-ssdlab`.
    pub version: String,
}

/// How a build gets on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress<'a> {
    /// The kernel in the cache is what would be built.
    Current,
    /// A step has begun.
    Step(&'a str),
    /// Files have been compiled.
    Compiled {
        /// So many.
        files: u32,
        /// The approximate total.
        about: u32,
    },
}

/// A description of a lab kernel.
#[derive(Debug)]
pub struct Info {
    /// The kernel.
    pub kernel: LabKernel,
    /// Its size.
    pub size_bytes: u64,
    /// The origin of the kernel; `None` for one that is not from the cache.
    pub origin: Option<Origin>,
    /// The filesystems it has.
    pub filesystems: Vec<&'static str>,
    /// The I/O schedulers it has.
    pub schedulers: Vec<&'static str>,
}

/// Where packages install a lab kernel: a folder that only root can write to, laid out as the
/// cache.
const INSTALLED: &str = "/usr/lib/ssdlab/kernel";

/// The kernel that a run uses: the named one, or else the one in the cache, or else the installed
/// one.
pub fn find(named: Option<&Path>) -> Result<LabKernel, KernelError> {
    find_with_origin(named).map(|(kernel, _)| kernel)
}

/// Describes the kernel that a run would use.
pub fn info(named: Option<&Path>) -> Result<Info, KernelError> {
    let (kernel, origin) = find_with_origin(named)?;
    let config = binary::config(&kernel)?;
    let metadata = fs::metadata(&kernel.path);
    let size_bytes = metadata.map_err(KernelError::at("read", &kernel.path))?.len();
    let (filesystems, schedulers) = (config.filesystems(), config.schedulers());
    Ok(Info { kernel, size_bytes, origin, filesystems, schedulers })
}

/// The filesystems that a lab kernel has.
pub fn filesystems(kernel: &LabKernel) -> Result<Vec<&'static str>, KernelError> {
    Ok(binary::config(kernel)?.filesystems())
}

/// Builds a kernel into the cache, by default from the best installed source. An interrupted build
/// resumes; until it is finished the old kernel stays.
pub fn build(
    source: Option<&Path>,
    interrupt: &Interrupt,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<LabKernel, KernelError> {
    let cache = Cache::of_user()?;
    let source = match source {
        Some(path) => Source::named(path)?,
        None => Source::installed(Path::new("/usr/src"))?,
    };
    build::build(&cache, &Recipe::shipped(), &source, interrupt, progress)
}

/// The contents of the cache: the kernel, and any unfinished build.
pub fn kept() -> Result<Vec<Kept>, KernelError> {
    Cache::of_user()?.kept()
}

/// Removes an unfinished build that is not running. The kernel stays, as nothing would rebuild it
/// automatically.
pub fn clear() -> Result<(), KernelError> {
    Cache::of_user()?.clear()
}

fn find_with_origin(named: Option<&Path>) -> Result<(LabKernel, Option<Origin>), KernelError> {
    if let Some(path) = named {
        return Ok((binary::inspect(path)?, None));
    }
    let installed = Cache::at(PathBuf::from(INSTALLED));
    let (kernel, origin) = own_or_installed(Cache::of_user(), &installed, &Recipe::shipped())?;
    Ok((kernel, Some(origin)))
}

/// The user's kernel, or else the installed one. The error about an installed kernel that does not
/// fit is reported only if the user has none.
fn own_or_installed(
    own: Result<Cache, KernelError>,
    installed: &Cache,
    recipe: &Recipe,
) -> Result<(LabKernel, Origin), KernelError> {
    own.and_then(|cache| cache.kernel(recipe)).or_else(|lacking| match lacking {
        KernelError::NoCache | KernelError::NotBuilt { .. } | KernelError::OtherRecipe { .. } => {
            installed.kernel(recipe).map_err(|error| match error {
                KernelError::NotBuilt { .. } | KernelError::OtherRecipe { .. } => lacking,
                error => error,
            })
        }
        error => Err(error),
    })
}

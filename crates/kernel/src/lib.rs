//! Lab kernels: built once from a source of Linux, kept in the user's cache, checked before they
//! are run.
//!
//! `kernel/build`, which is embedded in the program, knows how to build it; this room does not know
//! what it is run for.

pub mod aged;
mod binary;
mod build;
mod cache;
mod copy;
mod entry;
mod error;
mod origin;
mod recipe;
#[cfg(test)]
mod tests;
mod version;

use std::fs;
use std::path::{Path, PathBuf};

use ssdlab_host::interrupt::Interrupt;
use ssdlab_host::lock::FileLock;
use ssdlab_host::toolbox;

use self::aged::Store;
pub use self::binary::LabKernel;
use self::build::BuildOrder;
pub use self::build::BuildProgress;
use self::cache::KernelCache;
pub use self::entry::{CacheEntry, EntryKind, RemovalSummary};
pub use self::error::KernelError;
pub use self::origin::{KernelOrigin, LinuxSource, SourceKind};
use self::recipe::Recipe;

/// A kernel of a tree. The next one takes its place once this is dropped.
#[derive(Debug)]
pub struct TreeKernel {
    pub kernel: LabKernel,
    /// The folder that it was built in.
    pub folder: PathBuf,
    _claim: FileLock,
}

/// A description of a lab kernel.
#[derive(Debug)]
pub struct KernelInfo {
    pub kernel: LabKernel,
    pub size_bytes: u64,
    /// The origin of the kernel; `None` for one that is not from the cache.
    pub origin: Option<KernelOrigin>,
    pub filesystems: Vec<&'static str>,
    /// The I/O schedulers it has.
    pub schedulers: Vec<&'static str>,
}

/// Where distributions put their sources of Linux.
const SOURCES: &str = "/usr/src";

/// Where packages install a lab kernel: a folder that only root can write to, laid out as the
/// cache.
const INSTALLED: &str = "/usr/lib/ssdlab/kernel";

/// The installed kernels, in the order in which they are looked for: those that came with this
/// program, as in an archive, and those of a package.
fn installed() -> Vec<KernelCache> {
    let shipped = toolbox::shipped("kernel");
    let other = Some(PathBuf::from(INSTALLED)).filter(|folder| Some(folder) != shipped.as_ref());
    shipped.into_iter().chain(other).map(KernelCache::at).collect()
}

/// The kernel that a run uses: the named one, or else the one in the cache, or else an installed
/// one.
pub fn find(named: Option<&Path>) -> Result<LabKernel, KernelError> {
    find_with_origin(named).map(|(kernel, _)| kernel.used())
}

/// Describes the kernel that a run would use.
pub fn info(named: Option<&Path>) -> Result<KernelInfo, KernelError> {
    let (kernel, origin) = find_with_origin(named)?;
    let config = binary::config(&kernel)?;
    let metadata = fs::metadata(&kernel.path);
    let size_bytes = metadata.map_err(KernelError::at("read", &kernel.path))?.len();
    let (filesystems, schedulers) = (config.filesystems(), config.schedulers());
    Ok(KernelInfo { kernel, size_bytes, origin, filesystems, schedulers })
}

pub fn filesystems(kernel: &LabKernel) -> Result<Vec<&'static str>, KernelError> {
    Ok(binary::config(kernel)?.filesystems())
}

/// A kernel that can be named by its version.
#[derive(Debug)]
pub struct AvailableKernel {
    pub kernel: LabKernel,
    pub origin: KernelOrigin,
    /// Whether runs use it if they name none.
    pub is_default: bool,
}

/// The kernels that can be named by their version, the default one first: those in the cache, then
/// installed ones of other versions.
pub fn all() -> Result<Vec<AvailableKernel>, KernelError> {
    let recipe = Recipe::shipped();
    let caches = KernelCache::of_user().into_iter().chain(installed());
    let default = find_with_origin(None).ok().map(|(kernel, _)| kernel.identity);
    let mut all: Vec<AvailableKernel> = Vec::new();
    for cache in caches {
        for (kernel, origin) in cache.kernels(&recipe)? {
            if all.iter().all(|known| known.kernel.version != kernel.version) {
                let is_default = default.as_ref() == Some(&kernel.identity);
                all.push(AvailableKernel { kernel, origin, is_default });
            }
        }
    }
    Ok(all)
}

/// The kernel whose version begins with these parts, for a run.
pub fn find_version(parts: &str) -> Result<LabKernel, KernelError> {
    let all = all()?.into_iter().map(|available| available.kernel).collect();
    version::choose(parts, all, Path::new(SOURCES)).map(LabKernel::used)
}

/// Makes a kernel of the cache the default.
pub fn make_default(parts: &str) -> Result<LabKernel, KernelError> {
    let cache = KernelCache::of_user()?;
    let _claimed = cache.claim()?;
    let kernels = cache.kernels(&Recipe::shipped())?.into_iter().map(|(kernel, _)| kernel);
    let kernel = version::choose(parts, kernels.collect(), Path::new(SOURCES))?;
    cache.make_default(&kernel.identity)?;
    Ok(kernel)
}

/// Builds a kernel into the cache, from a source beside the others, or as the default one from the
/// best installed source. An interrupted build resumes; until it is finished the old kernel stays.
pub fn build(
    source: Option<&Path>,
    interrupt: &Interrupt,
    progress: &mut dyn FnMut(BuildProgress<'_>),
) -> Result<LabKernel, KernelError> {
    let cache = KernelCache::of_user()?;
    let is_default = source.is_none();
    let source = match source {
        Some(path) => LinuxSource::named(path)?,
        None => LinuxSource::installed(Path::new(SOURCES))?,
    };
    let order = BuildOrder { recipe: &Recipe::shipped(), source: &source, interrupt };
    build::build(&cache, &order, is_default, progress)
}

/// Builds a kernel from a tree, beside those of the cache. What was compiled stays, so that the
/// next build compiles only what has changed.
pub fn build_tree(
    tree: &Path,
    interrupt: &Interrupt,
    progress: &mut dyn FnMut(BuildProgress<'_>),
) -> Result<TreeKernel, KernelError> {
    let (cache, recipe, source) =
        (KernelCache::of_user()?, Recipe::shipped(), LinuxSource::named(tree)?);
    let (claim, folder) = (cache.claim()?, cache.tree());
    let order = BuildOrder { recipe: &recipe, source: &source, interrupt };
    let kernel = build::make(&order, &folder, progress)?;
    Ok(TreeKernel { kernel, folder, _claim: claim })
}

/// The identity of the files that kernels are built by.
pub fn recipe() -> String {
    Recipe::shipped().identity()
}

/// The contents of the caches: aged states, the least recently used first, the kernels, and any
/// unfinished build.
pub fn cached() -> Result<Vec<CacheEntry>, KernelError> {
    let mut entries = Store::of_user().all()?;
    entries.extend(KernelCache::of_user()?.listed()?);
    Ok(entries)
}

/// Removes aged states and unfinished builds that are not in use.
pub fn clear() -> Result<RemovalSummary, KernelError> {
    let mut cleared = Store::of_user().clear()?;
    KernelCache::of_user()?.clear(&mut cleared)?;
    Ok(cleared)
}

fn find_with_origin(
    named: Option<&Path>,
) -> Result<(LabKernel, Option<KernelOrigin>), KernelError> {
    if let Some(path) = named {
        return Ok((binary::inspect(path)?, None));
    }
    let found = own_or_installed(KernelCache::of_user(), &installed(), &Recipe::shipped());
    found.map(|(kernel, origin)| (kernel, Some(origin)))
}

/// The user's kernel, or else the first installed one that fits. That installed ones do not fit is
/// no error: it is reported that the user has none.
fn own_or_installed(
    own: Result<KernelCache, KernelError>,
    installed: &[KernelCache],
    recipe: &Recipe,
) -> Result<(LabKernel, KernelOrigin), KernelError> {
    let fits_not = |error: &KernelError| {
        matches!(error, KernelError::NotBuilt { .. } | KernelError::OtherRecipe { .. })
    };
    let lacking = match own.and_then(|cache| cache.kernel(recipe)) {
        Err(lacking) if fits_not(&lacking) || matches!(lacking, KernelError::NoCache) => lacking,
        found => return found,
    };
    let mut found = installed.iter().map(|cache| cache.kernel(recipe));
    found.find(|found| !found.as_ref().is_err_and(fits_not)).unwrap_or(Err(lacking))
}

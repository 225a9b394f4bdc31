//! Builds the lab kernel: runs the recipe's script in the cache, and turns its output into progress
//! or into the reason for its failure.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use ssdlab_host::interrupt::Interrupt;
use ssdlab_host::missing::if_there;
use ssdlab_host::program;

use super::cache::KernelCache;
use super::copy::TreeCopy;
use super::origin::{KernelOrigin, LinuxSource, SourceKind};
use super::recipe::Recipe;
use super::{KernelError, LabKernel, binary};

/// How many files a build compiles: 906 of Linux 6.1.192, 945 of 6.12.117, 1,033 of 7.3.4.
const FILES: u32 = 920;

/// The file by which the script knows that it has configured the tree.
const CONFIGURED: &str = ".config-asked";

/// The step that follows the copying of a tree.
const COPIED: &str = "== apply";

/// How many lines of a failed build are shown.
const MOST_SHOWN: usize = 12;

/// What a build prints when it runs out of a resource: strerror(ENOSPC), and gcc's driver when its
/// compiler was killed, as by the kernel's out-of-memory killer.
const EXHAUSTED: [(&str, &str); 2] =
    [("No space left on device", "disk space"), ("Killed signal terminated program", "memory")];

/// How a build gets on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BuildProgress<'a> {
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

/// What is built, and how.
pub struct BuildOrder<'a> {
    /// The files to build it by.
    pub recipe: &'a Recipe,
    /// The source to build it from.
    pub source: &'a LinuxSource,
    /// The request to stop.
    pub interrupt: &'a Interrupt,
}

/// Builds a kernel into a cache, unless it is there. It becomes the default one if it is to, or if
/// the cache has no other that is of use.
pub fn build(
    cache: &KernelCache,
    order: &BuildOrder<'_>,
    is_default: bool,
    progress: &mut dyn FnMut(BuildProgress<'_>),
) -> Result<LabKernel, KernelError> {
    let BuildOrder { recipe, source, .. } = order;
    let compiler = compiler();
    let is_same = |origin: &KernelOrigin| {
        source.kind == SourceKind::Tarball
            && origin.source.sha256 == source.sha256
            && Some(&origin.compiler) == compiler.as_ref()
    };
    let mut kept = cache.kernels(recipe)?.into_iter();
    if let Some((kernel, _)) = kept.find(|(_, origin)| is_same(origin)) {
        let is_as_asked = |default: &LabKernel| !is_default || default.identity == kernel.identity;
        let stays = cache.kernel(recipe).is_ok_and(|(default, _)| is_as_asked(&default));
        // Without a claim: another build that begins now must not find the cache claimed.
        if !stays || cache.work().exists() {
            match cache.claim() {
                // What is left there is that of a build under way.
                Err(KernelError::Busy { .. }) if stays => {}
                claim => {
                    let _claimed = claim?;
                    if !stays {
                        cache.make_default(&kernel.identity)?;
                    }
                    cache.clean()?;
                }
            }
        }
        progress(BuildProgress::Current);
        return Ok(kernel);
    }
    let _claimed = cache.claim()?;
    let built = make(order, &cache.work(), progress)?;
    let origin = KernelOrigin {
        identity: built.identity.clone(),
        recipe: recipe.identity(),
        source: (*source).clone(),
        compiler: compiler.unwrap_or_default(),
    };
    let kernel = cache.keep(&built, &origin, is_default)?;
    progress(BuildProgress::Step("remove the tree"));
    cache.clean()?;
    Ok(kernel)
}

/// Builds a kernel in a folder, which keeps what was compiled for the next build there. It is
/// configured anew if the tree may have other options than before.
pub fn make(
    order: &BuildOrder<'_>,
    folder: &Path,
    progress: &mut dyn FnMut(BuildProgress<'_>),
) -> Result<LabKernel, KernelError> {
    let (files, output) = (folder.join("recipe"), folder.join("output"));
    order.recipe.unpack(&files)?;
    let mut command = Command::new("sh");
    let mut copy = None;
    if order.source.kind == SourceKind::Tree {
        let asked = output.join(CONFIGURED);
        if_there(fs::remove_file(&asked)).map_err(KernelError::at("remove", &asked))?;
        copy = Some(TreeCopy::begin(folder, &order.source.path)?);
        // Times of files in full: one that changes in the second in which it was compiled is
        // compiled again.
        command.env("TAR_OPTIONS", "--format=posix");
    }
    // A kernel that others could write to, as some umasks have it, is refused.
    command.args(["-c", r#"umask 022 && exec sh "$@""#, "sh"]);
    command.arg(files.join("build")).arg(&order.source.path).arg(&output);
    let mut heard = Heard::new(output.join("tree"));
    let listen = &mut |line: &str| {
        if let (Some(copy), COPIED) = (&copy, line) {
            copy.end();
        }
        heard.listen(line, progress);
    };
    let status = program::follow(command, "kernel-build", order.interrupt, listen)?;
    if !status.success() {
        return Err(heard.failure());
    }
    binary::inspect(&output.join("linux"))
}

/// The version of the compiler that the script uses; `None` if there is none.
fn compiler() -> Option<String> {
    let named = std::env::var("CC").ok().filter(|name| !name.is_empty());
    program::version(Path::new(named.as_deref().unwrap_or("gcc")), "--version")
}

/// The output of a build.
struct Heard {
    tree: PathBuf,
    files: u32,
    /// From configuring on the source is there and patched.
    is_prepared: bool,
    /// The last lines that are not make's usual ones.
    last: VecDeque<String>,
}

impl Heard {
    fn new(tree: PathBuf) -> Self {
        Self { tree, files: 0, is_prepared: false, last: VecDeque::new() }
    }

    fn listen(&mut self, line: &str, progress: &mut dyn FnMut(BuildProgress<'_>)) {
        if let Some(step) = line.strip_prefix("== ") {
            self.last.clear();
            self.is_prepared |= step == "configure" || step.starts_with("compile");
            progress(BuildProgress::Step(step));
            if step.starts_with("compile") {
                // An interrupted build has some of them already.
                self.files = objects(&self.tree);
            }
        } else if let Some(what) = line.strip_prefix("  ") {
            if what.starts_with("CC ") {
                self.files += 1;
                progress(BuildProgress::Compiled { files: self.files, about: FILES });
            }
        } else if !line.trim().is_empty() {
            self.last.push_back(line.to_owned());
            if self.last.len() > MOST_SHOWN {
                self.last.pop_front();
            }
        }
    }

    fn failure(self) -> KernelError {
        let said = Vec::from(self.last).join("\n");
        let exhausted = EXHAUSTED.into_iter().find(|(sign, _)| said.contains(sign));
        match exhausted {
            Some((_, resource)) => KernelError::Exhausted { resource, said },
            None if self.is_prepared => KernelError::Failed { said },
            None => KernelError::Lacking { said },
        }
    }
}

/// How many object files a tree has.
fn objects(tree: &Path) -> u32 {
    let entries = fs::read_dir(tree).into_iter().flatten().flatten();
    let count = |entry: fs::DirEntry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => objects(&entry.path()),
        _ => entry.path().extension().is_some_and(|ending| ending == "o").into(),
    };
    entries.map(count).sum()
}

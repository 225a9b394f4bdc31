//! Workloads: what is done to a filesystem.
//!
//! Generators are pure: a seed goes in, a list of operations comes out. One driver performs
//! operations on a directory. Neither knows the filesystem or the lab.

mod ageing;
mod archive;
mod beside;
mod bonnie;
mod bonnie_program;
mod bounds;
mod decode;
mod driver;
mod error;
mod fio;
mod fuzzing;
mod input;
mod io;
mod log;
mod open_load;
pub mod operation;
pub mod printed;
mod reader;
pub mod record;
mod replay;
mod snapshot;
pub mod synthetic;
mod transactions;
mod verify;

use std::collections::BTreeMap;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::Command;

use ssdlab_engine::Counted;

pub use self::ageing::{Aged, layout_score};
use self::bonnie::Bonnie;
use self::driver::{Bounds, Contents, Driver, sync_filesystem};
pub use self::error::WorkloadError;
#[doc(hidden)]
pub use self::fuzzing::{fuzz_archive, fuzz_bonnie};
pub use self::input::{InputError, private};
use self::operation::{Content, Operation};
pub use self::reader::Reader;
use self::replay::Replay;
use self::synthetic::build::{self, BuildShape};
use self::synthetic::content::ContentPool;
use self::synthetic::random::mix;
use self::synthetic::tree::{self, TreeShape};
use self::verify::Model;
use crate::host::program::{self, Rules};
use crate::host::thread::Usage;
use crate::plan::Age;
use crate::plan::schedule::{self, Action, Build, Hashes, Tree};

/// Mean size of the files a prefill is made of.
const PREFILL_FILE_BYTES: u64 = 1 << 20;

/// The name of the clone in a trial's directory.
const CLONE: &str = "clone";

/// A workload ready to run: everything that can be made before the clock starts has been.
#[derive(Debug)]
pub struct Workload {
    contents: Contents,
    tree: Source<Tree, Vec<Operation>>,
    build: Source<Build, build::Build>,
    bonnie: Option<Bonnie>,
    replay: Replay,
    /// The job files of fio, as they were checked.
    jobs: BTreeMap<PathBuf, String>,
    /// The trial's seed.
    seed: u64,
}

/// What operations are made from, and the operations of the current seed.
#[derive(Debug)]
struct Source<T, O> {
    spec: Option<T>,
    seed: Option<u64>,
    operations: O,
}

/// Where a phase works and when it must stop.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// The trial's directory.
    pub directory: &'a Path,
    /// Where the filesystem is mounted.
    pub mounted_at: &'a Path,
    /// The words of the command that commits what sync(2) leaves; none where it leaves nothing.
    pub commit: &'a [String],
    /// The rules for programs, whose limit and interrupt also bind the driver.
    pub rules: Rules<'a>,
}

impl Place<'_> {
    /// Returns when all that was written to the filesystem of an open directory is on its device.
    fn sync(&self, directory: impl AsFd) -> Result<(), WorkloadError> {
        sync_filesystem(directory)?;
        if let Some((program, arguments)) = self.commit.split_first() {
            let mut command = Command::new(program);
            command.args(arguments);
            program::run(command, self.rules)?;
        }
        Ok(())
    }
}

/// What a phase did.
#[derive(Debug, Default)]
pub struct Done {
    /// Bytes that the workload wrote; `None` where it was not its own thread that worked.
    pub application_bytes: Option<u64>,
    /// Those of them that it wrote through `io_uring`, which the kernel counts for no thread: it is
    /// the completion of each write that says how many bytes it wrote.
    pub ring_bytes: u64,
    /// The operations that the workload counted and timed one by one.
    pub counted: Option<Counted>,
    /// What threads used that worked beside the caller's and ended.
    pub threads: Usage,
    /// What a program reported about itself.
    pub reported: BTreeMap<String, f64>,
    /// What a reader of the numbers must know.
    pub remark: Option<String>,
}

impl Done {
    fn wrote(bytes: u64) -> Self {
        Self { application_bytes: Some(bytes), ..Self::default() }
    }
}

impl Workload {
    /// Makes a run's workload: decodes its archive, looks for its repository and its programs. Of
    /// the files that the plan names it keeps copies; those that are not as `inputs` says are an
    /// error.
    pub fn new(
        spec: &schedule::Workload,
        inputs: &Hashes,
        seed: u64,
    ) -> Result<Self, WorkloadError> {
        let mut contents = Contents { pool: ContentPool::new(seed), archive: None };
        let mut tree = Source { spec: spec.tree.clone(), seed: None, operations: Vec::new() };
        if let Some(Tree::Archive { path, share }) = &spec.tree {
            let archive = archive::read(path, *share, inputs)?;
            contents.archive = Some(archive.tar);
            tree.operations = archive.operations;
        }
        if let Some(Build::Git { repository, .. }) = &spec.build {
            program::find("git", "git")?;
            if !is_repository(repository) {
                return Err(WorkloadError::NoRepository { path: repository.clone() });
            }
        }
        let mut jobs = BTreeMap::new();
        for phase in &spec.phases {
            match &phase.action {
                Action::Fio { job } => {
                    program::find("fio", "fio")?;
                    jobs.insert(job.clone(), fio::read(job, inputs)?);
                }
                Action::BonnieProgram => {
                    program::find("bonnie++", "bonnie++")?;
                }
                Action::Fstrim => {
                    program::find("fstrim", "util-linux")?;
                }
                _ => {}
            }
        }
        let build =
            Source { spec: spec.build.clone(), seed: None, operations: build::Build::default() };
        let bonnie = spec.bonnie.clone().map(Bonnie::new);
        let replay = Replay::read(&spec.phases, inputs)?;
        Ok(Self { contents, tree, build, bonnie, replay, jobs, seed })
    }

    /// Makes the operations of a trial; treatments of one block share them.
    pub fn seed(&mut self, seed: u64) {
        self.seed = seed;
        if let Some(Tree::Synthetic { files, bytes }) = self.tree.spec
            && self.tree.seed != Some(seed)
        {
            self.tree.operations = tree::synthetic(TreeShape { files, bytes }, seed);
            self.tree.seed = Some(seed);
        }
        if let Some(Build::Synthetic { files, bytes }) = self.build.spec
            && self.build.seed != Some(seed)
        {
            let shape = BuildShape::of(TreeShape { files, bytes });
            self.build.operations = build::synthetic(shape, seed);
            self.build.seed = Some(seed);
        }
        if let Some(bonnie) = &mut self.bonnie {
            bonnie.seed(seed);
        }
    }

    /// Bytes of the tree that `unpack` makes of an archive.
    #[must_use]
    pub fn archive_bytes(&self) -> u64 {
        let bytes = |operation: &Operation| match operation {
            Operation::WriteFile { bytes, content: Content::Archive { .. }, .. } => *bytes,
            _ => 0,
        };
        self.tree.operations.iter().map(bytes).sum()
    }

    /// Performs one phase; those that need the lab or a meter (`idle`, `remount`) are not here.
    pub fn perform(
        &mut self,
        phase: &schedule::Phase,
        place: Place<'_>,
    ) -> Result<Done, WorkloadError> {
        // Two phases of a trial do not visit the same places with the same contents.
        let seed = phase.name.bytes().fold(self.seed, |seed, byte| mix(seed ^ u64::from(byte)));
        let done = match &phase.action {
            Action::Bonnie { test } => {
                let bonnie = self.bonnie.as_mut().expect("a sound schedule has its sizes");
                bonnie.perform(*test, phase.cold, place)?
            }
            action => self.act(action, seed, place)?,
        };
        if let (Action::Delete, Some(bonnie)) = (&phase.action, &mut self.bonnie) {
            bonnie.forget();
        }
        if phase.sync {
            self.sync(place)?;
        }
        Ok(done)
    }

    fn act(&self, action: &Action, seed: u64, place: Place<'_>) -> Result<Done, WorkloadError> {
        let script = |operations: &[Operation]| {
            let mut driver = self.driver(place)?;
            driver.perform(operations)?;
            Ok(Done::wrote(driver.written_bytes()))
        };
        match (action, &self.build.spec) {
            (Action::Unpack, _) => script(&self.tree.operations),
            (Action::Delete, _) => {
                self.driver(place)?.delete_all()?;
                Ok(Done::wrote(0))
            }
            (Action::Sync, _) => {
                self.sync(place)?;
                Ok(Done::wrote(0))
            }
            (Action::Clone, Some(Build::Git { repository, .. })) => clone(repository, place),
            (Action::Make, Some(Build::Git { make, .. })) => run_in_clone(make, place),
            (Action::Clean, Some(Build::Git { clean, .. })) => run_in_clone(clean, place),
            (Action::Clone, _) => script(&self.build.operations.clone),
            (Action::Make, _) => script(&self.build.operations.make),
            (Action::Clean, _) => script(&self.build.operations.clean),
            (Action::Fstrim, _) => {
                let mut command = Command::new(program::find("fstrim", "util-linux")?);
                command.arg(place.mounted_at);
                program::run(command, place.rules)?;
                Ok(Done::default())
            }
            (Action::Command { run, env }, _) => {
                let mut command = Command::new(&run[0]);
                command.args(&run[1..]).envs(env).current_dir(place.directory);
                program::run(command, place.rules)?;
                Ok(Done::default())
            }
            (Action::Fio { job }, _) => {
                let text = self.jobs.get(job).expect("the jobs of all phases were read");
                let reported = fio::run(text, place.directory, place.rules)?;
                Ok(Done { reported, ..Done::default() })
            }
            (Action::BonnieProgram, _) => {
                let bonnie = self.bonnie.as_ref().expect("a sound schedule has its sizes");
                bonnie_program::run(bonnie.sizes(), place)
            }
            // `perform` has done the first.
            (Action::Bonnie { .. } | Action::Idle { .. } | Action::Remount, _) => {
                Ok(Done::default())
            }
            (Action::Replay { log }, _) => {
                Ok(Done::wrote(self.replay.perform(log, &self.contents, place)?))
            }
            (Action::Imported, _) => unreachable!("nothing imported is run"),
            (Action::Io(io), _) => io::run(io, seed, place),
            (Action::Transactions(work), _) => {
                transactions::run(work, &self.contents.pool, seed, place)
            }
        }
    }

    /// Compares the directory with what these phases, performed in order, must have left there;
    /// the error is the first difference. Returns whether there was anything to compare with:
    /// what a real program leaves is not known.
    pub fn verify(
        &self,
        phases: &[schedule::Phase],
        place: Place<'_>,
    ) -> Result<bool, WorkloadError> {
        let Some(model) = self.model(phases) else { return Ok(false) };
        let umask = verify::umask()?;
        model.compare(place.directory, &self.contents, umask, place.rules.interrupt)?;
        Ok(true)
    }

    fn model(&self, phases: &[schedule::Phase]) -> Option<Model> {
        let mut model = Model::default();
        for phase in phases {
            let operations = match (&phase.action, &self.build.spec) {
                (
                    Action::Command { .. }
                    | Action::Fio { .. }
                    | Action::BonnieProgram
                    | Action::Io(_)
                    | Action::Transactions(_)
                    | Action::Replay { .. }
                    | Action::Imported,
                    _,
                )
                | (Action::Clone | Action::Make | Action::Clean, Some(Build::Git { .. })) => {
                    return None;
                }
                (Action::Unpack, _) => &self.tree.operations,
                (Action::Clone, _) => &self.build.operations.clone,
                (Action::Make, _) => &self.build.operations.make,
                (Action::Clean, _) => &self.build.operations.clean,
                (Action::Delete, _) => {
                    model.clear();
                    continue;
                }
                // What is left of it at the end is known at the end.
                (
                    Action::Bonnie { .. }
                    | Action::Sync
                    | Action::Fstrim
                    | Action::Idle { .. }
                    | Action::Remount,
                    _,
                ) => {
                    continue;
                }
            };
            for operation in operations {
                model.apply(operation);
            }
        }
        for operation in self.bonnie.iter().flat_map(Bonnie::leaves) {
            model.apply(&operation);
        }
        Some(model)
    }

    /// Whether there are files that phases will work on.
    #[must_use]
    pub fn begins_with_files(&self, workload: &schedule::Workload) -> bool {
        !workload.files().is_empty() || self.replay.begins_with_files()
    }

    /// Writes the files that phases will work on; they are on the device when this returns.
    pub fn lay_out(
        &self,
        workload: &schedule::Workload,
        place: Place<'_>,
    ) -> Result<(), WorkloadError> {
        let file = |(number, (name, bytes)): (u64, (&str, u64))| Operation::WriteFile {
            path: name.into(),
            bytes,
            content: Content::Binary { seed: self.seed.wrapping_add(number) },
            mode: 0o644,
            mtime_s: None,
        };
        self.replay.lay_out(&self.contents, place)?;
        let files: Vec<Operation> = (0..).zip(workload.files()).map(file).collect();
        let mut driver = self.driver(place)?;
        driver.perform(&files)?;
        self.sync(place)
    }

    /// Fills a directory with about this many bytes of files.
    pub fn fill(
        &self,
        bytes: u64,
        seed: u64,
        material: Material,
        place: Place<'_>,
    ) -> Result<(), WorkloadError> {
        let mut driver = self.driver(place)?;
        match material {
            Material::Text => {
                let files = bytes.div_ceil(PREFILL_FILE_BYTES);
                driver.perform(&tree::synthetic(TreeShape { files, bytes }, seed))?;
            }
            Material::Zeros { is_direct } => driver.fill_with_zeros(bytes, is_direct)?,
        }
        self.sync(place)
    }

    /// Ages the filesystem of a directory, which has the files that are left.
    pub fn age(&self, age: Age, seed: u64, place: Place<'_>) -> Result<Aged, WorkloadError> {
        ageing::age(age, seed, place.directory, &mut self.driver(place)?)
    }

    /// Empties a directory.
    pub fn empty(&self, place: Place<'_>) -> Result<(), WorkloadError> {
        self.driver(place)?.delete_all()?;
        self.sync(place)
    }

    fn sync(&self, place: Place<'_>) -> Result<(), WorkloadError> {
        place.sync(self.driver(place)?.directory())
    }

    /// Makes the file of the reader that runs beside phases.
    pub fn make_reader(&self, path: &Path, seed: u64) -> std::io::Result<()> {
        Reader::make(path, &self.contents.pool, seed)
    }

    fn driver<'a>(&'a self, place: Place<'a>) -> Result<Driver<'a>, WorkloadError> {
        let bounds = Bounds { interrupt: place.rules.interrupt, limit: place.rules.limit };
        Driver::new(place.directory, &self.contents, bounds)
    }
}

/// What a filesystem is filled with before the first phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Material {
    /// Files of 1 MiB on average, with text in them.
    Text,
    /// Files of 16 MiB, all zeros: a disk in memory keeps no zeros, and a simulated drive does not
    /// care.
    Zeros {
        /// Whether they are written past the page cache, which spares the copying.
        is_direct: bool,
    },
}

fn is_repository(path: &Path) -> bool {
    path.join(".git").exists() || (path.join("HEAD").exists() && path.join("objects").exists())
}

/// Clones as from another machine: without hard links, and without work left to a background
/// process. The repository may belong to another user than the one who runs the experiment.
fn clone(repository: &Path, place: Place<'_>) -> Result<Done, WorkloadError> {
    let mut command = Command::new(program::find("git", "git")?);
    command
        .args(["-c", "gc.auto=0", "-c", "maintenance.auto=false", "clone", "--quiet", "--no-local"])
        .arg("--upload-pack=git -c safe.directory='*' upload-pack")
        .arg(repository)
        .arg(CLONE)
        .current_dir(place.directory);
    program::run(command, place.rules)?;
    Ok(Done::default())
}

fn run_in_clone(words: &[String], place: Place<'_>) -> Result<Done, WorkloadError> {
    let directory: PathBuf = place.directory.join(CLONE);
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).current_dir(directory);
    program::run(command, place.rules)?;
    Ok(Done::default())
}

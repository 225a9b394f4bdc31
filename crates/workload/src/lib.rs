//! Workloads: the operations on a filesystem.
//!
//! Generators are pure: a seed goes in, a script comes out, which is operations with recipes for
//! contents. One player performs scripts on a directory, one oracle knows what they leave there.
//! None of them knows the filesystem or the lab.

mod ageing;
mod archive;
mod bonnie;
mod bounds;
mod calls;
mod check;
mod clearing;
pub mod command_system;
mod content;
mod database;
mod decode;
pub mod engine;
mod error;
mod fio;
#[cfg(fuzzing)]
mod fuzzing;
mod history;
mod input;
mod io;
mod log;
mod open_load;
mod packed;
mod phase;
mod player;
pub mod printed;
mod probe;
mod ranges;
mod reader;
mod reading;
pub mod record;
mod replay;
mod script;
mod sequences;
mod snapshot;
mod steps;
pub mod synthetic;
mod transactions;
mod verify;
mod versions;
mod witness;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use ssdlab_host::interrupt::Interrupt;

pub use self::ageing::{AgeingResult, layout_score};
pub use self::archive::plain as plain_archive;
use self::bonnie::BonnieRunner;
pub use self::check::check;
use self::command_system::TestedDirectory;
use self::content::{Content, FileContents};
pub use self::error::WorkloadError;
#[doc(hidden)]
#[cfg(fuzzing)]
pub use self::fuzzing::fuzz_archive;
use ssdlab_host::program::{self, ProgramError};
use ssdlab_operations::calls::ProgramActivity;
use ssdlab_plan::io::IoContents;
use ssdlab_plan::schedule::{self, Action, Build, FileHashes, FileTree};
use ssdlab_plan::{Age, CommandSystem};

pub use self::fio::check_job;
pub use self::history::TrialEvent;
use self::history::TrialReporter;
pub use self::input::{InputError, private};
pub use self::packed::pack;
pub use self::phase::{PhaseContext, PhaseOutcome};
use self::player::Player;
pub use self::probe::{PROBE_SPACE_BYTES, ProbeFile, ProbeFileError};
pub use self::reader::{ConcurrentReader, Reads};
use self::replay::Replay;
use self::script::Script;
use self::synthetic::build::{self, BuildShape};
use self::synthetic::content::ContentPool;
use self::synthetic::maildir::Spool;
use self::synthetic::random::mix;
use self::synthetic::rotation::Rotation;
use self::synthetic::tree::{self, TreeShape};
use self::verify::Oracle;
pub use self::versions::{look, subjects};
use self::witness::Witness;

/// The mean size of the files of a prefill.
const PREFILL_FILE_BYTES: u64 = 1 << 20;

/// The name of the clone in a trial's directory.
const CLONE: &str = "clone";

/// A workload ready to run: everything possible has been prepared before the clock starts.
#[derive(Debug)]
pub struct PreparedWorkload {
    contents: FileContents,
    tree: Source<FileTree, Script>,
    build: Source<Build, build::BuildScripts>,
    bonnie: Option<BonnieRunner>,
    replay: Replay,
    /// The checked job files of fio.
    jobs: BTreeMap<PathBuf, String>,
    /// The trial's seed.
    seed: u64,
    /// Receives the operations on files that a power cut may undo.
    teller: TrialReporter,
    /// The system that commands run in, if it is not this one.
    system: Option<CommandSystem>,
    /// Whether the kernel takes system calls together.
    hands_calls_over: bool,
}

/// The source of scripts, and those of the current seed.
#[derive(Debug)]
struct Source<T, S> {
    spec: Option<T>,
    seed: Option<u64>,
    scripts: S,
}

impl PreparedWorkload {
    /// Prepares a run's workload: decodes its archive, finds its repository and its programs. It
    /// keeps copies of the files named by the plan, which must match `inputs`.
    pub fn new(
        spec: &schedule::Workload,
        inputs: &FileHashes,
        seed: u64,
        interrupt: &Interrupt,
    ) -> Result<Self, WorkloadError> {
        let stopped = |error| if interrupt.is_set() { WorkloadError::Interrupted } else { error };
        Self::prepare(spec, inputs, seed, interrupt).map_err(stopped)
    }

    fn prepare(
        spec: &schedule::Workload,
        inputs: &FileHashes,
        seed: u64,
        interrupt: &Interrupt,
    ) -> Result<Self, WorkloadError> {
        let mut contents = FileContents { pool: ContentPool::new(seed), archive: None };
        let mut tree = Source { spec: spec.tree.clone(), seed: None, scripts: Script::default() };
        if let Some(FileTree::Archive { path, share }) = &spec.tree {
            let archive = archive::read(path, *share, inputs, interrupt)?;
            contents.archive = Some(archive.tar);
            tree.scripts = archive.script;
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
                Action::Fio { job, .. } => {
                    program::find("fio", "fio")?;
                    jobs.insert(job.clone(), fio::read(job, inputs, interrupt)?);
                }
                Action::Fstrim => {
                    program::find("fstrim", "util-linux")?;
                }
                _ => {}
            }
        }
        let build = Source {
            spec: spec.build.clone(),
            seed: None,
            scripts: build::BuildScripts::default(),
        };
        let bonnie = spec.bonnie.clone().map(BonnieRunner::new);
        let replay = Replay::read(&spec.phases, inputs, interrupt)?;
        let teller = TrialReporter::default();
        let hands_calls_over = false;
        let system = spec.system.clone();
        Ok(Self {
            contents,
            tree,
            build,
            bonnie,
            replay,
            jobs,
            seed,
            teller,
            system,
            hands_calls_over,
        })
    }

    /// Hands system calls to the lab kernel together; other kernels know no such call.
    pub fn hand_calls_over(&mut self) {
        self.hands_calls_over = true;
    }

    /// Sends all that happens and that a power cut may undo to this receiver only.
    pub fn tell(&mut self, told: impl FnMut(TrialEvent) + 'static) {
        self.teller = TrialReporter::new(told);
    }

    /// Makes the operations of a trial; treatments of one block share them.
    pub fn seed(&mut self, seed: u64) {
        self.seed = seed;
        if let Some(FileTree::Synthetic { files, bytes }) = self.tree.spec
            && self.tree.seed != Some(seed)
        {
            self.tree.scripts = tree::synthetic(TreeShape { files, bytes }, seed).unpack();
            self.tree.seed = Some(seed);
        }
        if let Some(Build::Synthetic { files, bytes }) = self.build.spec
            && self.build.seed != Some(seed)
        {
            let shape = BuildShape::of(TreeShape { files, bytes });
            self.build.scripts = build::synthetic(shape, seed);
            self.build.seed = Some(seed);
        }
        if let Some(bonnie) = &mut self.bonnie {
            bonnie.seed(seed);
        }
    }

    /// The size of the tree that `unpack` makes from an archive, in bytes.
    pub fn archive_bytes(&self) -> u64 {
        match self.tree.spec {
            Some(FileTree::Archive { .. }) => self.tree.scripts.written_bytes(),
            _ => 0,
        }
    }

    /// Performs one phase, except those that need the lab or a meter (`idle`, `remount`).
    pub fn perform(
        &mut self,
        phase: &schedule::Phase,
        place: PhaseContext<'_>,
    ) -> Result<PhaseOutcome, WorkloadError> {
        let seed = self.seed_of(phase);
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

    /// Different phases of a trial use different offsets and contents.
    fn seed_of(&self, phase: &schedule::Phase) -> u64 {
        phase.name.bytes().fold(self.seed, |seed, byte| mix(seed ^ u64::from(byte)))
    }

    fn act(
        &self,
        action: &Action,
        seed: u64,
        place: PhaseContext<'_>,
    ) -> Result<PhaseOutcome, WorkloadError> {
        if let Some(script) = self.script(action) {
            let mut player = self.player(place)?;
            player.perform(script)?;
            return Ok(PhaseOutcome::wrote(player.written_bytes()));
        }
        match (action, &self.build.spec) {
            (Action::Delete, _) => {
                self.player(place)?.delete_all()?;
                Ok(PhaseOutcome::wrote(0))
            }
            (Action::Sync, _) => {
                self.sync(place)?;
                Ok(PhaseOutcome::wrote(0))
            }
            (Action::Clone, Some(Build::Git { repository, .. })) => clone(repository, place),
            (Action::Make, Some(Build::Git { make, .. })) => run_in_clone(make, place),
            (Action::Clean, Some(Build::Git { clean, .. })) => run_in_clone(clean, place),
            (Action::Fstrim, _) => {
                let mut command = Command::new(program::find("fstrim", "util-linux")?);
                command.arg(place.mounted_at);
                program::run(command, place.rules)?;
                Ok(PhaseOutcome::default())
            }
            (Action::Command { run, env }, _) => {
                if let Some(system) = &self.system {
                    let programs = Some(self.run_in(system, run, env, place)?);
                    return Ok(PhaseOutcome { programs, ..PhaseOutcome::default() });
                }
                let mut command = Command::new(&run[0]);
                command.args(&run[1..]).envs(env).current_dir(place.directory);
                if self.teller.is_heard() {
                    program::run_aloud(command, place.rules, &mut |line| self.teller.say(line))?;
                } else {
                    program::run(command, place.rules)?;
                }
                Ok(PhaseOutcome::default())
            }
            (Action::Fio { job, .. }, _) => {
                let text = self.jobs.get(job).expect("the jobs of all phases were read");
                fio::run(text, place.directory, place.rules)
            }
            (Action::Imported, _) => Err(WorkloadError::NotPerformed),
            (Action::Read { order }, _) => reading::run(*order, &self.tree.scripts, seed, place),
            (Action::Io(io), _) => io::run(io, &self.contents.pool, seed, place),
            (Action::Transactions(work), _) => {
                transactions::run(work, &self.contents.pool, seed, place)
            }
            (Action::Replace(work), _) => versions::replace(work, &self.teller, place),
            (Action::Append(work), _) => versions::append(work, &self.teller, place),
            (Action::Database(work), _) => database::run(work, &self.teller, place),
            (Action::Sequences(work), _) => sequences::run(*work, &self.teller, place),
            (Action::Maildir(work), _) => {
                steps::run(Spool::new(*work, seed), work.think_ns, self.player(place)?, place)
            }
            (Action::Rotate(work), _) => {
                steps::run(Rotation::new(*work, seed), work.think_ns, self.player(place)?, place)
            }
            // Done elsewhere: by the player with a script, Bonnie's tests by `perform`, and the
            // last three by the conductor.
            (
                Action::Unpack
                | Action::Clone
                | Action::Make
                | Action::Clean
                | Action::Replay { .. }
                | Action::Bonnie { .. }
                | Action::Idle { .. }
                | Action::Stretch { .. }
                | Action::Remount,
                _,
            ) => Ok(PhaseOutcome::default()),
        }
    }

    /// Runs a command in the system of the plan, and tells what it did.
    fn run_in(
        &self,
        system: &CommandSystem,
        words: &[String],
        env: &BTreeMap<String, String>,
        place: PhaseContext<'_>,
    ) -> Result<ProgramActivity, WorkloadError> {
        let failed =
            |cause: std::io::Error| ProgramError::Start { program: words[0].clone(), cause };
        let tested = TestedDirectory::mount(place.directory).map_err(failed)?;
        let mut command = tested.command(words);
        command.envs(env);
        let mut witness = Witness::new(tested.path(), &self.teller, system.remedy);
        match program::run_watched(command, place.rules, &mut witness) {
            // It may well stop where the drive fails; a shell that finds no program does not.
            Err(ProgramError::Failed { how, .. })
                if system.write_errors.is_some() && !program::is_missing(&how) => {}
            ended => ended?,
        }
        Ok(witness.activity)
    }

    /// The script of a phase, if it is known beforehand.
    fn script(&self, action: &Action) -> Option<&Script> {
        let is_real = matches!(self.build.spec, Some(Build::Git { .. }));
        match action {
            Action::Unpack => Some(&self.tree.scripts),
            Action::Clone if !is_real => Some(&self.build.scripts.clone),
            Action::Make if !is_real => Some(&self.build.scripts.make),
            Action::Clean if !is_real => Some(&self.build.scripts.clean),
            Action::Replay { log } => Some(self.replay.script(log)),
            _ => None,
        }
    }

    /// Compares the directory with what these phases must have left there; the error is the first
    /// difference. Returns whether there was anything to compare: what an external program leaves
    /// is unknown.
    pub fn verify(
        &self,
        phases: &[schedule::Phase],
        place: PhaseContext<'_>,
    ) -> Result<bool, WorkloadError> {
        let umask = verify::umask()?;
        let mut oracle = Oracle::default();
        oracle.perform(&self.replay.before, umask)?;
        // What is deleted takes its history with it.
        let deleted = phases.iter().rposition(|phase| phase.action == Action::Delete);
        let histories = &phases[deleted.map_or(0, |deleted| deleted + 1)..];
        for phase in phases {
            match &phase.action {
                Action::Delete => oracle = Oracle::default(),
                action if action.has_history() => {}
                Action::Maildir(work) => {
                    oracle.perform_all(Spool::new(*work, self.seed_of(phase)), umask)?;
                }
                Action::Rotate(work) => {
                    oracle.perform_all(Rotation::new(*work, self.seed_of(phase)), umask)?;
                }
                // The result of Bonnie's tests is only known at the end.
                Action::Bonnie { .. }
                | Action::Read { .. }
                | Action::Sync
                | Action::Fstrim
                | Action::Idle { .. }
                | Action::Stretch { .. }
                | Action::Remount => {}
                action => match self.script(action) {
                    Some(script) => oracle.perform(script, umask)?,
                    None => return Ok(false),
                },
            }
        }
        if let Some(bonnie) = &self.bonnie {
            oracle.perform(&bonnie.leaves(), umask)?;
        }
        versions::verify(histories, place)?;
        let apart = subjects(histories);
        oracle.compare(place.directory, &self.contents, &apart, place.rules.interrupt)?;
        Ok(true)
    }

    /// Whether there are files that phases need.
    pub fn begins_with_files(&self, workload: &schedule::Workload) -> bool {
        workload.has_history()
            || !workload.files().is_empty()
            || !self.replay.before.operations.is_empty()
    }

    /// Writes and syncs the files that phases need.
    pub fn lay_out(
        &self,
        workload: &schedule::Workload,
        place: PhaseContext<'_>,
    ) -> Result<(), WorkloadError> {
        let mut files = Script::default();
        let contents = workload.contents();
        for (number, (name, bytes)) in (0..).zip(workload.files()) {
            let seed = self.seed.wrapping_add(number);
            let content = match contents.get(&name) {
                Some(IoContents::Text) => Content::Text { seed },
                Some(IoContents::Zeros) => Content::Zeros,
                Some(IoContents::Random) | None => Content::Binary { seed },
            };
            files.make_file(&name, 0o644, bytes, content, None);
        }
        self.player(place)?.perform(&self.replay.before)?;
        self.player(place)?.perform(&files)?;
        versions::lay_out(&subjects(&workload.phases), self.seed, place)?;
        self.sync(place)
    }

    /// Fills a directory with files of about this many bytes in total.
    pub fn fill(
        &self,
        bytes: u64,
        seed: u64,
        material: Material,
        place: PhaseContext<'_>,
    ) -> Result<(), WorkloadError> {
        let mut player = self.player(place)?;
        match material {
            Material::Text => {
                let files = bytes.div_ceil(PREFILL_FILE_BYTES);
                player.perform(&tree::synthetic(TreeShape { files, bytes }, seed).unpack())?;
            }
            Material::Zeros { is_direct } => player.fill_with_zeros(bytes, is_direct)?,
        }
        self.sync(place)
    }

    /// Ages the filesystem of a directory, where the remaining files are.
    pub fn age(
        &self,
        age: Age,
        seed: u64,
        place: PhaseContext<'_>,
    ) -> Result<AgeingResult, WorkloadError> {
        ageing::age(age, seed, place.directory, &mut self.player(place)?)
    }

    /// Empties a directory.
    pub fn empty(&self, place: PhaseContext<'_>) -> Result<(), WorkloadError> {
        self.player(place)?.delete_all()?;
        self.sync(place)
    }

    fn sync(&self, place: PhaseContext<'_>) -> Result<(), WorkloadError> {
        place.sync(&self.player(place)?.directory)
    }

    /// Makes the file of the concurrent reader.
    pub fn make_reader(&self, path: &Path, seed: u64) -> std::io::Result<()> {
        ConcurrentReader::make(path, &self.contents.pool, seed)
    }

    fn player<'a>(&'a self, place: PhaseContext<'a>) -> Result<Player<'a>, WorkloadError> {
        let player = Player::new(place.directory, &self.contents, place.rules)?;
        Ok(if self.hands_calls_over { player.hand_over() } else { player })
    }
}

/// The files of a prefill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Material {
    /// Text files of 1 MiB on average.
    Text,
    /// Files of 16 MiB of zeros: a disk in memory does not store zeros, and a simulated drive
    /// ignores contents.
    Zeros {
        /// Whether they are written by direct I/O, which avoids copying.
        is_direct: bool,
    },
}

fn is_repository(path: &Path) -> bool {
    path.join(".git").exists() || (path.join("HEAD").exists() && path.join("objects").exists())
}

/// Clones as from another machine: without hard links and background processes. The repository may
/// belong to another user.
fn clone(repository: &Path, place: PhaseContext<'_>) -> Result<PhaseOutcome, WorkloadError> {
    let mut command = Command::new(program::find("git", "git")?);
    command
        .args(["-c", "gc.auto=0", "-c", "maintenance.auto=false", "clone", "--quiet", "--no-local"])
        .arg("--upload-pack=git -c safe.directory='*' upload-pack")
        .arg(repository)
        .arg(CLONE)
        .current_dir(place.directory);
    program::run(command, place.rules)?;
    Ok(PhaseOutcome::default())
}

fn run_in_clone(words: &[String], place: PhaseContext<'_>) -> Result<PhaseOutcome, WorkloadError> {
    let directory: PathBuf = place.directory.join(CLONE);
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).current_dir(directory);
    program::run(command, place.rules)?;
    Ok(PhaseOutcome::default())
}

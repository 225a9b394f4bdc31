//! Resolves a plan's workload: which phases make sense, what they work on, and at which scale.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ssdlab_quantity::{Bytes, Span};

use super::bonnie::{self, BonnieTest, WrittenBonnie};
use super::error::PlanFault;
use super::fio_job::{self, Jobs};
use super::lab_kind::LabKind;
use super::overrides::Overrides;
use super::recordings::{self, Recording};
use super::schedule::{Action, Build, FileTree, Phase, Treatment, Workload};
use super::setup::{Discard, FSTRIM, Setup};
use super::target::Target;
use super::written::{self, Verb};
use super::{
    database, io, maildir, rotation, sequences, soundness, space, system, transactions, versions,
};

/// Linux 2.6.39, the tree of founding post 1.
const TREE_FILES: u64 = 36_706;
const TREE_BYTES: u64 = 493_000_000;
/// About Linux 2.6.29, the tree of founding post 3.
const BUILD_FILES: u64 = 26_700;
const BUILD_BYTES: u64 = 340_000_000;

/// Resolves the workload, and checks whether it is possible for a target and each treatment.
pub(super) fn resolve(
    written: &written::WrittenWorkload,
    overrides: &Overrides,
    context: &WorkloadContext<'_>,
) -> Result<Workload, PlanFault> {
    let WorkloadContext { base, target, treatments, .. } = *context;
    let quiet_ns = written.quiet.unwrap_or(Span(Duration::from_millis(5))).nanos();
    let limit_ns = written.limit.unwrap_or(Span(Duration::from_mins(30))).nanos();
    let scale = scale(overrides)?;
    let mut phases: Vec<Phase> = Vec::new();
    for entry in written.phases.get_ref() {
        let defaults = PhaseDefaults { quiet_ns, limit_ns, context, scale };
        for mut phase in self::phases(entry.get_ref(), &entry.span(), &defaults)? {
            share_size(&mut phase, &mut phases);
            check_file(&phase, &phases, entry.span())?;
            let taken = phase.name == FSTRIM && !matches!(phase.action, Action::Fstrim);
            if taken || phases.iter().any(|earlier| earlier.name == phase.name) {
                return Err(PlanFault::at(
                    entry.span(),
                    format!("the phase name `{}` is already taken", phase.name),
                    "give each phase a name of its own: name = \"...\"",
                ));
            }
            check_once(&phase, &phases, entry.span())?;
            phases.push(phase);
        }
    }
    phases.extend(context.stretch.cloned());
    let at = written.phases.span();
    if phases.is_empty() {
        let help = "add at least one to [workload]; only the live lab can do without";
        return Err(PlanFault::at(at, "the workload has no phases", help));
    }
    let does = |verbs: &[Verb]| {
        written.phases.get_ref().iter().any(|phase| verbs.contains(&phase.get_ref().verb))
    };
    let (builds, unpacks) = (does(&[Verb::Clone, Verb::Make, Verb::Clean]), does(&[Verb::Unpack]));
    check_order(written)?;
    check_tests(written)?;
    if overrides.source.is_some() && !builds && !unpacks {
        return Err(PlanFault::nowhere(
            "--source names a tree, but no phase unpacks or clones one",
            "omit --source, or run a plan with such a phase",
        ));
    }
    let source = |own: Option<&PathBuf>, ours: bool| {
        let path = overrides.source.as_ref().filter(|_| ours).cloned();
        path.or_else(|| own.map(|path| base.join(path)))
    };
    let own = written.tree.clone().or_else(|| unpacks.then(written::WrittenTree::default));
    let tree = own.map(|own| tree(&own, source(own.archive.as_ref(), unpacks), scale));
    let own = builds.then(|| written.build.clone().unwrap_or_default());
    let build = own.map(|own| build(&own, source(own.repository.as_ref(), !unpacks), scale));
    let plays_bonnie = does(&[Verb::Bonnie]);
    let own = written.bonnie.clone().or_else(|| plays_bonnie.then(WrittenBonnie::default));
    let bonnie = own.map(|own| bonnie::resolve(&own, |amount| scaled(amount, scale), target.lab()));
    let (tree, build, bonnie) = (tree.transpose()?, build.transpose()?, bonnie.transpose()?);
    let has_own = does(&[Verb::Io, Verb::Transactions, Verb::Replace, Verb::Append])
        || does(&[Verb::Database, Verb::Maildir, Verb::Rotate]);
    #[expect(clippy::float_cmp, reason = "only an explicit 1 changes nothing")]
    if tree.is_none() && build.is_none() && bonnie.is_none() && !has_own && scale != 1.0 {
        return Err(PlanFault::nowhere(
            "--scale has nothing to scale: programs and fio jobs define their own sizes",
            "change the size in the plan's command or job file",
        ));
    }
    let programs = written.programs.clone();
    let system = system::resolve(written.system.as_ref(), target.lab(), base)?;
    let workload = Workload { tree, build, bonnie, quiet_ns, phases, programs, system };
    if let Some(fault) = soundness::fault_of(&workload) {
        return Err(PlanFault::at(
            at,
            fault,
            "give amounts within these limits; --scale multiplies them",
        ));
    }
    check_programs(&workload, target)?;
    for setup in treatments.iter().filter_map(|treatment| treatment.setup.as_ref().ok()) {
        check_setup(&workload, target, setup, &written.phases.span())?;
    }
    Ok(workload)
}

/// Refuses phases without the earlier phase that they depend on, and phases that would overwrite
/// the files of an earlier one.
fn check_order(written: &written::WrittenWorkload) -> Result<(), PlanFault> {
    // Since the last `delete`.
    let mut done: Vec<Verb> = Vec::new();
    for entry in written.phases.get_ref() {
        let verb = entry.get_ref().verb;
        let needs = match verb {
            Verb::Make => Some((Verb::Clone, "there is nothing to build")),
            Verb::Clean => Some((Verb::Make, "there is nothing to clean")),
            Verb::Read => Some((Verb::Unpack, "there is no tree to read")),
            _ => None,
        };
        if let Some((needs, why)) = needs
            && !done.contains(&needs)
        {
            return Err(PlanFault::at(
                entry.span(),
                format!("{why}: no `{needs}` before this phase"),
                format!("add a phase with do = \"{needs}\" before it"),
            ));
        }
        if matches!(verb, Verb::Unpack | Verb::Clone) && done.contains(&verb) {
            return Err(PlanFault::at(
                entry.span(),
                format!("`{verb}` would overwrite its own files"),
                "delete them first: a phase with do = \"delete\"",
            ));
        }
        if verb == Verb::Delete {
            done.clear();
        }
        done.push(verb);
    }
    Ok(())
}

/// The settings that phases share.
struct PhaseDefaults<'a> {
    quiet_ns: u64,
    limit_ns: u64,
    context: &'a WorkloadContext<'a>,
    scale: f64,
}

/// What a workload is resolved for.
pub(super) struct WorkloadContext<'a> {
    /// The folder that relative paths start from.
    pub base: &'a Path,
    /// Where trials run.
    pub target: &'a Target,
    /// What they compare.
    pub treatments: &'a [Treatment],
    /// The fio job files, as far as they are known.
    pub jobs: &'a Jobs,
    /// The machine's own work, which comes last (live lab).
    pub stretch: Option<&'a Phase>,
}

/// A fio job that no phase of the virtual lab can perform.
fn untranslated(job: &Path, why: &str, at: &Range<usize>) -> PlanFault {
    PlanFault::at(
        at.clone(),
        format!(
            "{}: the virtual lab has no fio, and an `io` phase cannot do this: {why}",
            job.display()
        ),
        "change the job, or let fio perform it: --lab image (with root) or --lab directory",
    )
}

/// A size that a scale multiplies is rounded up to whole blocks, so phases with other blocks may
/// arrive at others for the same file: the largest is its size.
fn share_size(phase: &mut Phase, earlier: &mut [Phase]) {
    let Action::Io(own) = &mut phase.action else { return };
    for other in earlier {
        let Action::Io(other) = &mut other.action else { continue };
        let is_shared = own.names().any(|name| other.names().any(|theirs| theirs == name));
        let larger = if own.size_bytes < other.size_bytes { &*other } else { &*own };
        // Rounding explains less than a block of the larger, no more.
        let rounded = u64::from(larger.largest_block_bytes());
        if is_shared && own.size_bytes.abs_diff(other.size_bytes) < rounded {
            let shared = own.size_bytes.max(other.size_bytes);
            (own.size_bytes, other.size_bytes) = (shared, shared);
        }
    }
}

/// Phases that name the same file work on one file, which exists before the first phase.
fn check_file(phase: &Phase, earlier: &[Phase], at: Range<usize>) -> Result<(), PlanFault> {
    let files = phase.action.files();
    let Some((name, _)) = files.first() else { return Ok(()) };
    if earlier.iter().any(|other| other.action == Action::Delete) {
        return Err(PlanFault::at(
            at,
            format!("the file `{name}` is already deleted: files are made before the first phase"),
            "move the `delete` phase after this one",
        ));
    }
    for (name, earlier_bytes) in earlier.iter().flat_map(|other| other.action.files()) {
        let differs = |(own, bytes): &&(String, u64)| *own == name && *bytes != earlier_bytes;
        if let Some((_, bytes)) = files.iter().find(differs) {
            return Err(PlanFault::at(
                at,
                format!(
                    "the file `{name}` has {} here, but {} in an earlier phase",
                    Bytes(*bytes),
                    Bytes(earlier_bytes)
                ),
                "give it one size, or two names",
            ));
        }
    }
    Ok(())
}

/// Files have one history each: a workload replaces files in one phase, appends in one, performs
/// sequences, delivers mail and rotates a log in one, and has one database of each kind.
fn check_once(phase: &Phase, earlier: &[Phase], at: Range<usize>) -> Result<(), PlanFault> {
    let is_same = |other: &Phase| match (&phase.action, &other.action) {
        (Action::Replace(_), Action::Replace(_))
        | (Action::Append(_), Action::Append(_))
        | (Action::Sequences(_), Action::Sequences(_))
        | (Action::Maildir(_), Action::Maildir(_))
        | (Action::Rotate(_), Action::Rotate(_)) => true,
        (Action::Database(own), Action::Database(other)) => {
            own.shape.torn_pages == other.shape.torn_pages
        }
        _ => false,
    };
    let Some(other) = earlier.iter().find(|other| is_same(other)) else { return Ok(()) };
    let message = format!("the phase `{}` already has these files", other.name);
    Err(PlanFault::at(at, message, "make it a plan of its own"))
}

/// The phases of one entry: Bonnie's tests are a phase each.
fn phases(
    written: &written::WrittenPhase,
    at: &Range<usize>,
    defaults: &PhaseDefaults<'_>,
) -> Result<Vec<Phase>, PlanFault> {
    check_keys(written, at)?;
    if written.a_day.is_some_and(|times| !times.is_finite() || times <= 0.0) {
        return Err(PlanFault::at(
            at.clone(),
            "`a_day` must be above 0".to_owned(),
            "for example a_day = 10",
        ));
    }
    let phase = |name: String, action: Action, cold: bool| Phase {
        name,
        action,
        sync: written.sync,
        cold: written.cold.unwrap_or(cold),
        reader: written.reader,
        a_day: written.a_day,
        limit_ns: written.limit.map_or(defaults.limit_ns, Span::nanos),
        // Depends on the claims, which are resolved last.
        postponed_ns: 0,
    };
    if written.verb != Verb::Bonnie {
        let name = written.name.clone().unwrap_or_else(|| written.verb.to_string());
        let action = action(written, at, defaults)?;
        // fio drops what the page cache has of a job's files.
        let is_cold = written.verb == Verb::Fio && matches!(action, Action::Io(_));
        return Ok(vec![phase(name, action, is_cold)]);
    }
    let tests = tests(written);
    let name = |test: BonnieTest| match &written.name {
        Some(name) if tests.len() == 1 => name.clone(),
        Some(name) => format!("{name}_{}", test.name()),
        None => test.name().to_owned(),
    };
    let of = |test: &BonnieTest| phase(name(*test), Action::Bonnie { test: *test }, test.reads());
    Ok(tests.iter().map(of).collect())
}

/// Bonnie's tests that a phase performs; none if it does something else.
fn tests(written: &written::WrittenPhase) -> &[BonnieTest] {
    match (&written.tests, written.verb) {
        (Some(tests), Verb::Bonnie) => tests,
        (None, Verb::Bonnie) => &BonnieTest::ALL,
        _ => &[],
    }
}

/// Refuses Bonnie's tests that lack the files of an earlier one, or would collide with them.
fn check_tests(written: &written::WrittenWorkload) -> Result<(), PlanFault> {
    let mut made: Vec<BonnieTest> = Vec::new();
    for entry in written.phases.get_ref() {
        if entry.get_ref().verb == Verb::Delete {
            made.clear();
        }
        for test in tests(entry.get_ref()).iter().copied() {
            let fault = |message: String, other: BonnieTest| {
                let help = format!("add the test \"{}\" before it", other.name());
                Err(PlanFault::at(entry.span(), message, help))
            };
            if let Some(needs) = test.needs()
                && !made.contains(&needs)
            {
                let (name, needs_name) = (test.name(), needs.name());
                return fault(format!("`{name}` works on the files of `{needs_name}`"), needs);
            }
            if let Some(undone_by) = test.undone_by()
                && made.contains(&test)
            {
                let name = test.name();
                return fault(format!("`{name}` would overwrite its own files"), undone_by);
            }
            made.retain(|earlier| earlier.undone_by() != Some(test));
            made.push(test);
        }
    }
    Ok(())
}

/// Refuses a key that has no meaning for the phase's action.
fn check_keys(written: &written::WrittenPhase, at: &Range<usize>) -> Result<(), PlanFault> {
    let verb = written.verb;
    for (is_set, key, owner) in [
        (written.run.is_some(), "run", Verb::Command),
        (written.env.is_some(), "env", Verb::Command),
        (written.job.is_some(), "job", Verb::Fio),
        (written.tests.is_some(), "tests", Verb::Bonnie),
        (written.io.is_some(), "io", Verb::Io),
        (written.transactions.is_some(), "transactions", Verb::Transactions),
        (written.replace.is_some(), "replace", Verb::Replace),
        (written.append.is_some(), "append", Verb::Append),
        (written.database.is_some(), "database", Verb::Database),
        (written.sequences.is_some(), "sequences", Verb::Sequences),
        (written.maildir.is_some(), "maildir", Verb::Maildir),
        (written.rotate.is_some(), "rotate", Verb::Rotate),
        (written.log.is_some(), "log", Verb::Replay),
        (written.order.is_some(), "order", Verb::Read),
        (written.quiet.is_some(), "quiet", Verb::Idle),
    ] {
        if is_set && verb != owner {
            return Err(PlanFault::at(
                at.clone(),
                format!("`{key}` does not apply to do = \"{verb}\""),
                format!("use `{key}` with do = \"{owner}\""),
            ));
        }
    }
    Ok(())
}

fn action(
    written: &written::WrittenPhase,
    at: &Range<usize>,
    defaults: &PhaseDefaults<'_>,
) -> Result<Action, PlanFault> {
    let PhaseDefaults { quiet_ns, context, scale, .. } = *defaults;
    let base = context.base;
    let needs = |key: &str, example: &str| {
        PlanFault::at(
            at.clone(),
            format!("do = \"{}\" needs `{key}`", written.verb),
            format!("for example {example}"),
        )
    };
    Ok(match written.verb {
        Verb::Unpack => Action::Unpack,
        Verb::Read => Action::Read { order: written.order.unwrap_or_default() },
        Verb::Delete => Action::Delete,
        Verb::Sync => Action::Sync,
        Verb::Fstrim => Action::Fstrim,
        Verb::Idle => Action::Idle { quiet_ns: written.quiet.map_or(quiet_ns, Span::nanos) },
        Verb::Remount => Action::Remount,
        Verb::Clone => Action::Clone,
        Verb::Make => Action::Make,
        Verb::Clean => Action::Clean,
        Verb::Command => Action::Command {
            run: written
                .run
                .as_ref()
                .ok_or_else(|| needs("run", "run = \"tar xf /tmp/x.tar\""))?
                .0
                .clone(),
            env: written.env.clone().unwrap_or_default(),
        },
        Verb::Fio => {
            let job =
                written.job.as_ref().ok_or_else(|| needs("job", "job = \"randwrite.fio\""))?;
            let job = base.join(job);
            match context.jobs.get(&job) {
                Some(text) if context.target.lab() == LabKind::Virtual => {
                    let io =
                        fio_job::translated(text).map_err(|why| untranslated(&job, &why, at))?;
                    Action::Io(io::resolve(&io, at, |amount| scaled(amount, scale))?)
                }
                text => {
                    let syncs = text.is_some_and(|text| fio_job::syncs(text));
                    Action::Fio { job, syncs }
                }
            }
        }
        Verb::Bonnie => unreachable!("its tests are phases of their own"),
        Verb::Io => {
            let example = "io = { size = \"512 MiB\", time = \"10 s\" }";
            let io = written.io.as_ref().ok_or_else(|| needs("io", example))?;
            Action::Io(io::resolve(io, at, |amount| scaled(amount, scale))?)
        }
        Verb::Transactions => {
            let example = "transactions = { number = 500 }";
            let work = written.transactions.as_ref();
            let work = work.ok_or_else(|| needs("transactions", example))?;
            Action::Transactions(transactions::resolve(work, at, |amount| scaled(amount, scale))?)
        }
        Verb::Replace => {
            let example = "replace = { files = 50, rounds = 20, sync = \"file\" }";
            let replace = written.replace.as_ref().ok_or_else(|| needs("replace", example))?;
            Action::Replace(versions::replace(replace, at, |amount| scaled(amount, scale))?)
        }
        Verb::Append => {
            let example = "append = { records = 1000, sync_every = 10 }";
            let append = written.append.as_ref().ok_or_else(|| needs("append", example))?;
            Action::Append(versions::append(append, at, |amount| scaled(amount, scale))?)
        }
        Verb::Database => {
            let example = "database = { commits = 1000 }";
            let work = written.database.as_ref().ok_or_else(|| needs("database", example))?;
            Action::Database(database::resolve(work, at, |amount| scaled(amount, scale))?)
        }
        Verb::Sequences => {
            let example = "sequences = { operations = 2 }";
            let work = written.sequences.ok_or_else(|| needs("sequences", example))?;
            Action::Sequences(sequences::resolve(work, at)?)
        }
        Verb::Maildir => {
            let work = written.maildir.as_ref();
            let work = work.ok_or_else(|| needs("maildir", "maildir = { messages = 1000 }"))?;
            Action::Maildir(maildir::resolve(work, at, |amount| scaled(amount, scale))?)
        }
        Verb::Rotate => {
            let work = written.rotate.as_ref();
            let work = work.ok_or_else(|| needs("rotate", "rotate = { records = 10000 }"))?;
            Action::Rotate(rotation::resolve(work, at, |amount| scaled(amount, scale))?)
        }
        Verb::Replay => {
            let log = written.log.as_ref().ok_or_else(|| needs("log", "log = \"zstd-make\""))?;
            let shipped = log.to_str().filter(|name| recordings::find(name).is_some());
            let log = match shipped {
                Some(name) => Recording::Shipped(name.to_owned()),
                None => Recording::File(base.join(log)),
            };
            Action::Replay { log }
        }
    })
}

fn scale(overrides: &Overrides) -> Result<f64, PlanFault> {
    let scale = overrides.scale.unwrap_or(1.0);
    if !scale.is_finite() || scale <= 0.0 || scale > 10_000.0 {
        return Err(PlanFault::nowhere(
            format!("--scale {scale} is out of range"),
            "give a number above 0 and at most 10000",
        ));
    }
    Ok(scale)
}

fn tree(
    written: &written::WrittenTree,
    archive: Option<PathBuf>,
    scale: f64,
) -> Result<FileTree, PlanFault> {
    let Some(path) = archive else {
        return Ok(FileTree::Synthetic {
            files: count(written.files.unwrap_or(TREE_FILES), scale)?,
            bytes: scaled(written.size.map_or(TREE_BYTES, |size| size.0), scale),
        });
    };
    if scale > 1.0 {
        return Err(PlanFault::nowhere(
            "--scale above 1 cannot make an archive larger",
            "use --scale of 1 or below, or a synthetic tree",
        ));
    }
    Ok(FileTree::Archive { path, share: scale })
}

fn build(
    written: &written::WrittenBuild,
    repository: Option<PathBuf>,
    scale: f64,
) -> Result<Build, PlanFault> {
    let Some(repository) = repository else {
        return Ok(Build::Synthetic {
            files: count(written.files.unwrap_or(BUILD_FILES), scale)?,
            bytes: scaled(written.size.map_or(BUILD_BYTES, |size| size.0), scale),
        });
    };
    #[expect(clippy::float_cmp, reason = "only an explicit 1 changes nothing")]
    if scale != 1.0 {
        return Err(PlanFault::nowhere(
            "--scale cannot make a repository larger or smaller",
            "omit --scale, or use the synthetic build",
        ));
    }
    let words = |own: &Option<ssdlab_quantity::Words>, default: &[&str]| match own {
        Some(words) => words.0.clone(),
        None => default.iter().map(|word| (*word).to_owned()).collect(),
    };
    Ok(Build::Git {
        repository,
        make: words(&written.make, &["make", "-j2"]),
        clean: words(&written.clean, &["make", "clean"]),
    })
}

/// A number of files: each is an entry of a list in memory.
fn count(files: u64, scale: f64) -> Result<u64, PlanFault> {
    let files = scaled(files, scale);
    match soundness::fault_of_count(files) {
        Some(fault) => {
            Err(PlanFault::nowhere(fault, "change `files`, or omit it; --scale multiplies it"))
        }
        None => Ok(files),
    }
}

/// At least one, so that no scale makes a workload one of nothing. A plan that says 0 keeps it, and
/// is refused.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "scale is positive")]
fn scaled(amount: u64, scale: f64) -> u64 {
    ((amount as f64 * scale).round() as u64).max(amount.min(1))
}

/// Refuses, before anything is made, workloads that cannot fit and treatments that would not
/// differ.
fn check_setup(
    workload: &Workload,
    target: &Target,
    setup: &Setup,
    at: &Range<usize>,
) -> Result<(), PlanFault> {
    let own_trim = workload.phases.iter().any(|phase| phase.action == Action::Fstrim);
    if own_trim && setup.discard == Some(Discard::Fstrim) {
        return Err(PlanFault::at(
            at.clone(),
            "discard = \"fstrim\" appends an fstrim phase, but every treatment here has one \
             already",
            "remove the fstrim phase from the workload, or the level from the plan",
        ));
    }
    if setup.filesystem.is_none() && !matches!(target.lab(), LabKind::Directory | LabKind::Live) {
        return Err(PlanFault::nowhere(
            "filesystem = \"any\" uses an existing directory, but this lab makes a filesystem",
            "name one: --set filesystem=ext4, or use --lab directory",
        ));
    }
    space::check(workload, setup, target)
}

/// A guest of the virtual lab has the programs that a plan names, but not all of a build's, and
/// fio's clock is not its own.
fn check_programs(workload: &Workload, target: &Target) -> Result<(), PlanFault> {
    let foreign = workload.phases.iter().find(|phase| match phase.action {
        Action::Fio { .. } => true,
        Action::Clone | Action::Make | Action::Clean => {
            matches!(workload.build, Some(Build::Git { .. }))
        }
        _ => false,
    });
    match foreign {
        Some(phase) if target.lab() == LabKind::Virtual => Err(PlanFault::nowhere(
            format!("phase `{}` runs fio or a real build", phase.name),
            "the virtual lab has neither: use --lab image (with root) or --lab directory",
        )),
        _ => Ok(()),
    }
}

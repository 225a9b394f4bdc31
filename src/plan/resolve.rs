//! From the plan as written to the schedule: defaults, overrides, treatments, trials.
//!
//! Everything that can be wrong with a plan without looking at a machine is found here, with
//! its place in the file.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use ssdlab_quantity::Span;

use super::claims;
use super::error::Fault;
use super::factor::{Factor, Levels};
use super::metric;
use super::order;
use super::schedule::{Repetitions, SCHEDULE_SCHEMA, Schedule, Target, Treatment};
use super::scheduler::todays_name;
use super::setup::{ANY_FILESYSTEM, LevelError, Setup};
use super::simulated::is_drive_file;
use super::workload;
use super::written::{LabKind, OneOrMany, Plan};

const DEFAULT_IMAGE_BYTES: u64 = 4 << 30;
/// Looking at the interval after every block and stopping when it is narrow favours blocks that
/// happen to agree. From eight blocks on, the 95 % interval still covers the truth in 95 % of
/// simulated runs; from three on, in 91 % (see the test `stopping_on_width_keeps_coverage`).
const LEAST_BLOCKS: u32 = 8;
const MOST_BLOCKS: u32 = 20;
/// A fixed number of seeds is never stopped early, so the interval of any number is an honest one.
const SEEDS: u32 = 3;

const MOST_TREATMENTS: usize = 1_000;
const MOST_TRIALS: usize = 100_000;

/// What the command line changes in a plan.
#[derive(Debug, Clone, Default)]
pub struct Overrides {
    /// `--lab`.
    pub lab: Option<LabKind>,
    /// `--device`.
    pub device: Option<PathBuf>,
    /// `--dir`.
    pub directory: Option<PathBuf>,
    /// `--drive`: the levels of the factor `drive`.
    pub drive: Option<String>,
    /// `--capacity`, in bytes.
    pub capacity: Option<u64>,
    /// `--source`: an archive or a repository.
    pub source: Option<PathBuf>,
    /// `--set`, in order: `FACTOR=L1,L2`.
    pub set: Vec<String>,
    /// `--scale`: multiplies the workload's size.
    pub scale: Option<f64>,
    /// `--runs`: exactly this many blocks.
    pub runs: Option<u32>,
    /// `--seed`.
    pub seed: Option<u64>,
}

/// A factor with the levels that will run, and who named them.
pub(super) struct Varied {
    pub factor: Factor,
    pub levels: Vec<String>,
    pub origin: Origin,
}

/// Who named a factor's levels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Origin {
    /// The plan, at this place.
    File(Range<usize>),
    /// The command line, or another lab than the levels are meant for: what the plan says about
    /// other levels is not wrong, only not in this run.
    Elsewhere,
    /// Nobody.
    Default,
}

impl Varied {
    /// Whether the factor has no meaning in this lab; the plan may name it all the same.
    fn is_left_out(&self) -> bool {
        self.levels.is_empty() && self.origin == Origin::Elsewhere
    }

    /// The place in the file to blame.
    fn at(&self) -> Option<&Range<usize>> {
        match &self.origin {
            Origin::File(at) => Some(at),
            _ => None,
        }
    }

    /// Whether a level that the plan names elsewhere is a mistake.
    pub fn lacks(&self, level: &str) -> bool {
        self.origin != Origin::Elsewhere && !self.levels.iter().any(|known| known == level)
    }
}

/// Resolves a plan. `base` is the folder that relative paths in it start from.
pub fn resolve(plan: &Plan, overrides: &Overrides, base: &Path) -> Result<Schedule, Fault> {
    check_name(plan.name.get_ref()).map_err(|message| {
        Fault::at(plan.name.span(), message, "use letters, digits, `-` and `_`")
    })?;
    let mut notes = Vec::new();
    let target = target(plan, overrides)?;
    let factors = factors(plan, overrides, target.lab, base, &mut notes)?;
    let baseline = baseline(plan, &factors, &mut notes)?;
    let treatments = treatments(plan, &factors, &baseline)?;
    let workload = workload::resolve(&plan.workload, overrides, base)?;
    let repetitions = repetitions(plan, overrides, target.lab)?;
    if treatments.len() * repetitions.most as usize > MOST_TRIALS {
        return Err(Fault::nowhere(
            format!(
                "{} treatments in {} blocks are too many trials",
                treatments.len(),
                repetitions.most
            ),
            format!("stay below {MOST_TRIALS}: fewer levels, or a smaller `most`"),
        ));
    }
    let seed = overrides.seed.unwrap_or(1);
    let mut schedule = Schedule {
        schema: SCHEDULE_SCHEMA,
        plan: plan.name.get_ref().clone(),
        question: plan.question.clone(),
        source: plan.source.clone(),
        metric: metric(plan)?,
        target,
        trials: order::trials(treatments.len(), repetitions.most, seed),
        treatments,
        baseline,
        workload,
        repetitions,
        claims: Vec::new(),
        published: Vec::new(),
        seed,
        verify: false,
        notes,
    };
    workload::check_size(&schedule, plan.workload.phases.span())?;
    schedule.claims = claims::resolve(plan, &schedule, &factors)?;
    schedule.published = claims::published(plan, &schedule, &factors)?;
    Ok(schedule)
}

/// Names are used as folder names.
fn check_name(name: &str) -> Result<(), String> {
    let legal = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if name.is_empty() || name.len() > 64 || !name.chars().all(legal) || name.starts_with('-') {
        return Err(format!("`{name}` cannot be the name of a plan"));
    }
    Ok(())
}

fn metric(plan: &Plan) -> Result<String, Fault> {
    let Some(written) = &plan.metric else {
        return Ok("time_ns".to_owned());
    };
    if !metric::is_known(written.get_ref()) {
        return Err(Fault::at(
            written.span(),
            format!("there is no metric `{}`", written.get_ref()),
            format!("metrics: {}", metric::names()),
        ));
    }
    Ok(written.get_ref().clone())
}

fn target(plan: &Plan, overrides: &Overrides) -> Result<Target, Fault> {
    let implied = match overrides {
        Overrides { device: Some(_), .. } => Some(LabKind::Device),
        Overrides { drive: Some(_), .. } | Overrides { capacity: Some(_), .. } => {
            Some(LabKind::Virtual)
        }
        Overrides { directory: Some(_), .. } => Some(LabKind::Image),
        _ => None,
    };
    let lab = overrides.lab.or(implied).or(plan.target.lab).unwrap_or(LabKind::Virtual);
    let goes_with = |option: &str, lab: &str| {
        Fault::nowhere(
            format!("{option} goes with the {lab} lab only"),
            format!("leave {option} out, or say --lab {lab}"),
        )
    };
    let missing = |option: &str, what: &str| {
        Fault::nowhere(format!("the {lab} lab needs {what}"), format!("name it with {option} PATH"))
    };
    match lab {
        LabKind::Device if overrides.device.is_none() => {
            return Err(missing("--device", "a block device"));
        }
        LabKind::Directory if overrides.directory.is_none() => {
            return Err(missing("--dir", "a directory"));
        }
        LabKind::Virtual | LabKind::Image | LabKind::Directory if overrides.device.is_some() => {
            return Err(goes_with("--device", "device"));
        }
        LabKind::Virtual if overrides.directory.is_some() => {
            return Err(Fault::nowhere(
                "--dir names a directory of this machine, which the virtual lab does not use",
                "say --lab directory to measure in it, or --lab image to put the image there",
            ));
        }
        LabKind::Virtual => {}
        _ if overrides.drive.is_some() => return Err(goes_with("--drive", "virtual")),
        _ if overrides.capacity.is_some() => return Err(goes_with("--capacity", "virtual")),
        _ => {}
    }
    Ok(Target {
        lab,
        size_bytes: plan.target.size.map_or(DEFAULT_IMAGE_BYTES, |size| size.0),
        device: overrides.device.clone(),
        directory: overrides.directory.clone(),
        capacity_bytes: overrides
            .capacity
            .or(plan.simulated.capacity.map(|capacity| capacity.0))
            .filter(|_| lab == LabKind::Virtual),
    })
}

fn repetitions(plan: &Plan, overrides: &Overrides, lab: LabKind) -> Result<Repetitions, Fault> {
    let written = &plan.repetitions;
    let is_virtual = lab == LabKind::Virtual;
    let exactly =
        overrides.runs.or_else(|| is_virtual.then(|| plan.simulated.seeds.unwrap_or(SEEDS)));
    let least = written.least.unwrap_or(LEAST_BLOCKS);
    let most = written.most.unwrap_or(least.max(MOST_BLOCKS));
    let written_is_right = 0 < least && least <= most;
    let (least, most) = exactly.map_or((least, most), |blocks| (blocks, blocks));
    if !written_is_right || least == 0 || most < least || most > 10_000 {
        return Err(Fault::nowhere(
            format!("{least} to {most} blocks cannot be run"),
            "repetitions: 1 <= least <= most <= 10000",
        ));
    }
    Ok(Repetitions {
        least,
        most,
        precision: written.precision.map_or(0.05, |share| share.0),
        // An exact number of runs is a budget of its own.
        time_ns: written.time.filter(|_| exactly.is_none()).map(Span::nanos),
        written_bytes: written.written.filter(|_| exactly.is_none()).map(|bytes| bytes.0),
    })
}

fn factors(
    plan: &Plan,
    overrides: &Overrides,
    lab: LabKind,
    base: &Path,
    notes: &mut Vec<String>,
) -> Result<Vec<Varied>, Fault> {
    let mut factors = Vec::new();
    for varied in written_factors(&plan.factors)? {
        add(&mut factors, varied, "write it once")?;
    }
    for varied in written_factors(&plan.simulated.factors)? {
        add(&mut factors, varied, "name it in [factors] or in [virtual.factors], not in both")?;
        if lab != LabKind::Virtual
            && let Some(simulated) = factors.last_mut()
        {
            simulated.levels.truncate(1);
            simulated.origin = Origin::Elsewhere;
        }
    }
    let drive = overrides.drive.iter().map(|drive| format!("drive={drive}"));
    let set: Vec<String> = overrides.set.iter().cloned().chain(drive).collect();
    for set in set_levels(&set)? {
        factors.retain(|varied| varied.factor != set.factor);
        factors.push(set);
    }
    let was_set = |factor: Factor| set.iter().any(|text| text.starts_with(factor.name()));
    simulate(&mut factors, lab, base, &was_set)?;
    factors.sort_by_key(|varied| varied.factor);
    if !factors.iter().any(|varied| varied.factor == Factor::Filesystem) {
        let level = if lab == LabKind::Directory { ANY_FILESYSTEM } else { "ext4" };
        let levels = vec![level.to_owned()];
        factors.insert(0, Varied { factor: Factor::Filesystem, levels, origin: Origin::Default });
    }
    for varied in factors.iter_mut().filter(|varied| !varied.is_left_out()) {
        check_levels(varied)?;
        if varied.factor == Factor::Scheduler {
            rename_schedulers(varied, notes)?;
        }
    }
    Ok(factors)
}

/// The factors of a part of a plan, and the settings that are written with them.
fn written_factors(
    written: &BTreeMap<Factor, toml::Spanned<OneOrMany>>,
) -> Result<Vec<Varied>, Fault> {
    let mut factors = Vec::new();
    for (factor, levels) in written {
        let of = levels.get_ref().of(*factor);
        let of = of.map_err(|message| fault(Some(&levels.span()), message, help_on_settings()))?;
        let varied = |(factor, levels_of)| Varied {
            factor,
            levels: levels_of,
            origin: Origin::File(levels.span()),
        };
        factors.extend(of.into_iter().map(varied));
    }
    Ok(factors)
}

fn help_on_settings() -> String {
    "a scheduler's settings: scheduler = { name = \"mq-deadline\", read_expire = [100, 500] }, or \
     \"scheduler.read_expire\" = [100, 500]"
        .to_owned()
}

fn add(factors: &mut Vec<Varied>, varied: Varied, help: &str) -> Result<(), Fault> {
    if factors.iter().any(|other| other.factor == varied.factor) {
        let message = format!("`{}` is there already", varied.factor);
        return Err(fault(varied.at(), message, help.to_owned()));
    }
    factors.push(varied);
    Ok(())
}

/// What is simulated is for the virtual lab. A plan may fix it all the same and run elsewhere
/// without it, unless it is what the plan varies.
fn simulate(
    factors: &mut [Varied],
    lab: LabKind,
    base: &Path,
    was_set: &dyn Fn(Factor) -> bool,
) -> Result<(), Fault> {
    if lab == LabKind::Virtual {
        let drives = factors.iter_mut().filter(|varied| varied.factor == Factor::Drive);
        for drive in drives.flat_map(|varied| &mut varied.levels) {
            if is_drive_file(drive) {
                *drive = base.join(&*drive).display().to_string();
            }
        }
        return Ok(());
    }
    for varied in factors.iter().filter(|varied| varied.factor.is_simulated()) {
        if varied.levels.len() > 1 || was_set(varied.factor) {
            return Err(fault(
                varied.at(),
                format!("`{}` is simulated, and the {lab} lab is real", varied.factor),
                "say --lab virtual, or leave it out".to_owned(),
            ));
        }
    }
    for varied in factors.iter_mut().filter(|varied| varied.factor.is_simulated()) {
        varied.origin = Origin::Elsewhere;
        varied.levels.clear();
    }
    Ok(())
}

/// Reads `--set FACTOR=L1,L2`. Options of mkfs and mount contain commas, so there each `--set`
/// is one level.
fn set_levels(set: &[String]) -> Result<Vec<Varied>, Fault> {
    let mut factors: Vec<Varied> = Vec::new();
    for text in set {
        let (name, levels) = text.split_once('=').ok_or_else(|| {
            Fault::nowhere(format!("--set {text}: no `=`"), "write --set FACTOR=LEVEL,LEVEL")
        })?;
        let factor = Factor::find(name).ok_or_else(|| {
            let known: Vec<_> = Factor::every().map(Factor::name).collect();
            Fault::nowhere(
                format!("--set {text}: there is no factor `{name}`"),
                format!("factors: {}", known.join(", ")),
            )
        })?;
        let levels: Vec<String> = match factor {
            Factor::Mkfs | Factor::Mount => vec![levels.to_owned()],
            _ => levels.split(',').map(|level| level.trim().to_owned()).collect(),
        };
        match factors.iter_mut().find(|varied| varied.factor == factor) {
            Some(varied) => varied.levels.extend(levels),
            None => factors.push(Varied { factor, levels, origin: Origin::Elsewhere }),
        }
    }
    Ok(factors)
}

fn fault(at: Option<&Range<usize>>, message: String, help: String) -> Fault {
    Fault { message, at: at.cloned(), help: Some(help) }
}

fn check_levels(varied: &Varied) -> Result<(), Fault> {
    let Varied { factor, levels, .. } = varied;
    let at = varied.at();
    if levels.is_empty() {
        return Err(fault(
            at,
            format!("`{factor}` has no level"),
            "name at least one, or leave the factor out".to_owned(),
        ));
    }
    for (index, level) in levels.iter().enumerate() {
        if levels[..index].contains(level) {
            return Err(fault(
                at,
                format!("`{factor}` has the level `{level}` twice"),
                "name each level once".to_owned(),
            ));
        }
        // A level is checked alone first, so that the message is about it and not about a
        // combination. Only faults of this factor count: alone, it misses its companions.
        let mut alone = Levels([(*factor, level.clone())].into());
        if let Factor::Tunable(tunable) = factor {
            alone.0.insert(Factor::Scheduler, tunable.scheduler.to_owned());
        }
        if *factor != Factor::Journal
            && let Err(error) = Setup::new(&alone)
            && error.factor == *factor
        {
            return Err(level_fault(error, at));
        }
    }
    Ok(())
}

fn level_fault(error: LevelError, at: Option<&Range<usize>>) -> Fault {
    fault(at, error.message, error.help)
}

/// The old names stand for today's schedulers; two names of one scheduler would be one
/// treatment twice.
fn rename_schedulers(varied: &mut Varied, notes: &mut Vec<String>) -> Result<(), Fault> {
    for level in &mut varied.levels {
        if let Some(today) = todays_name(level) {
            notes.push(format!(
                "the scheduler `{level}` left the kernel with Linux 5.0; `{today}` stands in for it"
            ));
            today.clone_into(level);
        }
    }
    check_levels(varied)
}

fn baseline(plan: &Plan, factors: &[Varied], notes: &mut Vec<String>) -> Result<Levels, Fault> {
    let varied: Vec<_> = factors.iter().filter(|varied| varied.levels.len() > 1).collect();
    let Some(written) = &plan.baseline else {
        return match varied[..] {
            [] => Ok(Levels::default()),
            [only] => Ok(Levels([(only.factor, only.levels[0].clone())].into())),
            _ => Err(Fault::nowhere(
                "the plan varies several factors and names no baseline",
                "add for example [baseline] with the factor the question is about and the level \
                 to compare with",
            )),
        };
    };
    let mut baseline = modern(written.get_ref());
    let is_left_out = |factor: &Factor| {
        factors.iter().any(|varied| varied.factor == *factor && varied.is_left_out())
    };
    baseline.0.retain(|factor, _| !is_left_out(factor));
    for (factor, level) in &mut baseline.0 {
        let Some(varied) = factors.iter().find(|varied| varied.factor == *factor) else {
            return Err(Fault::at(
                written.span(),
                format!("the baseline names `{factor}`, which the plan does not vary"),
                format!("add `{factor}` to [factors], or take it out of [baseline]"),
            ));
        };
        if !varied.levels.contains(level) {
            if varied.lacks(level) {
                return Err(Fault::at(
                    written.span(),
                    format!("the baseline's {factor} = \"{level}\" is none of the plan's levels"),
                    format!("levels of `{factor}`: {}", varied.levels.join(", ")),
                ));
            }
            notes.push(format!(
                "the baseline {factor} = {level} is not in this run; {factor} = {} stands in for it",
                varied.levels[0]
            ));
            level.clone_from(&varied.levels[0]);
        }
    }
    Ok(baseline)
}

/// Levels with today's names of schedulers.
pub(super) fn modern(levels: &Levels) -> Levels {
    let mut levels = levels.clone();
    if let Some(level) = levels.0.get_mut(&Factor::Scheduler)
        && let Some(today) = todays_name(level)
    {
        today.clone_into(level);
    }
    levels
}

/// What to leave out, checked: a typo here would run what was not wanted.
fn excluded(plan: &Plan, factors: &[Varied]) -> Result<Vec<Levels>, Fault> {
    let check = |part: &toml::Spanned<Levels>| {
        let levels = modern(part.get_ref());
        for (factor, level) in &levels.0 {
            let varied = factors.iter().find(|varied| varied.factor == *factor);
            if varied.is_none_or(|varied| varied.lacks(level)) {
                return Err(Fault::at(
                    part.span(),
                    format!("`exclude` names {factor} = \"{level}\", which the plan does not vary"),
                    "take it out, or correct it",
                ));
            }
        }
        Ok(levels)
    };
    plan.exclude.iter().map(check).collect()
}

fn treatments(plan: &Plan, factors: &[Varied], baseline: &Levels) -> Result<Vec<Treatment>, Fault> {
    let mut combinations = vec![Levels::default()];
    for varied in factors.iter().filter(|varied| !varied.is_left_out()) {
        combinations = combinations
            .iter()
            .flat_map(|levels| {
                varied
                    .levels
                    .iter()
                    .map(|level| levels.with(&Levels([(varied.factor, level.clone())].into())))
            })
            .collect();
        if combinations.len() > MOST_TREATMENTS {
            return Err(fault(
                varied.at(),
                format!("more than {MOST_TREATMENTS} combinations of levels"),
                "vary fewer factors, or leave combinations out with `exclude`".to_owned(),
            ));
        }
    }
    let excluded = excluded(plan, factors)?;
    combinations.retain(|levels| !excluded.iter().any(|part| levels.matches(part)));
    if combinations.is_empty() {
        return Err(Fault::nowhere(
            "no combination of levels is left to run",
            "`exclude` leaves all of them out; take something out of it",
        ));
    }
    for levels in &combinations {
        Setup::new(levels).map_err(|error| {
            let at =
                factors.iter().find(|varied| varied.factor == error.factor).and_then(Varied::at);
            level_fault(
                LevelError { message: format!("{} ({levels})", error.message), ..error },
                at,
            )
        })?;
    }
    let counterpart = |levels: &Levels| {
        let other = levels.with(baseline);
        (other != *levels).then(|| combinations.iter().position(|l| *l == other)).flatten()
    };
    let baselines: Vec<_> = combinations.iter().map(counterpart).collect();
    Ok(combinations
        .into_iter()
        .zip(baselines)
        .map(|(levels, baseline)| Treatment { levels, baseline })
        .collect())
}

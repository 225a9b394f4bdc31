//! From the plan as written to the schedule: target, repetitions and trials, and in which order the
//! rest is resolved.
//!
//! Everything that can be wrong with a plan without looking at a machine is found here, with
//! its place in the file.

use std::path::Path;

use ssdlab_quantity::Span;

use super::error::PlanFault;
use super::factor::Factor;
use super::fio_job::{self, Jobs};
use super::lab_kind::LabKind;
use super::live::{self, LivePlan};
use super::metric::{self, Metric};
use super::overrides::Overrides;
use super::schedule::{
    Repetitions, SCHEDULE_SCHEMA, Schedule, ScheduleContents, Treatment, Trial, Workload,
};
use super::target::Target;
use super::wording::PlanWording;
use super::workload::WorkloadContext;
use super::written::{Plan, Verb};
use super::{
    amounts, claims, cuts, limits, measured, needs, order, postponed, programs, shown, steps,
    treatments, usual, varied, workload,
};

const DEFAULT_IMAGE_BYTES: u64 = 4 << 30;
/// A run that is precise after six blocks ends four blocks later at the earliest
/// (`advice::may_stop`).
const LEAST_BLOCKS: u32 = 10;
const MOST_BLOCKS: u32 = 20;
/// The fewest runs that decide a claim.
const SEEDS: u32 = 6;

const MOST_TRIALS: u64 = 100_000;

const TRANSLATED: &str = "the virtual lab has no fio: an `io` phase does what the job says, on a \
                          file that was written before, every place of which may be visited twice";

/// Resolves a plan, levels before workload before claims. `base` is the folder that relative paths
/// in it start from.
pub fn resolve(plan: &Plan, overrides: &Overrides, base: &Path) -> Result<Schedule, PlanFault> {
    check_name(plan.name.get_ref()).map_err(|message| {
        PlanFault::at(plan.name.span(), message, "use letters, digits, `-` and `_`")
    })?;
    let mut notes = Vec::new();
    let target = target(plan, overrides)?;
    let factors = varied::factors(plan, overrides, target.lab(), &mut notes)?;
    let treatments = treatments::resolve(plan, &factors, &mut notes)?;
    if target.lab() == LabKind::Virtual {
        notes.extend(unnamed_machine(&treatments.treatments));
    }
    let jobs = fio_job::read(plan, overrides.read_job, base)?;
    let live = live(plan, overrides, target.lab(), &treatments.treatments)?;
    notes.extend(live.iter().flat_map(|live| live.notes.iter().cloned()));
    let context = WorkloadContext {
        base,
        target: &target,
        treatments: &treatments.treatments,
        jobs: &jobs,
        stretch: live.as_ref().and_then(|live| live.stretch.as_ref()),
    };
    let workload = workload::resolve(&plan.workload, overrides, &context)?;
    if target.lab() == LabKind::Virtual && !jobs.is_empty() {
        notes.push(TRANSLATED.to_owned());
    }
    let plausible = plausible(plan, overrides, target.lab())?;
    let repetitions = match &live {
        Some(live) => live_repetitions(plan, overrides, live.most)?,
        None => repetitions(plan, overrides, target.lab(), plausible)?,
    };
    let has_history = workload.has_history();
    let cuts = cuts::resolve(plan.cuts.as_ref(), target.lab(), has_history, repetitions.most)?;
    let mut setups = treatments.treatments.iter().filter_map(|of| of.setup.as_ref().ok());
    let layer = setups.find_map(|setup| setup.simulated.layer.as_ref());
    cuts::check_layer(plan.cuts.as_ref(), layer)?;
    let mut named = shown::named(plan)?.into_iter();
    let mut schedule = Schedule(ScheduleContents {
        schema: SCHEDULE_SCHEMA,
        plan: plan.name.get_ref().clone(),
        question: PlanWording::new(plan, &factors).question(),
        source: plan.source.clone(),
        metric: named.next().unwrap_or_else(|| usual(plan, &workload, &jobs, &mut notes)),
        beside: named.collect(),
        target: Some(target),
        needs: needs::resolve(plan)?,
        treatments: treatments.treatments,
        baseline: treatments.baseline,
        workload,
        cuts,
        drives: amounts::named_drives(plan),
        plan_capacity_bytes: plan.simulated.capacity.map(|capacity| capacity.0),
        scale: Some(overrides.scale.unwrap_or(1.0)),
        steps: steps::resolve(plan, &factors, repetitions.least)?,
        repetitions,
        plausible,
        seed: overrides.seed.unwrap_or(1),
        notes,
        overrides: overrides.arguments(),
        ..ScheduleContents::default()
    });
    needs::check(&schedule)?;
    measured::check_metrics(plan, &schedule)?;
    programs::check(&schedule)?;
    schedule.0.trials = trials(&schedule)?;
    schedule.0.ranking = steps::ranking(plan, &schedule)?;
    schedule.0.claims = claims::resolve(plan, &schedule, &factors)?;
    let (wording, is_ranked) = (PlanWording::new(plan, &factors), schedule.ranking.is_some());
    let is_named = |name: &str| {
        let written = plan.factors.iter().chain(&plan.simulated.factors);
        let mut written = written.flat_map(|(_, levels)| levels.get_ref().levels());
        schedule.phase_names().iter().any(|phase| phase == name)
            || written.any(|level| level == name)
            || schedule.metrics().any(|metric| metric.name == name)
    };
    schedule.0.answer = claims::answer(plan, &schedule.claims, &wording, is_ranked, is_named)?;
    schedule.0.published = claims::published(plan, &schedule, &factors)?;
    postponed::wait(&mut schedule);
    Ok(schedule)
}

fn trials(schedule: &Schedule) -> Result<Vec<Trial>, PlanFault> {
    let blocks = schedule.blocks().last().map_or(0, |last| last.end);
    let treatments = schedule.treatments.len();
    if treatments as u64 * u64::from(blocks) > MOST_TRIALS {
        return Err(PlanFault::nowhere(
            format!("{treatments} treatments in {blocks} blocks are too many trials"),
            format!("stay below {MOST_TRIALS}: fewer levels, or a smaller `most`"),
        ));
    }
    let of_block = |block| {
        let step = schedule.step_of(block);
        (0..treatments).filter(|index| schedule.is_of_step(*index, step)).collect()
    };
    let mut trials = order::trials(of_block, blocks, schedule.seed);
    if schedule.plausible > 0 {
        // All have the seed of the first: a range over drives is to be that of the drives.
        let seed = trials.first().map_or(0, |first| first.seed);
        for trial in &mut trials {
            trial.seed = seed;
        }
    }
    Ok(trials)
}

/// Checks that results can be filed under this name, which becomes that of a folder; the error says
/// why not.
pub fn check_name(name: &str) -> Result<(), String> {
    let legal = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if name.is_empty() || name.len() > 64 || !name.chars().all(legal) || name.starts_with('-') {
        return Err(format!("`{name}` cannot be the name of a plan"));
    }
    Ok(())
}

/// What of the simulated machine has its default, because no level names it.
fn unnamed_machine(treatments: &[Treatment]) -> Option<String> {
    let first = treatments.first()?;
    let simulated = &first.setup.as_ref().ok()?.simulated;
    let machine = [(Factor::Drive, &simulated.drive), (Factor::Host, &simulated.host)];
    let unnamed = machine.into_iter().filter(|(factor, _)| !first.levels.0.contains_key(factor));
    let defaults: Vec<String> =
        unnamed.map(|(factor, default)| format!("{factor} = {default}")).collect();
    let given = defaults.join(", ");
    (!given.is_empty()).then(|| format!("by default, as the plan names no other: {given}"))
}

/// The metric of a plan that names none. The time that a fio job takes is no result if its file
/// says how long it runs.
fn usual(plan: &Plan, workload: &Workload, jobs: &Jobs, notes: &mut Vec<String>) -> Metric {
    if workload.phases.iter().all(|phase| phase.action.is_stretch()) {
        return metric::of("written_bytes");
    }
    let is_only_fio = plan.workload.phases.get_ref().iter().all(|phase| {
        matches!(phase.get_ref().verb, Verb::Fio | Verb::Sync | Verb::Idle | Verb::Remount)
    });
    if is_only_fio && jobs.values().any(|job| fio_job::is_time_based(job)) {
        return metric::of("ops_per_second");
    }
    let (usual, note) = usual::metric(workload);
    notes.extend(note);
    usual
}

fn target(plan: &Plan, overrides: &Overrides) -> Result<Target, PlanFault> {
    let written = plan.lab.or(plan.target.lab);
    let implied = match overrides {
        Overrides { device: Some(_), .. } => Some(LabKind::Device),
        Overrides { mount: Some(_), .. } => Some(LabKind::Live),
        Overrides { drive: Some(_), .. } | Overrides { capacity: Some(_), .. } => {
            Some(LabKind::Virtual)
        }
        // A directory is where the image goes, unless the plan measures in it.
        Overrides { directory: Some(_), .. } if written != Some(LabKind::Directory) => {
            Some(LabKind::Image)
        }
        _ => None,
    };
    let lab = overrides.lab.or(implied).or(written).unwrap_or(LabKind::Virtual);
    let Overrides { device, directory, mount, budget, drive, capacity, .. } = overrides;
    let of_other_labs = [
        ("--device", device.is_some(), LabKind::Device),
        ("--mount", mount.is_some(), LabKind::Live),
        ("--for", budget.is_some(), LabKind::Live),
        ("--drive", drive.is_some(), LabKind::Virtual),
        ("--capacity", capacity.is_some(), LabKind::Virtual),
    ];
    for (option, is_given, own) in of_other_labs {
        if is_given && lab != own {
            return Err(PlanFault::nowhere(
                format!("{option} is only for the {own} lab"),
                format!("omit {option}, or add --lab {own}"),
            ));
        }
    }
    let directory = directory.clone();
    match lab {
        LabKind::Virtual if directory.is_some() => Err(PlanFault::nowhere(
            "--dir names a directory of this machine, which the virtual lab does not use",
            "say --lab directory to measure in it, or --lab image to put the image there",
        )),
        LabKind::Virtual => {
            let written = plan.simulated.capacity.map(|capacity| capacity.0);
            Ok(Target::Virtual { capacity_bytes: capacity.or(written) })
        }
        LabKind::Image => {
            let size_bytes = plan.target.size.map_or(DEFAULT_IMAGE_BYTES, |size| size.0);
            Ok(Target::Image { size_bytes, folder: directory })
        }
        LabKind::Device => Ok(Target::Device { path: device.clone() }),
        LabKind::Live if directory.is_some() => Err(PlanFault::nowhere(
            "--dir names a directory to measure in; the live lab changes a whole filesystem",
            "name a folder of that filesystem with --mount DIR",
        )),
        LabKind::Live => Ok(Target::Live { mount: mount.clone() }),
        LabKind::Directory => match directory {
            Some(path) => Ok(Target::Directory { path }),
            None => Err(PlanFault::nowhere(
                "the directory lab needs a directory",
                "name it with --dir PATH",
            )),
        },
    }
}

/// The number of plausible drives. `--runs` asks for blocks on the published drive only.
fn plausible(plan: &Plan, overrides: &Overrides, lab: LabKind) -> Result<u32, PlanFault> {
    if lab != LabKind::Virtual {
        return match overrides.plausible {
            Some(_) => Err(PlanFault::nowhere(
                format!("--plausible draws simulated drives; the {lab} lab has none"),
                "omit it, or add --lab virtual",
            )),
            None => Ok(0),
        };
    }
    let drives = match overrides {
        Overrides { runs: Some(_), plausible: Some(1..), .. } => {
            return Err(PlanFault::nowhere(
                "--runs repeats the published drive, --plausible draws others",
                "give one of them",
            ));
        }
        Overrides { runs: Some(_), .. } => 0,
        _ => overrides.plausible.or(plan.simulated.plausible).unwrap_or(0),
    };
    let ranks = !plan.steps.is_empty() || plan.ranking.is_some();
    if drives > 0 && ranks {
        return Err(PlanFault::nowhere(
            "a plan that ranks treatments cannot draw plausible drives: a ranking is over repeated \
             runs of the same drive",
            "omit `plausible`, or the `steps` and the `ranking`",
        ));
    }
    if drives >= limits::MOST_BLOCKS {
        return Err(PlanFault::nowhere(
            format!("{drives} plausible drives cannot be run"),
            format!("draw fewer than {}", limits::MOST_BLOCKS),
        ));
    }
    Ok(drives)
}

/// What the live lab does with a plan; none in other labs.
fn live(
    plan: &Plan,
    overrides: &Overrides,
    lab: LabKind,
    treatments: &[Treatment],
) -> Result<Option<LivePlan>, PlanFault> {
    let levels = treatments.iter().map(|treatment| &treatment.levels);
    let has_phases = !plan.workload.phases.get_ref().is_empty();
    let resolve = || live::resolve(&plan.live, has_phases, overrides.budget, levels);
    (lab == LabKind::Live).then(resolve).transpose()
}

/// Of the live lab, which looks after certain numbers of blocks, whatever a plan for other labs
/// says.
fn live_repetitions(
    plan: &Plan,
    overrides: &Overrides,
    most: u32,
) -> Result<Repetitions, PlanFault> {
    if plan.ranking.is_some() || !plan.steps.is_empty() {
        return Err(PlanFault::nowhere(
            "the live lab compares pairs of treatments, and ranks none",
            "omit the `steps` and the `ranking`, or choose another lab",
        ));
    }
    let most = overrides.runs.unwrap_or(most);
    if !(1..=limits::MOST_BLOCKS).contains(&most) {
        return Err(PlanFault::nowhere(
            format!("{most} runs of each treatment cannot be run"),
            format!("choose from 1 to {}", limits::MOST_BLOCKS),
        ));
    }
    Ok(Repetitions {
        least: most.min(live::LOOKS[0]),
        most,
        precision: 0.05,
        time_ns: plan.repetitions.time.map(Span::nanos),
        written_bytes: plan.repetitions.written.map(|bytes| bytes.0),
    })
}

fn repetitions(
    plan: &Plan,
    overrides: &Overrides,
    lab: LabKind,
    plausible: u32,
) -> Result<Repetitions, PlanFault> {
    let written = &plan.repetitions;
    let blocks = match plausible {
        0 => plan.simulated.seeds.unwrap_or(SEEDS),
        drives => drives + 1,
    };
    let exactly = overrides.runs.or_else(|| (lab == LabKind::Virtual).then_some(blocks));
    let least = written.least.unwrap_or(LEAST_BLOCKS);
    let most = written.most.unwrap_or(least.max(MOST_BLOCKS));
    let written_is_right = 0 < least && least <= most;
    if !written_is_right || most > limits::MOST_BLOCKS {
        return Err(PlanFault::nowhere(
            format!("{least} to {most} blocks cannot be run"),
            format!("repetitions: 1 <= least <= most <= {}", limits::MOST_BLOCKS),
        ));
    }
    let (least, most) = exactly.map_or((least, most), |blocks| (blocks, blocks));
    if least == 0 || most > limits::MOST_BLOCKS {
        return Err(PlanFault::nowhere(
            format!("{most} runs of each treatment cannot be run"),
            format!("choose from 1 to {}", limits::MOST_BLOCKS),
        ));
    }
    Ok(Repetitions {
        least,
        most,
        precision: written.precision.map_or(0.05, |share| share.0),
        // An exact number of runs is itself a budget.
        time_ns: written.time.filter(|_| exactly.is_none()).map(Span::nanos),
        written_bytes: written.written.filter(|_| exactly.is_none()).map(|bytes| bytes.0),
    })
}

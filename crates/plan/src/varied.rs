//! Which factors a run varies, with which levels: the plan's, the lab's and the command line's.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use ssdlab_quantity::did_you_mean;

use super::by_hand;
use super::error::PlanFault;
use super::factor::{Factor, Levels};
use super::lab_kind::LabKind;
use super::level_error::LevelError;
use super::limits::MOST_TREATMENTS;
use super::overrides::Overrides;
use super::scheduler::{OF_SEVERAL_PROCESSORS, todays_name};
use super::setup::{ANY_FILESYSTEM, Setup};
use super::written::{OneOrMany, Plan};

/// A factor with the levels that will run, and who named them.
pub(super) struct VariedFactor {
    pub factor: Factor,
    pub levels: Vec<String>,
    pub origin: LevelOrigin,
}

/// Who named a factor's levels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LevelOrigin {
    /// The plan, at this place.
    File(Range<usize>),
    /// The command line, or another lab than the levels are meant for: what the plan says about
    /// other levels is not wrong, but does not apply to this run.
    Elsewhere,
    /// Nobody.
    Default,
}

impl VariedFactor {
    /// Whether the factor has no meaning in this lab; the plan may name it anyway.
    pub fn is_left_out(&self) -> bool {
        self.levels.is_empty() && self.origin == LevelOrigin::Elsewhere
    }

    /// The place in the file to blame.
    pub fn at(&self) -> Option<&Range<usize>> {
        match &self.origin {
            LevelOrigin::File(at) => Some(at),
            _ => None,
        }
    }

    /// Whether a level that the plan names elsewhere is a mistake.
    pub fn lacks(&self, level: &str) -> bool {
        self.origin != LevelOrigin::Elsewhere && !self.levels.iter().any(|known| known == level)
    }
}

/// The factors of a run. A note says where the plan was interpreted differently from its wording.
pub(super) fn factors(
    plan: &Plan,
    overrides: &Overrides,
    lab: LabKind,
    notes: &mut Vec<String>,
) -> Result<Vec<VariedFactor>, PlanFault> {
    let mut factors: Vec<VariedFactor> = written_factors(&plan.factors).collect();
    let listed = by_hand::varied(plan)?.into_iter();
    factors.extend(listed.map(|own| VariedFactor {
        factor: own.factor,
        levels: own.levels,
        origin: LevelOrigin::File(own.at),
    }));
    for mut simulated in written_factors(&plan.simulated.factors) {
        if plan.factors.contains_key(&simulated.factor) {
            let message = format!("`{}` is already defined", simulated.factor);
            let help = "name it in [factors] or in [virtual.factors], not in both".to_owned();
            return Err(fault(simulated.at(), message, help));
        }
        if lab != LabKind::Virtual {
            simulated.levels.truncate(1);
            simulated.origin = LevelOrigin::Elsewhere;
        }
        factors.push(simulated);
    }
    let drive = overrides.drive.iter().map(|drive| format!("drive={drive}"));
    let set: Vec<String> = overrides.set.iter().cloned().chain(drive).collect();
    let set_levels = set_levels(&set)?;
    let by_option: Vec<Factor> = set_levels.iter().map(|varied| varied.factor).collect();
    by_hand::check_apart(plan, by_option.iter().copied())?;
    for set in set_levels {
        factors.retain(|varied| varied.factor != set.factor);
        factors.push(set);
    }
    simulate(&mut factors, lab, &by_option)?;
    let of_machine = factors.iter().find(|varied| varied.factor.is_of_running_machine());
    if let Some(varied) = of_machine.filter(|_| lab != LabKind::Live) {
        let message = format!(
            "`{}` changes the running machine, which only the live lab does",
            varied.factor
        );
        return Err(fault(varied.at(), message, "omit it, or add --lab live".to_owned()));
    }
    let is_of_several = |level: &String| level.contains(OF_SEVERAL_PROCESSORS);
    let queue = factors
        .iter()
        .find(|varied| varied.factor == Factor::Queue && varied.levels.iter().any(is_of_several));
    if let Some(varied) = queue.filter(|_| lab == LabKind::Virtual) {
        let message = format!(
            "the virtual lab has one processor, where `{OF_SEVERAL_PROCESSORS}` does nothing"
        );
        return Err(fault(
            varied.at(),
            message,
            "omit it, or choose another lab: --lab image".to_owned(),
        ));
    }
    factors.sort_by_key(|varied| varied.factor);
    if !factors.iter().any(|varied| varied.factor == Factor::Filesystem) {
        let is_there = matches!(lab, LabKind::Directory | LabKind::Live);
        let level = if is_there { ANY_FILESYSTEM } else { "ext4" };
        let levels = vec![level.to_owned()];
        factors.insert(
            0,
            VariedFactor { factor: Factor::Filesystem, levels, origin: LevelOrigin::Default },
        );
    }
    for varied in factors.iter_mut().filter(|varied| !varied.is_left_out()) {
        check_levels(varied)?;
        if varied.factor == Factor::Scheduler {
            rename_schedulers(varied, notes)?;
        }
    }
    Ok(factors)
}

/// The factors of a part of a plan.
fn written_factors(
    written: &BTreeMap<Factor, toml::Spanned<OneOrMany>>,
) -> impl Iterator<Item = VariedFactor> {
    written.iter().map(|(factor, levels)| VariedFactor {
        factor: *factor,
        levels: levels.get_ref().levels(),
        origin: LevelOrigin::File(levels.span()),
    })
}

/// Simulated factors are for the virtual lab. A plan may fix one and run elsewhere without it,
/// unless it is what the plan varies.
fn simulate(
    factors: &mut [VariedFactor],
    lab: LabKind,
    by_option: &[Factor],
) -> Result<(), PlanFault> {
    if lab == LabKind::Virtual {
        return Ok(());
    }
    for varied in factors.iter().filter(|varied| varied.factor.is_simulated()) {
        if varied.levels.len() > 1 || by_option.contains(&varied.factor) {
            let message = match varied.factor {
                Factor::Kernel => format!(
                    "`kernel` is that of guests, but trials in the {lab} lab run under the kernel \
                     that is running"
                ),
                Factor::Layer => format!(
                    "`layer` is set up in guests, but the {lab} lab uses devices as they are"
                ),
                factor => format!(
                    "`{factor}` applies to simulated drives, but the {lab} lab uses real ones"
                ),
            };
            let help = "add --lab virtual, or omit it".to_owned();
            return Err(fault(varied.at(), message, help));
        }
    }
    for varied in factors.iter_mut().filter(|varied| varied.factor.is_simulated()) {
        varied.origin = LevelOrigin::Elsewhere;
        varied.levels.clear();
    }
    Ok(())
}

/// Reads `--set FACTOR=L1,L2`. Options of mkfs and mount contain commas, so there each `--set`
/// is one level.
fn set_levels(set: &[String]) -> Result<Vec<VariedFactor>, PlanFault> {
    let mut factors: Vec<VariedFactor> = Vec::new();
    for text in set {
        let (name, levels) = text.split_once('=').ok_or_else(|| {
            PlanFault::nowhere(format!("--set {text}: no `=`"), "write --set FACTOR=LEVEL,LEVEL")
        })?;
        let factor = Factor::find(name).ok_or_else(|| {
            PlanFault::nowhere(
                format!("--set {text}: there is no factor `{name}`"),
                format!(
                    "{}factors: {}",
                    did_you_mean(name, Factor::ALL.map(Factor::name)),
                    Factor::instead_of(name)
                ),
            )
        })?;
        let levels: Vec<String> = match factor {
            Factor::Mkfs | Factor::Mount | Factor::Sysctl => vec![levels.to_owned()],
            _ => levels.split(',').map(|level| level.trim().to_owned()).collect(),
        };
        match factors.iter_mut().find(|varied| varied.factor == factor) {
            Some(varied) => varied.levels.extend(levels),
            None => factors.push(VariedFactor { factor, levels, origin: LevelOrigin::Elsewhere }),
        }
    }
    Ok(factors)
}

pub(super) fn fault(at: Option<&Range<usize>>, message: String, help: String) -> PlanFault {
    PlanFault { message, at: at.cloned(), help: Some(help) }
}

fn check_levels(varied: &VariedFactor) -> Result<(), PlanFault> {
    let VariedFactor { factor, levels, .. } = varied;
    let at = varied.at();
    if *factor == Factor::Label {
        return Err(fault(
            at,
            "`label` names the treatments of imported results; no run can vary it".to_owned(),
            "name a factor of `ssdlab list factors`".to_owned(),
        ));
    }
    if levels.is_empty() {
        return Err(fault(
            at,
            format!("`{factor}` has no level"),
            "name at least one, or omit the factor".to_owned(),
        ));
    }
    // More levels than that are more treatments than a plan can have.
    if levels.len() > MOST_TREATMENTS {
        return Err(fault(
            at,
            format!("`{factor}` has more than {MOST_TREATMENTS} levels"),
            "name fewer".to_owned(),
        ));
    }
    let mut named = BTreeSet::new();
    for level in levels {
        if !named.insert(level) {
            return Err(fault(
                at,
                format!("`{factor}` has the level `{level}` twice"),
                "name each level once".to_owned(),
            ));
        }
        // A level is checked alone first, so that the message is about it and not about a
        // combination. Only faults of this factor count, as the levels it depends on are absent.
        // Factors whose levels are the filesystem's own are checked with the filesystem.
        let alone = Levels([(*factor, level.clone())].into());
        let is_of_filesystem =
            matches!(factor, Factor::Journal | Factor::Checksums | Factor::Compression);
        if !is_of_filesystem
            && let Err(error) = Setup::new(&alone)
            && error.factor == *factor
        {
            return Err(level_fault(error, at));
        }
    }
    Ok(())
}

pub(super) fn level_fault(error: LevelError, at: Option<&Range<usize>>) -> PlanFault {
    fault(at, error.message, error.help)
}

/// Former names stand for current schedulers; two names of one scheduler would give one treatment
/// twice.
fn rename_schedulers(varied: &mut VariedFactor, notes: &mut Vec<String>) -> Result<(), PlanFault> {
    for level in &mut varied.levels {
        if let Some(today) = todays_name(level) {
            notes.push(format!(
                "the scheduler `{level}` was removed in Linux 5.0; using `{today}` instead"
            ));
            today.clone_into(level);
        }
    }
    check_levels(varied)
}

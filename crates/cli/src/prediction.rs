//! `ssdlab run --predict`: what the virtual lab says of a run of the live lab, kept in its folder
//! before the first trial.

use std::path::Path;

use miette::Report;
use ssdlab_advice::{self as advice, Analysis};
use ssdlab_lab as lab;
use ssdlab_plan::{self as plan, Overrides, Setup, Target};
use ssdlab_results::{RunContents, RunFolder, runs_in};

use super::exit::UsageError;
use super::plan_arguments::{PlanArguments, ResolvedPlan};

/// The plan that predicts what a plan of the live lab will measure, on a drive; `arguments` name
/// that plan.
pub fn plan_of(
    arguments: &PlanArguments,
    ResolvedPlan { text, schedule: live }: &ResolvedPlan,
    drive: &str,
) -> Result<ResolvedPlan, Report> {
    let Some(Target::Live { mount: Some(mount) }) = &live.target else {
        return Err(UsageError::report(
            "--predict is for the live lab: other labs make all that a prediction is made of",
            "omit it, or name a filesystem of this machine: --mount DIR",
        ));
    };
    if live.workload.phases.iter().any(|phase| phase.action.is_stretch()) {
        return Err(UsageError::report(
            "--predict: what this machine will do in a stretch of its own work is not known",
            "have the plan do the work: record it with `ssdlab record`, replay it in a \
             [workload], and leave out `stretch`",
        ));
    }
    let setups = live.treatments.iter().map(|treatment| treatment.setup.as_ref());
    let setups: Vec<&Setup> = setups.collect::<Result<_, _>>().map_err(|error| {
        UsageError::report(error.message.clone(), "choose other levels with --set")
    })?;
    let (filesystem, options) = lab::options_under(mount, setups)?;
    let text = plan::predicted(text, live, &filesystem, &options)?;
    let overrides = Overrides {
        drive: Some(drive.to_owned()),
        runs: Some(1),
        scale: live.scale,
        seed: Some(live.seed),
        ..Overrides::default()
    };
    arguments.resolve_in_its_place(text, &overrides)
}

/// Puts the prediction that a run's folder holds beside what was measured.
pub fn add(analysis: &mut Analysis, folder: &Path) -> Result<(), Report> {
    for run in runs_in(folder) {
        let RunContents { schedule, records, ending, .. } = RunFolder::read(&folder.join(&run))?;
        analysis.add_prediction(&advice::summarise(&run, &schedule, &records, ending));
    }
    Ok(())
}

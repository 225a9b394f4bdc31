//! `ssdlab cut --shrink`: the smallest workload in which some power cut has a finding.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use miette::{Context, IntoDiagnostic, Report};
use ssdlab_conductor::{CutOfRun, CutState, Guests, SurvivorChoice};
use ssdlab_operations::cuts::CutOutcome;
use ssdlab_plan::schedule::{Phase, Workload};
use ssdlab_results::{
    CourseEvent, CourseEventKind, Ending, RepeatedCut, RunFolder, SHRINK_SCHEMA, Shrink,
};

use crate::exit::UsageError;
use crate::{output, report};

/// Shrinks a cut; the smallest workload becomes a run beside the others.
pub fn shrunk(
    guests: &mut Guests<'_>,
    cut: &CutOfRun<'_>,
    results: &Path,
) -> Result<(Shrink, CutState), Report> {
    let finding = cut.outcome.worst().ok_or_else(|| {
        UsageError::report(
            format!("nothing was found after cut {}", cut.outcome.cut),
            "name a cut with a finding; `ssdlab report` names one of each treatment",
        )
    })?;
    // Before the search, which may take hours and would be lost.
    let folder = || format!("cannot make the results folder {}", results.display());
    fs::create_dir_all(results).into_diagnostic().wrap_err_with(folder)?;
    let mut told = |workload: &Workload| {
        let phases = phases(workload);
        output::tell(&format!("{finding} with {}", phases.join("; ")));
    };
    let least = guests.shrink(cut, finding, &mut told)?;
    let mut run = RunFolder::create(results, &format!("{}-shrunk", cut.run), "", &least.schedule)?;
    run.push(&least.record)?;
    run.ended(Ending::AllBlocks)?;
    let (repeat, remains) = guests.repeat(&CutOfRun {
        run: &run.id(),
        schedule: &least.schedule,
        record: &least.record,
        outcome: &least.outcome,
        survives: SurvivorChoice::MostWith(finding),
    })?;
    let cuts = &least.record.cuts;
    let found = cuts.iter().filter(|outcome| outcome.has(finding) == Some(true));
    let shrink = Shrink {
        schema: SHRINK_SCHEMA,
        finding,
        from: phases(&cut.schedule.workload),
        to: phases(&least.schedule.workload),
        trials: least.trials,
        is_least: least.is_least,
        cuts: different(cuts.iter()),
        found: different(found),
        command: command(run.folder(), &repeat),
        repeat,
    };
    Ok((shrink, remains))
}

/// The number of cuts, each of which may have several survivors.
fn different<'a>(outcomes: impl Iterator<Item = &'a CutOutcome>) -> u64 {
    outcomes.map(|outcome| outcome.cut).collect::<BTreeSet<_>>().len() as u64
}

fn phases(workload: &Workload) -> Vec<String> {
    workload.phases.iter().map(Phase::work).collect()
}

/// The command that repeats a cut with what was lost.
fn command(folder: &Path, repeat: &RepeatedCut) -> String {
    let beyond = report::beyond_name(folder);
    let run = output::quoted(beyond.as_deref().unwrap_or(&repeat.run));
    let CutOutcome { cut, survivor, .. } = repeat.repeated;
    let lost = repeat.course.iter().filter_map(lost).map(|number| number.to_string());
    let lost: Vec<String> = lost.collect();
    let option = match &lost[..] {
        // What was drawn is torn.
        _ if !repeat.chosen => String::new(),
        [] => " --lose none".to_owned(),
        lost => format!(" --lose {}", lost.join(",")),
    };
    format!("ssdlab cut {run} --trial {} --cut {cut} --survivor {survivor}{option}", repeat.trial)
}

fn lost(event: &CourseEvent) -> Option<u64> {
    match &event.what {
        CourseEventKind::Request(request) if request.lost => Some(request.number),
        _ => None,
    }
}

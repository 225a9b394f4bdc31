//! `ssdlab check`: what a plan would do, without running it.

use std::fmt::Write;

use clap::Args;
use miette::Report;
use ssdlab_advice as advice;
use ssdlab_plan::schedule::Build;
use ssdlab_plan::{self as plan, LabKind, Levels, Schedule};
use ssdlab_report::{self as report, roughly, roughly_written};

use super::exit::Exit;
use super::plan_arguments::PlanArguments;
use super::{executors, output};

/// Arguments of `ssdlab check`.
#[derive(Debug, Args)]
pub struct CheckCommand {
    #[command(flatten)]
    plan: PlanArguments,
    /// Print the whole schedule as one JSON object.
    #[arg(long)]
    json: bool,
}

impl CheckCommand {
    pub fn run(&self) -> Result<Exit, Report> {
        let schedule = self.plan.resolve()?.schedule;
        executors::check(&schedule)?;
        if self.json {
            output::print_json(&schedule);
        } else {
            output::print(&summary(&schedule).expect("a String takes everything"));
        }
        missing(&schedule).for_each(|missing| output::tell(&format!("note: {missing}")));
        Ok(Exit::Done)
    }
}

/// What a run would need and this machine does not have. It may be where the plan will run, so it
/// is no fault of the plan.
fn missing(schedule: &Schedule) -> impl Iterator<Item = String> {
    let inputs = schedule.workload.inputs().map(|path| ("file", path));
    let repository = match &schedule.workload.build {
        Some(Build::Git { repository, .. }) => Some(("repository", repository.as_path())),
        _ => None,
    };
    let place = schedule.target.as_ref().and_then(|target| {
        let what = if target.lab() == LabKind::Device { "device" } else { "directory" };
        Some((what, target.place()?))
    });
    inputs.chain(repository).chain(place).filter_map(|(what, path)| {
        let cause = path.metadata().err()?;
        let path = path.display();
        Some(format!("the {what} {path}: {cause}; `ssdlab run` needs it where it runs"))
    })
}

fn summary(schedule: &Schedule) -> Result<String, std::fmt::Error> {
    let mut out = String::new();
    writeln!(out, "{}: {}", schedule.plan, schedule.question)?;
    let limits = &schedule.repetitions;
    let times = if schedule.plausible > 0 {
        format!(
            "once on the published drive and once on each of {}",
            report::counted(schedule.plausible as usize, "plausible drive")
        )
    } else if limits.least == limits.most {
        format!("{} each", report::counted(limits.least as usize, "time"))
    } else {
        format!("{} to {} times each", limits.least, limits.most)
    };
    let steps = if schedule.steps.is_empty() { "" } else { " in every step they are part of" };
    writeln!(
        out,
        "{}, {times}{steps}, in the {} lab:",
        report::counted(schedule.treatments.len(), "treatment"),
        schedule.origin()
    )?;
    let shared = schedule.shared();
    if schedule.treatments.len() > 1 && !shared.0.is_empty() {
        writeln!(out, "  all: {shared}")?;
    }
    let distinct: Vec<Levels> = schedule.each_distinct().collect();
    for (own, treatment) in distinct.iter().zip(&schedule.treatments) {
        let against = treatment.baseline.map(|index| format!("  against {}", distinct[index]));
        writeln!(out, "  {own}{}", against.unwrap_or_default())?;
    }
    for (index, step) in schedule.steps.iter().enumerate() {
        let keeps = step.keep.map(|keep| match keep.count {
            1 => format!("; the best {} is kept", keep.factor),
            count => format!("; the best {count} levels of {} are kept", keep.factor),
        });
        let treatments = schedule.expected_treatments(index);
        let keeps = keeps.unwrap_or_default();
        writeln!(out, "step {}: {treatments} treatments{keeps}", step.name)?;
    }
    writeln!(out, "phases: {}", schedule.phase_names().join(", "))?;
    let order: Vec<String> = schedule
        .trials
        .iter()
        .take_while(|trial| trial.block < limits.least)
        .map(|trial| (trial.treatment + 1).to_string())
        .collect();
    let blocks = report::counted(limits.least as usize, "block");
    writeln!(out, "order of the first {blocks}: {}", order.join(" "))?;
    writeln!(out, "claims: {}", schedule.claims.len())?;
    if let Some(estimate) = plan::estimate(schedule) {
        let (time, trials) = (roughly(estimate.time), schedule.expected_trials());
        writeln!(out, "time: {trials} trials, about {time} if run one at a time")?;
        // A machine's own work is not this run's.
        if estimate.written_bytes > 0 || !schedule.is_in(LabKind::Live) {
            writeln!(out, "writes: {}", roughly_written(&estimate))?;
        }
    }
    for note in schedule.notes.iter().chain(&schedule.beyond_lab()) {
        writeln!(out, "note: {note}")?;
    }
    for short in
        schedule.short_percentiles(|phase, metric| schedule.planned_operations(phase, metric))
    {
        writeln!(out, "note: {short}")?;
    }
    if let Some(caveat) = advice::contents(schedule) {
        writeln!(out, "note: {caveat}")?;
    }
    Ok(out)
}

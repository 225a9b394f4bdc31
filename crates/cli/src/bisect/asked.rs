//! What is asked of each revision: a claim of a plan, and one trial of each treatment it needs.

use miette::Report;
use ssdlab_advice::{self as advice, Subject};
use ssdlab_plan::schedule::{Claim, Trial};
use ssdlab_plan::{Factor, LabKind, Overrides, Schedule, metric};

use crate::exit::Wrong;
use crate::plan_arguments::Variation;

/// What is asked.
pub struct Asked {
    /// The plan, with the trials that the claim needs.
    pub schedule: Schedule,
    /// The case of the claim.
    pub subject: Subject,
    /// The claim.
    pub claim: Claim,
}

impl Asked {
    /// Resolves the plan, and leaves of it what the claim needs: one trial of each treatment.
    pub fn resolve(plan: &str, claim: &str, variation: &Variation) -> Result<Self, Report> {
        let others =
            Overrides { lab: Some(LabKind::Virtual), runs: Some(1), ..Overrides::default() };
        let mut schedule = variation.resolve(plan, others)?.schedule;
        if schedule.setups().any(|setup| setup.levels.0.contains_key(&Factor::Kernel)) {
            return Err(Wrong::report(
                "the plan names a kernel, but each revision is built and run as the kernel",
                "remove `kernel` from the plan's factors and from --set",
            ));
        }
        let (subject, claim) = subject(&schedule, claim)?;
        let seed = schedule.trials.first().map_or(0, |trial| trial.seed);
        let trials = subject.treatments.iter().zip(0..);
        let trial = |(treatment, position): (&usize, u32)| Trial {
            block: 0,
            position,
            treatment: *treatment,
            seed,
        };
        schedule.trials = trials.map(trial).collect();
        Ok(Self { schedule, subject, claim })
    }
}

/// The case of a claim that is named.
fn subject(schedule: &Schedule, named: &str) -> Result<(Subject, Claim), Report> {
    let claim = claim(schedule, named)?;
    let mut cases = advice::subjects(schedule);
    cases.retain(|case| case.claim == claim.id);
    let case = match &cases[..] {
        [only] if named == claim.id => Some(only),
        several => several.iter().find(|case| case.id == named),
    };
    match case {
        Some(case) => Ok((case.clone(), claim.clone())),
        None if cases.is_empty() => Err(Wrong::report(
            format!("no treatments of this run decide claim `{}`", claim.id),
            "keep the levels that it compares: see --set",
        )),
        None => {
            let known: Vec<&str> = cases.iter().map(|case| &*case.id).collect();
            let fault = if named == claim.id {
                format!("claim `{}` applies to several treatments", claim.id)
            } else {
                format!("claim `{}` has no case `{named}`", claim.id)
            };
            Err(Wrong::report(fault, format!("name one of: {}", known.join(", "))))
        }
    }
}

/// The claim of which a case is named, if it can be judged.
fn claim<'a>(schedule: &'a Schedule, named: &str) -> Result<&'a Claim, Report> {
    let is_named = |claim: &&Claim| {
        let rest = named.strip_prefix(&claim.id);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('['))
    };
    let Some(claim) = schedule.claims.iter().find(is_named) else {
        let known: Vec<&str> = schedule.claims.iter().map(|claim| &*claim.id).collect();
        return Err(Wrong::report(
            format!("{} makes no claim `{named}`", schedule.plan),
            format!("name one of: {}", known.join(", ")),
        ));
    };
    let unlike = || schedule.unlike(metric::of(&claim.metric)).filter(|_| claim.is_absolute());
    match schedule.not_testable(claim).or_else(unlike) {
        None => Ok(claim),
        Some(why) => Err(Wrong::report(
            format!("claim `{}` cannot be judged: {why}", claim.id),
            "name another claim, or change the options",
        )),
    }
}

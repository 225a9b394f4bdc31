//! The case that is judged: a claim of a plan, and one trial of each treatment that it needs.

use miette::Report;
use ssdlab_advice::{self as advice, CaseSubject};
use ssdlab_plan::schedule::Claim;
use ssdlab_plan::{Factor, LabKind, Overrides, Schedule, Setup};
use ssdlab_report::claimed;
use ssdlab_results::{Record, TrialStatus};

use crate::exit::{Skipped, UsageError};
use crate::plan_arguments::Variation;

/// A case of a claim.
pub struct JudgedCase {
    /// The plan, with the trials that the claim needs.
    pub schedule: Schedule,
    subject: CaseSubject,
    claim: Claim,
}

impl JudgedCase {
    /// Resolves the plan, and leaves of it what the claim needs: one trial of each treatment.
    pub fn resolve(plan: &str, claim: &str, variation: &Variation) -> Result<Self, Report> {
        let others =
            Overrides { lab: Some(LabKind::Virtual), runs: Some(1), ..Overrides::default() };
        let schedule = variation.resolve(plan, others)?.schedule;
        if schedule.setups().any(|setup| setup.levels.0.contains_key(&Factor::Kernel)) {
            return Err(UsageError::report(
                "the plan names a kernel, but its trials run under that of the tree",
                "remove `kernel` from the plan's factors and from --set",
            ));
        }
        let (subject, claim) = subject(&schedule, claim)?;
        let schedule = schedule.once_each(&subject.treatments);
        Ok(Self { schedule, subject, claim })
    }

    /// The setups of its treatments.
    pub fn setups(&self) -> impl Iterator<Item = &Setup> {
        let treatments = self.subject.treatments.iter();
        treatments.filter_map(|index| self.schedule.treatments[*index].setup.as_ref().ok())
    }

    /// Whether the claim holds by these records, and in words. Equal trials are equal to the bit,
    /// so that one of each treatment is enough.
    pub fn judge(&self, records: &[Record]) -> Result<(bool, String), Skipped> {
        let Self { schedule, subject, claim } = self;
        if let Some(record) = records.iter().find(|record| record.status != TrialStatus::Ok) {
            let reason = record.reason.as_deref().unwrap_or("no reason is recorded");
            let levels = schedule.distinct(&record.levels);
            let of = if levels.0.is_empty() { String::new() } else { format!(" of {levels}") };
            return Err(Skipped(format!("the trial{of} is {}: {reason}", record.status)));
        }
        let standings = advice::standings(schedule, records);
        let standing = standings.iter().find(|standing| standing.subject == *subject);
        let judged = standing.and_then(|found| found.holds.get(&0).zip(found.values.get(&0)));
        let Some((holds, value)) = judged else {
            return Err(Skipped(format!("the trials did not measure {}", claim.metric)));
        };
        let verdict = if *holds { "holds" } else { "does not hold" };
        let of = if claim.is_absolute() { "" } else { "ratio of " };
        let value = if value.is_finite() { claimed(claim, *value) } else { "infinite".to_owned() };
        Ok((*holds, format!("{} {verdict}: {of}{} {value}", subject.id, claim.metric)))
    }
}

fn subject(schedule: &Schedule, named: &str) -> Result<(CaseSubject, Claim), Report> {
    let claim = claim(schedule, named)?;
    let mut cases = advice::subjects(schedule);
    cases.retain(|case| case.claim == claim.id);
    let case = match &cases[..] {
        [only] if named == claim.id => Some(only),
        several => several.iter().find(|case| case.id == named),
    };
    match case {
        Some(case) => Ok((case.clone(), claim.clone())),
        None if cases.is_empty() => Err(UsageError::report(
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
            Err(UsageError::report(fault, format!("name one of: {}", known.join(", "))))
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
        return Err(UsageError::report(
            format!("{} makes no claim `{named}`", schedule.plan),
            format!("name one of: {}", known.join(", ")),
        ));
    };
    let unlike = || schedule.unlike(claim.metric).filter(|_| claim.is_absolute());
    match schedule.not_testable(claim).or_else(unlike) {
        None => Ok(claim),
        Some(why) => Err(UsageError::report(
            format!("claim `{}` cannot be judged: {why}", claim.id),
            "name another claim, or change the options",
        )),
    }
}

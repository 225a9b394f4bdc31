//! The claims of a plan with their cases. What all cases of a claim share is said once.

use std::collections::BTreeMap;

use ssdlab_advice::{Analysis, Judgement, RecommendedSetting, Verdict};
use ssdlab_plan::{Factor, Levels, Schedule};

use super::evidence::evidence;
use super::levels::level_name;
use super::reason::reasons;

/// A claim, and each treatment or pair of treatments for which it was judged.
pub(super) struct ReportedClaim<'a> {
    /// The claim in words.
    pub says: &'a str,
    /// What several cases share: their levels, and their evidence.
    pub shared: Vec<String>,
    /// The cases, one or more.
    pub cases: Vec<ClaimCase<'a>>,
}

pub(super) struct ClaimCase<'a> {
    pub judgement: &'a Judgement,
    /// The sides that were compared; if there are several cases, by how this one differs.
    pub sides: String,
    /// What the verdict rests on.
    pub evidence: String,
    /// The main cause of the difference.
    pub reason: Option<String>,
}

impl ClaimCase<'_> {
    /// One case of several on a line: its sides, and the evidence that is not shared.
    pub fn line(&self) -> String {
        let says = [&*self.sides, &*self.evidence];
        says.into_iter().filter(|says| !says.is_empty()).collect::<Vec<_>>().join(": ")
    }
}

/// A setting that follows, with what it is limited to.
pub(super) fn advice(setting: &RecommendedSetting) -> String {
    let RecommendedSetting { says, limits, rests_on, .. } = setting;
    let limits: Vec<&str> = limits.iter().chain([rests_on]).map(String::as_str).collect();
    format!("{says} ({})", limits.join("; "))
}

/// The claims of a run, in the order of its plan.
pub(super) fn claims<'a>(schedule: &Schedule, analysis: &'a Analysis) -> Vec<ReportedClaim<'a>> {
    let mut reasons = reasons(analysis).into_iter();
    let by_claim = analysis.claims.chunk_by(|one, other| one.claim.id == other.claim.id);
    by_claim.map(|cases| claim(schedule, cases, reasons.by_ref())).collect()
}

fn claim<'a>(
    schedule: &Schedule,
    judgements: &'a [Judgement],
    reasons: impl Iterator<Item = Option<String>>,
) -> ReportedClaim<'a> {
    let all: Vec<&Judgement> = judgements.iter().collect();
    let varied = varied(&all);
    let parts: Vec<Vec<String>> = judgements.iter().map(evidence).collect();
    let is_shared = |part: &String| parts.len() > 1 && parts.iter().all(|own| own.contains(part));
    let mut shared: Vec<String> = between_kernels(&all).into_iter().collect();
    if !varied.is_empty() {
        let is_same = |factor: &Factor| !varied.contains(factor);
        let same = self::sides(schedule, &judgements[0], true, &is_same);
        shared.extend(Some(same).filter(|same| !same.is_empty()));
    }
    let evidence: Vec<String> = parts[0].iter().filter(|part| is_shared(part)).cloned().collect();
    shared.extend(Some(evidence.join("; ")).filter(|evidence| !evidence.is_empty()));
    let case = |((judgement, parts), reason): ((&'a Judgement, &Vec<String>), _)| {
        let own: Vec<String> = parts.iter().filter(|part| !is_shared(part)).cloned().collect();
        let is_own = |factor: &Factor| varied.is_empty() || varied.contains(factor);
        let sides = self::sides(schedule, judgement, varied.is_empty(), &is_own);
        ClaimCase { judgement, sides, evidence: own.join("; "), reason }
    };
    let cases = judgements.iter().zip(&parts).zip(reasons).map(case).collect();
    ReportedClaim { says: &judgements[0].claim.says, shared, cases }
}

/// That the verdict differs between kernels, where cases differ in the kernel alone.
fn between_kernels(cases: &[&Judgement]) -> Option<String> {
    let mut others: BTreeMap<[Option<Levels>; 2], Vec<(&str, Verdict)>> = BTreeMap::new();
    for case in cases {
        let without = |levels: &Option<Levels>| {
            let mut levels = levels.clone()?;
            levels.0.remove(&Factor::Kernel);
            Some(levels)
        };
        let kernel = case.levels.as_ref().and_then(|levels| levels.0.get(&Factor::Kernel));
        if let Some(kernel) = kernel {
            let rest = [without(&case.levels), without(&case.baseline)];
            others.entry(rest).or_default().push((kernel, case.outcome.verdict()));
        }
    }
    let is_decided = |verdict: Verdict| matches!(verdict, Verdict::Holds | Verdict::Refuted);
    let differing: Vec<_> = others
        .into_values()
        .map(|mut found| {
            found.retain(|(_, verdict)| is_decided(*verdict));
            found
        })
        .filter(|found| found.iter().any(|(_, verdict)| *verdict != found[0].1))
        .collect();
    let name = |kernel: &str| level_name(Factor::Kernel, kernel);
    match &differing[..] {
        [] => None,
        [found] => {
            let found: Vec<String> = found
                .iter()
                .map(|(kernel, verdict)| format!("{verdict} on {}", name(kernel)))
                .collect();
            Some(format!("the verdict differs between kernels: {}", found.join(", ")))
        }
        several => {
            Some(format!("the verdict differs between kernels in {} comparisons", several.len()))
        }
    }
}

/// The factors in which the cases of a claim differ; empty if there is one case, or one without
/// treatments in the run.
pub(super) fn varied<'a>(cases: &[&'a Judgement]) -> Vec<Factor> {
    let sides = |of: &'a Judgement| Some((of.levels.as_ref()?, of.baseline.as_ref()));
    let Some(sides) = cases.iter().map(|case| sides(case)).collect::<Option<Vec<_>>>() else {
        return Vec::new();
    };
    let Some((first, others)) = sides.split_first() else { return Vec::new() };
    let of = |(own, baseline): &(&Levels, Option<&Levels>), factor: &Factor| {
        [own.0.get(factor).cloned(), baseline.and_then(|levels| levels.0.get(factor).cloned())]
    };
    let differs =
        |factor: &&Factor| others.iter().any(|side| of(side, factor) != of(first, factor));
    first.0.0.keys().filter(differs).copied().collect()
}

/// Both sides of a claim, each by its phase, if phases are compared and it `has_phases`, and by the
/// levels in which treatments of the run differ, or by the levels that the plan names if the run
/// has no such treatments.
fn sides(
    schedule: &Schedule,
    claim: &Judgement,
    has_phases: bool,
    is_said: &dyn Fn(&Factor) -> bool,
) -> String {
    let named = |levels: &Option<Levels>, otherwise: &Levels| match levels {
        Some(levels) => schedule.distinct(levels).only(is_said),
        None => otherwise.clone(),
    };
    let own = named(&claim.levels, &claim.claim.compare);
    let other = named(&claim.baseline, &claim.claim.against);
    let less = claim.claim.excess_over();
    let less = less.map_or(String::new(), |less| format!(", each less its own with {less}"));
    if let Some(phase) = claim.claim.against_phase.as_ref().filter(|_| has_phases) {
        let own_phase = claim.claim.phases.concat();
        if own == other {
            let both = if own.0.is_empty() { String::new() } else { format!(" ({own})") };
            return format!("phase = {own_phase} against phase = {phase}{both}{less}");
        }
        return format!("phase = {own_phase}, {own} against phase = {phase}, {other}{less}");
    }
    if other.0.is_empty() || own == other {
        own.to_string()
    } else {
        format!("{own} against {other}{less}")
    }
}

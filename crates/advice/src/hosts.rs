//! Effects by host: is it true of this SSD, or of SSDs?
//!
//! A block runs on one host, so each host has its own effects. Across hosts the sample size is the
//! number of hosts, not of blocks: a thousand blocks on two hosts say much about these two and
//! little about a third.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_plan::metric::Metric;
use ssdlab_plan::{Levels, Schedule};
use ssdlab_results::Record;
use ssdlab_stats::{Heterogeneity, LogRatio, holm};

use super::CONFIDENCE;
use super::case::cases;
use super::counted::counted;
use super::effects::Effect;
use super::machine::{self, Host, MeasuredMachine};
use super::pairs::{Blocks, ComparedSide, Quantity, StepChoice};
use super::warning::Warning;

/// A ratio by host: of an effect on the plan's metric in one phase, or of a claim.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ByHost {
    /// The claim; absent for an effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claim: Option<String>,
    /// The metric.
    pub metric: Metric,
    /// The phases whose sum is compared.
    pub phases: Vec<String>,
    /// The treatment.
    pub levels: Levels,
    /// The treatment it is compared with.
    pub baseline: Levels,
    /// Each host that measured both, at least two.
    pub hosts: Vec<HostRatio>,
    /// What the hosts have in common; absent where none has two pairs.
    pub across: Option<RatioAcrossHosts>,
}

/// A ratio on one host.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "OfHost")]
pub struct HostRatio {
    /// The host.
    #[serde(flatten)]
    pub host: Host,
    /// The geometric mean of the ratios within blocks.
    pub ratio: f64,
    /// Student's t interval of it, 95 %; absent for one block, and for few equal ones.
    pub interval: Option<[f64; 2]>,
    /// Blocks it rests on.
    pub n: usize,
    /// The p-value of "it agrees with the other hosts", adjusted for the number of hosts and
    /// ratios (Holm), and not below that of "the ratio is the same on all hosts"; absent where
    /// nothing tells chance from difference.
    pub p_agrees: Option<f64>,
}

impl HostRatio {
    /// Whether the host is shown to disagree, at 5 % error over all hosts and ratios; only if hosts
    /// are shown to differ.
    pub fn disagrees(&self) -> bool {
        self.p_agrees.is_some_and(|p| p < 1.0 - CONFIDENCE)
    }
}

/// A ratio across hosts, each of which may have its own.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Across")]
pub struct RatioAcrossHosts {
    /// The geometric mean over hosts such as these.
    pub ratio: f64,
    /// Its interval, 95 %, which counts hosts and not blocks (Hartung and Knapp), and is never
    /// narrower than chance makes it.
    pub interval: [f64; 2],
    /// The standard deviation of the natural logarithms of the hosts' true ratios.
    pub tau: f64,
    /// Cochran's Q.
    pub q: f64,
    /// The p-value of "the ratio is the same on all hosts": the larger of two analyses of
    /// variance, with one scatter for all hosts and with each its own (Welch), adjusted for the
    /// number of ratios (Holm).
    pub p_same: f64,
    /// The share of the variance between hosts' ratios that is not chance (I²), from 0 to 1.
    pub i_squared: f64,
}

impl ByHost {
    /// Whether the hosts are shown to differ: if all are equal in all ratios, 5 % of runs report a
    /// difference in any of them.
    pub fn hosts_differ(&self) -> bool {
        self.across.is_some_and(|across| across.p_same < 1.0 - CONFIDENCE)
    }

    /// The hosts that are shown to disagree.
    pub fn disagreeing(&self) -> impl Iterator<Item = &HostRatio> {
        self.hosts.iter().filter(|own| own.disagrees())
    }
}

/// A ratio by host, and how its hosts differ.
type HostRatios = (ByHost, Option<Heterogeneity>);

/// The effects on the plan's metric that two or more hosts measured.
pub(super) fn of_effects(
    schedule: &Schedule,
    blocks: &Blocks<'_>,
    effects: &[Effect],
) -> Vec<ByHost> {
    let is_shown = |effect: &&Effect| effect.metric == schedule.metric && effect.phases.len() == 1;
    let of_effects = effects.iter().filter(is_shown).filter_map(|effect| {
        let sides = [&effect.levels, &effect.baseline].map(|levels| schedule.find(levels));
        let quantity = Quantity { metric: effect.metric, phases: &effect.phases };
        let sides = [quantity.of(sides[0]?), quantity.of(sides[1]?)];
        found(schedule, blocks, sides, StepChoice::LastStep)
    });
    settled(of_effects.collect())
}

/// The claims' ratios that two or more hosts measured. Like effects and claims themselves, the two
/// are corrected separately, each for its own number.
pub(super) fn of_claims(schedule: &Schedule, blocks: &Blocks<'_>) -> Vec<ByHost> {
    let of_claims = schedule.claims.iter().flat_map(|claim| {
        let cases = cases(schedule, claim);
        let is_one_of_several = cases.len() > 1;
        cases.into_iter().filter_map(move |case| {
            let sides = [case.side, case.baseline?];
            let (found, groups) = found(schedule, blocks, sides, StepChoice::FirstStep)?;
            let claim = Some(case.id(schedule, is_one_of_several));
            Some((ByHost { claim, ..found }, groups))
        })
    });
    settled(of_claims.collect())
}

fn found(
    schedule: &Schedule,
    blocks: &Blocks<'_>,
    [side, baseline]: [ComparedSide<'_>; 2],
    which: StepChoice,
) -> Option<HostRatios> {
    let by_host = blocks.compare_by_host(side, Some(baseline), which);
    if by_host.len() < 2 {
        return None;
    }
    let (hosts, ratios): (Vec<Host>, Vec<LogRatio>) = by_host.into_iter().unzip();
    let of_host = |(host, ratio): (Host, &LogRatio)| HostRatio {
        host,
        ratio: ratio.ratio(),
        interval: ratio.interval(CONFIDENCE).map(Into::into),
        n: ratio.n(),
        p_agrees: None,
    };
    let levels = |side: ComparedSide<'_>| schedule.treatments[side.treatment].levels.clone();
    let by_host = ByHost {
        claim: None,
        metric: side.quantity.metric,
        phases: side.quantity.phases.to_vec(),
        levels: levels(side),
        baseline: levels(baseline),
        hosts: hosts.into_iter().zip(&ratios).map(of_host).collect(),
        across: None,
    };
    Some((by_host, Heterogeneity::among(&ratios)))
}

/// Decides which hosts differ, corrected for the number of ratios and hosts.
fn settled(mut found: Vec<HostRatios>) -> Vec<ByHost> {
    let groups = || found.iter().filter_map(|(_, groups)| groups.as_ref());
    let mut p_same = holm(&groups().map(|groups| groups.p).collect::<Vec<_>>()).into_iter();
    let deviations = groups().flat_map(|groups| &groups.deviations);
    let p: Vec<f64> =
        deviations.flat_map(|own| own.p.into_iter().chain([own.p_reversed])).collect();
    let mut p_agrees = holm(&p).into_iter();
    for (by_host, groups) in &mut found {
        let Some(groups) = groups else { continue };
        let p_same = p_same.next().expect("one p-value per ratio");
        by_host.across = Some(RatioAcrossHosts {
            ratio: groups.ratio(),
            interval: groups.interval(CONFIDENCE).into(),
            tau: groups.tau,
            q: groups.q,
            p_same,
            i_squared: groups.i_squared,
        });
        for (host, deviation) in by_host.hosts.iter_mut().zip(&groups.deviations) {
            let tests = usize::from(deviation.p.is_some()) + 1;
            let p = p_agrees.by_ref().take(tests).reduce(f64::min);
            host.p_agrees = p.map(|p| p.max(p_same));
        }
    }
    found.into_iter().map(|(by_host, _)| by_host).collect()
}

/// What a reader must know about the hosts.
pub(super) fn warnings(
    schedule: &Schedule,
    records: &[Record],
    blocks: &Blocks<'_>,
    by_host: &[ByHost],
) -> Vec<Warning> {
    let machines: BTreeSet<Option<MeasuredMachine<'_>>> =
        counted(records).map(MeasuredMachine::of).collect();
    let mut warnings = Vec::new();
    if let [Some(only)] = Vec::from_iter(machines)[..] {
        warnings.push(Warning::OneHost { host: only.into() });
    }
    let what = machine::unlike(records);
    if !what.is_empty() {
        warnings.push(Warning::UnlikeHosts { what });
    }
    let pairs = blocks.across_machines();
    if pairs > 0 {
        warnings.push(Warning::AcrossMachines { pairs });
    }
    for one in by_host {
        let Some(across) = one.across else { continue };
        for own in one.disagreeing() {
            let warning = Warning::HostDisagrees {
                host: own.host.clone(),
                metric: one.metric,
                phases: one.phases.clone(),
                levels: schedule.distinct(&one.levels),
                ratio: own.ratio,
                across: across.ratio,
            };
            // A claim may have the same ratio as an effect.
            if !warnings.contains(&warning) {
                warnings.push(warning);
            }
        }
    }
    warnings
}

#[cfg(test)]
mod tests;

//! Can it fail? Every claim of a shipped plan has an adversary, under which its verdict changes in
//! the virtual lab, a label that says why it has none, or an entry among those not found yet.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Deserialize;
use ssdlab_plan::{self as plan, LabKind, Overrides, shipped};

/// The adversaries, by plan.
const ADVERSARIES: &str = include_str!("data/adversaries.toml");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OfPlan {
    /// Claims without a known adversary.
    #[serde(default)]
    unfound: BTreeSet<String>,
    /// Runs in which verdicts change.
    #[serde(default)]
    adversary: Vec<Adversary>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Adversary {
    /// The arguments added to `ssdlab run PLAN`.
    arguments: Vec<String>,
    /// The resulting verdicts on the claims.
    verdicts: BTreeMap<String, String>,
}

/// The number of claims of which nobody has found an adversary. It only falls.
const MOST_UNFOUND: usize = 91;

#[test]
fn every_shipped_claim_can_fail_or_says_why_not() {
    let mut adversaries: BTreeMap<String, OfPlan> = toml::from_str(ADVERSARIES).unwrap();
    let unfound: usize = adversaries.values().map(|of| of.unfound.len()).sum();
    assert!(unfound <= MOST_UNFOUND, "{unfound} claims have neither label nor adversary");
    for shipped in shipped::ALL {
        let schedule =
            plan::schedule(shipped.name, shipped.text, &Overrides::default(), Path::new("/"))
                .unwrap();
        let is_labelled = |claim: &&plan::schedule::Claim| {
            claim.by_construction.is_some() || claim.not_testable.contains_key(&LabKind::Virtual)
        };
        let (labelled, open): (Vec<_>, Vec<_>) = schedule.claims.iter().partition(is_labelled);
        let OfPlan { unfound, adversary } =
            adversaries.remove(shipped.name).expect("the file has every plan");
        let found: BTreeSet<String> = adversary
            .into_iter()
            .flat_map(|adversary| {
                assert!(!adversary.arguments.is_empty(), "{}: the plan as shipped", shipped.name);
                adversary.verdicts.into_keys()
            })
            .collect();
        let expected: BTreeSet<String> = open.into_iter().map(|claim| claim.id.clone()).collect();
        let known: BTreeSet<String> = found.union(&unfound).cloned().collect();
        assert_eq!(known, expected, "{}: an adversary, a label, or `unfound`", shipped.name);
        assert!(found.is_disjoint(&unfound), "{}: found and unfound", shipped.name);
        assert!(labelled.iter().all(|claim| !found.contains(&claim.id)), "{}", shipped.name);
    }
    assert!(adversaries.is_empty(), "the file has plans that are not shipped");
}

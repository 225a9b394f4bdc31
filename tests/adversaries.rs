//! Can it fail? Every claim of a shipped plan has an adversary, under which its verdict changes in
//! the virtual lab, or a label that says why it has none.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use serde::Deserialize;
use serde_json::Value;
use ssdlab_plan::{self as plan, LabKind, Overrides, Schedule, shipped};

/// The adversaries, by plan.
const ADVERSARIES: &str = include_str!("data/adversaries.toml");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OfPlan {
    /// Runs in which verdicts change.
    #[serde(default)]
    adversary: Vec<Adversary>,
}

/// A run that differs from another of the same plan in a setting, a drive, or the workload.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Adversary {
    /// The arguments added to `ssdlab run PLAN` for both runs.
    #[serde(default)]
    both: Vec<String>,
    /// The arguments added for the adversary only.
    #[serde(default)]
    arguments: Vec<String>,
    /// What is replaced in the plan's text for the adversary only, with what replaces it.
    #[serde(default)]
    replace: Vec<[String; 2]>,
    /// The verdicts on all cases of the claims, in order, in the other run and under the adversary.
    verdicts: BTreeMap<String, [String; 2]>,
}

impl Adversary {
    /// The plan's text under the adversary.
    fn text(&self, plan: &str, text: &str) -> String {
        self.replace.iter().fold(text.to_owned(), |text, [from, to]| {
            assert!(text.contains(from), "{plan} does not say {from}");
            text.replace(from, to)
        })
    }

    /// Whether it is another run, in which the claims are the same and their verdicts are not: some
    /// case has to be decided in another way, as fewer data leave any claim undecided.
    fn check(&self, schedule: &Schedule, text: &str) {
        let plan = &schedule.plan;
        let other = self.text(plan, text);
        assert!(other != text || !self.arguments.is_empty(), "{plan} as shipped");
        let other = plan::schedule(plan, &other, &Overrides::default(), Path::new("/")).unwrap();
        for (id, [own, under]) in &self.verdicts {
            let claim = |of: &Schedule| of.claims.iter().find(|claim| claim.id == *id).cloned();
            let claims = [claim(schedule).unwrap(), claim(&other).unwrap()];
            assert!(claims[0].is_judged_as(&claims[1]), "{plan}: {id} is another claim");
            let cases = own.split(", ").zip(under.split(", "));
            let is_decided = |verdict| ["holds", "refuted", "depends"].contains(&verdict);
            let mut changed = cases.filter(|(own, under)| own != under && is_decided(*under));
            assert!(changed.next().is_some(), "{plan}: {id} stays {own}");
        }
    }
}

#[test]
fn every_shipped_claim_can_fail_or_says_why_not() {
    let mut adversaries: BTreeMap<String, OfPlan> = toml::from_str(ADVERSARIES).unwrap();
    for shipped in shipped::ALL {
        let schedule =
            plan::schedule(shipped.name, shipped.text, &Overrides::default(), Path::new("/"))
                .unwrap();
        let is_labelled = |claim: &plan::schedule::Claim| {
            claim.by_construction.is_some() || claim.not_testable.contains_key(&LabKind::Virtual)
        };
        let open = schedule.claims.iter().filter(|claim| !is_labelled(claim));
        let OfPlan { adversary } =
            adversaries.remove(shipped.name).expect("the file has every plan");
        for adversary in &adversary {
            adversary.check(&schedule, shipped.text);
        }
        let found: BTreeSet<String> =
            adversary.into_iter().flat_map(|adversary| adversary.verdicts.into_keys()).collect();
        for claim in open {
            assert!(found.contains(&claim.id), "{}: {} can fail?", shipped.name, claim.id);
        }
    }
    assert!(adversaries.is_empty(), "the file has plans that are not shipped");
}

#[test]
#[ignore = "runs plans for an hour: make adversaries"]
fn each_adversary_changes_the_verdicts_as_it_says() {
    let adversaries: BTreeMap<String, OfPlan> = toml::from_str(ADVERSARIES).unwrap();
    let (mut known, mut wrong) = (BTreeMap::new(), Vec::new());
    for (plan, of) in &adversaries {
        let shipped = shipped::ALL.iter().find(|own| own.name == plan).unwrap();
        for adversary in &of.adversary {
            let both: Vec<&str> = adversary.both.iter().map(String::as_str).collect();
            let own = known
                .entry((plan, both.clone()))
                .or_insert_with(|| verdicts(plan, shipped.text, &both));
            let arguments = adversary.arguments.iter().map(String::as_str);
            let all: Vec<&str> = both.into_iter().chain(arguments).collect();
            let other = verdicts(plan, &adversary.text(plan, shipped.text), &all);
            for (claim, expected) in &adversary.verdicts {
                let found = [&own[claim], &other[claim]];
                if found != [&expected[0], &expected[1]] {
                    wrong.push(format!("{plan}: {claim} with {all:?} is {found:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Runs a plan in the virtual lab; returns the verdicts on all cases of each claim, in order.
fn verdicts(plan: &str, text: &str, arguments: &[&str]) -> BTreeMap<String, String> {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join(format!("{plan}.toml"));
    fs::write(&file, text).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_ssdlab"))
        .arg("run")
        .arg(&file)
        .args(arguments)
        .args(["--json", "--results"])
        .arg(place.path())
        .env("XDG_STATE_HOME", place.path().join("state"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let json: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{plan} with {arguments:?}: {error}: {said}"));
    let mut verdicts: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for claim in json["claims"].as_array().unwrap() {
        let of_claim = verdicts.entry(claim["claim"].as_str().unwrap().to_owned()).or_default();
        of_claim.push(claim["verdict"].as_str().unwrap());
    }
    verdicts.into_iter().map(|(claim, verdicts)| (claim, verdicts.join(", "))).collect()
}

//! Claims of random plans compare what they say: the sides of every pair differ in the compared
//! factors and in nothing else, and the ratio is what a calculation by hand gives.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use ssdlab_advice::{Judgement, analyse};
use ssdlab_plan::{Factor, Levels, Overrides, Schedule, schedule};
use ssdlab_results::{Ending, Phase, Record};

/// Factors any levels of which can be combined.
const FACTORS: [(&str, [&str; 3]); 4] = [
    ("filesystem", ["ext4", "xfs", "btrfs"]),
    ("atime", ["relatime", "noatime", "strictatime"]),
    ("scheduler", ["none", "mq-deadline", "bfq"]),
    ("drive", ["x25m-g1", "vertex-le", "eeepc-4g"]),
];

/// Some of the factors, each with one of its levels.
fn levels() -> impl Strategy<Value = String> {
    let of = |chosen: Vec<(&'static str, [&'static str; 3])>| {
        let each: Vec<_> = chosen
            .into_iter()
            .map(|(factor, levels)| {
                select(levels.to_vec()).prop_map(move |level| format!("{factor} = \"{level}\""))
            })
            .collect();
        each.prop_map(|parts| format!("{{ {} }}", parts.join(", ")))
    };
    subsequence(FACTORS.to_vec(), 0..=3).prop_flat_map(of)
}

/// A claim, mostly a right one.
fn claim() -> impl Strategy<Value = String> {
    let against = prop_oneof![2 => levels().prop_map(Some), 1 => Just(None)];
    let bound = prop_oneof![4 => Just("at_least = 2"), 1 => Just("at_most = \"3 s\"")];
    let excess = prop_oneof![4 => Just(None), 1 => levels().prop_map(Some)];
    let parts = (levels(), against, levels(), excess, bound, any::<bool>());
    parts.prop_map(|(compare, against, only, excess, bound, is_best)| {
        let key = if is_best { "best" } else { "compare" };
        let mut text = format!("{key} = {compare}\nwhere = {only}\n{bound}\n");
        for (key, levels) in [("against", against), ("excess_over", excess)] {
            if let Some(levels) = levels {
                writeln!(text, "{key} = {levels}").unwrap();
            }
        }
        text
    })
}

fn plan(baseline: &str, exclude: &str, claim: &str) -> String {
    let mut text = format!(
        "name = \"p\"\nquestion = \"?\"\nbaseline = {baseline}\n\
         workload = {{ phases = [{{ do = \"unpack\" }}] }}\n[factors]\n"
    );
    for (factor, levels) in FACTORS {
        writeln!(text, "{factor} = {levels:?}").unwrap();
    }
    format!(
        "{text}[[exclude]]\n{}\n\
         [[claims]]\nid = \"c\"\nsays = \"?\"\nphases = [\"unpack\"]\n{claim}",
        exclude.trim_matches(['{', '}', ' ']).replace(", ", "\n")
    )
}

/// A time that every level has a part in, so that any other pair has another ratio.
fn time_ns(levels: &Levels, block: u32) -> u64 {
    let parts = levels.0.iter().enumerate().map(|(factor, (_, level))| {
        let (_, known) = FACTORS.iter().find(|(_, known)| known.contains(&&**level)).unwrap();
        let place = known.iter().position(|known| known == level).unwrap();
        [1_000, 1_300, 1_900][place] + 17 * factor as u64
    });
    parts.product::<u64>() / 1_000_000 * u64::from(100 + block)
}

/// The records as other programs read them: a time by treatment and block.
fn rows(schedule: &Schedule) -> (Vec<Record>, BTreeMap<(Levels, u32), u64>) {
    let mut rows = BTreeMap::new();
    let of = |trial: &ssdlab_plan::schedule::Trial| {
        let mut record = Record::new(schedule, *trial, 0);
        let ns = time_ns(&record.levels, trial.block);
        rows.insert((record.levels.clone(), trial.block), ns);
        let phase = Phase { name: "unpack".to_owned(), time_ns: Some(ns), ..Phase::default() };
        record.phases = vec![phase];
        record
    };
    (schedule.trials.iter().map(of).collect(), rows)
}

/// The geometric mean of the ratios by block; of excesses, where the claim is about them.
fn by_hand(claim: &Judgement, rows: &BTreeMap<(Levels, u32), u64>) -> Option<f64> {
    let value = |levels: &Levels, block: u32| {
        let value = rows[&(levels.clone(), block)] as f64;
        match &claim.excess_over {
            Some(less) => value - rows[&(levels.with(less), block)] as f64,
            None => value,
        }
    };
    let (own, other) = (claim.levels.as_ref()?, claim.baseline.as_ref());
    let logs: Vec<f64> = (0..)
        .take(claim.n)
        .map(|block| (value(own, block) / other.map_or(1.0, |other| value(other, block))).ln())
        .collect();
    Some((logs.iter().sum::<f64>() / logs.len() as f64).exp())
}

fn differing(one: &Levels, other: &Levels) -> Vec<Factor> {
    let differs = |factor: &&Factor| one.0.get(factor) != other.0.get(factor);
    one.0.keys().filter(differs).copied().collect()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 400,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn sides_differ_in_the_compared_factors_and_in_nothing_else(
        baseline in levels(), exclude in levels(), claim in claim(),
    ) {
        let text = plan(&baseline, &exclude, &claim);
        let Ok(schedule) = schedule("p.toml", &text, &Overrides::default(), Path::new("/")) else {
            return Ok(());
        };
        let (records, rows) = rows(&schedule);
        let analysis = analyse("p", &schedule, &records, Ending::AllBlocks);
        prop_assert!(!analysis.claims.is_empty());
        for claim in &analysis.claims {
            let levels = claim.levels.as_ref().expect("a plan has its own treatments");
            prop_assert!(levels.matches(&claim.compare));
            if let Some(baseline) = &claim.baseline {
                let compared: Vec<Factor> = claim.compare.0.keys().copied().collect();
                let differing = differing(levels, baseline);
                if claim.against.0.is_empty() {
                    // The best is compared with the nearest of several.
                    prop_assert!(differing.iter().all(|factor| compared.contains(factor)));
                } else {
                    prop_assert_eq!(&differing, &compared);
                    prop_assert!(baseline.matches(&claim.against));
                }
            } else {
                prop_assert!(claim.is_absolute || claim.reason.is_some());
            }
            if let Some(ratio) = claim.ratio {
                let by_hand = by_hand(claim, &rows).unwrap();
                prop_assert!((ratio / by_hand - 1.0).abs() < 1e-9, "{} {}", ratio, by_hand);
            }
        }
    }
}

/// Half of the random plans may be refused; not all of them.
#[test]
fn plans_of_two_factors_are_paired_as_they_say() {
    let text = plan(
        "{ filesystem = \"ext4\" }",
        "{ drive = \"eeepc-4g\" }",
        "compare = { drive = \"vertex-le\" }\nagainst = { drive = \"x25m-g1\" }\nat_least = 1.2",
    );
    let schedule = schedule("p.toml", &text, &Overrides::default(), Path::new("/")).unwrap();
    let (records, _) = rows(&schedule);
    let analysis = analyse("p", &schedule, &records, Ending::AllBlocks);
    // Every filesystem, access time and scheduler: and each ratio is that of the drives.
    assert_eq!(analysis.claims.len(), 27);
    for claim in &analysis.claims {
        let drive = |levels: &Option<Levels>| levels.as_ref().unwrap().0[&Factor::Drive].clone();
        assert_eq!((&*drive(&claim.levels), &*drive(&claim.baseline)), ("vertex-le", "x25m-g1"));
        let ratio = claim.ratio.unwrap();
        assert!((ratio - 1.29).abs() < 0.01, "{ratio}");
    }
}

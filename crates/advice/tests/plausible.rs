//! Claims over plausible drives: verdicts, guarantees, separating parameters, and what is left out.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use ssdlab_advice::{Analysis, OpenReason, Verdict, Warning, analyse, guarantee, outline};
use ssdlab_flash::Draw;
use ssdlab_flash::evidence::Value;
use ssdlab_host::meter::block::Counters;
use ssdlab_plan::metric::Metric;
use ssdlab_plan::schedule::Trial;
use ssdlab_plan::{Overrides, Schedule, schedule};
use ssdlab_results::{Ending, PhaseRecord, Record};

const PLAN: &str = r#"
name = "p"
question = "Does discard cost?"
answer = ["ten"]
[factors]
discard = ["off", "on"]
[virtual]
plausible = 9
[baseline]
discard = "off"
[workload]
phases = [{ do = "delete", sync = true }]
[[claims]]
id = "ten"
says = "s"
phases = ["delete"]
compare = { discard = "on" }
at_least = 10
"#;

fn resolved(text: &str) -> Schedule {
    schedule("p.toml", text, &Overrides::default(), Path::new("/")).unwrap()
}

/// A run in which discard multiplies the time by `cost` of each block's drive.
fn run(schedule: &Schedule, cost: impl Fn(u32) -> f64) -> (Vec<Record>, Analysis) {
    let is_on = |trial: &Trial| {
        schedule.treatments[trial.treatment].levels.to_string().contains("discard = on")
    };
    let of = |trial: &Trial| {
        let factor = if is_on(trial) { cost(trial.block) } else { 1.0 };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let time_ns = (1e9 * factor) as u64;
        let phase = PhaseRecord {
            name: "delete".to_owned(),
            time_ns: Some(time_ns),
            ..PhaseRecord::default()
        };
        let drawn = |_| Draw {
            values: BTreeMap::from([
                ("trim".to_owned(), Value::Text(format!("{} us", trial.block * 10))),
                ("page".to_owned(), Value::Text("4 KiB".to_owned())),
            ]),
            redrawn: 2,
        };
        let draw = schedule.draw_of(trial.block).map(drawn);
        Record { phases: vec![phase], draw, ..Record::new(schedule, *trial, 0) }
    };
    let records: Vec<Record> = schedule.trials.iter().map(of).collect();
    let analysis = analyse("r", schedule, &records[..], Ending::AllBlocks);
    (records, analysis)
}

#[test]
fn a_claim_holds_if_it_does_on_every_drive() {
    let schedule = resolved(PLAN);
    assert_eq!((schedule.plausible, schedule.repetitions.most), (9, 10));
    let (records, analysis) = run(&schedule, |block| 20.0 + f64::from(block));
    let claim = &analysis.claims[0];
    assert_eq!((claim.outcome.verdict(), claim.outcome.ratio()), (Verdict::Holds, Some(20.0)));
    // Draws never make an interval.
    assert_eq!((claim.outcome.interval(), claim.outcome.p()), (None, None));
    let over = claim.plausible.as_ref().unwrap();
    assert_eq!((over.holds, over.of, over.published), (9, 9, Some(true)));
    // The published drive is no draw, but its value is in the range.
    assert_eq!((over.spread.least, over.spread.median, over.spread.most), (20.0, 25.0, 29.0));
    assert_eq!(over.spread.values.len(), 9);
    assert!((over.guarantees.unwrap() - 0.717).abs() < 0.001);
    assert_eq!(outline(&schedule, &records, Ending::AllBlocks).holds, 1);
    let effect =
        analysis.effect(Metric::default(), &claim.levels.clone().unwrap(), "delete").unwrap();
    assert!((effect.ratio - 20.0).abs() < 1e-9);
    assert_eq!((effect.interval, effect.n), (None, 1));
    assert!((effect.plausible.as_ref().unwrap().most - 29.0).abs() < 1e-9);
    // Two draws were discarded for each drive, whatever the number of its trials.
    let told = Warning::PlausibleDrives { drives: 9, redrawn: 18 };
    assert!(analysis.warnings.iter().any(|own| own.warning == told), "{:?}", analysis.warnings);
}

#[test]
fn a_claim_is_refuted_if_it_holds_on_none() {
    let (_, analysis) = run(&resolved(PLAN), |_| 2.0);
    let claim = &analysis.claims[0];
    let over = claim.plausible.as_ref().unwrap();
    assert_eq!((claim.outcome.verdict(), over.holds, over.of), (Verdict::Refuted, 0, 9));
    assert!(over.guarantees.is_some() && over.separated_by.is_none());
}

#[test]
fn a_claim_that_holds_on_some_names_what_separates_them() {
    let schedule = resolved(PLAN);
    let (records, analysis) = run(&schedule, |block| if block > 6 { 30.0 } else { 3.0 });
    let claim = &analysis.claims[0];
    let over = claim.plausible.as_ref().unwrap();
    assert_eq!((claim.outcome.verdict(), over.holds, over.guarantees), (Verdict::Depends, 3, None));
    let by = over.separated_by.as_ref().unwrap();
    assert_eq!((by.parameter.as_str(), by.separates), ("trim", 9));
    assert_eq!(by.value, Value::Text("65000 ns".to_owned()));
    assert_eq!(outline(&schedule, &records, Ending::AllBlocks).depends, 1);
}

/// How the claim comes out if it holds on the published drive or on all plausible ones, not both.
fn against_the_published(drives: u32, is_held_by_published: bool) -> Analysis {
    let plan = PLAN.replace("plausible = 9", &format!("plausible = {drives}"));
    let plan = format!("{plan}if_holds = \"mount it so\"\nif_refuted = \"leave it\"\n");
    run(&resolved(&plan), |block| if (block == 0) == is_held_by_published { 30.0 } else { 3.0 }).1
}

#[test]
fn nine_drives_that_agree_are_not_outvoted_by_the_published_one() {
    for (is_held_by_published, verdict) in [(true, Verdict::Refuted), (false, Verdict::Holds)] {
        let analysis = against_the_published(9, is_held_by_published);
        let claim = &analysis.claims[0];
        let over = claim.plausible.as_ref().unwrap();
        assert_eq!(
            (claim.outcome.verdict(), over.published),
            (verdict, Some(is_held_by_published))
        );
        assert!(over.published_differs() && over.guarantees.is_some());
        // The number that leads is in the range that stands beside it.
        assert_eq!((over.spread.least, over.spread.most), (3.0, 30.0));
        let median: f64 = if is_held_by_published { 3.0 } else { 30.0 };
        assert!((over.spread.median - median).abs() < 1e-9);
        let setting = &analysis.settings[0];
        assert!(setting.limits.contains(&"not on the published drive".to_owned()), "{setting:?}");
    }
}

#[test]
fn fewer_drives_do_not_settle_what_the_published_one_contradicts() {
    for is_held_by_published in [true, false] {
        let claim = &against_the_published(8, is_held_by_published).claims[0];
        assert_eq!(claim.outcome.verdict(), Verdict::Depends);
    }
}

/// The bounds of such a claim may come from these very draws.
#[test]
fn an_exploratory_claim_has_no_guarantee() {
    let guarantees = |plan: &str| {
        let claim = run(&resolved(plan), |_| 30.0).1.claims[0].clone();
        (claim.outcome.verdict(), claim.plausible.unwrap().guarantees.is_some())
    };
    assert_eq!(guarantees(PLAN), (Verdict::Holds, true));
    let exploratory = format!("{PLAN}exploratory = \"made after a first run\"\n");
    assert_eq!(guarantees(&exploratory), (Verdict::Holds, false));
}

/// Else a range would be that of the seeds.
#[test]
fn the_trials_of_all_drives_have_one_seed() {
    let seeds = |plan: &str| {
        let schedule = resolved(plan);
        let seeds: BTreeSet<u64> = schedule.trials.iter().map(|trial| trial.seed).collect();
        seeds.len()
    };
    assert_eq!(seeds(PLAN), 1);
    assert_eq!(seeds(&PLAN.replace("plausible = 9", "seeds = 9")), 9);
}

#[test]
fn what_a_lab_cannot_tell_it_cannot_tell_of_any_drive() {
    let plan = format!("{PLAN}not_testable = {{ virtual = \"it has one queue\" }}\n");
    let schedule = resolved(&plan);
    let measured = run(&schedule, |_| 20.0).1;
    let not_measured = analyse("r", &schedule, Vec::new(), Ending::AllBlocks);
    for (analysis, is_measured) in [(measured, true), (not_measured, false)] {
        let claim = &analysis.claims[0];
        assert_eq!(claim.outcome.ratio().is_some(), is_measured);
        let says = "it has one queue; --lab image or --device PATH can test it";
        assert_eq!(claim.outcome.why(), Some(&OpenReason::Untested(says.to_owned())));
        assert!(claim.plausible.is_none());
    }
}

/// A claim that the lab cannot test has one judgement, whatever the number of its cases.
#[test]
fn each_claim_gets_the_judgement_of_its_own_cases() {
    let best = "[[claims]]\nid = \"best\"\nsays = \"s\"\nphases = [\"delete\"]\n\
                best = { discard = \"on\" }\nnot_testable = { virtual = \"it has one queue\" }\n";
    let plan = PLAN
        .replace("[factors]", "[factors]\nfilesystem = [\"ext4\", \"xfs\"]")
        .replace("[[claims]]", &format!("{best}[[claims]]"));
    let (_, analysis) = run(&resolved(&plan), |_| 20.0);
    let found =
        analysis.claims.iter().map(|claim| (claim.claim.id.as_str(), claim.outcome.verdict()));
    let holds = ("ten", Verdict::Holds);
    assert_eq!(found.collect::<Vec<_>>(), [("best", Verdict::Untested), holds, holds]);
    let over = analysis.claims.iter().map(|claim| claim.plausible.is_some());
    assert_eq!(over.collect::<Vec<_>>(), [false, true, true]);
}

#[test]
fn the_direction_of_an_effect_is_shown_if_the_published_drive_has_it_too() {
    let schedule = resolved(PLAN);
    let is_shown = |of_published: f64| {
        let (_, analysis) = run(&schedule, |block| if block == 0 { of_published } else { 30.0 });
        let levels = analysis.claims[0].levels.clone().unwrap();
        analysis.effect(Metric::default(), &levels, "delete").unwrap().is_shown()
    };
    assert!(is_shown(3.0) && !is_shown(0.5));
}

#[test]
fn one_plausible_drive_is_told_in_the_singular() {
    let (_, analysis) = run(&resolved(&PLAN.replace("plausible = 9", "plausible = 1")), |_| 20.0);
    let evidence = analysis.method.iter().map(|check| check.evidence.as_str());
    assert!(evidence.clone().any(|says| says.contains("and 1 plausible drive:")), "{evidence:?}");
    let says = Warning::PlausibleDrives { drives: 1, redrawn: 1 }.to_string();
    assert!(says.contains("1 draw was discarded, as it made"), "{says}");
}

#[test]
fn one_computation_is_identical_only_if_it_is_on_every_drive() {
    let schedule = resolved(PLAN);
    let verdict = |cost: &dyn Fn(u32) -> f64| {
        let (mut records, _) = run(&schedule, cost);
        for record in &mut records {
            record.fingerprint = Some("of a virtual drive".to_owned());
        }
        let analysis = analyse("r", &schedule, records, Ending::AllBlocks);
        (analysis.claims[0].outcome.verdict(), analysis.claims[0].plausible.is_some())
    };
    assert_eq!(verdict(&|_| 1.0), (Verdict::Identical, false));
    assert_eq!(verdict(&|block| if block == 0 { 1.0 } else { 30.0 }), (Verdict::Holds, true));
    assert_eq!(verdict(&|block| if block == 1 { 1.0 } else { 30.0 }), (Verdict::Depends, true));
}

/// A guest with a later fstrim to perform differs by microseconds from the start.
#[test]
fn what_differs_only_after_the_compared_phases_is_one_computation() {
    let verdict = |level: &str, flushes: u64| {
        let plan = PLAN.replace("\"on\"", &format!("\"{level}\""));
        let schedule = resolved(&plan.replace("[{ do", "[{ do = \"unpack\" }, { do"));
        let of = |trial: &Trial| {
            let is_other = trial.treatment == 1;
            let phase = |(name, time_ns): (&str, u64)| {
                let more = if is_other && name == "delete" { flushes } else { 0 };
                let device = Some(Counters { flushes: 5 + more, ..Counters::default() });
                let time_ns = Some(time_ns + u64::from(is_other));
                PhaseRecord { name: name.to_owned(), time_ns, device, ..PhaseRecord::default() }
            };
            let phases = [("unpack", 1_000_000), ("delete", 2_000_000)].map(phase).to_vec();
            let draw = schedule.draw_of(trial.block);
            let draw = draw.map(|_| Draw { values: BTreeMap::new(), redrawn: 0 });
            let fingerprint = Some(trial.position.to_string());
            Record { phases, draw, fingerprint, ..Record::new(&schedule, *trial, 0) }
        };
        let records: Vec<Record> = schedule.trials.iter().map(of).collect();
        analyse("r", &schedule, records, Ending::AllBlocks).claims.remove(0).outcome.verdict()
    };
    assert_eq!(verdict("fstrim", 0), Verdict::Identical);
    // Other requests are another computation; so is what is mounted otherwise, requests or not.
    assert_eq!(verdict("fstrim", 1), Verdict::Refuted);
    assert_eq!(verdict("on", 0), Verdict::Refuted);
}

#[test]
fn the_guarantees_are_those_that_are_promised() {
    for (drives, share) in [(9, 0.717), (29, 0.902), (59, 0.950)] {
        assert!((guarantee(drives) - share).abs() < 0.0005, "{drives}");
    }
}

//! The shipped plans answer their questions in the first sentence, alike in every format.

#[path = "answers/capacities.rs"]
mod capacities;
#[path = "answers/narrowed.rs"]
mod narrowed;

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::json;
use ssdlab_advice::{
    Analysis, Conclusion, Effect, Judgement, OpenReason, Outcome, TreatmentStatus, Verdict,
    analyse, taking_part,
};
use ssdlab_flash::{Draw, FlashActivity};
use ssdlab_host::meter::block::Counters;
use ssdlab_plan::schedule::Trial;
use ssdlab_plan::{Factor, Levels, Overrides, Schedule, metric, schedule, shipped};
use ssdlab_report::{
    AnsweredAnalysis, Style, answer, charts, html, markdown, screen, tables, text, why,
};
use ssdlab_results::{Ending, EngineSeries, Latency, PhaseRecord, Record, Work};
use ssdlab_stats::latency::LatencySummary;

fn resolved(name: &str, overrides: &Overrides) -> Schedule {
    schedule(name, shipped::find(name).unwrap().text, overrides, Path::new("/")).unwrap()
}

/// A shipped plan without the claims that decide and their sentences.
fn unanswered(name: &str) -> Schedule {
    let mut stored = serde_json::to_value(resolved(name, &Overrides::default())).unwrap();
    stored.as_object_mut().unwrap().remove("answer");
    serde_json::from_value(stored).unwrap()
}

/// The factor by which a level multiplies every cost, as a drive and a filesystem might.
fn weight(factor: Factor, level: &str) -> f64 {
    match (factor, level) {
        (Factor::Filesystem, "ext3") => 1.4,
        (Factor::Filesystem, "ext2") => 1.25,
        (Factor::Filesystem, "xfs") => 1.1,
        (Factor::Filesystem, "btrfs") => 1.15,
        (Factor::Filesystem, "reiserfs") => 1.2,
        (Factor::Filesystem, level) if level != "ext4" => 2.0,
        (Factor::Journal, "on") => 1.12,
        (Factor::Atime, "strictatime") => 1.05,
        (Factor::Scheduler, "bfq") => 1.07,
        (Factor::Scheduler, "kyber") => 1.02,
        (Factor::Scheduler, "mq-deadline") => 0.97,
        (Factor::Drive, "eeepc-4g") => 20.0,
        _ => 1.0,
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "all are above 0")]
fn phase(name: &str, levels: &Levels, block: u32) -> PhaseRecord {
    let each = levels.0.iter().map(|(factor, level)| weight(*factor, level));
    let cost = each.product::<f64>() * (1.0 + f64::from(block) / 500.0);
    let discards = levels.0.get(&Factor::Discard).is_some_and(|level| level == "on");
    let discards = u64::from(discards && name == "sync_deleted");
    let of = |unit: f64| (unit * cost) as u64;
    let device = Counters {
        written_bytes: of(2e8),
        write_requests: of(2_000.0),
        discard_requests: 50 * discards,
        discarded_bytes: 2_420_000_000 * discards,
        flushes: of(40.0),
        ..Counters::default()
    };
    let summary = LatencySummary {
        mean_ns: 2e7 * cost,
        p50_ns: of(2e7),
        p90_ns: of(3e7),
        p99_ns: of(5e7),
        p999_ns: of(6e7),
        max_ns: of(8e7),
    };
    PhaseRecord {
        name: name.to_owned(),
        time_ns: Some(of(1e9)),
        settled_ns: Some(of(1e9) + discards * 45_000_000_000),
        is_quiet: Some(true),
        device: Some(device),
        flash: Some(FlashActivity {
            flash_written_bytes: of(4e8),
            flash_read_bytes: of(1e8),
            erases: of(1_000.0),
            hottest_erases: of(50.0),
            repeats_until_worn: Some(1e4 / cost),
            years_until_worn: Some(30.0 / cost),
            repeats_by_bytes: Some(2e4 / cost),
            years_by_bytes: Some(60.0 / cost),
            stalled_ns: 0,
        }),
        work: Some(Work {
            operations: 1_000,
            ops_per_second: 1e4 / cost,
            bytes_per_second: Some(1e8 / cost),
            latency: Latency { summary, histogram: String::new() },
            series: EngineSeries { step_ns: 1, operations: vec![1] },
        }),
        cpu_ns: Some(of(5e8)),
        reported: BTreeMap::from([
            (metric::of("reader.p99_ns"), 4e7 * cost),
            (metric::of("reader.max_ns"), 9e7 * cost),
        ]),
        ..PhaseRecord::default()
    }
}

/// Power cuts in a phase, every tenth of which loses synced data.
fn cuts(phase: &str) -> serde_json::Value {
    let cut = |number: u64| {
        json!({
            "cut": number,
            "survivor": 0,
            "at_ns": number,
            "moment": "random",
            "phase": phase,
            "recovery_ns": 1_000_000,
            "verdict": {
                "broken_promises": u64::from(number.is_multiple_of(10)),
                "lost_operations": 1,
                "lost_bytes": 500,
                "lost_ns": number * 100_000_000,
            },
        })
    };
    (0..60).map(cut).collect()
}

/// A run of a plan: each step with the treatments that earlier steps kept.
fn run(schedule: &Schedule) -> Analysis {
    let mut records: Vec<Record> = Vec::new();
    for step in 0..schedule.blocks().len() {
        let chosen = taking_part(schedule, &records, step);
        let is_own = |trial: &&Trial| {
            schedule.step_of(trial.block) == step && chosen.contains(&trial.treatment)
        };
        let of = |trial: &Trial| {
            let levels = &schedule.treatments[trial.treatment].levels;
            let phases = schedule.phases(trial.treatment);
            let phases = phases.iter().map(|one| phase(&one.name, levels, trial.block)).collect();
            let draw = schedule.draw_of(trial.block);
            let draw = draw.map(|_| Draw { values: BTreeMap::new(), redrawn: 0 });
            let cuts = schedule.cuts.as_ref().and_then(|_| {
                let last = schedule.phase_names().pop()?;
                Some(serde_json::from_value(cuts(&last)).unwrap())
            });
            let cuts = cuts.unwrap_or_default();
            Record { phases, draw, cuts, ..Record::new(schedule, *trial, 0) }
        };
        let new: Vec<Record> = schedule.trials.iter().filter(is_own).map(of).collect();
        records.extend(new);
    }
    analyse("run", schedule, records, Ending::AllBlocks)
}

/// The values are not in a ranking, so the table follows it.
#[test]
fn several_metrics_of_a_plan_are_in_every_report() {
    let plan = "name = \"p\"\nquestion = \"Which?\"\nmetrics = [\"time_ns\", \"flushes\"]\n\
                factors.filesystem = [\"ext4\", \"xfs\"]\n\
                [workload]\nphases = [{ do = \"unpack\" }]\n";
    for ranking in ["", "[ranking]\n"] {
        let plan = format!("{plan}{ranking}");
        let schedule = schedule("p", &plan, &Overrides::default(), Path::new("/")).unwrap();
        let analysis = run(&schedule);
        for write in [tables, text] {
            let report = write(&schedule, &analysis, Style::default());
            assert!(report.contains("time_ns, below it flushes"), "{report}");
            assert_eq!(report.contains("Ranking: by time_ns"), !ranking.is_empty(), "{report}");
        }
        assert!(html(&schedule, &analysis, &plan).contains("<code>flushes</code>"));
    }
}

/// The size of a first screen.
const LINES: usize = 16;
const COLUMNS: usize = 80;

/// What no first screen may have: it is for people in a hurry.
fn assert_readable(plan: &str, screen: &str) {
    assert!(screen.lines().count() <= LINES, "{plan}:\n{screen}");
    for line in screen.lines() {
        assert!(line.chars().count() <= COLUMNS, "{plan}: {line}");
    }
    for word in ["by construction", "plausible", "prefill =", "stale ="] {
        assert!(!screen.contains(word), "{plan}: {word}:\n{screen}");
    }
    // Options of mount and cryptsetup are what people write.
    let options = [
        "allow_discards",
        "auto_da_alloc",
        "no_read_workqueue",
        "no_write_workqueue",
        "skip_block_zeroing",
    ];
    let is_identifier = |word: &&str| word.contains('_') && !options.contains(word);
    let found: Vec<&str> = screen.split_whitespace().filter(is_identifier).collect();
    assert!(found.is_empty(), "{plan}: {found:?}:\n{screen}");
}

fn assert_short(plan: &str, text: &str) {
    for sentence in text.split(". ") {
        let words = sentence.split_whitespace().count();
        assert!(words <= 25, "{plan}: {words} words: {sentence}");
    }
}

#[test]
fn the_first_screen_of_every_shipped_plan() {
    let mut screens = Vec::new();
    for plan in shipped::ALL {
        let schedule = resolved(plan.name, &Overrides::default());
        assert!(!schedule.answer.decides.is_empty(), "{} names no claim", plan.name);
        assert!(!schedule.answer.says.is_empty(), "{} has no answer of its own", plan.name);
        let analysis = run(&schedule);
        let found = answer(&schedule, &analysis);
        let screen = screen(&schedule, &analysis, Style::default());
        assert_readable(plan.name, &screen);
        for says in [&found.sentence].into_iter().chain(&found.also) {
            assert_short(plan.name, says);
        }
        let page = markdown(&schedule, &analysis);
        let paragraph = page.split("\n\n").nth(1).unwrap().replace('\\', "");
        assert!(paragraph.starts_with(&found.sentence), "{paragraph}");
        let page = html(&schedule, &analysis, plan.text);
        let sentence = found.sentence.replace('&', "&amp;");
        assert!(page.contains(&format!("<p id=\"answer\" tabindex=\"-1\">{sentence}</p>")));
        let json = serde_json::to_value(AnsweredAnalysis::new(&schedule, &analysis)).unwrap();
        assert_eq!(json["answer"]["sentence"], *found.sentence);
        assert_eq!(json["scale"], 1.0);
        // The first chart shows the metric of the first claim, if phases have it.
        let decides = &schedule.answer.decides[0];
        let claim = schedule.claims.iter().find(|claim| claim.id == *decides).unwrap();
        let first = &charts(&schedule, &analysis)[0];
        let is_of_cuts = claim.metric.is_of_cuts();
        let charted = if is_of_cuts { schedule.metric } else { claim.metric };
        assert!(first.says.contains(charted.name), "{}: {}", plan.name, first.says);
        let why = why(&schedule, &analysis, Style::default());
        assert!(schedule.claims.iter().all(|claim| why.contains(&claim.says)), "{why}");
        screens.push(format!("== {}\n{screen}", plan.name));
    }
    insta::assert_snapshot!(screens.join("\n"));
}

/// An analysis in which the claims that decide came out like this.
fn concluded(schedule: &Schedule, analysis: &Analysis, conclusions: [&Conclusion; 2]) -> Analysis {
    let mut analysis = analysis.clone();
    for judged in &mut analysis.claims {
        let decides = &schedule.answer.decides;
        let Some(place) = decides.iter().position(|id| *id == judged.claim.id) else { continue };
        if let Outcome::Measured { conclusion, .. } = &mut judged.outcome {
            conclusion.clone_from(conclusions[place % 2]);
        }
    }
    analysis
}

#[test]
fn the_answer_of_every_shipped_plan_in_each_verdict() {
    use Conclusion::{Depends, Holds, Open, Refuted};
    let undecided = Open(OpenReason::Runs(Some(4)));
    let untested = Open(OpenReason::Untested("the lab has one processor".to_owned()));
    let all = [
        [&Holds, &Holds],
        [&Refuted, &Refuted],
        [&Holds, &Refuted],
        [&Depends, &Holds],
        [&undecided, &Holds],
        [&untested, &untested],
    ];
    let mut answers = Vec::new();
    for plan in shipped::ALL {
        let schedule = resolved(plan.name, &Overrides::default());
        let analysis = run(&schedule);
        answers.push(format!("\n== {}: {}", plan.name, schedule.question));
        for conclusions in all {
            let analysis = concluded(&schedule, &analysis, conclusions);
            assert_readable(plan.name, &screen(&schedule, &analysis, Style::default()));
            let found = answer(&schedule, &analysis);
            assert_short(plan.name, &found.sentence);
            answers.push(found.sentence);
        }
        answers.dedup();
    }
    insta::assert_snapshot!(answers.join("\n"));
}

/// NEWCOMER.md, B3: the best was ext4, and nobody learned that xfs could not be mounted.
#[test]
fn a_ranking_names_what_it_does_not_answer_for() {
    let schedule = resolved("filesystems", &Overrides::default());
    let mut analysis = run(&schedule);
    let unmeasured = |analysis: &Analysis| answer(&schedule, analysis).also.join(" ");
    assert!(!unmeasured(&analysis).contains("Not measured"));
    let is_xfs = |levels: &Levels| levels.0.get(&Factor::Filesystem).is_some_and(|fs| fs == "xfs");
    let lost = analysis.treatments.iter_mut().find(|own| is_xfs(&own.levels)).unwrap();
    lost.status = TreatmentStatus::Failed;
    lost.reason = Some("xfs refused the mount\nmore".to_owned());
    let says = unmeasured(&analysis);
    assert!(says.contains("Not measured: xfs (xfs refused the mount)."), "{says}");
}

/// Every format names both sides by all levels in which treatments differ: once for the levels that
/// the cases of a claim share, with each case for the others.
#[test]
fn every_verdict_names_both_sides() {
    let schedule = resolved("fsync", &Overrides::default());
    let analysis = run(&schedule);
    let reports = [
        text(&schedule, &analysis, Style::default()),
        markdown(&schedule, &analysis),
        html(&schedule, &analysis, ""),
    ];
    let sides =
        ["filesystem = ext3 against filesystem = ext2", "drive = x25m-g1", "drive = eeepc-4g"];
    for report in reports {
        let mut rest = report.as_str();
        for side in sides {
            let at = rest.find(side).unwrap_or_else(|| panic!("no {side} in {rest}"));
            rest = &rest[at..];
        }
    }
    for claim in &analysis.claims {
        let Judgement { claim, levels, baseline, .. } = claim;
        let is_named = !claim.against.0.is_empty() || claim.against_phase.is_some();
        let has_other = baseline.is_some() && is_named;
        assert!(levels.is_some() && (has_other || claim.is_absolute()), "{}", claim.id);
    }
}

/// What was found of some cases is not said of one that could not be compared.
#[test]
fn a_case_that_could_not_be_compared_is_told_with_its_reason() {
    let schedule = resolved("trim-today", &Overrides::default());
    let mut analysis = run(&schedule);
    let is_xfs = |claim: &&mut Judgement| {
        let levels = claim.levels.as_ref().unwrap();
        claim.claim.id == schedule.answer.decides[0] && levels.0[&Factor::Filesystem] == "xfs"
    };
    let claim = analysis.claims.iter_mut().find(is_xfs).unwrap();
    claim.outcome = Outcome::NotCompared("mkfs.xfs is missing".to_owned().into());
    claim.plausible = None;
    let sentence = answer(&schedule, &analysis).sentence;
    let (found, unknown) = sentence.split_once(" Not known for ").unwrap();
    assert!(found.contains(" times as long") && !found.contains("xfs"), "{sentence}");
    assert!(unknown.starts_with("xfs: mkfs.xfs is missing"), "{sentence}");
}

/// A ratio to next to nothing is not the largest effect where there is another.
#[test]
fn an_effect_on_next_to_nothing_is_not_the_largest() {
    let schedule = unanswered("filesystems");
    let analysis = run(&schedule);
    let shown = |effect: &&Effect| effect.metric == analysis.metric && effect.is_shown();
    let mut shown: Vec<Effect> = analysis.effects.iter().filter(shown).cloned().collect();
    shown.sort_by(|one, other| one.ratio.ln().abs().total_cmp(&other.ratio.ln().abs()));
    assert!(shown.len() > 1);
    let largest = |effects: &[Effect]| {
        let rankings = Vec::new();
        let analysis = Analysis { effects: effects.to_vec(), rankings, ..run(&schedule) };
        answer(&schedule, &analysis).sentence
    };
    let before = largest(&shown);
    shown[0].ratio = 1e8;
    assert_eq!(largest(&shown), before);
    shown[0].ratio = 1e5;
    assert_ne!(largest(&shown), before);
    shown[0].ratio = 1e8;
    assert!(largest(&shown[..1]).contains("100,000,000 times"));
}

/// A finding after a power cut comes with the command that makes the cut again.
#[test]
fn a_finding_after_a_cut_has_its_command_in_every_format() {
    let schedule = resolved("power-loss", &Overrides::default());
    let analysis = run(&schedule);
    let first = analysis.treatments[0].cuts.as_ref().unwrap().example.unwrap();
    let command = format!("ssdlab cut run --trial {} --cut 0 --survivor 0", first.trial);
    assert!(text(&schedule, &analysis, Style::default()).contains(&format!("    {command}\n")));
    assert!(markdown(&schedule, &analysis).contains(&format!(": {command}\n")));
    assert!(html(&schedule, &analysis, "").contains(&format!("<code>{command}</code>")));
    let json = serde_json::to_value(AnsweredAnalysis::new(&schedule, &analysis)).unwrap();
    let example = json!({ "trial": first.trial, "cut": 0, "survivor": 0 });
    assert_eq!(json["treatments"][0]["cuts"]["example"], example);
}

/// At another capacity the models are the same; another drive is another model.
#[test]
fn what_the_models_imply_they_imply_at_any_capacity() {
    let labelled = |overrides: &Overrides| {
        let schedule = resolved("discard", overrides);
        schedule.claims.iter().filter(|one| schedule.by_construction(one).is_some()).count()
    };
    assert!(labelled(&Overrides::default()) > 0);
    let smaller = Overrides { capacity: Some(8_000_000_000), ..Overrides::default() };
    assert_eq!(labelled(&smaller), labelled(&Overrides::default()));
    let elsewhere = Overrides { drive: Some("x25m-g2".to_owned()), ..Overrides::default() };
    assert_eq!(labelled(&elsewhere), 0);
}

/// Less work, or another drive, says nothing about an amount that was published for this one.
#[test]
fn amounts_are_judged_at_scale_1_on_the_plans_drive_only() {
    let published = Overrides { plausible: Some(0), ..Overrides::default() };
    let scaled = Overrides { scale: Some(0.04), ..published.clone() };
    let elsewhere = Overrides { drive: Some("x25m-g2".to_owned()), ..published.clone() };
    let smaller = Overrides { capacity: Some(8_000_000_000), ..published.clone() };
    for (overrides, says) in [
        (published, None),
        (scaled, Some("an amount at scale 1 does not apply at scale 0.04")),
        (elsewhere, Some("an amount on vertex-le does not apply to another drive")),
        (smaller, Some("an amount at the plan's capacity does not apply at a smaller one")),
    ] {
        let schedule = resolved("discard", &overrides);
        let analysis = run(&schedule);
        let claim = analysis.claims.iter().find(|one| one.id == "fstrim-six-minutes").unwrap();
        let report = text(&schedule, &analysis, Style::default());
        assert_eq!(report.contains("published"), says.is_none(), "{overrides:?}\n{report}");
        let page = html(&schedule, &analysis, "");
        assert_eq!(page.contains("<section id=\"published\""), says.is_none(), "{overrides:?}");
        let reason = claim.outcome.why().and_then(OpenReason::reason).unwrap_or_default();
        assert!(reason.starts_with(says.unwrap_or_default()), "{overrides:?}: {reason}");
        assert_eq!(claim.outcome.p().is_some(), says.is_none(), "{overrides:?}");
        // A ratio is judged anyway.
        let ratio = analysis.claims.iter().find(|one| one.id == "delete-slower-until-quiet");
        assert!(ratio.unwrap().outcome.p().is_some(), "{overrides:?}");
    }
    // What is written and discarded depends on the drive only through its capacity.
    let published = Overrides::default();
    let elsewhere = Overrides { drive: Some("x25m-g2".to_owned()), ..Overrides::default() };
    let smaller = Overrides { capacity: Some(4_000_000_000), ..Overrides::default() };
    let of_drive = "an amount at the capacity of vertex-le does not apply at another drive's";
    let of_plan = "an amount at the plan's capacity does not apply at a smaller one";
    let whole = Overrides { capacity: Some(100_030_242_816), ..Overrides::default() };
    for (plan, overrides, says) in [
        ("discard", &published, None),
        ("discard", &whole, None),
        ("journal", &whole, None),
        ("discard", &elsewhere, Some(of_drive)),
        ("discard", &smaller, Some(of_plan)),
        ("journal", &published, None),
        ("journal", &elsewhere, None),
        ("journal", &smaller, Some(of_plan)),
    ] {
        let unlike = resolved(plan, overrides).unlike(metric::of("discarded_bytes"));
        assert_eq!(unlike.is_some(), says.is_some(), "{plan} {overrides:?}");
        let unlike = unlike.unwrap_or_default();
        assert!(unlike.starts_with(says.unwrap_or_default()), "{plan} {overrides:?}: {unlike}");
    }
    // This holds on the drives that the plan draws as on the published one.
    let schedule = resolved("discard", &Overrides { scale: Some(0.04), ..Overrides::default() });
    let analysis = run(&schedule);
    let claim = analysis.claims.iter().find(|one| one.id == "fstrim-six-minutes").unwrap();
    assert_eq!((claim.outcome.verdict(), claim.plausible.is_none()), (Verdict::Undecided, true));
    let json = serde_json::to_value(AnsweredAnalysis::new(&schedule, &analysis)).unwrap();
    assert_eq!(json["scale"], 0.04);
    let pairs = json["claims"].as_array().unwrap().iter();
    for claim in pairs.filter(|claim| claim["is_absolute"] == false) {
        let [own, other] = ["levels", "baseline"].map(|side| claim[side].as_object().unwrap());
        assert_eq!(own.len(), schedule.treatments[0].levels.0.len());
        assert_ne!(own, other);
    }
    let report = text(&schedule, &run(&schedule), Style::default());
    assert!(report.contains("seed 1, scale 0.04, condition purged"), "{report}");
    let journal = resolved("journal", &Overrides::default());
    let report = text(&journal, &run(&journal), Style::default());
    assert!(report.contains("scale 1, capacity 8.0 GB, condition purged"), "{report}");
    let json = serde_json::to_value(AnsweredAnalysis::new(&journal, &run(&journal))).unwrap();
    assert_eq!([&json["scale"], &json["capacity_bytes"]], [&json!(1.0), &json!(8_000_000_000_u64)]);
    assert_eq!(json["conditions"], json!(["purged"]));
}

/// A plan that cuts the power, and claims nothing of it.
#[test]
fn without_claims_the_answer_to_60_power_cuts_is_what_they_lost_and_the_damage_by_its_name() {
    let text = "name = \"logs\"\nquestion = \"What is lost?\"\nmetric = \"time_ns\"\n\
                [factors]\nfilesystem = \"ext4\"\nmount = [\"defaults\", \"commit=60\"]\n\
                [baseline]\nmount = \"defaults\"\n[cuts]\nnumber = 60\n[workload]\nphases = \
                [{ do = \"append\", name = \"log\", append = { records = 100 } }]\n";
    let schedule = schedule("logs", text, &Overrides::default(), Path::new("/")).unwrap();
    let trial = |trial: &Trial| {
        let levels = &schedule.treatments[trial.treatment].levels;
        let mut cuts = cuts("log");
        for cut in cuts.as_array_mut().unwrap() {
            cut["verdict"]["damaged"] = json!({ "zeros": 1 });
            cut["verdict"]["broken_promises"] = json!(0);
        }
        let cuts = serde_json::from_value(cuts).unwrap();
        let phases = vec![phase("log", levels, trial.block)];
        Record { phases, cuts, ..Record::new(&schedule, *trial, 0) }
    };
    let records: Vec<Record> = schedule.trials.iter().map(trial).collect();
    let analysis = analyse("run", &schedule, records, Ending::AllBlocks);
    let sentence = answer(&schedule, &analysis).sentence;
    let says = "360 of 360 power cuts left logs that end in zeros and the last 2.95 s of work \
                were lost in the median, at most 5.90 s with mount defaults";
    assert!(sentence.starts_with(says), "{sentence}");
    assert!(!sentence.contains("effect"), "{sentence}");
}

/// That a wait of 130 s ends when it ends is no effect of a mount option.
#[test]
fn the_largest_effect_is_never_of_a_deliberate_wait() {
    let schedule = unanswered("trim-today");
    let analysis = run(&schedule);
    let waits: Vec<String> = schedule
        .phases(0)
        .into_iter()
        .filter(|phase| phase.idle().is_some())
        .map(|phase| phase.name)
        .collect();
    assert!(!waits.is_empty());
    let mut effects = analysis.effects.clone();
    for effect in effects.iter_mut().filter(|effect| effect.phases == waits[..1]) {
        effect.ratio = 873.0;
    }
    let analysis = Analysis { effects, ..analysis };
    let sentence = answer(&schedule, &analysis).sentence;
    assert!(!sentence.contains("87"), "{sentence}");
}

/// However surely one is 0.9 % faster.
#[test]
fn what_differs_by_less_than_2_percent_is_no_difference_that_matters_and_not_the_best() {
    let text = "name = \"near\"\nquestion = \"Which?\"\n[factors]\n\
                filesystem = [\"ext4\", \"xfs\"]\n[baseline]\nfilesystem = \"ext4\"\n[ranking]\n\
                [workload]\nphases = [{ do = \"unpack\", sync = true }]\n";
    let overrides = Overrides { runs: Some(6), ..Overrides::default() };
    let schedule = schedule("near", text, &overrides, Path::new("/")).unwrap();
    let answered = |by: f64| {
        let trial = |trial: &Trial| {
            let levels = &schedule.treatments[trial.treatment].levels;
            let is_xfs = levels.0[&Factor::Filesystem] == "xfs";
            let ext4 = Levels([(Factor::Filesystem, "ext4".to_owned())].into());
            let mut phase = phase("unpack", &ext4, trial.block);
            let factor = if is_xfs { by } else { 1.0 };
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "times")]
            let time = phase.time_ns.map(|ns| (ns as f64 * factor) as u64);
            phase.time_ns = time;
            Record { phases: vec![phase], ..Record::new(&schedule, *trial, 0) }
        };
        let records: Vec<Record> = schedule.trials.iter().map(trial).collect();
        let analysis = analyse("run", &schedule, records, Ending::AllBlocks);
        answer(&schedule, &analysis).sentence
    };
    let near = answered(1.009);
    assert!(near.starts_with("No difference that matters: "), "{near}");
    assert!(!near.contains("the best") && !near.contains("largest"), "{near}");
    assert!(answered(1.09).starts_with("By the time over 1 phase ext4 is the best"), "{near}");
}

#[test]
fn a_chart_has_a_caption_and_the_labels_of_its_plan() {
    let schedule = resolved("overprovision", &Overrides::default());
    let text = markdown(&schedule, &run(&schedule));
    for row in ["  Bytes programmed into flash", "  trimmed, a fifth free ", "  never trimmed, two"]
    {
        assert!(text.contains(row), "no `{row}`:\n{text}");
    }
}

#[test]
fn where_all_are_level_for_each_there_is_no_winner() {
    let text = "name = \"near\"\nquestion = \"Which?\"\n[answer]\nsays = \"It is {best}.\"\n\
                [factors]\nfilesystem = [\"ext4\", \"xfs\"]\nscheduler = [\"none\", \"bfq\"]\n\
                [baseline]\nscheduler = \"none\"\n[ranking]\n\
                [workload]\nphases = [{ do = \"unpack\", sync = true }]\n[[claims]]\nid = \"a\"\n\
                says = \"so\"\nphases = [\"unpack\"]\ncompare = { scheduler = \"bfq\" }\n\
                at_least = 1\n";
    let overrides = Overrides { runs: Some(6), ..Overrides::default() };
    let schedule = schedule("near", text, &overrides, Path::new("/")).unwrap();
    let trial = |trial: &Trial| {
        let ext4 = Levels([(Factor::Filesystem, "ext4".to_owned())].into());
        let phases = vec![phase("unpack", &ext4, trial.block)];
        Record { phases, ..Record::new(&schedule, *trial, 0) }
    };
    let records: Vec<Record> = schedule.trials.iter().map(trial).collect();
    let found = answer(&schedule, &analyse("run", &schedule, records, Ending::AllBlocks)).sentence;
    assert!(found.contains("no single one: bfq and none are level for ext4 and xfs"), "{found}");
}

//! Claims about power cuts, judged by made-up cuts.

use std::path::Path;

use ssdlab_operations::cuts::{CutMoment, CutOutcome, CutVerdict, Damage};
use ssdlab_plan::{Overrides, Schedule, schedule};
use ssdlab_results::{Ending, Record};

use crate::{Judgement, Verdict, analyse};

fn plan(claims: &str) -> Schedule {
    let text = format!(
        r#"
        name = "p"
        question = "?"
        baseline = {{ flush = "honest" }}
        factors = {{ filesystem = "ext4", flush = ["honest", "ignored"] }}
        virtual = {{ seeds = 1 }}
        cuts = {{ number = 10 }}
        [workload]
        phases = [{{ do = "replace", replace = {{ files = 2, rounds = 2 }} }}, {{ do = "sync" }}]
        {claims}
        "#
    );
    schedule("p", &text, &Overrides::default(), Path::new("/")).unwrap()
}

/// A cut of the phase `replace` that loses `lost_ns`.
fn cut(lost_ns: u64, breaks: bool) -> CutOutcome {
    let verdict = CutVerdict { lost_ns, broken_promises: breaks.into(), ..CutVerdict::default() };
    CutOutcome {
        cut: 0,
        survivor: 0,
        state: None,
        at_ns: 0,
        moment: CutMoment::Random,
        phase: "replace".to_owned(),
        unmountable: None,
        recovery_ns: Some(1),
        amiss: None,
        data: None,
        unchecked: false,
        checked_before: None,
        unpromised: None,
        verdict: Some(verdict),
    }
}

fn cuts(number: u64, of: impl Fn(u64) -> CutOutcome) -> Vec<CutOutcome> {
    (0..).zip(0..number).map(|(cut, number)| CutOutcome { cut, ..of(number) }).collect()
}

/// The judgements of claims about these cuts of the honest and of the lying drive.
fn judged(claims: &str, honest: &[CutOutcome], ignored: &[CutOutcome]) -> Vec<Judgement> {
    let schedule = plan(claims);
    let record = |trial| {
        let record = Record::new(&schedule, trial, 0);
        let is_honest = record.levels.to_string().contains("honest");
        Record { cuts: (if is_honest { honest } else { ignored }).to_vec(), ..record }
    };
    let records: Vec<Record> = schedule.trials.iter().copied().map(record).collect();
    analyse("run", &schedule, records, Ending::AllBlocks).claims
}

fn claim(metric: &str, levels: &str, bounds: &str) -> String {
    format!(
        "[[claims]]\nid = \"c{}\"\nsays = \"?\"\nmetric = \"{metric}\"\nphases = [\"replace\"]\n\
         compare = {{ flush = \"{levels}\" }}\n{bounds}\n",
        bounds.len()
    )
}

fn verdict(claim: &str, honest: &[CutOutcome], ignored: &[CutOutcome]) -> Verdict {
    judged(claim, honest, ignored)[0].outcome.verdict()
}

#[test]
fn a_share_is_judged_by_its_exact_interval() {
    let never = cuts(300, |_| cut(0, false));
    let seldom = cuts(300, |number| cut(0, number < 3));
    let honest = |bounds: &str| claim("broken_promises", "honest", bounds);
    // 0.98^300 < 0.05 / 2 < 0.99^300.
    for (bounds, of_never, of_seldom) in [
        ("at_most = \"2 %\"", Verdict::Holds, Verdict::Undecided),
        ("at_most = \"1 %\"", Verdict::Undecided, Verdict::Undecided),
        ("at_most = \"0 %\"", Verdict::Undecided, Verdict::Refuted),
        ("at_most = 0", Verdict::Undecided, Verdict::Refuted),
        ("at_least = \"5 %\"", Verdict::Refuted, Verdict::Refuted),
    ] {
        assert_eq!(verdict(&honest(bounds), &never, &[]), of_never, "{bounds}");
        assert_eq!(verdict(&honest(bounds), &seldom, &[]), of_seldom, "{bounds}");
    }
    let judgement = &judged(&honest("at_most = 0"), &never, &[])[0];
    assert_eq!(
        (judgement.outcome.ratio(), judgement.outcome.estimate().unwrap().n),
        (Some(0.0), 300)
    );
    let [low, high] = judgement.outcome.interval().unwrap();
    assert!(low.abs() < 1e-9 && (high - 1.222).abs() < 1e-3, "{low} to {high}");
    assert!(
        judgement.outcome.why().unwrap().reason().unwrap().contains("at_most = \"1 %\""),
        "{judgement:?}"
    );
}

#[test]
fn two_shares_are_compared_also_where_one_is_none() {
    let ignored = |bounds: &str| claim("broken_promises", "ignored", bounds);
    let never = cuts(200, |_| cut(0, false));
    let often = cuts(200, |number| cut(0, number % 4 == 0));
    let judgement = &judged(&ignored("at_least = 5"), &never, &often)[0];
    assert_eq!(judgement.outcome.verdict(), Verdict::Holds, "{judgement:?}");
    // 50 against 0, which counts as half a cut.
    assert_eq!((judgement.outcome.ratio(), judgement.outcome.interval()), (Some(100.0), None));
    assert_eq!(verdict(&ignored("at_most = 1"), &never, &often), Verdict::Refuted);
    assert_eq!(verdict(&ignored("at_least = 20"), &never, &often), Verdict::Undecided);
    assert_eq!(verdict(&ignored("at_least = 1"), &never, &never), Verdict::Undecided);
    assert_eq!(verdict(&ignored("at_least = 1"), &often, &often), Verdict::Undecided);
}

#[test]
fn a_median_may_be_none() {
    let honest = |bounds: &str| claim("lost_ns", "honest", bounds);
    let none = cuts(40, |_| cut(0, false));
    let some = cuts(40, |number| cut(1_000_000_000 * number, false));
    assert_eq!(verdict(&honest("at_most = 0"), &none, &[]), Verdict::Holds);
    assert_eq!(verdict(&honest("at_most = \"0 s\""), &some, &[]), Verdict::Refuted);
    assert_eq!(verdict(&honest("at_most = \"30 s\""), &some, &[]), Verdict::Holds);
    assert_eq!(verdict(&honest("at_most = \"20 s\""), &some, &[]), Verdict::Undecided);
    let ignored = claim("lost_ns", "ignored", "at_least = 2");
    assert_eq!(verdict(&ignored, &none, &some), Verdict::Holds);
    assert_eq!(verdict(&ignored, &some, &none), Verdict::Refuted);
}

/// "At least" and "at most" include their bound.
#[test]
fn a_bound_that_is_met_exactly_is_met() {
    let lose = |lost_bytes: u64| {
        let mut one = cut(0, false);
        one.verdict.as_mut().unwrap().lost_bytes = lost_bytes;
        cuts(300, move |_| one.clone())
    };
    let (none, record) = (lose(0), lose(500));
    let honest = |bounds: &str| claim("lost_bytes", "honest", bounds);
    for (bounds, expected) in [
        ("at_least = \"500 B\"", Verdict::Holds),
        ("at_least = \"501 B\"", Verdict::Refuted),
        ("at_most = \"500 B\"", Verdict::Holds),
        ("at_most = \"499 B\"", Verdict::Refuted),
    ] {
        assert_eq!(verdict(&honest(bounds), &record, &[]), expected, "{bounds}");
    }
    let ignored = |bounds: &str| claim("lost_bytes", "ignored", bounds);
    for (bounds, of_equal, of_none) in [
        ("at_least = 1", Verdict::Holds, Verdict::Holds),
        ("at_least = 2", Verdict::Refuted, Verdict::Refuted),
        ("at_most = 1", Verdict::Holds, Verdict::Holds),
        ("at_most = 0.5", Verdict::Refuted, Verdict::Refuted),
    ] {
        assert_eq!(verdict(&ignored(bounds), &record, &record), of_equal, "{bounds}");
        assert_eq!(verdict(&ignored(bounds), &none, &none), of_none, "{bounds}");
    }
}

#[test]
fn always_is_refuted_by_one_cut_and_shown_by_none() {
    let always = claim("broken_promises", "honest", "at_least = \"100 %\"");
    let judgement = &judged(&always, &cuts(300, |_| cut(0, true)), &[])[0];
    assert_eq!(judgement.outcome.verdict(), Verdict::Undecided);
    assert!(
        judgement.outcome.why().unwrap().reason().unwrap().contains("at_least = \"99 %\""),
        "{judgement:?}"
    );
    assert_eq!(verdict(&always, &cuts(300, |one| cut(0, one > 0)), &[]), Verdict::Refuted);
}

#[test]
fn the_median_of_an_even_number_is_in_the_middle_of_two() {
    let lost = [0, 0, 0, 0, 0, 39, 54, 69, 132, 142];
    let cuts = |number: usize| -> Vec<CutOutcome> {
        let lost = (0..).zip(lost).take(number);
        lost.map(|(number, lost_ns)| CutOutcome { cut: number, ..cut(lost_ns, false) }).collect()
    };
    let median = |number: usize| {
        let record = Record { cuts: cuts(number), ..Record::new(&plan(""), plan("").trials[0], 0) };
        crate::cuts::summarise(&[&record]).unwrap().lost_ns.unwrap()
    };
    assert_eq!((median(10).p50, median(10).p99, median(10).max), (19, 142, 142));
    assert_eq!((median(9).p50, median(1).p50), (0, 0));
    let claimed = &judged(&claim("lost_ns", "honest", "at_most = \"1 s\""), &cuts(10), &[])[0];
    assert_eq!(claimed.outcome.ratio(), Some(19.5));
}

#[test]
fn only_cuts_in_the_phases_count() {
    let of_sync = |number| CutOutcome { phase: "sync".to_owned(), ..cut(0, number < 50) };
    let honest = claim("broken_promises", "honest", "at_most = \"5 %\"");
    let judgement = &judged(&honest, &cuts(100, of_sync), &[])[0];
    assert_eq!(judgement.outcome.verdict(), Verdict::Undecided);
    assert!(
        judgement.outcome.why().unwrap().reason().unwrap().starts_with("no power cut"),
        "{judgement:?}"
    );
    let both = honest.replace("[\"replace\"]", "[\"replace\", \"sync\"]");
    assert_eq!(verdict(&both, &cuts(100, of_sync), &[]), Verdict::Refuted);
}

/// Survivors of one cut are not independent: the worst of them counts, once.
#[test]
fn a_cut_counts_once_whatever_it_may_have_left() {
    let honest = |bounds: &str| claim("broken_promises", "honest", bounds);
    let survivors = |number: u64| {
        let of = |survivor| CutOutcome { survivor, ..cut(u64::from(survivor), survivor == 1) };
        cuts(number, |_| cut(0, false)).into_iter().flat_map(move |one| {
            (0..3).map(move |survivor| CutOutcome { cut: one.cut, ..of(survivor) })
        })
    };
    let all: Vec<CutOutcome> = survivors(60).collect();
    let judgement = &judged(&honest("at_least = \"50 %\""), &all, &[])[0];
    assert_eq!(
        (judgement.outcome.ratio(), judgement.outcome.estimate().unwrap().n),
        (Some(100.0), 60)
    );
    let lost = &judged(&claim("lost_ns", "honest", "at_most = \"1 s\""), &all, &[])[0];
    assert_eq!((lost.outcome.ratio(), lost.outcome.estimate().unwrap().n), (Some(2.0), 60));
}

/// What cannot be mounted says nothing about its files.
#[test]
fn files_are_judged_where_they_could_be_looked_at() {
    let gone = |_| CutOutcome { unmountable: Some("?".to_owned()), verdict: None, ..cut(0, false) };
    let none = claim("broken_promises", "honest", "at_most = \"5 %\"");
    let judgement = &judged(&none, &cuts(200, gone), &[])[0];
    assert_eq!(
        (judgement.outcome.verdict(), judgement.outcome.ratio()),
        (Verdict::Undecided, None)
    );
}

/// A filesystem that has no check does not pass it.
#[test]
fn what_was_not_checked_is_not_sound() {
    let claim = claim("amiss", "honest", "at_most = \"5 %\"");
    let unchecked = |_| CutOutcome { unchecked: true, ..cut(0, false) };
    assert_eq!(verdict(&claim, &cuts(200, |_| cut(0, false)), &[]), Verdict::Holds);
    let judgement = &judged(&claim, &cuts(200, unchecked), &[])[0];
    assert_eq!(
        (judgement.outcome.verdict(), judgement.outcome.ratio()),
        (Verdict::Undecided, None)
    );
}

/// Whatever was found can be made again, the worst first.
#[test]
fn each_kind_of_finding_is_an_example() {
    let schedule = plan("");
    let example = |outcome: CutOutcome| {
        let honest = CutOutcome { cut: 7, ..outcome };
        let record = |trial| Record {
            cuts: vec![cut(0, false), honest.clone()],
            ..Record::new(&schedule, trial, 0)
        };
        let records: Vec<Record> = schedule.trials.iter().copied().map(record).collect();
        let analysis = analyse("run", &schedule, records, Ending::AllBlocks);
        analysis.treatments[0].cuts.as_ref().unwrap().example.map(|example| example.cut)
    };
    let mut torn = cut(0, false);
    torn.verdict.as_mut().unwrap().damaged.insert(Damage::Torn, 1);
    assert_eq!(example(cut(1, false)), None);
    assert_eq!(example(cut(1, true)), Some(7));
    assert_eq!(example(torn), Some(7));
    assert_eq!(example(CutOutcome { unmountable: Some("?".to_owned()), ..cut(0, false) }), Some(7));
    assert_eq!(example(CutOutcome { amiss: Some("?".to_owned()), ..cut(0, false) }), Some(7));
}

#[test]
fn what_cannot_be_mounted_and_what_is_damaged_are_told_apart() {
    let gone = CutOutcome { unmountable: Some("?".to_owned()), verdict: None, ..cut(0, false) };
    let mut torn = cut(0, false);
    torn.verdict.as_mut().unwrap().damaged.insert(Damage::Torn, 1);
    let half = |one: &CutOutcome| {
        cuts(100, |number| if number < 50 { one.clone() } else { cut(0, false) })
    };
    for (metric, of_gone, of_torn) in [
        ("unmountable", Verdict::Holds, Verdict::Refuted),
        ("damaged", Verdict::Refuted, Verdict::Holds),
    ] {
        let claim = claim(metric, "honest", "at_least = \"30 %\"");
        assert_eq!(verdict(&claim, &half(&gone), &[]), of_gone, "{metric}");
        assert_eq!(verdict(&claim, &half(&torn), &[]), of_torn, "{metric}");
    }
}

#[test]
fn states_are_counted_once_each_unless_a_record_does_not_say() {
    let schedule = plan("");
    let states = |of: fn(u32) -> Option<u32>| {
        let record = |trial| {
            let cuts = cuts(6, |_| cut(0, false)).into_iter();
            let cuts = cuts.map(|one| CutOutcome { state: of(one.cut), ..one }).collect();
            Record { cuts, ..Record::new(&schedule, trial, 0) }
        };
        let records: Vec<Record> = schedule.trials.iter().copied().map(record).collect();
        let treatments = analyse("run", &schedule, records, Ending::AllBlocks).treatments;
        treatments[0].cuts.as_ref().unwrap().states
    };
    assert_eq!(states(|cut| Some(cut / 2)), Some(3));
    assert_eq!(states(|_| None), None);
}

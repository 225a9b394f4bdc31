use std::path::Path;

use miette::Diagnostic;

use super::*;
use crate::{LabKind, Overrides, schedule, shipped};

#[test]
fn an_amount_is_in_the_unit_of_its_metric() {
    let of = |text: &str, metric: &str| amount(&Bound::Amount(text.to_owned()), metric::of(metric));
    assert_eq!(of("3 min", "time_ns"), Ok(180e9));
    assert_eq!(of("10 MB", "written_bytes"), Ok(10e6));
    assert_eq!(of("5 years", "years_until_worn"), Ok(5.0));
    assert_eq!(of("1 year", "years_until_worn"), Ok(1.0));
    assert_eq!(of("20", "write_amplification"), Ok(20.0));
    assert_eq!(of("5 %", "damaged"), Ok(5.0));
    for (text, metric, help) in [
        ("5", "years_until_worn", "5 years"),
        ("5 years", "erases", "a number, such as \"20\""),
        ("nan", "erases", "a number"),
        ("3 MB/s", "bytes_per_second", "in B/s"),
        ("5", "damaged", "\"5 %\""),
    ] {
        let error = of(text, metric).unwrap_err();
        assert!(error.contains(help), "{text}: {error}");
    }
}

/// The refusal of a claim in a plan with these other lines, and what to write instead.
fn refused(lines: &str, claim: &str) -> Option<String> {
    let text = format!(
        r#"
        name = "p"
        question = "?"
        {lines}
        baseline = {{ flush = "honest" }}
        factors = {{ filesystem = "ext4", flush = ["honest", "ignored"] }}
        [workload]
        phases = [{{ do = "replace", replace = {{ files = 2, rounds = 2 }} }}]
        [[claims]]
        id = "c"
        says = "?"
        phases = ["replace"]
        {claim}
        "#
    );
    match schedule("p", &text, &Overrides::default(), Path::new("/")) {
        Ok(schedule) => schedule.fault(),
        Err(error) => Some(format!("{error}: {}", error.help().unwrap())),
    }
}

#[test]
fn only_a_plan_that_makes_power_cuts_has_claims_about_them() {
    let cuts = "cuts = { number = 10 }";
    let of = "metric = \"broken_promises\"\ncompare = { flush = \"ignored\" }";
    let claim = |bound: &str| format!("{of}\n{bound}");
    assert_eq!(refused(cuts, &claim("at_most = 0")), None);
    assert_eq!(refused(cuts, &claim("at_least = \"1 %\"")), None);
    assert_eq!(refused(cuts, &claim("at_least = 2")), None);
    let events = "cuts = { number = 10, where = \"events\" }";
    let lost = "metric = \"lost_ns\"\ncompare = { flush = \"ignored\" }\nat_most = \"5 s\"";
    assert_eq!(refused(cuts, lost), None);
    assert_eq!(refused(events, &claim("at_most = 0")), None);
    let best = "metric = \"lost_ns\"\nbest = { flush = \"honest\" }".to_owned();
    let ranked = format!("{cuts}\nranking = {{ metric = \"lost_ns\" }}");
    let shown = format!("{cuts}\nmetric = \"lost_ns\"");
    for (lines, claim, says) in [
        ("", claim("at_most = 0"), "add [cuts] with number = 1000"),
        (events, lost.to_owned(), "leave `where` out of [cuts]"),
        (cuts, best, "instead of `best`"),
        (cuts, claim("at_least = 0"), "a bound must be above 0 and finite"),
        (cuts, claim("at_least = nan"), "a bound must be above 0 and finite"),
        (cuts, claim("at_most = \"5\""), "write for example \"5 %\""),
        (&ranked, claim("at_most = 0"), "no phase has `lost_ns`"),
        (&shown, claim("at_most = 0"), "no phase has `lost_ns`"),
    ] {
        let error = refused(lines, &claim).expect(says);
        assert!(error.contains(says), "{says}: {error}");
    }
}

/// Only a lab that has what the claim compares: the shipped plans about one processor and queue.
#[test]
fn an_untestable_claim_names_the_labs_that_can_test_it() {
    let says = |plan: &str, id: &str, lab: LabKind| {
        let overrides = Overrides { lab: Some(lab), ..Overrides::default() };
        let text = shipped::find(plan).unwrap().text;
        let schedule = schedule(plan, text, &overrides, Path::new("/")).unwrap();
        let claim = schedule.claims.iter().find(|claim| claim.id == id).unwrap();
        schedule.not_testable(claim)
    };
    let (simulated, image) = (LabKind::Virtual, LabKind::Image);
    let xfs = says("filesystems", "seeks-xfs-the-same", simulated).unwrap();
    assert!(xfs.ends_with("; --lab image or --device PATH can test it"), "{xfs}");
    assert_eq!(says("filesystems", "seeks-xfs-the-same", image), None);
    let queues = says("schedulers-today", "close-on-random", simulated).unwrap();
    assert!(queues.ends_with("; --device PATH can test it"), "{queues}");
    let in_image = says("schedulers-today", "close-on-random", image);
    assert_eq!(in_image.as_deref(), Some("a loop device has one queue; --device PATH can test it"));
    // Other labs have no dm-crypt to compare.
    let crypt = says("luks", "no-workload-drops", simulated).unwrap();
    assert!(!crypt.contains("can test it"), "{crypt}");
    // Nowhere: cfq is gone.
    let cfq = says("schedulers", "ext4-cfq-seeks", simulated).unwrap();
    assert!(!cfq.contains("can test it"), "{cfq}");
}

/// NEWCOMER.md: errors of claims pointed at the table.
#[test]
fn a_fault_of_a_claim_is_shown_at_its_key() {
    let at = |keys: &str| {
        let text = format!(
            "name = \"p\"\nquestion = \"?\"\n[factors]\natime = [\"noatime\", \"relatime\"]\n\
             [workload]\nphases = [{{ do = \"unpack\" }}]\n[[claims]]\nid = \"c\"\nsays = \"?\"\n\
             {keys}\ncompare = {{ atime = \"relatime\" }}\nat_least = 2\n"
        );
        let overrides = crate::Overrides::default();
        let error = crate::schedule("p.toml", &text, &overrides, std::path::Path::new("/"));
        let error = error.unwrap_err();
        let label = miette::Diagnostic::labels(&error).unwrap().next().unwrap();
        text[label.offset()..][..label.len()].to_owned()
    };
    assert_eq!(at("phases = [\"unpack\"]\nmetric = \"time_us\""), "\"time_us\"");
    assert_eq!(at("phases = [\"unpack\", \"unpak\"]"), "\"unpak\"");
    assert_eq!(at("phases = [\"unpack\"]\nmetric = \"latency.p99_ns\""), "\"unpack\"");
}

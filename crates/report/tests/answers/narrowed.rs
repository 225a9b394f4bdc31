//! A shipped plan whose levels the command line replaced does not contradict its own answer.

use ssdlab_advice::{Analysis, Verdict};
use ssdlab_plan::{Overrides, Schedule};
use ssdlab_report::{Style, answer, screen, text, why};

use super::{resolved, run};

const ADVICE: &str = "Mount such a drive without discard and trim by a timer";

/// The plan `discard` on a filesystem, in a run in which discards delay only the drive's rest, not
/// the sync: the claim about the sync's time is false, the one about the drive's is true.
fn discard_on(filesystem: &str) -> (Schedule, Analysis) {
    let set = vec![format!("filesystem={filesystem}")];
    let schedule = resolved("discard", &Overrides { set, ..Overrides::default() });
    let analysis = run(&schedule);
    assert!(answer(&schedule, &analysis).sentence.starts_with("Yes. "));
    (schedule, analysis)
}

/// NEWCOMER.md, B11: "what follows" both ways.
#[test]
fn what_follows_from_a_refuted_claim_does_not_contradict_the_answer() {
    for filesystem in ["ext4", "xfs"] {
        let (schedule, analysis) = discard_on(filesystem);
        let says: Vec<&str> = analysis.settings.iter().map(|own| own.says.as_str()).collect();
        assert!(says.len() == 1 && says[0].starts_with(ADVICE), "{filesystem}: {says:?}");
        assert!(screen(&schedule, &analysis, Style::default()).contains(ADVICE), "{filesystem}");
    }
}

/// NEWCOMER.md, B11: the question said ext4, the answer Yes, the first claim was refuted.
#[test]
fn claims_about_ext4_are_left_open_on_another_filesystem() {
    let (schedule, analysis) = discard_on("ext4");
    let refuted = |of: &Analysis| {
        let claims = of.claims.iter();
        claims.filter(|claim| claim.outcome.verdict() == Verdict::Refuted).count()
    };
    assert!(refuted(&analysis) > 0);
    assert!(why(&schedule, &analysis, Style::default()).contains('✗'));
    let (schedule, analysis) = discard_on("xfs");
    assert_eq!(refuted(&analysis), 0);
    let first = screen(&schedule, &analysis, Style::default());
    assert!(first.contains("xfs's discard option") && !first.contains("ext4"), "{first}");
    let why = why(&schedule, &analysis, Style::default());
    let open = "? With discard, deleting and syncing are tens of times slower (the post: 64 \
                times): this run has no such pair of treatments";
    assert!(why.contains(open) && !why.contains('✗') && !why.contains("ext4"), "{why}");
    // What was published of ext4 stands beside no time of xfs.
    let report = text(&schedule, &analysis, Style::default());
    assert!(!report.contains("published 1.21 s") && !report.contains("refuted "), "{report}");
}

use super::*;

fn so_far(id: &str, verdict: Verdict) -> LiveVerdict {
    LiveVerdict { id: id.to_owned(), verdict, says: verdict.to_string() }
}

#[test]
fn a_line_is_printed_for_a_verdict_that_changes_and_no_other() {
    let mut progress = RunProgress::new();
    let mut news = |first, second| progress.news(&[so_far("a", first), so_far("b", second)]);
    let (open, holds, refuted) = (Verdict::Undecided, Verdict::Holds, Verdict::Refuted);
    assert!(news(open, open).is_empty());
    assert_eq!(news(holds, open), ["so far a: holds"]);
    assert!(news(holds, open).is_empty());
    assert_eq!(news(open, refuted), ["so far a: undecided", "so far b: refuted"]);
}

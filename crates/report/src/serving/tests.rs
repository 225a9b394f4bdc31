use ssdlab_disk::serve::ServeSummary;

#[test]
fn lateness_is_told_where_there_is_any() {
    let mut summary = ServeSummary::default();
    assert!(!super::serving(&summary, true).contains("late"));
    summary.counts.writes = 4096;
    summary.counts.written_bytes = 16 << 20;
    summary.punctuality.answers = 4096;
    summary.punctuality.lateness.p99_ns = 12_000;
    let text = super::serving(&summary, true);
    assert!(text.contains("16.8 MB") && text.contains("99 % within 12.0 us"), "{text}");
    assert!(!text.contains("late by"), "{text}");
    summary.punctuality.late = 3;
    assert!(super::serving(&summary, true).contains("3 of 4096 requests"));
    let text = super::serving(&summary, false);
    assert!(text.contains("answered, without timing: half"), "{text}");
    assert!(!text.contains("slower than the drive"), "{text}");
}

use super::*;

#[test]
fn statistics_are_found_by_their_whole_name() {
    let text = "entries: 0\noverrun: 3\ncommit overrun: 5\nnow ts: 70963.72\ndropped events: 7\n";
    assert_eq!(statistic(text, "overrun"), 3);
    assert_eq!(statistic(text, "commit overrun"), 5);
    assert_eq!(statistic(text, "dropped events"), 7);
    assert_eq!(statistic(text, "read events"), 0);
}

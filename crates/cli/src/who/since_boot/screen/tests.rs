use super::*;

#[test]
fn digits_are_grouped_by_three() {
    let shown = [0, 999, 1000, 1_234_567].map(grouped);
    assert_eq!(shown, ["0", "999", "1,000", "1,234,567"]);
}

#[test]
fn lines_are_wrapped_and_cut_at_eighty_columns() {
    let lines = labelled("Who", &"word ".repeat(40));
    assert!(lines.len() > 2 && lines.iter().all(|line| line.chars().count() <= 80), "{lines:?}");
    assert!(lines[1].starts_with("         word"));
    assert_eq!(cut(&"\u{e4}".repeat(90)).chars().count(), 80);
}

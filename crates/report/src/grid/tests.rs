use super::*;

#[test]
fn cells_keep_their_lines_and_carry_no_control_characters() {
    let hostile = "a\x1b[1;32mb\nc\u{202e}d".to_owned();
    let grid = ReportTable { header: vec![hostile.clone()], rows: vec![vec![hostile]], numbers: 1 };
    let text = grid.text(Style { is_coloured: true, width: None });
    assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");
    assert_eq!((text.matches("a [1;32mb").count(), text.matches("cd").count()), (2, 2));
}

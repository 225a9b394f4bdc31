use super::*;

#[test]
fn what_a_spreadsheet_takes_for_a_formula_is_prefixed() {
    for text in ["=1", "+1", "-1", "@a", "'a", "\ta", "\na", "＝1", "＋1", "－1", "＠a"] {
        assert_eq!(field(&Cell::text(text)), format!("'{text}"));
    }
    for text in ["a=1", "1", "−1"] {
        assert_eq!(field(&Cell::text(text)), text);
    }
    assert_eq!(field(&Cell::Number(-1.5)), "-1.5");
}

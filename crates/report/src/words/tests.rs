use super::*;

#[test]
fn plain_text_steers_nothing_that_shows_it() {
    assert_eq!(plain("a\u{1b}[2J\u{0}b\u{202e}c\u{ffff}"), "a [2J bc");
}

#[test]
fn a_number_stays_on_the_line_of_its_unit() {
    let style = Style { width: Some(12), ..Style::default() };
    assert_eq!(wrapped("", "it takes 40 s. As", "", style), "it takes\n40 s. As");
    assert_eq!(wrapped("", "in page 4 some", "", style), "in page 4\nsome");
}

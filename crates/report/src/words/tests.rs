use super::*;

#[test]
fn plain_text_steers_nothing_that_shows_it() {
    assert_eq!(plain("a\u{1b}[2J\u{0}b\u{202e}c\u{ffff}"), "a [2J bc");
}

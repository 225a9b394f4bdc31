use super::*;

#[test]
fn the_first_number_is_taken_for_what_it_says_it_is() {
    let text = "41 transactions (40 requested), each up to 2048 blocks\naverage: \n  0ms \
                    waiting for transaction\n";
    assert_eq!(parse(text), Some(41));
    assert_eq!(parse("41 handles"), None);
    assert_eq!(parse(""), None);
}

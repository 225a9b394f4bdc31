use super::*;

#[test]
fn the_bracketed_word_is_selected() {
    assert_eq!(selected("[none] mq-deadline kyber bfq \n"), "none");
    assert_eq!(selected("none mq-deadline [kyber]\n"), "kyber");
    assert_eq!(selected("write back\n"), "write back");
}

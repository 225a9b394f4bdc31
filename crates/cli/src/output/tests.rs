use super::*;

#[test]
fn what_is_told_steers_no_terminal() {
    let hostile = "a\x1b]0;title\x07b\x1b[2Jc\rd\u{9b}31me\u{202e}f";
    assert_eq!(harmless(hostile), "a ]0;title b [2Jc d 31mef");
    let coloured = "\x1b[1;31mred\x1b[0m\n\tplain";
    assert_eq!(super::coloured(coloured), coloured);
    assert_eq!(harmless(coloured), " [1;31mred [0m\n\tplain");
}

use super::*;

#[test]
fn text_is_cut_at_its_width() {
    assert_eq!(cut("mq-deadline", 11), "mq-deadline");
    assert_eq!(cut("mq-deadline", 6), "mq-…ne");
    assert_eq!(cut("漢字漢字", 5), "漢…字");
}

#[test]
fn a_long_name_takes_two_lines() {
    assert_eq!(two_lines("journal on", 10), ["journal on"]);
    assert_eq!(two_lines("journal on, noatime", 12), ["journal on,", "noatime"]);
    assert_eq!(two_lines("one, two, three, four, five", 9), ["one, two,", "thre…five"]);
    assert_eq!(two_lines("", 9), [""]);
}

#[test]
fn nothing_steers_what_shows_it() {
    assert_eq!(escaped("<a b='\"&"), "&lt;a b=&apos;&quot;&amp;");
    assert_eq!(slug("../Seq_Create\u{202e}"), "seq-create");
    assert_eq!(slug("漢字"), "");
}

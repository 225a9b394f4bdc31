//! The file is XML whatever programs print.

use super::escaped;

#[test]
fn what_programs_print_is_text() {
    assert_eq!(escaped("<a b=\"c\">&\u{1b}[1m\n"), "&lt;a b=&quot;c&quot;&gt;&amp;?[1m\n");
}

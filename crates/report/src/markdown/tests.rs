use super::*;

#[test]
fn a_text_means_nothing_but_itself() {
    let cases = [
        ("x1.04 [1.03, 1.05], n = 3", "x1.04 [1.03, 1.05], n = 3"),
        ("write_requests", "write_requests"),
        ("__bold__ *x* `y`", "\\_\\_bold\\_\\_ \\*x\\* \\`y\\`"),
        ("a|b", "a\\|b"),
        ("a\\|b", "a\\\\\\|b"),
        ("<img src=x>&amp;", "\\<img src=x\\>\\&amp;"),
        ("[x](http://y) [z]: w", "[x]\\(http\\://y) [z]\\: w"),
        ("@all 1:2", "\\@all 1:2"),
        ("www.x.example WWW.y wwx.z", "www\\.x.example WWW\\.y wwx.z"),
        ("owner/name#12 (#1) #x", "owner/name#<!-- -->12 (#<!-- -->1) \\#x"),
        ("GH-7 gh-x AGH-", "GH-<!-- -->7 gh-x AGH-"),
        ("# one\r\n## two", "\\# one  \\## two"),
    ];
    for (text, expected) in cases {
        assert_eq!(inline(text), expected, "{text}");
    }
}

#[test]
fn a_cell_keeps_its_lines_and_its_column() {
    let rows = vec![vec!["a|b".to_owned(), "1\n2".to_owned()]];
    let header = vec![String::new(), "x".to_owned()];
    let text = table(&ReportTable { header, rows, numbers: 1 });
    assert_eq!(text, "|  | x |\n| --- | ---: |\n| a\\|b | 1<br>2 |\n");
}

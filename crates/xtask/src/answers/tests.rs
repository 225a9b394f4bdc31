use super::*;

#[test]
fn the_manual_has_the_answers_that_the_kept_records_give() {
    let pages = pages().unwrap();
    assert!(pages.len() > 1, "no records are kept");
    let is_stale = |(file, text): &&(String, String)| {
        fs::read_to_string(source::path(file)).unwrap_or_default() != *text
    };
    let stale: Vec<&String> = pages.iter().filter(is_stale).map(|(file, _)| file).collect();
    assert!(stale.is_empty(), "`cargo xtask answers` writes {stale:?}");
}

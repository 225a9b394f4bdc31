use super::*;

fn levels(pairs: &[(Factor, &str)]) -> Levels {
    Levels(pairs.iter().map(|(factor, level)| (*factor, (*level).to_owned())).collect())
}

#[test]
fn parts_match_and_replace() {
    let whole = levels(&[(Factor::Filesystem, "ext4"), (Factor::Discard, "on")]);
    assert!(whole.matches(&levels(&[(Factor::Discard, "on")])));
    assert!(!whole.matches(&levels(&[(Factor::Discard, "off")])));
    let off = whole.with(&levels(&[(Factor::Discard, "off")]));
    assert_eq!(off.to_string(), "filesystem = ext4, discard = off");
}

use super::super::random::{RandomPurpose, to_u64};
use super::*;

#[test]
fn names_are_unique_and_valid_however_short() {
    let mut random = RandomStream::new(1, RandomPurpose::Tree);
    let mut names = TakenNames::default();
    let mut seen = BTreeSet::new();
    for round in 0..500 {
        let name = names.claim(round % 3, "c", &mut random);
        let allowed = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        assert!(name.chars().all(allowed), "{name}");
        assert!(seen.insert(name));
    }
}

#[test]
fn words_have_the_length_asked_for() {
    let mut random = RandomStream::new(1, RandomPurpose::Tree);
    for length in 1..60 {
        assert_eq!(to_u64(word(length, &mut random).len()), length);
    }
}

use super::*;

#[test]
fn lives_are_counted_by_generations_and_the_oldest_are_dropped() {
    let mut lives = Lives::default();
    assert_eq!(lives.add(7, "first".to_owned()), 1);
    // Its deletion is reported, too.
    assert_eq!(lives.add(7, "first".to_owned()), 0);
    assert_eq!(lives.add(9, "second".to_owned()), 1);
    assert_eq!(lives.path(0).map(String::as_str), Some("first"));
    assert_eq!(lives.path(1).map(String::as_str), Some("second"));
    assert_eq!(lives.path(2), None);
    for generation in 10..10 + u32::try_from(MOST_LIVES).unwrap() {
        lives.add(generation, generation.to_string());
    }
    assert_eq!((lives.path(1), lives.files.len()), (None, MOST_LIVES));
    assert_eq!(lives.path(2).map(String::as_str), Some("10"));
}

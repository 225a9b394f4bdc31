use super::*;

#[test]
fn lives_are_counted_by_generations_and_the_oldest_are_dropped() {
    let mut lives = Lives::default();
    assert_eq!(lives.add(7, Some("first".to_owned())), 1);
    // Its deletion is reported, too.
    assert_eq!(lives.add(7, Some("first".to_owned())), 0);
    assert_eq!(lives.add(9, Some("second".to_owned())), 1);
    assert_eq!(lives.path(0).map(String::as_str), Some("first"));
    assert_eq!(lives.path(1).map(String::as_str), Some("second"));
    assert_eq!(lives.path(2), None);
    for generation in 10..10 + u32::try_from(MOST_LIVES).unwrap() {
        lives.add(generation, Some(generation.to_string()));
    }
    assert_eq!((lives.path(1), lives.files.len()), (None, MOST_LIVES));
    assert_eq!(lives.path(2).map(String::as_str), Some("10"));
}

#[test]
fn a_file_without_a_name_has_a_life_and_may_be_named_later() {
    let mut lives = Lives::default();
    for (generation, path) in [(3, None), (5, None), (5, Some("named")), (8, Some("third"))] {
        lives.add(generation, path.map(str::to_owned));
    }
    let paths = |lives: &Lives| [0, 1, 2].map(|life| lives.path(life).cloned());
    assert_eq!(paths(&lives), [None, Some("named".to_owned()), Some("third".to_owned())]);
    lives.forget();
    // It was there still: its end is reported.
    lives.add(8, Some("third".to_owned()));
    lives.add(9, Some("fourth".to_owned()));
    assert_eq!(paths(&lives), [None, None, Some("third".to_owned())]);
    assert_eq!(lives.path(3).map(String::as_str), Some("fourth"));
}

#[test]
fn a_number_whose_files_were_not_counted_from_the_beginning_tells_no_names() {
    let mut lives = Lives::uncounted();
    lives.add(3, Some("first".to_owned()));
    lives.add(4, Some("second".to_owned()));
    assert_eq!([0, 1, u32::MAX - 1].map(|life| lives.path(life).cloned()), [None, None, None]);
}

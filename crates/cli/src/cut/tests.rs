use super::{LostEvents, ranges};

#[test]
fn numbers_that_follow_each_other_are_a_range() {
    assert_eq!(ranges(vec![]), "none");
    assert_eq!(ranges(vec![3]), "3");
    assert_eq!(ranges(vec![5, 0, 1, 2, 7, 8]), "0 to 2, 5, 7 to 8");
}

#[test]
fn requests_to_lose_are_numbers_or_none() {
    let numbers =
        |text: &str| text.parse().map(|LostEvents(lost)| lost.into_iter().collect::<Vec<_>>());
    assert_eq!(numbers("none"), Ok(vec![]));
    assert_eq!(numbers("15, 12,12"), Ok(vec![12, 15]));
    for wrong in ["", "12,", "some", "-1"] {
        assert!(numbers(wrong).unwrap_err().contains("write 12,15 or none"), "{wrong}");
    }
}

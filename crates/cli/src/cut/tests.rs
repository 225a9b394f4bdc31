use super::ranges;

#[test]
fn numbers_that_follow_each_other_are_a_range() {
    assert_eq!(ranges(vec![]), "none");
    assert_eq!(ranges(vec![3]), "3");
    assert_eq!(ranges(vec![5, 0, 1, 2, 7, 8]), "0 to 2, 5, 7 to 8");
}

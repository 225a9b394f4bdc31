use super::*;

#[test]
fn what_is_far_apart_is_told_apart_and_what_is_close_is_not() {
    let values = [
        vec![10.0, 10.1, 9.9, 10.0, 10.0, 9.9],
        vec![100.0, 101.0, 99.0, 100.0, 100.5, 99.8],
        vec![10.1, 10.0, 10.0, 9.8, 9.9, 10.0],
        vec![1.0, 1.01, 0.99, 1.02, 1.0, 0.98],
    ];
    let ranking = RankEstimate::of(&values, 0.95).unwrap();
    assert_eq!(ranking.order, [1, 0, 2, 3]);
    assert_eq!(ranking.places, [(2, 3), (1, 1), (2, 3), (4, 4)]);
    assert_eq!(ranking.groups, [vec![1], vec![0, 2], vec![3]]);
    // Five blocks tell nothing apart.
    let fewer = values.map(|own| own[1..].to_vec());
    assert_eq!(RankEstimate::of(&fewer, 0.95).unwrap().places, [(1, 4); 4]);
}

#[test]
fn groups_may_overlap() {
    // 0 and 2 are distinguishable, 1 from neither.
    assert_eq!(groups(&[0, 1, 2], &[(0, 2)]), [vec![0, 1], vec![1, 2]]);
    assert_eq!(groups(&[0, 1, 2], &[(0, 1), (0, 2)]), [vec![0], vec![1, 2]]);
    assert_eq!(groups(&[2, 0, 1], &[]), [vec![2, 0, 1]]);
}

#[test]
fn one_block_tells_nothing_apart() {
    let ranking = RankEstimate::of(&[vec![1.0], vec![100.0], vec![3.0]], 0.95).unwrap();
    assert_eq!(ranking.order, [1, 2, 0]);
    assert_eq!(ranking.places, [(1, 3); 3]);
    assert_eq!(ranking.groups, [vec![1, 2, 0]]);
    assert!(RankEstimate::of(&[], 0.95).unwrap().groups.is_empty());
    assert!(RankEstimate::of(&[vec![0.0]], 0.95).is_err());
}

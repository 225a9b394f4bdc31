//! What is needed is found, and nothing else is kept.

use std::convert::Infallible;

use super::least;

/// The result for numbers below `of`, of which some are needed, and the number of questions.
fn found(of: u32, needed: &[u32], most: usize) -> (Vec<u32>, usize) {
    let mut asked = 0;
    let result: Result<_, Infallible> = least((0..of).collect(), most, |list| {
        asked += 1;
        Ok(needed.iter().all(|number| list.contains(number)))
    });
    (result.unwrap(), asked)
}

#[test]
fn only_what_is_needed_is_left() {
    for needed in [&[][..], &[0], &[99], &[3, 4, 77], &[0, 50, 99]] {
        let (left, asked) = found(100, needed, usize::MAX);
        assert_eq!(left, needed);
        assert!(asked < 60, "{needed:?}: {asked}");
    }
    assert_eq!(found(0, &[], 10), (vec![], 1));
}

#[test]
fn what_is_not_enough_stays_whole() {
    assert_eq!(found(5, &[7], 10), (vec![0, 1, 2, 3, 4], 1));
}

#[test]
fn questions_are_limited() {
    let (left, asked) = found(1000, &[1, 500, 998], 20);
    assert_eq!(asked, 20);
    assert!(left.len() < 1000 && [1, 500, 998].iter().all(|number| left.contains(number)));
}

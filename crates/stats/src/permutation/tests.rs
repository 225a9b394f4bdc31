//! Tests of the permutation test: its ways, its p-values, and its error.

use std::collections::BTreeSet;

use super::*;

fn labels(text: &str) -> Vec<bool> {
    text.bytes().map(|byte| byte == b'1').collect()
}

/// How many of the labelled are among the first: the statistic of Fisher's exact test.
fn among_first(first: usize) -> impl Fn(&[bool]) -> usize {
    move |labels: &[bool]| labels[..first].iter().filter(|label| **label).count()
}

#[test]
fn every_way_is_tried_once() {
    for (n, chosen, expected) in [(9, 2, 36), (9, 0, 1), (9, 9, 1), (6, 3, 20), (1, 1, 1)] {
        let mut found = BTreeSet::new();
        let mut calls = 0;
        each_way(n, chosen, |labels| {
            calls += 1;
            assert_eq!(labels.iter().filter(|label| **label).count(), chosen);
            found.insert(labels.to_vec());
        });
        assert_eq!((calls, found.len(), ways(n, chosen)), (expected, expected, Some(expected)));
    }
    assert_eq!(ways(1000, 500), None);
}

/// A lady tasting tea: of eight cups she chooses the four that had the milk first (Fisher 1935).
#[test]
fn the_lady_who_tastes_tea_gets_fisher_s_p_values() {
    for (chosen, ways) in [("11110000", 1.0), ("11101000", 17.0), ("11001100", 53.0)] {
        let p = p_of_labels(&labels(chosen), 1, among_first(4));
        assert!((p - ways / 70.0).abs() < 1e-12, "{chosen}: {p}");
    }
}

#[test]
fn of_too_many_ways_a_sample_gives_nearly_the_exact_value() {
    // Of 30 things 15 are labelled, 11 of the first 15: the hypergeometric tail is 0.01342.
    let chosen = labels("111111111110000111100000000000");
    let p = p_of_labels(&chosen, 7, among_first(15));
    assert!((p - 0.01342).abs() < 0.01, "{p}");
    // It is never 0.
    let all_first = labels("111111111111111000000000000000");
    let least = p_of_labels(&all_first, 7, among_first(15));
    assert!((5e-4..2e-3).contains(&least), "{least}");
}

use super::*;

const OWN: [(u64, f64); 6] = [(1, 2.2), (2, 4.0), (3, 9.0), (4, 2.2), (5, 4.0), (6, 9.0)];
const BASELINE: [(u64, f64); 6] = [(1, 1.1), (2, 2.0), (3, 4.5), (4, 1.1), (5, 2.0), (6, 4.5)];

#[test]
fn equal_seeds_are_pairs_where_a_seed_decides() {
    let paired = between(&OWN, &BASELINE, true).unwrap();
    assert_eq!((paired.method, paired.n), (ComparisonMethod::PairedBySeed, [6, 6]));
    let [lo, hi] = paired.interval.unwrap();
    assert!((lo - 2.0).abs() < 1e-9 && (hi - 2.0).abs() < 1e-9, "{paired:?}");
    let unpaired = between(&OWN, &BASELINE, false).unwrap();
    assert_eq!((unpaired.method, unpaired.n), (ComparisonMethod::Unpaired, [6, 6]));
    assert!(unpaired.interval.unwrap()[0] < 1.0, "{unpaired:?}");
}

/// With one common seed of three or more, pairing would discard four values for one pair.
#[test]
fn few_seeds_in_common_are_no_pairs() {
    let other = [(3, 4.5), (14, 1.1), (15, 2.0)];
    assert_eq!(between(&OWN, &other, true).unwrap().method, ComparisonMethod::Unpaired);
    let most = [(3, 4.5), (2, 2.0), (15, 1.1)];
    let most = between(&OWN, &most, true).unwrap();
    assert_eq!((most.method, most.n), (ComparisonMethod::PairedBySeed, [2, 2]));
}

#[test]
fn near_needs_the_whole_interval() {
    let steady = [(1, 1.0), (2, 1.01), (3, 0.99), (4, 1.0), (5, 1.01), (6, 0.99)];
    assert!(between(&steady, &steady, true).unwrap().is_near);
    let wide = [(14, 1.0), (15, 1.2), (16, 0.8)];
    let wide = between(&wide, &steady, true).unwrap();
    assert!(!wide.is_near && wide.interval.is_some());
    let once = between(&steady[..1], &steady[..1], true).unwrap();
    assert!(!once.is_near && once.interval.is_none() && once.p.is_none());
}

#[test]
fn a_count_of_nothing_has_no_ratio() {
    assert!(between(&[(1, 0.0)], &[(1, 3.0)], true).is_err());
    assert!(between(&[(1, 1.0)], &[(2, 0.0)], false).is_err());
}

/// A seventh trial without a pair would make means of 33.3 and 35.4 of a ratio of 1.
#[test]
fn the_means_beside_a_ratio_are_those_of_its_pairs() {
    let alone = [(7, 90.0)];
    let own: Vec<(u64, f64)> = OWN.into_iter().chain(alone).collect();
    let found = between(&own, &OWN, true).unwrap();
    assert_eq!((found.n, found.means[0]), ([6, 6], found.means[1]));
    assert!((found.ratio - 1.0).abs() < 1e-9, "{found:?}");
    let unpaired = between(&own, &OWN, false).unwrap();
    assert!(unpaired.means[0] > unpaired.means[1], "{unpaired:?}");
}

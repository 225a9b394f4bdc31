use super::*;

#[test]
fn the_stream_is_pinned() {
    let mut random = RandomStream::new(1, RandomPurpose::Tree);
    let drawn: Vec<u64> = (0..4).map(|_| random.below(1000)).collect();
    assert_eq!(drawn, [95, 738, 775, 957]);
}

#[test]
fn streams_of_one_seed_differ() {
    let first = |stream| RandomStream::new(7, stream).bits();
    assert_ne!(first(RandomPurpose::Tree), first(RandomPurpose::Build));
}

#[test]
fn a_shuffle_keeps_every_item() {
    let mut items: Vec<u32> = (0..100).collect();
    RandomStream::new(1, RandomPurpose::Tree).shuffle(&mut items);
    assert_ne!(items[..5], [0, 1, 2, 3, 4]);
    items.sort_unstable();
    assert!(items.into_iter().eq(0..100));
}

#[test]
fn low_ranks_are_drawn_more_often() {
    let zipf = Zipf::new(1000, 0);
    let mut random = RandomStream::new(1, RandomPurpose::Text);
    let mut drawn = [0_u32; 1000];
    for _ in 0..100_000 {
        drawn[zipf.rank(&mut random)] += 1;
    }
    // The harmonic number of 1000 is 7.49: rank 0 has 13.4 % of the draws, rank 9 1.34 %.
    assert!((13_000..13_800).contains(&drawn[0]), "{}", drawn[0]);
    assert!((1_200..1_480).contains(&drawn[9]), "{}", drawn[9]);
}

use proptest::prelude::*;

use super::*;

proptest! {
    #[test]
    fn they_agree_with_a_value_for_each_place(
        steps in prop::collection::vec((0..60_u64, 0..20_u64, prop::option::of(0..3_u8)), 0..60),
    ) {
        let mut ranges = Ranges::default();
        let mut places = vec![None; 80];
        for (start, length, value) in steps {
            let range = start..start + length;
            let within: u64 = ranges.within(&range).iter().map(|(own, _)| own.end - own.start).sum();
            let gaps: u64 = ranges.gaps(&range).iter().map(|own| own.end - own.start).sum();
            prop_assert_eq!(within + gaps, length);
            match value {
                Some(value) => ranges.put(range, value),
                None => {
                    for (piece, value) in ranges.cut(&range) {
                        for place in piece {
                            prop_assert_eq!(places[place as usize], Some(value));
                        }
                    }
                }
            }
            places[start as usize..(start + length) as usize].fill(value);
        }
        let mut left = vec![None; 80];
        for (piece, value) in ranges.cut(&(0..80)) {
            left[piece.start as usize..piece.end as usize].fill(Some(value));
        }
        prop_assert_eq!(left, places);
        prop_assert_eq!(ranges.len(), 0);
    }
}

#[test]
fn neighbours_of_one_value_are_one_range() {
    let mut ranges = Ranges::default();
    for range in [0..4, 8..12, 4..8] {
        ranges.put(range, 'a');
    }
    assert_eq!(ranges.len(), 1);
}

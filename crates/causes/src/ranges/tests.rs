use proptest::prelude::*;

use super::*;

proptest! {
    #[test]
    fn they_agree_with_a_value_for_each_place(
        steps in prop::collection::vec((0..60_u64, 0..20_u64, prop::option::of(0..3_u8)), 0..60),
    ) {
        let mut ranges = RangeMap::default();
        let mut places = BTreeMap::new();
        for (start, length, value) in steps {
            let range = start..start + length;
            let length_of = |own: &Range<u64>| own.end - own.start;
            let within: u64 = ranges.within(&range).iter().map(|(own, _)| length_of(own)).sum();
            let gaps: u64 = ranges.gaps(&range).iter().map(|own| own.end - own.start).sum();
            prop_assert_eq!(within + gaps, length);
            match value {
                Some(value) => ranges.put(range, value),
                None => {
                    for (piece, value) in ranges.cut(&range) {
                        for place in piece {
                            prop_assert_eq!(places.get(&place), Some(&value));
                        }
                    }
                }
            }
            for place in start..start + length {
                match value {
                    Some(value) => places.insert(place, value),
                    None => places.remove(&place),
                };
            }
        }
        let mut left = BTreeMap::new();
        for (piece, value) in ranges.cut(&(0..80)) {
            left.extend(piece.map(|place| (place, value)));
        }
        prop_assert_eq!(left, places);
        prop_assert_eq!(ranges.len(), 0);
    }
}

#[test]
fn neighbours_of_one_value_are_one_range() {
    let mut ranges = RangeMap::default();
    for range in [0..4, 8..12, 4..8] {
        ranges.put(range, 'a');
    }
    assert_eq!(ranges.len(), 1);
}

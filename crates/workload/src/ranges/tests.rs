//! Ranges against a file in memory that remembers for each byte what wrote it.

use proptest::prelude::*;

use super::*;

const SIZE: usize = 64;

#[derive(Debug, Clone)]
enum Change {
    Write(usize, usize, u64),
    Clear(usize, usize),
    Collapse(usize, usize),
    Insert(usize, usize),
}

fn changes() -> impl Strategy<Value = Change> {
    let range = || (0..48_usize, 1..16_usize);
    prop_oneof![
        (range(), 0..3_u64).prop_map(|((at, length), seed)| Change::Write(at, length, seed)),
        range().prop_map(|(at, length)| Change::Clear(at, length)),
        range().prop_map(|(at, length)| Change::Collapse(at, length)),
        range().prop_map(|(at, length)| Change::Insert(at, length)),
    ]
}

proptest! {
    #[test]
    fn every_byte_is_that_of_what_wrote_it_last(
        changes in prop::collection::vec(changes(), 0..24),
        start in 0..SIZE,
        length in 0..SIZE,
    ) {
        let contents = FileContents::sample();
        let byte = |seed, at| {
            let mut byte = [0];
            contents.fill(Content::Binary { seed }, at, &mut byte).unwrap();
            byte[0]
        };
        let (mut ranges, mut bytes) = (Ranges::default(), vec![0; 1024]);
        for change in changes {
            match change {
                Change::Write(at, length, seed) => {
                    ranges.write(at as u64..(at + length) as u64, Content::Binary { seed });
                    (at..at + length).for_each(|at| bytes[at] = byte(seed, at as u64));
                }
                Change::Clear(at, length) => {
                    ranges.allocate(Allocation::PunchHole, at as u64, length as u64);
                    bytes[at..at + length].fill(0);
                }
                Change::Collapse(at, length) => {
                    ranges.allocate(Allocation::CollapseRange, at as u64, length as u64);
                    bytes.drain(at..at + length);
                    bytes.resize(1024, 0);
                }
                Change::Insert(at, length) => {
                    ranges.allocate(Allocation::InsertRange, at as u64, length as u64);
                    bytes.splice(at..at, vec![0; length]);
                }
            }
        }
        let mut found = vec![1; length];
        ranges.fill(&contents, start as u64, &mut found).unwrap();
        prop_assert_eq!(&found[..], &bytes[start..start + length]);
    }
}

/// Adjacent pieces of one recipe are merged.
#[test]
fn ranges_of_one_recipe_become_one() {
    let (one, other) = (Content::Text { seed: 1 }, Content::Text { seed: 2 });
    let mut ranges = Ranges::default();
    for start in [0, 20, 10, 30, 5] {
        ranges.write(start..start + 10, one);
    }
    assert_eq!(ranges.0.len(), 1);
    ranges.write(12..13, other);
    assert_eq!(ranges.0.len(), 3);
}

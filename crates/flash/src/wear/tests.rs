use super::*;

#[test]
fn a_summary_counts_every_block_once() {
    let erases: Vec<u32> = (0..1000).map(|block| block % 100).collect();
    let wear = WearSummary::of(&erases, 50, None);
    assert_eq!((wear.least, wear.median, wear.most), (50, 99, 149));
    assert_eq!((wear.mean, wear.blocks), (99.5, 1000));
    assert_eq!(wear.histogram.iter().map(|bin| bin.blocks).sum::<u32>(), 1000);
    assert!(wear.histogram.len() <= 20);
    assert!(wear.histogram.windows(2).all(|pair| pair[0].to + 1 == pair[1].from));
}

#[test]
fn a_drive_of_one_block_and_a_drive_at_the_limit_have_a_summary() {
    assert_eq!(WearSummary::of(&[7], 0, None).histogram, [WearBin { from: 7, to: 7, blocks: 1 }]);
    assert_eq!(WearSummary::of(&[0, 1], u32::MAX, None).most, u32::MAX);
}

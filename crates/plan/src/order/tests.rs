use super::*;

fn of(treatments: usize, blocks: u32, seed: u64) -> Vec<Trial> {
    trials(|_| (0..treatments).collect(), blocks, seed)
}

#[test]
fn every_treatment_occurs_once_in_every_block() {
    let trials = of(5, 40, 7);
    for block in trials.chunks(5) {
        let mut seen: Vec<_> = block.iter().map(|trial| trial.treatment).collect();
        seen.sort_unstable();
        assert_eq!(seen, [0, 1, 2, 3, 4]);
        assert!(block.iter().all(|trial| trial.seed == block[0].seed));
    }
}

#[test]
fn orders_differ_between_blocks_and_seeds() {
    let order = |seed| of(6, 8, seed).iter().map(|t| t.treatment).collect::<Vec<_>>();
    assert_ne!(order(1), order(2));
    let one = order(1);
    assert!(one.chunks(6).any(|block| block != &one[..6]));
}

#[test]
fn a_longer_run_starts_like_a_shorter_one() {
    assert_eq!(of(4, 9, 3)[..12], of(4, 3, 3)[..]);
}

#[test]
fn every_treatment_is_first_about_equally_often() {
    let mut first = [0_u32; 3];
    for trial in of(3, 3000, 11).iter().step_by(3) {
        first[trial.treatment] += 1;
    }
    assert!(first.iter().all(|count| (900..1100).contains(count)), "{first:?}");
}

//! The order of trials: randomised complete blocks, from a seed.
//!
//! Every treatment occurs once in a block, in random order, so that a drift of the machine over
//! the run cannot pass for an effect (R. A. Fisher, The Design of Experiments, 1935, ch. IV).

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::schedule::Trial;

/// All trials of these blocks, in the order they run; `of_block` names the treatments of a block.
#[must_use]
pub fn trials(of_block: impl Fn(u32) -> Vec<usize>, blocks: u32, seed: u64) -> Vec<Trial> {
    let mut trials = Vec::new();
    let mut position = 0;
    for block in 0..blocks {
        // Each block draws from a generator of its own: a longer run starts like a shorter one.
        let mut random = Xoshiro256PlusPlus::seed_from_u64(mix(seed, u64::from(block)));
        let trial_seed = random.next_u64();
        let mut order = of_block(block);
        shuffle(&mut order, &mut random);
        for treatment in order {
            trials.push(Trial { block, position, treatment, seed: trial_seed });
            position += 1;
        }
    }
    trials
}

/// A Weyl step keeps neighbouring blocks' seeds apart before the generator mixes them.
fn mix(seed: u64, block: u64) -> u64 {
    seed ^ block.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Fisher and Yates's shuffle. The remainder's bias is below 2^-50 for any plan's treatments.
fn shuffle(order: &mut [usize], random: &mut Xoshiro256PlusPlus) {
    for end in (1..order.len()).rev() {
        let pick = random.next_u64() % (end as u64 + 1);
        order.swap(end, usize::try_from(pick).expect("an index of this slice"));
    }
}

#[cfg(test)]
mod tests {
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
}

//! The order of trials: randomised complete blocks, from a seed.
//!
//! Every treatment occurs once in a block, in random order, so that a drift of the machine over
//! the run cannot pass for an effect (R. A. Fisher, The Design of Experiments, 1935, ch. IV).

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::schedule::Trial;

/// All trials of these blocks, in the order they run; `of_block` names the treatments of a block.
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
mod tests;

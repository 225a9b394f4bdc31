//! Tests of independence, and of its purpose: what agreeing draws say about all drives.

use super::RandomSequence;

const WHOLE: f64 = 4_294_967_296.0;

#[test]
fn numbers_are_spread_evenly_by_chance() {
    const DRAWS: u32 = 16_000;
    for seed in 0..20 {
        let stream = RandomSequence::new(seed, "timing.read");
        let mut counts = [0_u32; 16];
        for draw in 0..DRAWS {
            counts[(stream.at(draw) >> 28) as usize] += 1;
        }
        let expected = f64::from(DRAWS) / 16.0;
        let chi: f64 = counts.iter().map(|n| (f64::from(*n) - expected).powi(2) / expected).sum();
        // 15 degrees of freedom: 99.99 % are below 44.3, and only an even spread is below 2.
        assert!((2.0..44.3).contains(&chi), "seed {seed}: {chi}");
    }
}

/// Whether two numbers lie in the same half is a coin's toss: for values with other names, and for
/// draws that follow each other.
#[test]
fn numbers_have_nothing_to_do_with_each_other() {
    const SEEDS: u32 = 4000;
    let upper = |seed, name, draw| RandomSequence::new(seed, name).at(draw) >> 31;
    let share = |are_alike: &dyn Fn(u64) -> bool| {
        let alike = (0..u64::from(SEEDS)).filter(|seed| are_alike(*seed)).count();
        alike as f64 / f64::from(SEEDS)
    };
    let mut shares = vec![share(&|seed| upper(seed, "one", 0) == upper(seed, "two", 0))];
    for (draw, next) in [(0, 1), (1, 2), (0, 2), (2, 3), (7, 8)] {
        shares.push(share(&|seed| upper(seed, "one", draw) == upper(seed, "one", next)));
        let is_moved = |seed, name| upper(seed, name, draw) == upper(seed, name, next);
        shares.push(share(&|seed| is_moved(seed, "one") == is_moved(seed, "two")));
    }
    // Five standard deviations.
    assert!(shares.iter().all(|share| (share - 0.5).abs() < 0.04), "{shares:?}");
}

#[test]
fn numbers_are_the_same_on_every_machine() {
    let stream = RandomSequence::new(1, "trim.per_command");
    assert_eq!(
        [0, 1, 2, 1000].map(|draw| stream.at(draw)),
        [2_005_455_862, 2_246_814_208, 3_950_527_254, 1_225_939_579]
    );
}

/// How far from the ends of their ranges so many values are that are all high or all low on this
/// share of all drives.
fn edge(values: i32, share: f64) -> f64 {
    let (mut low, mut high) = (0.0_f64, 1.0_f64);
    for _ in 0..60 {
        let edge = f64::midpoint(low, high);
        // Beyond the middle, values can be both.
        let both = (2.0 * edge - 1.0).max(0.0).powi(values);
        if 2.0 * edge.powi(values) - both < share { low = edge } else { high = edge }
    }
    low
}

/// If n independent draws agree, at least `0.05^(1/n)` of all drives do, with 95 % confidence: if
/// exactly this share of drives agree, 5 % of runs see no other. The others are here where values
/// are all high or all low; the table is in docs/method.md.
#[test]
fn coverage_is_as_promised_where_values_are_all_high_or_all_low() {
    const SEEDS: u64 = 20_000;
    const NAMES: [&str; 6] = ["one", "two", "three", "four", "five", "six"];
    for draws in [9_u32, 29, 59] {
        let others = 1.0 - 0.05_f64.powf(1.0 / f64::from(draws));
        let edges = [1, 2, 3, 4, 5, 6].map(|values| edge(values, others));
        let mut missed = [0_u32; NAMES.len()];
        for seed in 0..SEEDS {
            let streams = NAMES.map(|name| RandomSequence::new(seed, name));
            // The draws' values, of which the first few make up a region.
            let mut is_missed = [true; NAMES.len()];
            for draw in 0..draws {
                let (mut least, mut most) = (1.0_f64, 0.0_f64);
                for (index, stream) in streams.iter().enumerate() {
                    let at = (f64::from(stream.at(draw)) + 0.5) / WHOLE;
                    (least, most) = (least.min(at), most.max(at));
                    is_missed[index] &= edges[index] <= most && least <= 1.0 - edges[index];
                }
            }
            for (missed, is_missed) in missed.iter_mut().zip(is_missed) {
                *missed += u32::from(is_missed);
            }
        }
        let wrong = missed.map(|missed| f64::from(missed) / SEEDS as f64);
        println!("{draws} draws, by values: {:.3?}", wrong.map(|share| 100.0 * share));
        // A standard deviation is 0.15 %. A sequence that is more even than chance errs less in
        // some places, and has to err more in others.
        assert!(wrong.iter().all(|share| (0.04..=0.06).contains(share)), "{draws}: {wrong:?}");
    }
}

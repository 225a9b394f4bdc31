//! Tests of the switchback by simulated machines: what it finds where nothing is, and how often it
//! covers what is. Machines do little or much, steadily or at times, as real ones do.

use super::*;

/// A machine's load.
#[derive(Debug, Clone, Copy)]
enum Load {
    Steady,
    /// Bursts of infinite variance.
    Bursty,
    /// It wanders by a factor of 1.5 from stretch to stretch.
    Walk,
    /// Small counts, as of flushes; one in six is zero.
    Counts,
}

const LOADS: [Load; 4] = [Load::Steady, Load::Bursty, Load::Walk, Load::Counts];

fn uniform(generator: &mut Xoshiro256PlusPlus) -> f64 {
    (count(usize::try_from(generator.next_u64() >> 11).unwrap()) + 0.5) / 2.0_f64.powi(53)
}

/// A roughly normal number.
fn normal(generator: &mut Xoshiro256PlusPlus) -> f64 {
    (0..12).map(|_| uniform(generator)).sum::<f64>() - 6.0
}

/// What the stretches of an experiment were asked, and what each wrote without a treatment.
fn stretches(load: Load, blocks: usize, generator: &mut Xoshiro256PlusPlus) -> Vec<(f64, f64)> {
    let mut level = 0.0;
    let mut stretch = || {
        let small = match load {
            Load::Steady => (0.1 * normal(generator)).exp(),
            Load::Bursty => 0.2 + (uniform(generator).powf(-1.0 / 1.2)).min(500.0) / 10.0,
            Load::Walk => {
                level += 0.4 * normal(generator);
                f64::exp(level)
            }
            Load::Counts => (-6.0 * uniform(generator).ln()).floor(),
        };
        (small, small * (3.0 + 0.75 * normal(generator)).max(0.0))
    };
    (0..2 * blocks).map(|_| stretch()).collect()
}

/// The blocks of an experiment, and what was asked in them, in an order that is drawn.
fn experiment(
    load: Load,
    blocks: usize,
    effect: f64,
    generator: &mut Xoshiro256PlusPlus,
) -> [Vec<(f64, f64)>; 2] {
    let (mut wrote, mut asked) = (Vec::new(), Vec::new());
    for pair in stretches(load, blocks, generator).chunks(2) {
        let is_swapped = generator.next_u64() & 1 == 1;
        let [own, other] = if is_swapped { [pair[1], pair[0]] } else { [pair[0], pair[1]] };
        wrote.push((effect * own.1, other.1));
        asked.push((own.0, other.0));
    }
    [wrote, asked]
}

/// Only the blocks that are even, as a verdict has them.
fn of_even([wrote, asked]: [Vec<(f64, f64)>; 2]) -> Option<Switchback> {
    let kept = even_blocks(&wrote.iter().map(|(own, other)| own + other).collect::<Vec<_>>());
    let only = |blocks: Vec<(f64, f64)>| -> Vec<(f64, f64)> {
        blocks.into_iter().zip(&kept).filter(|(_, kept)| **kept).map(|(block, _)| block).collect()
    };
    let (wrote, asked) = (only(wrote), only(asked));
    Switchback::of(&wrote, Some(&asked))
}

#[test]
fn nothing_is_found_where_nothing_is_in_95_of_100_experiments_of_three_looks() {
    let mut generator = Xoshiro256PlusPlus::seed_from_u64(12);
    for load in LOADS {
        let mut found = 0;
        for _ in 0..400 {
            let [wrote, asked] = experiment(load, 48, 1.0, &mut generator);
            let looks = [12, 24, 48]
                .into_iter()
                .filter_map(|blocks| of_even([wrote[..blocks].to_vec(), asked[..blocks].to_vec()]));
            let is_found = looks.map(|look| look.p_differs()).any(|p| p <= 0.05 / 3.0);
            found += usize::from(is_found);
        }
        // 5 % of 400, and three standard errors of chance.
        assert!(found <= 33, "{load:?}: {found} of 400");
    }
}

#[test]
fn what_multiplies_is_covered_in_95_of_100_experiments() {
    let mut generator = Xoshiro256PlusPlus::seed_from_u64(24);
    for load in LOADS {
        for effect in [1.5, 0.2] {
            let mut covered = 0;
            for _ in 0..200 {
                let blocks = experiment(load, 24, effect, &mut generator);
                let interval = of_even(blocks).unwrap().interval(0.95);
                covered += usize::from(interval.lo <= effect && effect <= interval.hi);
            }
            assert!(covered >= 181, "{load:?}, {effect}: {covered} of 200");
        }
    }
}

#[test]
fn a_halving_is_seen_in_twelve_blocks_of_a_steady_machine() {
    let mut generator = Xoshiro256PlusPlus::seed_from_u64(36);
    for load in [Load::Steady, Load::Walk] {
        let is_seen = |generator: &mut _| {
            let switchback = of_even(experiment(load, 12, 0.5, generator)).unwrap();
            switchback.p_above_and_below(1.0).1 <= 0.05 / 6.0
        };
        let seen = (0..100).filter(|_| is_seen(&mut generator)).count();
        assert!(seen >= 75, "{load:?}: {seen} of 100");
    }
}

#[test]
fn the_interval_is_the_test_inverted() {
    let mut generator = Xoshiro256PlusPlus::seed_from_u64(5);
    let [wrote, asked] = experiment(Load::Walk, 20, 1.3, &mut generator);
    let switchback = Switchback::of(&wrote, Some(&asked)).unwrap();
    let Interval { lo, hi } = switchback.interval(0.95);
    assert!(lo < switchback.ratio() && switchback.ratio() < hi);
    let two_sided = |bound: f64| {
        let (above, below) = switchback.p_above_and_below(bound);
        2.0 * above.min(below)
    };
    for (bound, is_outside) in [(lo * 0.999, true), (lo * 1.001, false), (hi * 1.001, true)] {
        assert_eq!(two_sided(bound) <= 0.05, is_outside, "{bound}");
    }
}

/// Of all 4,095 sets of twelve equal blocks every ratio is the same, and p the smallest there is.
#[test]
fn twelve_blocks_that_agree_have_the_smallest_p_value() {
    let switchback = Switchback::of(&[(2.0, 1.0); 12], None).unwrap();
    assert_eq!(switchback.interval(0.98), Interval { lo: 2.0, hi: 2.0 });
    assert!((switchback.p_differs() - 2.0 / 4096.0).abs() < 1e-12);
    assert_eq!(Switchback::of(&[(0.0, 0.0); 12], None), None);
    let alone = Switchback::of(&[(1.0, 0.0); 12], None).unwrap();
    assert_eq!((alone.ratio(), alone.interval(0.98).lo), (f64::INFINITY, f64::INFINITY));
    let few = Switchback::of(&[(2.0, 1.0); 3], None).unwrap().interval(0.98);
    assert_eq!(few, Interval { lo: 0.0, hi: f64::INFINITY });
}

#[test]
fn what_was_asked_explains_what_it_can() {
    let asked: Vec<(f64, f64)> =
        (0..12).map(|block| (f64::from(block), f64::from(block * 5 % 12))).collect();
    let wrote: Vec<(f64, f64)> =
        asked.iter().map(|(own, other)| (4.0 + 3.0 * own, 2.0 + 3.0 * other)).collect();
    let rough = Switchback::of(&wrote, None).unwrap().interval(0.95);
    let fine = Switchback::of(&wrote, Some(&asked)).unwrap().interval(0.95);
    assert!(fine.hi - fine.lo < rough.hi - rough.lo, "{fine:?} {rough:?}");
}

#[test]
fn blocks_with_most_of_what_was_asked_are_dropped() {
    assert_eq!(even_blocks(&[1.0; 12]), [true; 12]);
    assert_eq!(even_blocks(&[]), [true; 0]);
    assert_eq!(even_blocks(&[0.0; 3]), [true; 3]);
    let mut asked = [1.0; 12];
    asked[4] = 100.0;
    let kept = even_blocks(&asked);
    assert_eq!(kept.iter().filter(|kept| !**kept).count(), 1);
    assert!(!kept[4]);
}

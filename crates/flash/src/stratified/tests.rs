//! Tests of evenness, and of its purpose: what agreeing draws say about all drives.

use super::Stream;

const WHOLE: f64 = 4_294_967_296.0;

#[test]
fn each_first_power_of_two_has_one_number_in_each_equal_part() {
    for seed in 0..20 {
        let stream = Stream::new(seed, "timing.read");
        for bits in 0..8 {
            let mut parts: Vec<u32> = (0..1 << bits)
                .map(|draw| u64::from(stream.at(draw)) << bits >> 32)
                .map(|part| u32::try_from(part).unwrap())
                .collect();
            parts.sort_unstable();
            assert!(parts.into_iter().eq(0..1 << bits), "seed {seed}, {bits} bits");
        }
    }
}

/// The largest difference between the count of the first `count` numbers below a bound and its
/// expectation.
fn unevenness(stream: Stream, count: u32) -> f64 {
    let mut numbers: Vec<f64> = (0..count).map(|draw| f64::from(stream.at(draw)) / WHOLE).collect();
    numbers.sort_by(f64::total_cmp);
    let off = |(place, number): (u32, &f64)| {
        let expected = number * f64::from(count);
        (expected - f64::from(place)).abs().max((f64::from(place) + 1.0 - expected).abs())
    };
    (0..).zip(&numbers).map(off).fold(0.0, f64::max)
}

#[test]
fn any_count_is_even() {
    for (count, most) in [(9, 3.0), (29, 3.5), (59, 4.0), (1000, 7.0)] {
        for seed in 0..200 {
            let found = unevenness(Stream::new(seed, "any"), count);
            assert!(found <= most, "{count} draws of seed {seed}: {found}");
        }
    }
}

#[test]
fn numbers_of_different_names_have_nothing_to_do_with_each_other() {
    const SEEDS: u32 = 4000;
    let upper = |seed, name, draw| Stream::new(seed, name).at(draw) >> 31;
    // Draws 0 and 2 are in the same half or not equally often, independently of the other value.
    let differs = |seed, name| upper(seed, name, 0) != upper(seed, name, 2);
    let alike = (0..u64::from(SEEDS)).filter(|seed| differs(*seed, "one") == differs(*seed, "two"));
    let share = alike.count() as f64 / f64::from(SEEDS);
    // Five standard deviations.
    assert!((share - 0.5).abs() < 0.04, "{share}");
}

#[test]
fn numbers_are_the_same_on_every_machine() {
    let stream = Stream::new(1, "trim.per_command");
    assert_eq!(
        [0, 1, 2, 1000].map(|draw| stream.at(draw)),
        [3_912_271_156, 943_357_583, 2_750_227_627, 1_330_084_572]
    );
}

/// A region, in the ranges of two values, of drives that do not agree: its name, how often runs may
/// overlook it at most, and whether a drive lies there.
type Place<'a> = (&'a str, f64, &'a dyn Fn(f64, f64) -> bool);

/// If n independent draws agree, at least `0.05^(1/n)` of all drives do, with 95 % confidence: if
/// exactly this share of drives agree, 5 % of runs see no other. With these draws fewer runs do,
/// unless the others lie in opposite corners: each two draws lie in opposite halves of every range.
#[test]
fn agreeing_draws_say_about_what_independent_ones_would() {
    const SEEDS: u64 = 4000;
    for draws in [9_u32, 29, 59] {
        let others = 1.0 - 0.05_f64.powf(1.0 / f64::from(draws));
        let edge = others.sqrt();
        let corner = (others / 2.0).sqrt();
        let top = |x: f64, _: f64| x > 1.0 - others;
        let middle = |x: f64, _: f64| (x - 0.41).abs() < others / 2.0;
        let both = |x: f64, y: f64| x > 1.0 - edge && y > 1.0 - edge;
        let corners =
            |x: f64, y: f64| (x < corner && y < corner) || (x > 1.0 - corner && y > 1.0 - corner);
        let places: [Place<'_>; 4] = [
            ("the top of one value", 0.01, &top),
            ("the middle of one value", 0.01, &middle),
            ("the top of two values", 0.05, &both),
            ("opposite corners", 0.10, &corners),
        ];
        let points: Vec<Vec<(f64, f64)>> = (0..SEEDS)
            .map(|seed| {
                let [one, two] = ["one", "two"].map(|name| Stream::new(seed, name));
                let at = |value: &Stream, draw: u32| f64::from(value.at(draw)) / WHOLE;
                (0..draws).map(|draw| (at(&one, draw), at(&two, draw))).collect()
            })
            .collect();
        for (what, most, is_other) in places {
            let sees_none = |drawn: &&Vec<(f64, f64)>| !drawn.iter().any(|(x, y)| is_other(*x, *y));
            let wrong = points.iter().filter(sees_none).count() as f64 / SEEDS as f64;
            println!("{draws} draws, {what}: {:.2} %", 100.0 * wrong);
            assert!(wrong <= most, "{draws} draws, {what}: {wrong}");
        }
    }
}

//! Tests of what is named as separating draws, and of what is not.

use rand_xoshiro::rand_core::Rng;

use super::*;
use crate::simulated::rng;

fn draw(trim_us: i64, page: &str, found: f64) -> DrawResult {
    let parameters = BTreeMap::from([
        ("trim".to_owned(), Value::Text(format!("{trim_us} us"))),
        ("page".to_owned(), Value::Text(page.to_owned())),
        ("noise".to_owned(), Value::Integer((trim_us * 7) % 5)),
    ]);
    DrawResult { parameters, found, holds: found >= 10.0 }
}

#[test]
fn the_threshold_lies_between_the_draws_that_it_separates() {
    let sample: Vec<DrawResult> =
        [10, 20, 30, 35, 50, 80, 90, 95].map(|us| draw(us, "4 KiB", us as f64 / 4.0)).into();
    let found = best(&sample).unwrap();
    assert_eq!(
        (found.parameter.as_str(), found.holds, found.separates),
        ("trim", ThresholdSide::Above, 8)
    );
    assert_eq!(found.value, Value::Text("42000 ns".to_owned()));
    // Of the 70 ways to choose four of eight, this and its opposite are separated.
    assert!((found.p - 2.0 / 70.0).abs() < 1e-9, "{}", found.p);
    // Of the 20 to choose three of six, too, which is too few to tell.
    assert_eq!(best(&sample[1..7]), None);
}

#[test]
fn a_choice_separates_too() {
    let pages = ["fast", "slow", "fast", "slow", "fast", "slow", "fast", "slow", "fast"];
    let sample: Vec<DrawResult> = (10..)
        .zip(pages)
        .map(|(us, word)| draw(us, word, if word == "slow" { 1.0 } else { 20.0 }))
        .collect();
    let found = best(&sample).unwrap();
    assert_eq!((found.parameter.as_str(), found.separates), ("page", 9));
    let words = (found.holds, found.value);
    let fast = (ThresholdSide::At, Value::Text("fast".to_owned()));
    let slow = (ThresholdSide::NotAt, Value::Text("slow".to_owned()));
    assert!(words == fast || words == slow, "{words:?}");
}

#[test]
fn what_tells_no_better_than_the_majority_is_not_named() {
    // One value of each parameter: nothing can separate.
    let sample = [draw(10, "4 KiB", 1.0), draw(10, "4 KiB", 20.0), draw(10, "4 KiB", 20.0)];
    assert_eq!(best(&sample), None);
}

/// How often something is named, and how often something separates all draws: so many draws with so
/// many parameters, of which the claim depends on the first or on none.
fn named(
    runs: u32,
    [draws, holding]: [usize; 2],
    parameters: usize,
    is_one_relevant: bool,
) -> [f64; 2] {
    let mut rng = rng();
    let [mut named, mut perfect] = [0, 0];
    for _ in 0..runs {
        let mut numbers = || -> Vec<f64> {
            (0..draws).map(|_| (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64).collect()
        };
        let columns: Vec<Vec<f64>> = (0..parameters).map(|_| numbers()).collect();
        let found = if is_one_relevant { columns[0].clone() } else { numbers() };
        let mut sorted = found.clone();
        sorted.sort_by(f64::total_cmp);
        let bound = sorted[draws - holding];
        let of = |(draw, found): (usize, f64)| {
            let own = columns.iter().enumerate();
            let own = own.map(|(name, column)| (name.to_string(), Value::Number(column[draw])));
            DrawResult { parameters: own.collect(), found, holds: found >= bound }
        };
        let sample: Vec<DrawResult> = found.into_iter().enumerate().map(of).collect();
        let best = best(&sample);
        named += u32::from(best.as_ref().is_some_and(|b| !is_one_relevant || b.parameter == "0"));
        let holds: Vec<bool> = sample.iter().map(|own| own.holds).collect();
        let is_perfect = |name: &String| {
            let cut = Column::of(name, &sample).and_then(|column| column.cut(&holds));
            cut.is_some_and(|cut| cut.separates == draws)
        };
        perfect += u32::from(sample[0].parameters.keys().any(is_perfect));
    }
    [named, perfect].map(|count| f64::from(count) / f64::from(runs))
}

/// That some parameter separates all nine draws is no news where there are 38.
#[test]
fn an_irrelevant_parameter_is_named_in_at_most_one_run_of_twenty() {
    let [of_two, separated] = named(200, [9, 2], 38, false);
    assert!(separated > 0.8, "{separated}");
    // Two and a half standard deviations above 5 %.
    for share in [of_two, named(200, [9, 4], 38, false)[0], named(200, [9, 4], 3, false)[0]] {
        assert!(share <= 0.09, "{share}");
    }
}

#[test]
fn a_relevant_parameter_is_named_where_the_draws_can_tell() {
    assert!(named(200, [9, 4], 2, true)[0] > 0.9);
    assert!(named(10, [29, 12], 38, true)[0] > 0.9);
    assert!(named(200, [9, 4], 38, true)[0] < 0.1);
}

use super::*;

fn draw(trim_us: i64, page: &str, found: f64) -> Drawn {
    let parameters = BTreeMap::from([
        ("trim".to_owned(), Value::Text(format!("{trim_us} us"))),
        ("page".to_owned(), Value::Text(page.to_owned())),
        ("noise".to_owned(), Value::Integer((trim_us * 7) % 5)),
    ]);
    Drawn { parameters, found, holds: found >= 10.0 }
}

#[test]
fn the_threshold_lies_between_the_draws_that_it_separates() {
    let drawn: Vec<Drawn> =
        [10, 20, 30, 50, 80, 90].map(|us| draw(us, "4 KiB", us as f64 / 4.0)).into();
    let found = best(&drawn).unwrap();
    assert_eq!((found.parameter.as_str(), found.holds, found.separates), ("trim", Side::Above, 6));
    assert_eq!(found.value, Value::Text("39000 ns".to_owned()));
}

#[test]
fn a_choice_separates_too() {
    let drawn: Vec<Drawn> = [(10, "fast"), (12, "slow"), (11, "fast"), (13, "slow"), (14, "fast")]
        .map(|(us, word)| draw(us, word, if word == "slow" { 1.0 } else { 20.0 }))
        .into();
    let found = best(&drawn).unwrap();
    assert_eq!((found.parameter.as_str(), found.separates), ("page", 5));
}

#[test]
fn what_tells_no_better_than_the_majority_is_not_named() {
    // One value of each parameter: nothing can separate.
    let drawn = [draw(10, "4 KiB", 1.0), draw(10, "4 KiB", 20.0), draw(10, "4 KiB", 20.0)];
    assert_eq!(best(&drawn), None);
}

use super::*;

#[test]
fn an_amount_is_in_the_unit_of_its_metric() {
    let of = |text: &str, metric: &str| amount(&Bound::Amount(text.to_owned()), metric);
    assert_eq!(of("3 min", "time_ns"), Ok(180e9));
    assert_eq!(of("10 MB", "written_bytes"), Ok(10e6));
    assert_eq!(of("5 years", "years_until_worn"), Ok(5.0));
    assert_eq!(of("1 year", "years_until_worn"), Ok(1.0));
    assert_eq!(of("20", "write_amplification"), Ok(20.0));
    for (text, metric, help) in [
        ("5", "years_until_worn", "5 years"),
        ("5 years", "erases", "a number, such as \"20\""),
        ("nan", "erases", "a number"),
        ("3 MB/s", "bytes_per_second", "in B/s"),
    ] {
        let error = of(text, metric).unwrap_err();
        assert!(error.contains(help), "{text}: {error}");
    }
}

use super::*;

#[test]
fn decimal_and_binary_sizes_differ() {
    assert_eq!("493 MB".parse(), Ok(Bytes(493_000_000)));
    assert_eq!("4 GiB".parse(), Ok(Bytes(4 << 30)));
    assert!("4 apples".parse::<Bytes>().unwrap_err().contains("4 apples"));
    assert!("-1 MB".parse::<Bytes>().is_err());
}

#[test]
fn sizes_read_back_as_written() {
    assert_eq!(Bytes(493_000_000).to_string(), "493.0 MB");
    assert_eq!(Bytes(4 << 30).to_string(), "4.0 GiB");
}

#[test]
fn no_size_is_written_as_a_thousand_of_a_unit() {
    let written = |bytes: u64| Bytes(bytes).to_string();
    assert_eq!(written(999_989_248), "1.0 GB");
    assert_eq!(written(999_950_000), "1.0 GB");
    assert_eq!(written(999_949_000), "999.9 MB");
    assert_eq!(written(999_999), "1.0 MB");
    assert_eq!(written(999), "999 B");
    assert_eq!(written(999_999_999_999_999_999), "1.0 EB");
    assert_eq!(written((1 << 40) - (1 << 20)), "1.0 TiB");
    assert_eq!(written((1 << 40) - (1 << 30)), "1023.0 GiB");
}

#[test]
fn rates_are_sizes_a_second() {
    assert_eq!(Rate::try_from("235 MB/s".to_owned()), Ok(Rate(235_000_000)));
    assert!(Rate::try_from("235 MB".to_owned()).is_err());
    assert!(Rate::try_from("0 MB/s".to_owned()).is_err());
}

#[test]
fn what_happens_so_often_has_a_period() {
    let period = |text: &str| PerSecond::try_from(text.to_owned()).map(PerSecond::period_ns);
    assert_eq!(period("1000/s"), Ok(1_000_000));
    assert_eq!(period("0.5 /s"), Ok(2_000_000_000));
    assert_eq!(period("1000000000/s"), Ok(1));
    for text in ["1000", "0/s", "-1/s", "NaN/s", "inf/s", "1e10/s", "/s", ""] {
        assert!(period(text).is_err(), "{text}");
    }
}

#[test]
fn shares_are_percentages() {
    assert_eq!(Share::try_from("5 %".to_owned()), Ok(Share(0.05)));
    assert!(Share::try_from("120%".to_owned()).is_err());
    assert!(Share::try_from("NaN%".to_owned()).is_err());
    assert!(Share::try_from("0.05".to_owned()).is_err());
}

#[test]
fn words_keep_quoted_spaces() {
    let text = TextOrList::Text("tar xf 'a b.tar'".to_owned());
    assert_eq!(Words::try_from(text).unwrap().0, ["tar", "xf", "a b.tar"]);
    assert!(split_words("'open").is_err());
}

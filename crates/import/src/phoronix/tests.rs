use super::*;

#[test]
fn memory_is_read_as_it_is_sold() {
    for (text, expected) in [
        ("16GB", Some(16 << 30)),
        ("2 x 8 GB DDR4-3200MT/s Corsair", Some(16 << 30)),
        ("8192MB", Some(8 << 30)),
        ("lots", None),
        ("x 9", None),
        ("99999999999999999999GB", None),
    ] {
        assert_eq!(memory_bytes(text), expected, "{text}");
    }
}

#[test]
fn a_comma_in_a_value_is_no_new_pair() {
    let found = pairs("Disk: 2 x 500GB A, B, Memory: 16GB");
    let expected = [("Disk", "2 x 500GB A, B"), ("Memory", "16GB")];
    assert_eq!(found, expected.map(|(key, value)| (key.to_owned(), value.to_owned())));
}

use super::in_words;

#[test]
fn a_value_of_the_wrong_kind_is_named_in_the_words_of_files() {
    for (message, expected) in [
        (
            "invalid value: integer `-1`, expected u32",
            "expected a whole number from 0 to 4294967295, found `-1`",
        ),
        (
            "invalid type: floating point `1.5`, expected u64",
            "expected a whole number from 0, found `1.5`",
        ),
        (
            "invalid type: string \"a, expected b\", expected a boolean",
            "expected true or false, found \"a, expected b\"",
        ),
        (
            "invalid type: sequence, expected a map",
            "expected a table: { key = value }, found a list",
        ),
        ("invalid type: map, expected a sequence", "expected a list: [...], found a table"),
        ("unknown field `x`", "unknown field `x`"),
    ] {
        assert_eq!(in_words(message), expected);
    }
}

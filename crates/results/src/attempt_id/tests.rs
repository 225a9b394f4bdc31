use super::*;

#[test]
fn a_name_is_digits() {
    for name in ["7_0", "7_12", "4294967295_0_2"] {
        assert_eq!(AttemptId::read(name).unwrap().to_string(), name);
    }
    for other in
        ["", "7", "7_", "7_0_", "7_0_2_3", "7_+0", "07_0", "7_0;id", "../7_0", "$(id)_0", "7_0\n"]
    {
        assert_eq!(AttemptId::read(other), None, "{other:?}");
        assert!(serde_json::from_value::<AttemptId>(other.into()).is_err());
    }
    assert!(AttemptId::read("9_2") < AttemptId::read("9_2_2"));
}
